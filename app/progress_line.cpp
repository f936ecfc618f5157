#include "app/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/printable.hpp"

namespace rubato::app {

namespace {

constexpr std::size_t name_columns = 20, spark_columns = 8, most_accuracies = 64;

}  // namespace

ProgressLine::ProgressLine(const config::Experiment& experiment, bool is_quiet, Colour colour)
    : name_{cut(printable(experiment.name), name_columns)}, until_{experiment.until}, line_{is_quiet, colour} {}

void ProgressLine::show(const Progress& progress) {
  const std::vector<LinePart> parts = parts_of(progress, line_.terminal());
  if (line_.is_due()) line_.show(parts);
}

// The newest is always the last; once there are too many every second of the others is forgotten.
void ProgressLine::remember(double accuracy) {
  if (!accuracies_.empty() && accuracies_.back() == accuracy) return;
  if (skipped_ > 0) accuracies_.pop_back();
  accuracies_.push_back(accuracy);
  skipped_ = (skipped_ + 1) % every_;
  if (accuracies_.size() < most_accuracies) return;
  for (std::size_t i = 0; i < accuracies_.size() / 2; ++i) accuracies_[i] = accuracies_[2 * i + 1];
  accuracies_.resize(accuracies_.size() / 2);
  every_ *= 2;
}

std::vector<LinePart> ProgressLine::parts_of(const Progress& progress, const Terminal& terminal) {
  if (!begin_ || progress.wall_seconds == 0) begin_ = progress;
  const double done = progress.virtual_seconds - begin_->virtual_seconds, passed = progress.wall_seconds - begin_->wall_seconds;
  const double rate = passed > 0 ? static_cast<double>(progress.events - begin_->events) / passed : 0;
  const double share = until_ > 0 ? std::clamp(progress.virtual_seconds / until_, 0.0, 1.0) : 1;
  std::vector<LinePart> parts;
  if (terminal.is_there) {
    parts.push_back({.text = name_, .leaves = Leaves::earlier});
    parts.push_back(bar_part(share, terminal));
  }
  const double seconds = std::max(progress.virtual_seconds, 0.0);  // hosts agree on a beginning that is still to come
  parts.push_back(
      {.text = fmt::format("{:.0f} of {:.0f} s", seconds, until_), .brief = fmt::format("{:.0f}/{:.0f} s", seconds, until_)});
  parts.push_back({.text = fmt::format("{:.0f} %", 100 * share), .brief = fmt::format("{:.0f}%", 100 * share)});
  if (progress.accuracy) {
    remember(*progress.accuracy);
    parts.push_back({.text = fmt::format("accuracy {:.1f} %", 100 * *progress.accuracy),
                     .brief = fmt::format("acc {:.1f}", 100 * *progress.accuracy)});
    if (terminal.is_there && accuracies_.size() > 1)
      parts.push_back({.text = sparkline(accuracies_, spark_columns, terminal.has_utf8),
                       .brief = sparkline(accuracies_, spark_columns / 2, terminal.has_utf8),
                       .leaves = Leaves::after_brief});
  }
  if (progress.virtual_seconds >= until_) {
    parts.push_back({.text = "scoring", .leaves = Leaves::at_last});
    return parts;
  }
  parts.push_back({.text = counted_text(rate) + " events/s", .leaves = Leaves::first});
  if (done > 0)
    parts.push_back({.text = clock_text(passed * (until_ - progress.virtual_seconds) / done) + " left", .leaves = Leaves::at_last});
  return parts;
}

}  // namespace rubato::app
