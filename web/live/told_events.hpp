// ToldEvents: the events of a run as pages are told them, numbered from 0; the newest are kept.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

namespace rubato::web {

class ToldEvents {
 public:
  /// `seconds` of the experiment; `client`: the one that it is about, or -1.
  void add(double seconds, const std::string& what, const std::string& level, const std::string& host, const std::string& text,
           std::int32_t client = -1);
  /// How many there have been.
  std::uint64_t count() const { return first_ + rows_.size(); }
  /// Those with numbers of `from` or more that are kept still, as docs/live.md has them.
  std::string frame(std::uint64_t from) const;

 private:
  std::deque<std::string> rows_;
  std::uint64_t first_ = 0;  // number of the first row
};

}  // namespace rubato::web
