#include "app/serving.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "web/live/folder_run.hpp"

namespace rubato::app {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds for_the_end{10};  // that pages have to fetch the report

// The first line of the file, which its owner alone may read.
std::string token_in(const fs::path& file) {
  const auto refuse = [&](const std::string& why) { throw std::invalid_argument("--serve-token " + file.string() + ": " + why); };
  constexpr std::size_t shortest_token = 16;
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) refuse("cannot be read");
  if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) refuse("others than its owner may read it: chmod 600");
  std::string token;
  std::getline(std::ifstream(file) >> std::ws, token);
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back()))) token.pop_back();
  const auto is_plain = [](unsigned char letter) {
    return std::isalnum(letter) || letter == '-' || letter == '_' || letter == '.';
  };
  if (token.size() < shortest_token || !std::ranges::all_of(token, is_plain))
    refuse("holds no token of at least 16 letters, digits, '-', '_' or '.' in its first line");
  return token;
}

std::vector<std::string> own_names() {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0 || !*name) return {};
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return {lower};
}

std::string state_of(int code) { return code == ok || code == bad_input ? "complete" : code == stopped ? "stopped" : "failed"; }

// What both call, one after the other.
template <class Given>
std::function<void(const Given&)> both(std::function<void(const Given&)> first, std::function<void(const Given&)> second) {
  if (!first) return second;
  return [first = std::move(first), second = std::move(second)](const Given& given) {
    first(given);
    second(given);
  };
}

std::optional<std::string> report_in(const fs::path& folder) { return folder.empty() ? std::nullopt : web::data_of_report(folder); }

}  // namespace

std::unique_ptr<web::LiveServer> open_server(const ServeArguments& arguments, std::vector<std::shared_ptr<web::RunSource>> runs) {
  web::ServerSettings settings{.listen = web::parse_listen_address(arguments.listen), .token = {}, .runs = std::move(runs)};
  settings.names = own_names();
  if (!arguments.token_file.empty()) settings.token = token_in(arguments.token_file);
  const bool is_made = settings.token.empty() && !settings.listen.is_loopback();
  if (is_made) settings.token = web::new_token();
  const std::string token = settings.token;
  auto server = std::make_unique<web::LiveServer>(std::move(settings));
  std::string url = server->url();
  if (!is_made && !token.empty()) url.resize(url.find('#') + 1), url += "TOKEN";  // of the file: not for the log
  std::fprintf(stderr, "the run is shown at %s\n", url.c_str());
  return server;
}

Serving::Serving(const ServeArguments& arguments, const config::Experiment& experiment, const web::LiveFacts& facts) {
  if (arguments.listen.empty()) return;
  run_ = std::make_shared<web::LiveRun>(experiment, facts);
  server_ = open_server(arguments, {run_});
}

Serving::~Serving() {
  if (!run_) return;
  run_->finish("failed", summary_, std::nullopt);
  server_->linger(for_the_end);
}

void Serving::watch(RunOptions& options) {
  if (!run_) return;
  web::LiveRun& run = *run_;
  options.on_progress = both<Progress>(options.on_progress, [&run](const Progress& progress) {
    run.advance(progress.virtual_seconds, progress.wall_seconds, progress.events);
  });
  options.on_sample = both<Sample>(options.on_sample, [&run](const Sample& sample) { run.add(sample); });
  options.on_note = both<std::string>(options.on_note, [&run](const std::string& sentence) { run.note(sentence); });
  options.on_glance = [&run](const Glance& glance) { run.add(glance); };
  options.wants_glance = [&run] { return run.wants_glance(); };
  options.observer = &run.marks_watch();
}

void Serving::watch(HostOptions& options) {
  if (!run_) return;
  web::LiveRun& run = *run_;
  options.asks_for_views = true;
  options.on_event = both<RunEvent>(options.on_event, [&run](const RunEvent& event) { run.add(event); });
  options.on_status = both<HostStatus>(options.on_status, [&run](const HostStatus& status) { run.add(status); });
}

void Serving::conclude(const config::Experiment& experiment, const RunResult& result) {
  if (!run_) return;
  run_->enter("scoring");
  run_->advance(result.virtual_seconds, result.wall_seconds, result.events);
  summary_ = summary_of(experiment, result);
}

void Serving::finish(int code, const fs::path& folder) {
  if (run_) run_->finish(state_of(code), summary_, report_in(folder));
}

ServingComparison::ServingComparison(const ServeArguments& arguments, const ComparisonPlan& plan, const Provenance& origin,
                                     const fs::path& folder) {
  if (arguments.listen.empty()) return;
  comparison_ = std::make_shared<web::LiveComparison>(plan, origin, folder.string());
  server_ = open_server(arguments, {comparison_});
}

ServingComparison::~ServingComparison() {
  if (!comparison_) return;
  comparison_->finish("failed", std::nullopt);
  server_->linger(for_the_end);
}

void ServingComparison::finish(int code, const fs::path& folder) {
  if (comparison_) comparison_->finish(state_of(code), report_in(folder));
}

}  // namespace rubato::app
