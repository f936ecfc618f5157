// Opening the record of a run, and what its steps say of windows.
#pragma once

#include <filesystem>

#include "runtime/record.hpp"
#include "runtime/step.hpp"

namespace rubato::web {

/// Opens a record. Throws std::invalid_argument if the file is missing or no record.
RecordReader open_record(const std::filesystem::path& file);

/// When the window of a merge was opened by its first arrival. A record has no arrivals; but under the protocol `push`
/// a window closes exactly `window` after it opened.
Time opening_of(const Step& merge, Duration window);

}  // namespace rubato::web
