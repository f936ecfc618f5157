#include "runtime/time.hpp"

#include <cmath>

namespace rubato {

Duration from_seconds(double seconds) {
  const double nanoseconds = seconds * 1e9;
  if (!(nanoseconds < 9.2e18)) return Duration::max();
  if (nanoseconds < -9.2e18) return Duration::min();
  return Duration{std::llround(nanoseconds)};
}

}  // namespace rubato
