#include "app/progress_line.hpp"

#include <algorithm>
#include <cstdio>

namespace rubato::app {

void ProgressLine::show(const Progress& progress) {
  if (!line_.is_due()) return;
  const double share = std::clamp(progress.virtual_seconds / until_, 0.0, 1.0);
  const double left = share > 0 ? progress.wall_seconds * (1 - share) / share : 0;
  const double rate = progress.wall_seconds > 0 ? static_cast<double>(progress.events) / progress.wall_seconds : 0;
  char accuracy[32] = "";
  if (progress.accuracy) std::snprintf(accuracy, sizeof accuracy, "  accuracy %.3f", *progress.accuracy);
  char text[200];
  std::snprintf(text, sizeof text, "%.1f of %.1f s  %.3g events/s%s  %.0f s left", progress.virtual_seconds, until_, rate, accuracy,
                left);
  line_.show(share, text);
}

}  // namespace rubato::app
