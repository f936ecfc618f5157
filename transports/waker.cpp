#include "transports/waker.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace rubato {

Waker::Waker() : descriptor_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "no descriptor to wake a thread with");
}

Waker::~Waker() { close(descriptor_); }

void Waker::wake() {
  if (is_awake_.exchange(true)) return;
  const std::uint64_t one = 1;
  static_cast<void>(::write(descriptor_, &one, sizeof one));  // fails only if it is signalled already
}

void Waker::prepare_sleep() { is_awake_.store(false); }

void Waker::rise() {
  is_awake_.store(true);
  std::uint64_t signals = 0;
  static_cast<void>(::read(descriptor_, &signals, sizeof signals));
}

}  // namespace rubato
