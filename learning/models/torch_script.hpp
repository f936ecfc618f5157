// TorchScript: a scripted PyTorch module as a model. Only builds with -DRUBATO_TORCH=ON can run one.
#pragma once

#include <filesystem>
#include <memory>

#include "learning/model.hpp"
#include "learning/shape.hpp"

namespace rubato {

struct TorchSpec {
  std::filesystem::path module;  ///< written by torch.jit.script(net).save(path)
  double l2 = 0;
  double label_smoothing = 0;
};

/// Parameters: those of the module in its own order, then its floating-point buffers, part by part. The buffers are
/// statistics(): their gradient is their distance to what a pass in training makes of them, with a momentum of 1 where
/// a normalisation has another. So are parameters that the module froze; their gradient is 0. Training starts from what
/// the module was saved with. The module gets samples x channels x height x width numbers (samples x features where
/// there is only one row of them) and gives a row of class scores each; the loss is the cross-entropy. One thread
/// computes a gradient; a module that draws random numbers draws them from the batch's chance, one gradient at a time.
/// Throws std::invalid_argument if the build has no TorchScript, or the module cannot be read or does not fit the data.
template <class Real>
std::shared_ptr<const Model<Real>> make_torch_model(const TorchSpec& spec, const Shape& shape, std::uint32_t classes);

}  // namespace rubato
