// Waker: rouses a thread that sleeps on file descriptors, at the cost of nothing while it is awake.
#pragma once

#include <atomic>

namespace rubato {

/// The sleeping thread says prepare_sleep(), looks once more for work, polls descriptor(), and says rise().
class Waker {
 public:
  Waker();
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  /// Any thread. Whatever it wrote before is seen by the roused thread.
  void wake();

  int descriptor() const { return descriptor_; }
  void prepare_sleep();
  void rise();

 private:
  int descriptor_;
  std::atomic<bool> is_awake_{true};
};

}  // namespace rubato
