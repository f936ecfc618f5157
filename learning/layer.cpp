#include "learning/layer.hpp"

#include <stdexcept>

namespace rubato {

namespace {

template <class Real>
using Weights = Eigen::Map<Matrix<Real>>;
template <class Real>
using ConstWeights = Eigen::Map<const Matrix<Real>>;
template <class Real>
using Bias = Eigen::Map<Eigen::Matrix<Real, 1, Eigen::Dynamic>>;
template <class Real>
using ConstBias = Eigen::Map<const Eigen::Matrix<Real, 1, Eigen::Dynamic>>;

template <class Real>
ConstWeights<Real> weights_of(const Layer& layer, ConstVectorRef<Real> x) {
  return {x.data() + layer.offset, layer.outputs, layer.inputs};
}

template <class Real>
Weights<Real> weights_of(const Layer& layer, VectorRef<Real> x) {
  return {x.data() + layer.offset, layer.outputs, layer.inputs};
}

template <class Real>
Bias<Real> bias_of(const Layer& layer, VectorRef<Real> x) {
  return {x.data() + layer.bias(), layer.outputs};
}

}  // namespace

// noalias() throughout: the callers' buffers are different by contract, and the temporary would cost as much as the
// sum.

template <class Real>
void apply(const Layer& layer, ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out) {
  const ConstBias<Real> bias{x.data() + layer.bias(), layer.outputs};
  out.noalias() = inputs * weights_of<Real>(layer, x).transpose();
  out.rowwise() += bias;
}

template <class Real>
void apply_backwards(const Layer& layer, ConstVectorRef<Real> x, ConstMatrixRef<Real> delta, MatrixRef<Real> out) {
  out.noalias() = delta * weights_of<Real>(layer, x);
}

template <class Real>
void write_gradient(const Layer& layer, ConstMatrixRef<Real> delta, ConstMatrixRef<Real> inputs, VectorRef<Real> g) {
  weights_of<Real>(layer, g).noalias() = delta.transpose() * inputs;
  bias_of<Real>(layer, g) = delta.colwise().sum();
}

template <class Real>
void subtract_gradient(const Layer& layer, ConstMatrixRef<Real> delta, ConstMatrixRef<Real> inputs, Real step,
                       VectorRef<Real> x) {
  weights_of<Real>(layer, x).noalias() -= step * (delta.transpose() * inputs);
  bias_of<Real>(layer, x) -= step * delta.colwise().sum();
}

template <class Real>
Real add_l2(Real l2, ConstVectorRef<Real> x, VectorRef<Real> g) {
  if (l2 == 0) return 0;
  g += l2 * x;
  return l2 / 2 * x.squaredNorm();
}

template <class Real>
Real shrink_by_l2(Real l2, VectorRef<Real> x, Real step) {
  if (l2 == 0) return 0;
  const Real loss = l2 / 2 * x.squaredNorm();
  x *= 1 - step * l2;
  return loss;
}

void check_sizes(const std::string& model, Index inputs, const std::vector<Index>& hidden, std::uint32_t classes,
                 double l2) {
  std::string faults;
  const auto require = [&](bool holds, const std::string& fault) {
    if (!holds) faults += (faults.empty() ? "" : "; ") + model + "." + fault;
  };
  require(inputs > 0, "inputs is " + std::to_string(inputs) + "; allowed are whole numbers from 1");
  for (const Index width : hidden) {
    require(width > 0, "hidden has the entry " + std::to_string(width) + "; allowed are whole numbers from 1");
  }
  require(classes > 0, "classes is 0; allowed are whole numbers from 1");
  require(l2 >= 0, "l2 is " + std::to_string(l2) + "; allowed are numbers from 0");
  if (!faults.empty()) throw std::invalid_argument(faults);
}

#define RUBATO_INSTANTIATE(Real)                                                                                    \
  template void apply(const Layer&, ConstVectorRef<Real>, ConstMatrixRef<Real>, MatrixRef<Real>);                   \
  template void apply_backwards(const Layer&, ConstVectorRef<Real>, ConstMatrixRef<Real>, MatrixRef<Real>);         \
  template void write_gradient(const Layer&, ConstMatrixRef<Real>, ConstMatrixRef<Real>, VectorRef<Real>);          \
  template void subtract_gradient(const Layer&, ConstMatrixRef<Real>, ConstMatrixRef<Real>, Real, VectorRef<Real>); \
  template Real add_l2(Real, ConstVectorRef<Real>, VectorRef<Real>);                                                \
  template Real shrink_by_l2(Real, VectorRef<Real>, Real);
RUBATO_INSTANTIATE(float)
RUBATO_INSTANTIATE(double)
#undef RUBATO_INSTANTIATE

}  // namespace rubato
