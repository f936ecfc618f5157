// The numbers of a run as the report's page wants them: one JSON object, made from the run's result or from its folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "experiment/file/resolve.hpp"
#include "results/run_result.hpp"

namespace rubato::web {

/// No more rows of metrics.csv go into the page; the first and the last always do.
inline constexpr std::size_t most_samples = 1000;
/// No more columns of training rows: above that, a column is clients next to each other.
inline constexpr std::size_t most_bars = 100;

/// What a report holds.
struct ReportData {
  std::string json;                                           ///< of the page, safe inside a script element
  std::vector<std::pair<std::string, std::string>> tables{};  ///< files beside it: course_tables()
};

/// Numbers that JSON cannot hold become the words "nan", "inf" and "-inf". Samples and record
/// are read from the folder. Throws std::invalid_argument where a file is missing or damaged.
ReportData report_data(const std::filesystem::path& folder, const ResolvedExperiment& resolved, const RunResult& result);
/// The same from the files of the folder alone.
ReportData report_data(const std::filesystem::path& folder, const ResolvedExperiment& resolved);

/// Whether the run left steps behind: record = "off" leaves an empty file or none.
bool has_record(const std::filesystem::path& folder);

}  // namespace rubato::web
