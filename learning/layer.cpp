#include "learning/layer.hpp"

#include "learning/products.hpp"

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
  const ConstWeights<Real> weights = weights_of<Real>(layer, x);
  const ConstBias<Real> bias{x.data() + layer.bias(), layer.outputs};
  const ProductSize size{inputs.rows(), layer.outputs, layer.inputs};
  if (!multiply_large<Real>(size, 1, {inputs.data()}, {weights.data(), true}, 0, out.data()))
    out.noalias() = inputs * weights.transpose();
  out.rowwise() += bias;
}

template <class Real>
void apply_backwards(const Layer& layer, ConstVectorRef<Real> x, ConstMatrixRef<Real> delta, MatrixRef<Real> out) {
  const ConstWeights<Real> weights = weights_of<Real>(layer, x);
  const ProductSize size{delta.rows(), layer.inputs, layer.outputs};
  if (!multiply_large<Real>(size, 1, {delta.data()}, {weights.data()}, 0, out.data())) out.noalias() = delta * weights;
}

template <class Real>
void write_gradient(const Layer& layer, ConstMatrixRef<Real> delta, ConstMatrixRef<Real> inputs, VectorRef<Real> g) {
  Weights<Real> weights = weights_of<Real>(layer, g);
  const ProductSize size{layer.outputs, layer.inputs, inputs.rows()};
  if (!multiply_large<Real>(size, 1, {delta.data(), true}, {inputs.data()}, 0, weights.data()))
    weights.noalias() = delta.transpose() * inputs;
  bias_of<Real>(layer, g) = delta.colwise().sum();
}

template <class Real>
void subtract_gradient(const Layer& layer, ConstMatrixRef<Real> delta, ConstMatrixRef<Real> inputs, Real step, VectorRef<Real> x) {
  Weights<Real> weights = weights_of<Real>(layer, x);
  const ProductSize size{layer.outputs, layer.inputs, inputs.rows()};
  if (!multiply_large<Real>(size, -step, {delta.data(), true}, {inputs.data()}, 1, weights.data()))
    weights.noalias() -= step * (delta.transpose() * inputs);
  bias_of<Real>(layer, x) -= step * delta.colwise().sum();
}

template <class Real>
Real add_l2(Real l2, ConstVectorRef<Real> x, VectorRef<Real> g) {
  if (l2 == 0) return 0;
  g += l2 * x;
  return l2 / 2 * x.squaredNorm();
}

#define RUBATO_INSTANTIATE(Real)                                                                                    \
  template void apply(const Layer&, ConstVectorRef<Real>, ConstMatrixRef<Real>, MatrixRef<Real>);                   \
  template void apply_backwards(const Layer&, ConstVectorRef<Real>, ConstMatrixRef<Real>, MatrixRef<Real>);         \
  template void write_gradient(const Layer&, ConstMatrixRef<Real>, ConstMatrixRef<Real>, VectorRef<Real>);          \
  template void subtract_gradient(const Layer&, ConstMatrixRef<Real>, ConstMatrixRef<Real>, Real, VectorRef<Real>); \
  template Real add_l2(Real, ConstVectorRef<Real>, VectorRef<Real>);
RUBATO_INSTANTIATE(float)
RUBATO_INSTANTIATE(double)
#undef RUBATO_INSTANTIATE

}  // namespace rubato
