// Whether the files of one run agree with each other, with its experiment walked again, and with its models scored again.
#pragma once

#include <filesystem>

#include "app/check_faults.hpp"

namespace rubato::app {

/// `data`: where data sets lie. Throws std::invalid_argument where a file is missing or no such file.
void check_run(const std::filesystem::path& folder, const std::filesystem::path& data, CheckFaults& faults);

}  // namespace rubato::app
