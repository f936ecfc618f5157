// Allowance: how often something may happen, from moment to moment.
#pragma once

#include <algorithm>

#include "runtime/time.hpp"

namespace rubato {

/// So many a second in the long run, and `burst` at once. One thread at a time.
class Allowance {
 public:
  Allowance(double per_second, double burst) : per_second_{per_second}, burst_{burst}, left_{burst} {}

  /// Takes one, if there is one.
  bool take(Duration now) {
    left_ = std::min(burst_, left_ + per_second_ * to_seconds(std::max(now - last_, Duration{})));
    last_ = std::max(last_, now);
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  double per_second_, burst_, left_;
  Duration last_{};
};

}  // namespace rubato
