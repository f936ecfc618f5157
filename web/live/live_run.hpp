// LiveRun: what a run in this process has told of itself so far. Its thread tells, the server's thread reads.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "experiment/file/resolve.hpp"
#include "results/run_result.hpp"
#include "web/live/marks.hpp"
#include "web/live/run_source.hpp"
#include "web/live/told_events.hpp"
#include "web/live/told_views.hpp"

namespace rubato::web {

/// What a run is, before it begins.
struct LiveFacts {
  std::string kind;  ///< "run", "node" or "compare"
  std::string host;  ///< this one, of several; else empty
  std::string folder;
  Provenance origin{};
};

class LiveRun final : public RunSource {
 public:
  LiveRun(const config::Experiment& experiment, const LiveFacts& facts);

  /// "meeting", "running", "scoring", and at the end "complete", "stopped" or "failed".
  void enter(const std::string& state);
  void advance(double seconds, double real_seconds, std::uint64_t events);
  void add(const Sample& sample);
  void add(const Glance& glance);
  void add(const HostStatus& status);
  void add(const RunEvent& event);
  void note(const std::string& sentence);
  /// The last that is told; `report`: the data of its page, or nothing.
  void finish(const std::string& state, const ResultJson& summary, std::optional<std::string> report);

  /// Pages look at it, so that counters are worth a look; true not more often than a few times a second.
  bool wants_glance();
  MarkWatch& marks_watch() { return marks_; }

  Revision revision() const override;
  ResultJson hello() const override;
  ResultJson tick() const override;
  std::string samples(std::uint64_t from) const override;
  std::string events(std::uint64_t from) const override;
  std::string hosts() const override;
  std::string views(std::uint64_t from) const override;
  std::string marks(std::uint64_t from) const override { return marks_.frame(from); }
  std::string end() const override;
  std::optional<std::string> report() const override;
  ResultJson line() const override;
  RunNumbers numbers() const override;
  void look(bool is_watched, bool marks_are_watched) override;

 private:
  using Clock = std::chrono::steady_clock;

  ResultJson hello_;
  const double until_, time_scale_;
  const std::size_t clients_;
  MarkWatch marks_;
  std::atomic<bool> is_watched_{false};
  Clock::time_point glanced_{};  // by the thread of the run

  mutable std::mutex mutex_;  // guards what follows
  std::string state_ = "running";
  double seconds_ = 0, real_seconds_ = 0;
  std::uint64_t events_ = 0;
  double began_at_ = 0, began_real_ = 0;  // of the experiment and real, where this process began
  std::uint64_t began_events_ = 0;
  bool has_begun_ = false;
  std::optional<Sample> sample_;
  std::optional<Glance> glance_;
  std::optional<HostStatus> status_;
  std::deque<std::string> rows_;   // of samples, as they are sent
  std::deque<double> accuracies_;  // of the same samples
  std::uint64_t first_row_ = 0;
  ToldEvents told_;
  ToldViews views_;
  Revision revision_;
  std::string end_;
  std::optional<std::string> report_;
};

/// The columns of the rows of samples, as a page is told them.
ResultJson sample_columns_json();
/// So many numbers at most, evenly out of these.
template <class Numbers>
std::vector<double> thinned(const Numbers& numbers, std::size_t most) {
  std::vector<double> some;
  const std::size_t shown = std::min(numbers.size(), most);
  for (std::size_t i = 0; i < shown; ++i) some.push_back(numbers[shown == 1 ? 0 : i * (numbers.size() - 1) / (shown - 1)]);
  return some;
}
/// A random word that no other life of a run has.
std::string new_run_id();

}  // namespace rubato::web
