#include "transports/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace rubato {

namespace {

// Where the hard limit is a billion, as in containers, programs that close all descriptors take minutes.
constexpr rlim_t more_than_enough = 65'536;

rlimit limits() {
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  return now;
}

}  // namespace

std::size_t descriptor_limit() { return static_cast<std::size_t>(limits().rlim_cur); }

std::size_t raise_descriptor_limit() {
  rlimit now = limits();
  now.rlim_cur = std::max(now.rlim_cur, std::min(now.rlim_max, more_than_enough));
  setrlimit(RLIMIT_NOFILE, &now);
  return descriptor_limit();
}

std::size_t open_descriptors() {
  std::error_code unknown;
  const std::filesystem::directory_iterator entries("/proc/self/fd", unknown);
  const auto count = static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  return count > 0 ? count - 1 : 0;  // without the folder's own
}

}  // namespace rubato
