#include "learning/types.hpp"

namespace rubato {

void fix_eigen_blocking() {
  Eigen::setCpuCacheSizes(32 * 1024, 1024 * 1024, 8 * 1024 * 1024);
}

}  // namespace rubato
