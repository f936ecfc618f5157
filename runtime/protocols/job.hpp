// Job: a computation that goes on only during phases of one length, and may need several of them.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/archive.hpp"
#include "runtime/elementary.hpp"
#include "runtime/time.hpp"

namespace rubato {

class Job {
 public:
  bool is_begun() const { return is_begun_; }
  void begin(Duration length) {
    is_begun_ = true;
    left_ = length;
  }
  /// One more phase of work; how far into it the job is done, or nothing for a straggler.
  std::optional<Duration> work(Duration phase) {
    if (left_ <= phase) {
      is_begun_ = false;
      return left_;
    }
    left_ -= phase;
    return std::nullopt;
  }
  /// What was not done in time is thrown away.
  void drop() { is_begun_ = false; }

  void archive(Archive& archive) {
    std::int64_t left = left_.count();
    archive(is_begun_), archive(left);
    left_ = Duration{left};
  }

 private:
  bool is_begun_ = false;
  Duration left_{};
};

/// The chance that a fresh job of minimum + Exp(rate) seconds takes longer than a phase.
inline double straggler_chance(double phase, double minimum, double rate) {
  return phase <= minimum ? 1 : elementary::exp(-(phase - minimum) * rate);
}

}  // namespace rubato
