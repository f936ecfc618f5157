// ToldEvents: the events of a run as pages are told them, numbered from 0; the newest are kept.
#pragma once

#include <cstdint>
#include <string>

#include "web/live/numbered_rows.hpp"

namespace rubato::web {

class ToldEvents {
 public:
  /// `seconds` of the experiment; `client`: the one that it is about, or -1.
  void add(double seconds, const std::string& what, const std::string& level, const std::string& host, const std::string& text,
           std::int32_t client = -1);
  /// How many there have been.
  std::uint64_t count() const { return rows_.count(); }
  /// Those with numbers of `from` or more that are kept still, as docs/live.md has them.
  std::string frame(std::uint64_t from) const { return rows_.frame("events", from); }

 private:
  NumberedRows rows_{4096};
};

}  // namespace rubato::web
