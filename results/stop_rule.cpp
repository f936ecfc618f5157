#include "results/stop_rule.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "learning/metrics.hpp"
#include "results/columns.hpp"

namespace rubato {

bool is_measured_by(const SampleColumn& column, const config::Metrics& metrics) {
  if (column.asked_by == "metrics.training") return metrics.training;
  if (column.asked_by == "metrics.gradient_norm") return metrics.gradient_norm;
  if (column.asked_by == "metrics.mean_weights") return metrics.mean_weights != config::MeanWeights::none;
  if (column.asked_by == "metrics.stationarity") return metrics.stationarity;
  if (column.asked_by == "metrics.tracked") return metrics.tracked || metrics.stationarity;
  if (column.asked_by == "metrics.joint_objective") return metrics.joint_objective;
  return true;
}

namespace {

const SampleColumn& column_of_rule(const config::Metrics& metrics) {
  const std::string& name = *metrics.stop.metric;
  const SampleColumn* column = find_sample_column(name);
  std::vector<std::string_view> names;
  for (const SampleColumn& each : sample_columns()) names.push_back(each.name);
  if (!column)
    throw std::invalid_argument(
        fmt::format("metrics.stop.metric = \"{}\": must be a column of metrics.csv: {}", name, fmt::join(names, ", ")));
  if (!is_measured_by(*column, metrics))
    throw std::invalid_argument(fmt::format("metrics.stop.metric = \"{}\": needs {}, which measures it", name, column->asked_by));
  return *column;
}

}  // namespace

StopRule::StopRule(const config::Metrics& metrics) : rule_{metrics.stop} {
  if (rule_.metric) column_ = &column_of_rule(metrics);
}

bool StopRule::holds_at(const Sample& sample) {
  if (!column_) return false;
  const auto window = static_cast<std::size_t>(rule_.window);
  if (newest_.size() == window) newest_.erase(newest_.begin());
  newest_.push_back(to_double(column_->read(sample)));
  if (newest_.size() < window) return false;
  const double value = rule_.by == config::StopBy::mean ? mean(newest_) : population_deviation(newest_);
  return value < rule_.below.value_or(0);  // false for what is no number
}

}  // namespace rubato
