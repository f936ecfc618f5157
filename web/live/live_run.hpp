// LiveRun: what a run in this process has told of itself so far.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "experiment/file/resolve.hpp"
#include "results/run_result.hpp"
#include "web/live/marks.hpp"
#include "web/live/told_run.hpp"
#include "web/live/told_views.hpp"

namespace rubato::web {

class LiveRun final : public ToldRun {
 public:
  LiveRun(const config::Experiment& experiment, const LiveFacts& facts);

  /// "meeting", "running", "scoring", and at the end "complete", "stopped" or "failed".
  void enter(const std::string& state);
  void advance(double seconds, double real_seconds, std::uint64_t events);
  void add(const Sample& sample);
  void add(const Glance& glance);
  void add(const HostStatus& status);
  void add(const RunEvent& event);
  /// The last that is told; `report`: the data of its page, or nothing.
  void finish(const std::string& state, const ResultJson& summary, std::optional<std::string> report);

  /// Pages look at it, so that counters are worth a look; true not more often than a few times a second.
  bool wants_glance();
  MarkWatch& marks_watch() { return marks_; }

  Revision revision() const override;
  ResultJson tick() const override;
  std::string samples(std::uint64_t from) const override;
  std::string hosts() const override;
  std::string views(std::uint64_t from) const override;
  std::string marks(std::uint64_t from) const override { return marks_.frame(from); }
  std::string end() const override;
  ResultJson line() const override;
  RunNumbers numbers() const override;
  void look(bool is_watched, bool marks_are_watched) override;

 private:
  using Clock = std::chrono::steady_clock;

  const double until_, time_scale_;
  const std::size_t clients_;
  MarkWatch marks_;
  std::atomic<bool> is_watched_{false};
  Clock::time_point glanced_{};  // by the thread of the run

  // The lock guards what follows.
  double real_seconds_ = 0;
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
  ToldViews views_;
  std::string end_;
};

/// The columns of the rows of samples, as a page is told them.
ResultJson sample_columns_json();

}  // namespace rubato::web
