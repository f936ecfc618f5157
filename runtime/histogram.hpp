// Durations by size, for means and quantiles without keeping them: 16 buckets to every doubling.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "runtime/time.hpp"

namespace rubato {

class DurationHistogram {
 public:
  void add(Duration duration) {
    const auto value = static_cast<std::uint64_t>(duration.count());
    ++buckets_[bucket_of(value)];
    ++count_;
    sum_ += duration.count();
  }

  void add(const DurationHistogram& other) {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
  }

  std::uint64_t count() const { return count_; }
  double sum_seconds() const { return static_cast<double>(sum_) * 1e-9; }
  double mean_seconds() const { return count_ ? static_cast<double>(sum_) * 1e-9 / static_cast<double>(count_) : 0; }

  /// How many were not longer, but for those in the bucket that this duration lies in: at most 1/16 of it away.
  std::uint64_t count_up_to(Duration duration) const {
    const std::size_t last = bucket_of(static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0)));
    std::uint64_t sum = 0;
    for (std::size_t bucket = 0; bucket <= last; ++bucket) sum += buckets_[bucket];
    return sum;
  }

  /// The upper end of the bucket that holds the quantile: at most 1/16 too large.
  double quantile_seconds(double share) const {
    if (count_ == 0) return 0;
    const auto rank = std::min(static_cast<std::uint64_t>(share * static_cast<double>(count_)), count_ - 1);
    std::uint64_t below = 0;
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      below += buckets_[bucket];
      if (below > rank) return static_cast<double>(end_of(bucket)) * 1e-9;
    }
    return 0;
  }

 private:
  static std::size_t bucket_of(std::uint64_t value) {
    if (value < 16) return value;
    const auto doublings = static_cast<std::size_t>(std::bit_width(value)) - 5;
    return 16 * doublings + (value >> doublings);
  }
  static std::uint64_t end_of(std::size_t bucket) {
    if (bucket < 16) return bucket;
    const std::size_t doublings = bucket / 16 - 1;
    return ((bucket % 16 + 16 + 1) << doublings) - 1;
  }

  std::array<std::uint64_t, 16 * 61> buckets_{};
  std::uint64_t count_ = 0;
  std::int64_t sum_ = 0;  // of nanoseconds
};

}  // namespace rubato
