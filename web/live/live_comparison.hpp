// LiveComparison: what a comparison in this process has told of itself so far.
#pragma once

#include <string>

#include "results/comparison_plan.hpp"
#include "web/live/told_run.hpp"

namespace rubato::web {

class LiveComparison final : public ToldRun {
 public:
  LiveComparison(const ComparisonPlan& plan, const Provenance& origin, const std::string& folder);

  void advance(std::size_t finished, double share, double real_seconds);
  /// The last that is told.
  void finish(const std::string& state, std::optional<std::string> report);

  Revision revision() const override;
  ResultJson tick() const override;
  std::string end() const override;
  ResultJson line() const override;
  RunNumbers numbers() const override;

 private:
  const std::size_t runs_;
  // The lock guards what follows.
  std::size_t finished_ = 0;
  double share_ = 0, real_seconds_ = 0;
};

}  // namespace rubato::web
