// Waiting for what other threads do.
#pragma once

#include <chrono>
#include <thread>

namespace rubato::test {

/// How long a test waits for what must happen: generous, because only a failing test waits so long.
inline constexpr std::chrono::seconds patience{120};

/// True as soon as the condition holds, false if it has not come to hold in that time.
template <class Condition>
bool comes_true(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // between two looks
  }
  return true;
}

}  // namespace rubato::test
