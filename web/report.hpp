// The report of a run: report.html, one page that needs nothing beside it, and trace.json.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

#include "experiment/file/resolve.hpp"
#include "results/run_result.hpp"

namespace rubato::web {

/// Makes both files of a run that has just ended, and puts them into its folder; a run without a record gets no trace.json. Of
/// the folder only what was written while the run went on is read: metrics.csv and the record. Throws RunFailed if the disk does
/// not take the report.
void write_report(const std::filesystem::path& folder, const ResolvedExperiment& resolved, const RunResult& result);

/// The same of any run, from the files in its folder.
/// Throws std::invalid_argument, before anything is written, where a file of the run is missing or damaged, and
/// RunFailed if the disk does not take the report. The torn end of a record is no fault: the page says that it ends
/// early.
void write_report(const std::filesystem::path& folder);

/// A text as it may stand in HTML, inside a quoted attribute as well.
std::string escaped(std::string_view text);

/// A JSON text, all ASCII, as it may stand in a script element.
std::string in_script(std::string_view json);

/// The page with its bundle; `data` is safe in a script, as in_script() makes it. `connects` is added to its policy, which else
/// lets it ask for nothing: "; connect-src 'self'".
std::string bundled_page(std::string_view title, std::string_view experiment, std::string_view data,
                         std::string_view connects = {});

/// Puts `value` where the text says {{name}}, for every name of the page; what is put in is not searched again.
struct Filling {
  std::string_view name, value;
};
std::string filled(std::string_view page, std::initializer_list<Filling> fillings);

}  // namespace rubato::web
