#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "app/commands.hpp"
#include "app/text/run_view.hpp"
#include "app/text/score_text.hpp"
#include "experiment/file/resolve.hpp"
#include "web/live/folder_run.hpp"
#include "web/live/router.hpp"

namespace rubato::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_staves = 40;

// The whole page, as long as it takes.
constexpr std::size_t rows_of_report = 36;

std::vector<ClientId> clients_of(const std::string& text, std::size_t all) {
  std::vector<ClientId> clients;
  if (text.empty()) {
    for (std::uint32_t i = 0; i < std::min(all, most_staves); ++i) clients.push_back({i});
    return clients;
  }
  std::istringstream parts(text);
  const auto refuse = [&] {
    throw std::invalid_argument("--clients " + text + ": must be numbers below " + std::to_string(all) + ", as in 2-6,9");
  };
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream numbers(part);
    std::uint32_t first = 0, last = 0;
    char dash = 0;
    if (!(numbers >> first)) refuse();
    last = first;
    if (numbers >> dash && (dash != '-' || !(numbers >> last))) refuse();
    if (last < first || last >= all || clients.size() + (last - first) >= most_staves * 10) refuse();
    for (std::uint32_t i = first; i <= last; ++i) clients.push_back({i});
  }
  if (clients.empty()) refuse();
  return clients;
}

}  // namespace

int show(const ShowArguments& arguments) {
  const auto runs = web::runs_at(arguments.folder);
  if (runs.size() != 1) throw std::invalid_argument(arguments.folder.string() + " is no folder of one run");
  const fs::path folder = web::contents_of(runs.front());
  ScoreStretch stretch;
  if (!arguments.score.empty()) {
    std::ostringstream nowhere;
    const ResolvedExperiment resolved = resolve(folder / "experiment.toml", {}, nowhere);
    stretch = {.clients = clients_of(arguments.clients, static_cast<std::size_t>(resolved.experiment.clients.count)),
               .window = resolved.window()};
    set_stretch(arguments.score, stretch);
  }
  const Terminal terminal = terminal_on_output(arguments.colour);
  const ViewSize size{size_of_output().columns - (terminal.is_there ? 1 : 0), rows_of_report, terminal.has_utf8,
                      terminal.has_colour};
  const web::ServerCounts counts;
  const web::Gate gate("", {});
  const web::Router router({std::make_shared<web::FolderRun>(runs.front())}, gate, counts);
  RunView view([&](const std::string& target) { return router.answer({"GET", target, {"localhost", {}, {}, {}}}).body; });
  view.refresh();
  for (const std::string& line : view.page(size)) std::cout << line << "\n";
  if (!arguments.score.empty()) {
    std::cout << "\n";
    for (const std::string& line : score_text(folder / "timeline.rbt", stretch, size.columns, size.has_utf8))
      std::cout << line << "\n";
  }
  std::cout << std::flush;
  return ok;
}

}  // namespace rubato::app
