// Answers: what the clients of a run have answered to the questions of its timing, one bit each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/archive.hpp"

namespace rubato {

class Answers {
 public:
  std::size_t size() const { return count_; }
  void add(bool yes) {
    if (count_ % 8 == 0) bits_.push_back(0);
    if (yes) bits_.back() = static_cast<std::uint8_t>(bits_.back() | 1u << count_ % 8);
    ++count_;
  }
  bool operator[](std::size_t i) const { return bits_[i / 8] >> i % 8 & 1; }

  void archive(Archive& archive) {
    archive(count_);
    archive(bits_);
    if (bits_.size() != count_ / 8 + (count_ % 8 > 0)) throw BadArchive("the answers are not as many as they should be");
  }

 private:
  std::uint64_t count_ = 0;
  std::vector<std::uint8_t> bits_;
};

}  // namespace rubato
