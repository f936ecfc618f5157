// Whether the files of one run agree with each other, with its experiment walked again, and with its models scored again.
#pragma once

#include <filesystem>
#include <stdexcept>

#include "app/check_faults.hpp"

namespace rubato::app {

/// The data that a run has learnt from are not to be had, so its folder cannot be judged.
struct NoData : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// `data`: where data sets lie. Throws NoData, and std::invalid_argument where a file is missing or no such file.
void check_run(const std::filesystem::path& folder, const std::filesystem::path& data, CheckFaults& faults);

}  // namespace rubato::app
