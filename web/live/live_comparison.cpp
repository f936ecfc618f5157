#include "web/live/live_comparison.hpp"

#include "web/page_json.hpp"
#include "web/shown.hpp"

namespace rubato::web {

LiveComparison::LiveComparison(const ComparisonPlan& plan, const Provenance& origin, const std::string& folder)
    : ToldRun({"compare", "", folder, origin}, first_possible(plan.settings).experiment, plan.first_seed,
              {{"seeds", plan.seeds},
               {"settings", json_list(plan.settings, [](const ComparedSetting& setting) { return setting.label; })},
               {"host", ""},
               {"hosts", ResultJson::array()},
               {"toml", ""}},
              ResultJson::array(), ResultJson::array()),
      runs_{plan.settings.size() * plan.seeds} {}

void LiveComparison::advance(std::size_t finished, double share, double real_seconds) {
  const std::lock_guard lock(mutex_);
  finished_ = finished, share_ = share, real_seconds_ = real_seconds;
  ++revision_.ticks;
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

std::string LiveComparison::end() const {
  const std::lock_guard lock(mutex_);
  return page_text({{"type", "end"}, {"state", state_}, {"summary", nullptr}, {"has_report", report_.has_value()}});
}

ResultJson LiveComparison::line() const {
  const std::lock_guard lock(mutex_);
  ResultJson line = line_of(nullptr, nullptr, ResultJson::array());
  line["share"] = share_;
  return line;
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
