// LiveComparison: what a comparison in this process has told of itself so far.
#pragma once

#include <mutex>
#include <string>

#include "results/comparison_plan.hpp"
#include "results/run_result.hpp"
#include "web/live/run_source.hpp"
#include "web/live/told_events.hpp"

namespace rubato::web {

class LiveComparison final : public RunSource {
 public:
  LiveComparison(const ComparisonPlan& plan, const Provenance& origin, const std::string& folder);

  void advance(std::size_t finished, double share, double real_seconds);
  void note(const std::string& sentence);
  /// The last that is told.
  void finish(const std::string& state, std::optional<std::string> report);

  Revision revision() const override;
  ResultJson hello() const override;
  ResultJson tick() const override;
  std::string events(std::uint64_t from) const override;
  std::string end() const override;
  std::optional<std::string> report() const override;
  ResultJson line() const override;
  RunNumbers numbers() const override;

 private:
  ResultJson hello_;
  const std::size_t runs_;

  mutable std::mutex mutex_;  // guards what follows
  std::string state_ = "running";
  std::size_t finished_ = 0;
  double share_ = 0, real_seconds_ = 0;
  ToldEvents told_;
  Revision revision_;
  std::optional<std::string> report_;
};

}  // namespace rubato::web
