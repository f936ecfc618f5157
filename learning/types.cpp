#include "learning/types.hpp"

namespace rubato {

// Once: runs that go on side by side read these sizes.
void fix_eigen_blocking() {
  static const bool is_fixed = [] {
    Eigen::setCpuCacheSizes(32 * 1024, 1024 * 1024, 8 * 1024 * 1024);
    return true;
  }();
  static_cast<void>(is_fixed);
}

}  // namespace rubato
