// TraceChannel: delay and loss of every link as they were measured, one row after the other.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/world/channel.hpp"

namespace rubato {

/// From this instant on a link has this delay and loses messages with this chance.
struct TraceRow {
  Time from{};
  Duration delay{};
  double loss = 0;
};

/// (source, target) -> rows, ascending.
using LinkTraces = std::map<std::pair<ClientId, ClientId>, std::vector<TraceRow>>;

/// Rows "source,target,time,delay,loss", seconds, in any order; a first line that names the columns is passed over.
/// Throws std::invalid_argument with the line.
LinkTraces read_link_traces(const std::string& file, std::size_t clients);

/// The row in force when a message is sent counts; before the first one, the first. Links without rows lose nothing and
/// have the usual delay. Any thread may ask.
class TraceChannel final : public Channel {
 public:
  TraceChannel(std::uint64_t seed, LinkTraces traces, Duration usual_delay)
      : seed_{seed}, traces_{std::move(traces)}, usual_delay_{usual_delay} {}

  Fate carry(const LinkUse& use) const override;
  bool knows(ClientId source, ClientId target) const { return traces_.contains({source, target}); }

 private:
  std::uint64_t seed_;
  LinkTraces traces_;
  Duration usual_delay_;
};

}  // namespace rubato
