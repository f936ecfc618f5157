#include "web/live/live_comparison.hpp"

#include "results/summary.hpp"
#include "web/live/live_run.hpp"
#include "web/live/page_json.hpp"

namespace rubato::web {

LiveComparison::LiveComparison(const ComparisonPlan& plan, const Provenance& origin, const std::string& folder)
    : runs_{plan.settings.size() * plan.seeds} {
  const ComparedSetting& first = first_possible(plan.settings);
  ResultJson settings = ResultJson::array();
  for (const ComparedSetting& setting : plan.settings) settings.push_back(setting.label);
  hello_ = {{"type", "hello"},
            {"protocol", 1},
            {"run_id", new_run_id()},
            {"id", 0},
            {"kind", "compare"},
            {"state", state_},
            {"name", first.experiment.name},
            {"algorithm", first.experiment.algorithm.name},
            {"clock", first.experiment.clock == config::ClockKind::virtual_time ? "virtual" : "wall"},
            {"until", first.experiment.until},
            {"clients", first.experiment.clients.count},
            {"seed", plan.first_seed},
            {"seeds", plan.seeds},
            {"settings", std::move(settings)},
            {"host", ""},
            {"hosts", ResultJson::array()},
            {"toml", ""},
            {"command", origin.command},
            {"started_at", origin.started_at},
            {"machine", origin.machine},
            {"folder", folder},
            {"version", version()},
            {"columns", ResultJson::array()},
            {"mark_kinds", ResultJson::array()}};
}

void LiveComparison::advance(std::size_t finished, double share, double real_seconds) {
  const std::lock_guard lock(mutex_);
  finished_ = finished, share_ = share, real_seconds_ = real_seconds;
  ++revision_.ticks;
}

void LiveComparison::note(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  told_.add(0, "note", "warn", "", sentence);
}

void LiveComparison::finish(const std::string& state, std::optional<std::string> report) {
  const std::lock_guard lock(mutex_);
  if (revision_.is_over) return;
  state_ = state, report_ = std::move(report);
  revision_.is_over = true;
  ++revision_.ticks;
}

Revision LiveComparison::revision() const {
  const std::lock_guard lock(mutex_);
  Revision now = revision_;
  now.events = told_.count();
  return now;
}

ResultJson LiveComparison::hello() const {
  const std::lock_guard lock(mutex_);
  ResultJson hello = hello_;
  hello["state"] = state_;
  return hello;
}

ResultJson LiveComparison::tick() const {
  const std::lock_guard lock(mutex_);
  const bool is_moving = share_ > 0 && !revision_.is_over;
  return {{"type", "tick"},
          {"state", state_},
          {"share", share_},
          {"finished", finished_},
          {"runs", runs_},
          {"real_seconds", real_seconds_},
          {"left_seconds", is_moving ? ResultJson(real_seconds_ * (1 - share_) / share_) : ResultJson(nullptr)},
          {"running", ResultJson::array()}};
}

std::string LiveComparison::events(std::uint64_t from) const {
  const std::lock_guard lock(mutex_);
  return told_.frame(from);
}

std::string LiveComparison::end() const {
  const std::lock_guard lock(mutex_);
  return page_text({{"type", "end"}, {"state", state_}, {"summary", nullptr}, {"has_report", report_.has_value()}});
}

std::optional<std::string> LiveComparison::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

ResultJson LiveComparison::line() const {
  const std::lock_guard lock(mutex_);
  return {{"id", 0},
          {"run_id", hello_["run_id"]},
          {"name", hello_["name"]},
          {"algorithm", hello_["algorithm"]},
          {"state", state_},
          {"seconds", nullptr},
          {"until", hello_["until"]},
          {"accuracy", nullptr},
          {"spark", ResultJson::array()},
          {"folder", hello_["folder"]},
          {"seed", hello_["seed"]},
          {"share", share_}};
}

RunNumbers LiveComparison::numbers() const {
  const std::lock_guard lock(mutex_);
  RunNumbers numbers;
  for (const char* label : {"name", "algorithm", "clock", "version", "kind", "run_id"})
    numbers.labels.emplace_back(label, hello_[label].get<std::string>());
  numbers.labels.emplace_back("state", state_);
  numbers.compared = {finished_, runs_};
  numbers.has_failed = state_ == "failed";
  return numbers;
}

}  // namespace rubato::web
