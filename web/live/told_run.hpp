// ToldRun: what runs and comparisons of this process have in common: what they are, and what they have told of themselves so far.
// The thread of the run tells, the server's thread reads.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "results/run_result.hpp"
#include "web/live/run_source.hpp"
#include "web/live/told_events.hpp"

namespace rubato::web {

/// What a run is, before it begins.
struct LiveFacts {
  std::string kind;  ///< "run", "node" or "compare"
  std::string host;  ///< this one, of several; else empty
  std::string folder;
  Provenance origin{};
};

class ToldRun : public RunSource {
 public:
  void note(const std::string& sentence);

  ResultJson hello() const override;
  std::string events(std::uint64_t from) const override;
  std::optional<std::string> report() const override;

 protected:
  /// `more` stands in hello() before what is known of the machine, `columns` behind it, as `mark_kinds` does.
  ToldRun(const LiveFacts& facts, const config::Experiment& experiment, std::int64_t seed, const ResultJson& more,
          ResultJson columns, ResultJson mark_kinds);

  /// With the lock: a line of the index of runs.
  ResultJson line_of(ResultJson seconds, ResultJson accuracy, ResultJson spark) const;

  ResultJson hello_;
  mutable std::mutex mutex_;  // guards what follows
  std::string state_ = "running";
  double seconds_ = 0;  // of the experiment; a comparison has none
  ToldEvents told_;
  Revision revision_;
  std::optional<std::string> report_;
};

}  // namespace rubato::web
