#include "runtime/limits.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <latch>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace rubato {

namespace {

std::string megabytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// "infinity" and "max" are words and not read; so is a file that is not there.
std::uint64_t number_in(const char* file) {
  std::uint64_t number = 0;
  return std::ifstream(file) >> number ? number : 0;
}

}  // namespace

std::string out_of_memory() {
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
    return "out of memory: the limit of this process is " + megabytes(addresses.rlim_cur) + " (ulimit -v)";
  if (const std::uint64_t group = number_in("/sys/fs/cgroup/memory.max"))
    return "out of memory: the limit of this control group is " + megabytes(group);
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)), page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return "out of memory: this machine has " + megabytes(pages * page);
}

std::string sentence_of(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) ? out_of_memory() : error.what();
}

void require_threads(unsigned count) {
  std::latch all_started(1);
  std::vector<std::jthread> threads;
  try {
    threads.reserve(count);
    for (unsigned i = 0; i < count; ++i) threads.emplace_back([&] { all_started.wait(); });
    all_started.count_down();
  } catch (const std::system_error& error) {
    all_started.count_down();
    rlimit processes{};
    getrlimit(RLIMIT_NPROC, &processes);
    throw std::runtime_error("cannot start " + std::to_string(count) + " threads: the system gave " +
                             std::to_string(threads.size()) + " (" + error.code().message() + ")" +
                             (processes.rlim_cur == RLIM_INFINITY
                                  ? ""
                                  : "; the limit of this user is " + std::to_string(processes.rlim_cur) + " (ulimit -u)"));
  }
}

}  // namespace rubato
