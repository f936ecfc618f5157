// OneThread: oneDNN splits its work over OpenMP's threads; here the clients are what runs side by side.
#pragma once

#include <omp.h>

namespace rubato {

/// While it lives, what the calling thread asks of oneDNN is done by that thread alone, always in the same order.
class OneThread {
 public:
  OneThread() : before_{omp_get_max_threads()} {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace rubato
