#include <stdexcept>

#include "learning/models/torch_script.hpp"

namespace rubato {

template <class Real>
std::shared_ptr<const Model<Real>> make_torch_model(const TorchSpec&, const Shape&, std::uint32_t) {
  throw std::invalid_argument("model.name = \"torchscript\" needs a build with -DRUBATO_TORCH=ON (package libtorch-dev)");
}

template std::shared_ptr<const Model<float>> make_torch_model(const TorchSpec&, const Shape&, std::uint32_t);
template std::shared_ptr<const Model<double>> make_torch_model(const TorchSpec&, const Shape&, std::uint32_t);

}  // namespace rubato
