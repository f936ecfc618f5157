#include "results/kept_runs.hpp"

#include <fmt/format.h>

#include <limits>
#include <sstream>
#include <system_error>

#include "experiment/file/experiment_file.hpp"
#include "results/result_text.hpp"
#include "results/summary.hpp"
#include "results/whole_file.hpp"

namespace rubato {

namespace fs = std::filesystem;

namespace {

constexpr const char* plan_name = "plan.json";

ResultJson json_of(const ComparisonPlan& plan) {
  ResultJson settings = ResultJson::array();
  for (const ComparedSetting& setting : plan.settings) {
    ResultJson values = ResultJson::array();
    for (const auto& [key, value] : setting.values) values.push_back({key, value});
    settings.push_back({{"label", setting.label},
                        {"file", setting.file.string()},
                        {"values", std::move(values)},
                        {"refusal", setting.refusal},
                        {"experiment", setting.refusal.empty() ? config::write_experiment(setting.experiment) : ""}});
  }
  return {{"rubato", version()},
          {"commit", commit()},
          {"first_seed", plan.first_seed},
          {"seeds", plan.seeds},
          {"settings", std::move(settings)}};
}

ComparisonPlan plan_from(const ResultJson& json) {
  ComparisonPlan plan;
  plan.first_seed = json.at("first_seed").get<std::int64_t>();
  plan.seeds = json.at("seeds").get<std::size_t>();
  for (const ResultJson& each : json.at("settings")) {
    ComparedSetting setting;
    setting.label = each.at("label").get<std::string>();
    setting.file = each.at("file").get<std::string>();
    setting.refusal = each.at("refusal").get<std::string>();
    for (const ResultJson& value : each.at("values"))
      setting.values.emplace_back(value.at(0).get<std::string>(), value.at(1).get<std::string>());
    std::ostringstream notes;
    if (setting.refusal.empty())
      setting.experiment = config::parse_experiment(each.at("experiment").get<std::string>(), setting.file, {}, notes);
    plan.settings.push_back(std::move(setting));
  }
  return plan;
}

// JSON has no infinity and no NaN, so these are texts.
ResultJson json_of(double value) { return std::isfinite(value) ? ResultJson(value) : ResultJson(shortest(value)); }

double number_from(const ResultJson& json) {
  if (json.is_number()) return json.get<double>();
  const std::string text = json.get<std::string>();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return text == "inf" ? infinity : text == "-inf" ? -infinity : not_known;
}

ResultJson json_of(const ComparedRun& run) {
  ResultJson columns = ResultJson::array(), curve = ResultJson::array();
  for (const SampleColumn& column : sample_columns()) columns.push_back(column.name);
  for (const CurvePoint& point : run.curve) {
    ResultJson values = ResultJson::array();
    for (const SampleColumn& column : sample_columns()) values.push_back(json_of(point[column]));
    curve.push_back(std::move(values));
  }
  return {{"seed", run.seed},           {"model_digest", run.digests.model}, {"timeline_digest", run.digests.timeline},
          {"has_spent", run.has_spent}, {"met_rule", run.met_rule},          {"diverged_at", or_null(run.diverged_at)},
          {"came_to", run.came_to},     {"columns", std::move(columns)},     {"curve", std::move(curve)}};
}

ComparedRun run_from(const ResultJson& json) {
  ComparedRun run{.seed = json.at("seed").get<std::int64_t>(), .curve = {}, .digests = {}};
  run.digests.model = json.at("model_digest").get<std::string>();
  run.digests.timeline = json.at("timeline_digest").get<std::string>();
  run.has_spent = json.at("has_spent").get<bool>();
  run.met_rule = json.at("met_rule").get<bool>();
  if (!json.at("diverged_at").is_null()) run.diverged_at = json.at("diverged_at").get<double>();
  run.came_to = json.at("came_to");
  for (const ResultJson& values : json.at("curve")) {
    std::size_t place = 0;
    run.curve.push_back(CurvePoint([&](const SampleColumn&) { return number_from(values.at(place++)); }));
  }
  return run;
}

}  // namespace

KeptRuns::KeptRuns(fs::path folder, const ComparisonPlan& plan) : folder_{std::move(folder)}, plan_{plan} {
  const ResultJson mine = json_of(plan);
  if (!is_there(folder_)) write_whole(folder_ / plan_name, mine.dump(1) + "\n", Durability::of_disk);
  const ResultJson there = ResultJson::parse(read_whole(folder_ / plan_name).value_or(""), nullptr, false);
  if (there == mine) {
    make_room();
    return;
  }
  const auto differs = [&](const char* key) { return !there.is_object() || there.value(key, ResultJson()) != mine.at(key); };
  const char* what = differs("rubato") || differs("commit") ? "version of Rubato"
                     : differs("settings")                  ? "file, --grid or --set"
                                                            : "number of seeds";
  throw std::invalid_argument(fmt::format("--out {}: holds a comparison with another {}; choose another folder, or remove this one",
                                          folder_.string(), what));
}

KeptRuns::KeptRuns(fs::path folder) : folder_{std::move(folder)} {
  const auto text = read_whole(folder_ / plan_name);
  if (!text)
    throw std::invalid_argument(
        fmt::format("{}: has no plan.json, so it is no folder of rubato compare --shard I/N", folder_.string()));
  try {
    plan_ = plan_from(ResultJson::parse(*text));
  } catch (const nlohmann::json::exception& fault) {
    throw std::invalid_argument(fmt::format("{}: is damaged: {}", (folder_ / plan_name).string(), fault.what()));
  }
}

// After the plan, by which other processes know whose folder it is.
void KeptRuns::make_room() const {
  std::error_code error;
  fs::create_directories(folder_ / "runs", error);
  if (error) throw RunFailed(fmt::format("cannot make {}: {}", (folder_ / "runs").string(), error.message()));
}

bool KeptRuns::is_there(const fs::path& folder) { return fs::exists(folder / plan_name); }

fs::path KeptRuns::file(std::size_t setting, std::int64_t seed) const {
  return folder_ / "runs" / fmt::format("{}-seed-{}.json", setting + 1, seed);
}

std::optional<KeptResult> KeptRuns::find(std::size_t setting, std::int64_t seed) const try {
  const auto text = read_whole(file(setting, seed));
  if (!text) return std::nullopt;
  const ResultJson json = ResultJson::parse(*text);
  const auto name = json.at("setting").get<std::string>();
  if (name != plan_.settings[setting].label || json.at("seed") != seed)
    throw std::invalid_argument(fmt::format("{}: is of another run, {}, seed {}; remove it, and run its shard again",
                                            file(setting, seed).string(), name, json.at("seed").dump()));
  KeptResult result{.failure = json.at("failure").get<std::string>(), .refusal = json.at("refusal").get<std::string>()};
  if (!json.at("run").is_null()) result.run = run_from(json.at("run"));
  return result;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

void KeptRuns::keep(std::size_t setting, std::int64_t seed, const KeptResult& result) const {
  const ResultJson json = {{"setting", plan_.settings[setting].label},
                           {"seed", seed},
                           {"failure", result.failure},
                           {"refusal", result.refusal},
                           {"run", result.run ? json_of(*result.run) : ResultJson(nullptr)}};
  write_whole(file(setting, seed), json.dump(-1, ' ', false, ResultJson::error_handler_t::replace) + "\n", Durability::of_disk);
}

}  // namespace rubato
