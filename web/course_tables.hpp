// The course of a run as tables beside its report: events.csv, staleness.csv, versions.csv, link_ages.csv, waits.csv
// and critical_path.csv (docs/run-folder.md).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "web/course_events.hpp"
#include "web/score.hpp"

namespace rubato::web {

/// Names of files and what they hold.
std::vector<std::pair<std::string, std::string>> course_tables(const std::vector<CourseEvent>& events, const RunScore& score);

}  // namespace rubato::web
