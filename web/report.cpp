#include "web/report.hpp"

#include <algorithm>
#include <sstream>

#include "experiment/file/experiment_file.hpp"
#include "results/whole_file.hpp"
#include "web/course_events.hpp"
#include "web/report_data.hpp"
#include "web/report_page.hpp"
#include "web/run_files.hpp"
#include "web/trace.hpp"

namespace rubato::web {

namespace {

constexpr std::pair<char, std::string_view> escapes[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

std::vector<TraceEvent> churn_of(const ResolvedExperiment& resolved) {
  std::vector<TraceEvent> events;
  for (const ChurnEvent& event : resolved.timing->churn.events())
    if (const char* word = word_of(event.kind))
      events.push_back(
          {event.is_of_links() ? word : std::string(word) + " client " + std::to_string(event.client.value), event.at});
  return events;
}

std::vector<TraceCounter> counters_of(const std::filesystem::path& folder) {
  std::vector<TraceCounter> counters;
  const Table metrics(folder / "metrics.csv");
  for (const auto& [column, name] : {std::pair{"accuracy_mean", "accuracy"}, {"consensus", "consensus"}, {"bytes_wire", "bytes"}})
    for (std::size_t i = 0; i < metrics.rows(); ++i)
      counters.push_back(
          {name, Time{from_seconds(metrics.row(i)[metrics.column("seconds")])}, metrics.row(i)[metrics.column(column)]});
  return counters;
}

TraceSettings trace_settings(const std::filesystem::path& folder, const ResolvedExperiment& resolved) {
  const config::Experiment& experiment = resolved.experiment;
  TraceSettings settings;
  settings.experiment = experiment.name;
  settings.window = resolved.window();
  settings.events = churn_of(resolved), settings.counters = counters_of(folder);
  if (experiment.mailbox.deadline) settings.deadline = from_seconds(*experiment.mailbox.deadline);
  return settings;
}

// `text`: of experiment.toml.
void write_page(const std::filesystem::path& folder, const ResolvedExperiment& resolved, std::string_view text,
                const ReportData& data) {
  const std::string page = bundled_page(resolved.experiment.name, text, data.json);
  for (const auto& [name, table] : data.tables) write_whole(folder / name, table);
  if (has_record(folder)) write_trace(folder / "timeline.rbt", folder / "trace.json", trace_settings(folder, resolved));
  write_whole(folder / "report.html", page);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    const auto escape = std::ranges::find(escapes, letter, &std::pair<char, std::string_view>::first);
    escape == std::end(escapes) ? safe += letter : safe += escape->second;
  }
  return safe;
}

// In a script element, only "<" can begin something that ends it.
std::string in_script(std::string_view json) {
  std::string safe;
  for (const char letter : json) letter == '<' ? safe += "\\u003c" : safe += letter;
  return safe;
}

std::string filled(std::string_view page, std::initializer_list<Filling> fillings) {
  std::string text;
  for (std::size_t gap = page.find("{{"); gap != page.npos; gap = page.find("{{")) {
    const std::size_t end = std::min(page.find("}}", gap), page.size());
    const std::string_view name = page.substr(gap + 2, end - gap - 2);
    const auto filling = std::ranges::find(fillings, name, &Filling::name);
    text += page.substr(0, gap);
    if (filling != fillings.end()) text += filling->value;
    page.remove_prefix(std::min(end + 2, page.size()));
  }
  return text.append(page);
}

std::string bundled_page(std::string_view title, std::string_view experiment, std::string_view data, std::string_view connects) {
  const std::string policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'" + std::string(connects);
  return filled(page_html, {{"policy", policy},
                            {"title", escaped(title)},
                            {"style", page_css},
                            {"licences", escaped(page_licences)},
                            {"experiment", escaped(experiment)},
                            {"data", data},
                            {"script", page_js}});
}

void write_report(const std::filesystem::path& folder, const ResolvedExperiment& resolved, const RunResult& result) {
  write_page(folder, resolved, config::write_experiment(resolved.experiment), report_data(folder, resolved, result));
}

void write_report(const std::filesystem::path& folder) {
  std::ostringstream notes;  // the run has said them already
  const ResolvedExperiment resolved = resolve(folder / "experiment.toml", {}, notes);
  write_page(folder, resolved, text_of(folder / "experiment.toml"), report_data(folder, resolved));
}

}  // namespace rubato::web
