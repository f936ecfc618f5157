// ToldViews: how each host of a run in real time has scored so far, from what it tells of its newest sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/run_event.hpp"
#include "web/live/numbered_rows.hpp"

namespace rubato::web {

class ToldViews {
 public:
  /// `hosts`: the names of all, in the order of the roster.
  explicit ToldViews(std::vector<std::string> hosts) : hosts_{std::move(hosts)}, seen_(hosts_.size()) {}

  /// `self`: the name of the host whose status it is. A row for each host with a newer sample than before, and one without
  /// numbers for each that is not there any more.
  void add(const std::string& self, const HostStatus& status);
  std::uint64_t count() const { return rows_.count(); }
  /// Those with numbers of `from` or more that are kept still, as docs/live.md has them.
  std::string frame(std::uint64_t from) const { return rows_.frame("views", from); }

 private:
  struct Seen {
    double seconds = -1;   // of the experiment: the newest sample
    bool has_left = true;  // a row says so, or there is none
  };

  void add(const std::string& name, const HostView& view);
  void leave(const std::string& name, double seconds);
  std::size_t place_of(const std::string& name) const;

  const std::vector<std::string> hosts_;
  std::vector<Seen> seen_;  // by host
  NumberedRows rows_{32'768};
};

}  // namespace rubato::web
