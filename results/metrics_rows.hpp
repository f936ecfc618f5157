// The rows of metrics.csv that lives of a run before this one have left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "results/run_result.hpp"

namespace rubato {

/// The numbers of a row, from its first to its last.
std::vector<double> numbers_in(std::string_view line);

/// Of the last row; 0 without one, or without the file.
std::uint64_t events_in(const std::filesystem::path& metrics);
double seconds_in(const std::filesystem::path& metrics);

/// Cuts the file before the first row that counts more than `known` does, or that is not whole: a life that was killed has counted
/// what neither its record nor its checkpoint says.
void keep_known_rows(const std::filesystem::path& metrics, const Sample& known);

}  // namespace rubato
