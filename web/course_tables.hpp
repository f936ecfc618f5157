// The course of a run as tables beside its report: events.csv, staleness.csv, versions.csv, link_ages.csv, waits.csv
// and critical_path.csv (docs/run-folder.md).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/result_text.hpp"
#include "web/score.hpp"

namespace rubato::web {

/// Names of files and what they hold. `events` as the page has them: seconds, what, client and the other one, or null.
std::vector<std::pair<std::string, std::string>> course_tables(const ResultJson& events, const RunScore& score);

}  // namespace rubato::web
