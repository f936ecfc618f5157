#include "app/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rubato::app {

void ProgressLine::show(const Progress& progress) {
  const std::string text = text_of(progress);
  if (line_.is_due()) line_.show(std::clamp(progress.virtual_seconds / until_, 0.0, 1.0), text);
}

std::string ProgressLine::text_of(const Progress& progress) {
  if (!begin_ || progress.wall_seconds == 0) begin_ = progress;
  const double done = progress.virtual_seconds - begin_->virtual_seconds, passed = progress.wall_seconds - begin_->wall_seconds;
  const double rate = passed > 0 ? static_cast<double>(progress.events - begin_->events) / passed : 0;
  std::string text = fmt::format("{:.1f} of {:.1f} s  {:.3g} events/s", progress.virtual_seconds, until_, rate);
  if (progress.accuracy) text += fmt::format("  accuracy {:.3f}", *progress.accuracy);
  if (progress.virtual_seconds >= until_) return text + "  scoring";
  return done > 0 ? text + fmt::format("  {:.0f} s left", passed * (until_ - progress.virtual_seconds) / done) : text;
}

}  // namespace rubato::app
