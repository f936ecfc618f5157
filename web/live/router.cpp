#include "web/live/router.hpp"

#include <algorithm>
#include <charconv>

#include "web/live/metrics_text.hpp"
#include "web/live_page.hpp"
#include "web/page_json.hpp"

namespace rubato::web {

namespace {

constexpr std::string_view json_type = "application/json; charset=utf-8";

Reply refused(unsigned status, const std::string& why) { return {.status = status, .body = why + "\n"}; }

Reply json(const ResultJson& body) { return {.body = page_text(body), .type = json_type}; }
Reply json(std::string body) { return {.body = std::move(body), .type = json_type}; }

std::optional<std::string_view> text_in(std::string_view target, std::string_view name) {
  std::string_view query = target.substr(std::min(target.find('?'), target.size()));
  while (!query.empty()) {
    query.remove_prefix(1);
    const std::string_view part = query.substr(0, query.find('&'));
    if (part.starts_with(name) && part.substr(name.size()).starts_with('=')) return part.substr(name.size() + 1);
    query.remove_prefix(part.size());
  }
  return std::nullopt;
}

// The number behind the last that the page has.
std::uint64_t first_wanted(std::string_view target) {
  const auto after = number_in(target, "after");
  return after ? *after + 1 : 0;
}

}  // namespace

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

std::optional<std::uint64_t> number_in(std::string_view target, std::string_view name) {
  const auto text = text_in(target, name);
  if (!text) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size() || number >= std::uint64_t{1} << 53) return std::nullopt;
  return number;
}

std::optional<Reply> Router::refusal(const Request& request) const {
  if (request.method != "GET" && request.method != "HEAD") return refused(405, "only GET and HEAD");
  if (!gate_.knows_host(request.knock.host)) return refused(421, "this server has another name");
  if (!Gate::is_own_origin(request.knock)) return refused(403, "asked for by a page of another origin");
  const std::string_view path = path_of(request.target);
  const bool is_open = path == "/" || path == "/health";
  if (!is_open && !gate_.has_token(request.knock))
    return refused(401, "the token that was printed at the start is missing or wrong");
  return std::nullopt;
}

std::shared_ptr<RunSource> Router::run_in(std::string_view target) const {
  const std::uint64_t number = number_in(target, "run").value_or(0);
  return number < runs_.size() ? runs_[number] : nullptr;
}

Reply Router::answer(const Request& request) const {
  if (auto refusal = this->refusal(request)) return *refusal;
  const std::string_view path = path_of(request.target);
  if (path == "/") return {.body = live_page(), .type = "text/html; charset=utf-8", .is_page = true};
  if (path == "/health") {
    const bool is_well = std::ranges::none_of(runs_, [](const auto& run) { return run->numbers().has_failed; });
    return is_well ? Reply{.body = "ok\n"} : refused(503, "the run has failed");
  }
  if (path == "/login") return {.status = 204, .cookie = gate_.needs_token() ? gate_.cookie() : ""};
  if (path == "/metrics") return metrics();
  if (path == "/api/v1/runs") return runs_line();
  return answer_about_run(path, request.target);
}

Reply Router::answer_about_run(std::string_view path, std::string_view target) const {
  constexpr std::string_view root = "/api/v1/";
  if (!path.starts_with(root)) return refused(404, "there is nothing here");
  for (const char* name : {"run", "after"})
    if (text_in(target, name) && !number_in(target, name))
      return refused(400, std::string(name) + " must be a whole number below 2^53");
  const std::shared_ptr<RunSource> run = run_in(target);
  if (!run) return refused(404, "there is no such run");
  const std::string_view what = path.substr(root.size());
  if (what == "run") {
    ResultJson hello = run->hello();
    hello["id"] = number_in(target, "run").value_or(0);
    return json(hello);
  }
  if (what == "tick") {
    ResultJson tick = run->tick();
    tick["viewers"] = counts_.viewers, tick["dropped"] = counts_.dropped;
    return json(tick);
  }
  if (what == "samples") return json(run->samples(first_wanted(target)));
  if (what == "events") return json(run->events(first_wanted(target)));
  if (what == "hosts") return json(run->hosts());
  if (what == "views") return json(run->views(first_wanted(target)));
  if (what == "marks") return json((run->revision(), run->marks(first_wanted(target))));
  if (what == "report") {
    auto report = run->report();
    return report ? json(*std::move(report)) : refused(404, "there is no report yet");
  }
  return refused(404, "there is nothing here");
}

Reply Router::runs_line() const {
  ResultJson lines = ResultJson::array();
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    lines.push_back(runs_[i]->line());
    lines.back()["id"] = i;
  }
  return json(ResultJson{{"type", "runs"}, {"runs", std::move(lines)}});
}

Reply Router::metrics() const {
  std::vector<RunNumbers> numbers;
  for (const auto& run : runs_) numbers.push_back(run->numbers());
  return {.body = metrics_text(numbers, counts_), .type = "text/plain; version=0.0.4; charset=utf-8"};
}

}  // namespace rubato::web
