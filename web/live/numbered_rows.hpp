// NumberedRows: rows that pages are told one after the other, numbered from 0; the newest are kept.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <ranges>
#include <string>

namespace rubato::web {

class NumberedRows {
 public:
  explicit NumberedRows(std::size_t most) : most_{most} {}

  /// As JSON.
  void add(std::string row) {
    rows_.push_back(std::move(row));
    if (rows_.size() > most_) rows_.pop_front(), ++first_;
  }
  /// How many there have been.
  std::uint64_t count() const { return first_ + rows_.size(); }
  /// Those with numbers of `from` or more that are kept still, as docs/live.md has them.
  std::string frame(const char* type, std::uint64_t from) const {
    const std::uint64_t begin = std::clamp(from, first_, count());
    const auto known = static_cast<std::ptrdiff_t>(begin - first_);
    return fmt::format(R"({{"type":"{}","first":{},"next":{},"rows":[{}]}})", type, begin, count(),
                       fmt::join(rows_ | std::views::drop(known), ","));
  }

 private:
  const std::size_t most_;
  std::deque<std::string> rows_;
  std::uint64_t first_ = 0;  // number of the first row
};

}  // namespace rubato::web
