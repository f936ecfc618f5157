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

template <class Real>
void write_dropout(double chance, Stream stream, MatrixRef<Real> factors) {
  const auto limit = static_cast<std::uint64_t>(chance * 0x1p32);
  const Real kept = static_cast<Real>(1 / (1 - chance));
  const auto factor_of = [&](std::uint64_t bits) { return (bits & 0xffffffff) < limit ? Real{0} : kept; };
  Real* const factor = factors.data();
  const Index count = factors.size();
  for (Index i = 0; i + 1 < count; i += 2) {
    const std::uint64_t bits = stream.next();
    factor[i] = factor_of(bits);
    factor[i + 1] = factor_of(bits >> 32);
  }
  if (count % 2 == 1) factor[count - 1] = factor_of(stream.next());
}

template void activate(Activation, MatrixRef<float>);
template void activate(Activation, MatrixRef<double>);
template void multiply_by_slope(Activation, ConstMatrixRef<float>, MatrixRef<float>);
template void multiply_by_slope(Activation, ConstMatrixRef<double>, MatrixRef<double>);
template void write_dropout(double, Stream, MatrixRef<float>);
template void write_dropout(double, Stream, MatrixRef<double>);

}  // namespace rubato
