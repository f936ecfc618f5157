#include "results/stop_rule.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <string>

using namespace rubato;

namespace {

config::Metrics stopping(const std::string& metric, std::int64_t window, double below, config::StopBy by) {
  config::Metrics metrics;
  metrics.stop = {metric, window, by, below};
  return metrics;
}

bool holds(StopRule& rule, double loss) {
  Sample sample;
  sample.loss_mean_model = loss;
  return rule.holds_at(sample);
}

std::string refusal_of(const config::Metrics& metrics) {
  try {
    StopRule rule(metrics);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a rule holds once the last values deviate less than its bound, and not before there are as many") {
  StopRule rule(stopping("loss_mean_model", 3, 0.1, config::StopBy::deviation));
  CHECK_FALSE(holds(rule, 1));
  CHECK_FALSE(holds(rule, 1));
  CHECK_FALSE(holds(rule, 2));  // 1, 1, 2: deviation sqrt(2) / 3
  CHECK_FALSE(holds(rule, 2));
  CHECK(holds(rule, 2.1));  // 2, 2, 2.1: 0.047
  CHECK(rule.newest() == std::vector<double>{2, 2, 2.1});
}

TEST_CASE("a rule of means holds where the mean of the last values is below its bound") {
  StopRule rule(stopping("loss_mean_model", 2, 1, config::StopBy::mean));
  CHECK_FALSE(holds(rule, 0.5));
  CHECK(holds(rule, 1.25));
  CHECK_FALSE(holds(rule, 0.75));  // 1 is not less than 1
}

TEST_CASE("a rule does not hold over a value that is not known") {
  StopRule rule(stopping("loss_mean_model", 2, 1, config::StopBy::deviation));
  CHECK_FALSE(holds(rule, 1));
  CHECK_FALSE(holds(rule, std::numeric_limits<double>::quiet_NaN()));
  CHECK_FALSE(holds(rule, 1));
  CHECK(holds(rule, 1));
}

TEST_CASE("a rule goes on with the values that it was told") {
  StopRule first(stopping("loss_mean_model", 3, 0.1, config::StopBy::deviation)), second = first;
  holds(first, 4), holds(first, 4);
  second.recall(first.newest());
  CHECK(holds(second, 4));
}

TEST_CASE("a rule about what is no column or is not measured is refused with what there is") {
  const std::string unknown = refusal_of(stopping("los", 3, 1, config::StopBy::mean));
  CHECK(unknown.starts_with("metrics.stop.metric = \"los\": must be a column of metrics.csv: sample, seconds, "));
  CHECK(refusal_of(stopping("objective", 3, 1, config::StopBy::mean)) ==
        "metrics.stop.metric = \"objective\": needs metrics.gradient_norm, which measures it");
  config::Metrics metrics = stopping("objective", 3, 1, config::StopBy::mean);
  metrics.gradient_norm = true;
  CHECK(refusal_of(metrics) == "");
  CHECK_FALSE(StopRule(config::Metrics{}).is_there());
}
