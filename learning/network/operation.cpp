#include "learning/network/operation.hpp"

#include <algorithm>
#include <cmath>

namespace rubato {

template <class Real>
void Operation<Real>::initialise(Real* x, StartLaw, Stream&) const {
  std::fill_n(x + offset_, parameters(), Real{0});
}

template <class Real>
void start_weights(Real* weights, Index count, Index inputs, Index outputs, StartLaw law, Stream& stream) {
  const Index fan = law == StartLaw::he ? inputs : inputs + outputs;
  const double deviation = std::sqrt(2.0 / static_cast<double>(fan));
  for (Index i = 0; i < count; ++i) weights[i] = static_cast<Real>(deviation * stream.normal());
}

template class Operation<float>;
template class Operation<double>;
template void start_weights(float*, Index, Index, Index, StartLaw, Stream&);
template void start_weights(double*, Index, Index, Index, StartLaw, Stream&);

}  // namespace rubato
