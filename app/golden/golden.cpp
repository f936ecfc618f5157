#include "app/golden/golden.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include "app/golden/cases.hpp"

namespace rubato {

namespace golden {

namespace {

std::string shown(const Json& value) {
  const std::string text = value.dump();
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

std::string differs(const std::string& where, const Json& golden, const Json& ours) {
  return where + ": golden " + shown(golden) + ", ours " + shown(ours);
}

std::string list_difference(const Json& golden, const Json& ours, double abs, double rel, const std::string& where) {
  if (!ours.is_array() || golden.size() != ours.size()) return differs(where, golden, ours);
  for (std::size_t i = 0; i < golden.size(); ++i) {
    std::string found = difference(golden[i], ours[i], abs, rel, where + "[" + std::to_string(i) + "]");
    if (!found.empty()) return found;
  }
  return {};
}

std::string object_difference(const Json& golden, const Json& ours, double abs, double rel, const std::string& where) {
  if (!ours.is_object()) return differs(where, golden, ours);
  for (const auto& [key, value] : golden.items()) {
    if (!ours.contains(key)) return where + "." + key + ": missing";
    std::string found = difference(value, ours[key], abs, rel, where + "." + key);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

std::string difference(const Json& golden, const Json& ours, double abs, double rel, const std::string& where) {
  if (golden.is_array()) return list_difference(golden, ours, abs, rel, where);
  if (golden.is_object()) return object_difference(golden, ours, abs, rel, where);
  if (golden.is_number_float() && ours.is_number()) {
    const double expected = golden.get<double>();
    const double distance = std::abs(expected - ours.get<double>());
    return distance <= abs + rel * std::abs(expected) ? "" : differs(where, golden, ours);
  }
  return golden == ours ? "" : differs(where, golden, ours);
}

namespace {

struct Answerer {
  std::string_view algorithm;
  std::string_view kind;  // empty: any
  Json (*answer)(const Json&);
};

constexpr Answerer answerers[] = {
    {"mixing", "", answer_mixing},
    {"topology", "", answer_topology},
    {"partition", "", answer_partition},
    {"window", "", answer_window},
    {"draco", "", answer_draco},
    {"draco_rounds", "", answer_draco_rounds},
    {"metrics", "", answer_metrics},
    {"prox", "", answer_prox},
    {"pme", "", answer_pme},
    {"pme_expectation", "", answer_pme_expectation},
    {"compressors", "", answer_compressors},
    {"decefl_weights", "", answer_decefl_weights},
    {"channel", "", answer_channel},
    {"chapter2", "", answer_chapter2},
    {"aircomp", "", answer_aircomp},
    {"slot_schedule", "", answer_slot_schedule},
    {"dpsgd", "", [](const Json& golden_case) { return answer_dpsgd(golden_case); }},
    {"local_only", "", answer_local_only},
    {"decefl", "sync", answer_decefl},
    {"dsgt", "", answer_dsgt},
    {"dfedsam", "", answer_dfedsam},
    {"nids", "", answer_nids},
    {"anq_nids", "", answer_anq_nids},
    {"choco", "", answer_choco},
    {"beer", "", answer_beer},
    {"kgt", "", answer_kgt},
    {"pushpull", "", answer_pushpull},
    {"async_dsgd", "", answer_async_dsgd},
    {"gossip", "", answer_gossip},
    {"fedavg", "", answer_fedavg},
    {"centralised", "", answer_centralised},
    {"fedmid", "", answer_fedmid},
    {"feddr", "", answer_feddr},
    {"fedadmm", "", answer_fedadmm},
    {"swarm", "", answer_swarm},
    {"fedavg_plus", "", [](const Json& golden_case) { return answer_fedavg_plus(golden_case); }},
    {"digest", "", answer_digest},
    {"kdpdfl", "", answer_kdpdfl},
    {"depositum", "events", answer_depositum_events},
    {"depositum", "sync", answer_depositum},
    {"pame", "events", answer_pame_events},
    {"pame", "sync", answer_pame},
    {"sgp", "events", answer_sgp_events},
    {"sgp", "sync", answer_sgp},
    {"spodgt", "events", answer_spodgt_events},
    {"spodgt", "sync", answer_spodgt},
};

}  // namespace

namespace {

constexpr const char* formula_mark = "computed by a formula";

}  // namespace

Json by_formula(Json answer) {
  answer[formula_mark] = true;
  return answer;
}

bool take_formula_mark(Json& answer) { return answer.is_object() && answer.erase(formula_mark) > 0; }

Json answer(const Json& golden_case) {
  const auto algorithm = golden_case.at("algorithm").get<std::string>();
  const std::string kind = golden_case.value("kind", "");
  for (const Answerer& each : answerers)
    if (each.algorithm == algorithm && (each.kind.empty() || each.kind == kind)) return each.answer(golden_case);
  return nullptr;
}

}  // namespace golden

namespace {

using golden::Json;

Json read_case(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot be read");
  return Json::parse(stream);
}

void judge(const Json& golden_case, GoldenVerdict& verdict) {
  Json answer = golden::answer(golden_case);
  verdict.is_formula = golden::take_formula_mark(answer);
  if (answer.is_null()) {
    verdict.outcome = GoldenOutcome::unsupported;
    return;
  }
  const Json& tolerance = golden_case.at("tolerance");
  verdict.answer = Json{{"id", verdict.id}, {"expect", answer}}.dump(1) + "\n";
  verdict.detail = golden::difference(golden_case.at("expect"), answer, tolerance.at("abs").get<double>(),
                                      tolerance.at("rel").get<double>(), "expect");
  verdict.outcome = verdict.detail.empty() ? GoldenOutcome::passed : GoldenOutcome::failed;
}

bool is_case(const std::filesystem::path& file) { return file.extension() == ".json" && file.filename() != "INDEX.json"; }

}  // namespace

GoldenVerdict check_golden(const std::filesystem::path& file) {
  GoldenVerdict verdict;
  verdict.id = file.stem().string();
  try {
    const Json golden_case = read_case(file);
    verdict.id = golden_case.value("id", verdict.id);
    verdict.algorithm = golden_case.value("algorithm", "");
    judge(golden_case, verdict);
  } catch (const std::exception& error) {
    verdict.detail = error.what();
  }
  return verdict;
}

std::vector<std::filesystem::path> find_golden(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    if (!std::filesystem::exists(path)) throw std::invalid_argument("there is no " + path.string());
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (is_case(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) throw std::invalid_argument("there is no golden case in " + paths.front().string());
  return files;
}

}  // namespace rubato
