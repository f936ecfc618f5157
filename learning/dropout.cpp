#include "learning/dropout.hpp"

namespace rubato {

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

template void write_dropout(double, Stream, MatrixRef<float>);
template void write_dropout(double, Stream, MatrixRef<double>);

}  // namespace rubato
