#include "learning/activation.hpp"

namespace rubato {

template <class Real>
void activate(Activation kind, MatrixRef<Real> numbers) {
  switch (kind) {
    case Activation::none:
      return;
    case Activation::relu:
      numbers = numbers.cwiseMax(Real{0});
      return;
    case Activation::sigmoid:
      numbers = numbers.array().logistic();
      return;
    case Activation::tanh:
      numbers = numbers.array().tanh();
      return;
  }
}

template <class Real>
void multiply_by_slope(Activation kind, ConstMatrixRef<Real> activated, MatrixRef<Real> delta) {
  const Real* const output = activated.data();
  Real* const number = delta.data();
  switch (kind) {
    case Activation::none:
      return;
    case Activation::relu:
      for (Index i = 0; i < delta.size(); ++i) number[i] = output[i] > 0 ? number[i] : 0;
      return;
    case Activation::sigmoid:
      delta.array() *= activated.array() * (1 - activated.array());
      return;
    case Activation::tanh:
      delta.array() *= 1 - activated.array().square();
      return;
  }
}

template void activate(Activation, MatrixRef<float>);
template void activate(Activation, MatrixRef<double>);
template void multiply_by_slope(Activation, ConstMatrixRef<float>, MatrixRef<float>);
template void multiply_by_slope(Activation, ConstMatrixRef<double>, MatrixRef<double>);

}  // namespace rubato
