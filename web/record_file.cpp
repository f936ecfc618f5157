#include "web/record_file.hpp"

#include <algorithm>
#include <stdexcept>

namespace rubato::web {

RecordReader open_record(const std::filesystem::path& file) try {
  return RecordReader(file);
} catch (const std::runtime_error& error) {
  throw std::invalid_argument(error.what());
}

Time opening_of(const Step& merge, Duration window) {
  // No message arrives before it departed: this matters where a window is closed late, in wall time.
  Duration oldest{};
  for (const StepEntry& entry : merge.entries) oldest = std::max(oldest, entry.age);
  return merge.at - std::min(window, oldest);
}

}  // namespace rubato::web
