#include "app/golden/golden.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include "app/golden/cases.hpp"

namespace rubato {

namespace golden {

std::uint32_t number_below(std::size_t bound, const Json& json) {
  const auto number = json.get<std::int64_t>();
  if (number < 0 || static_cast<std::uint64_t>(number) >= bound)
    throw std::out_of_range(json.dump() + " is not from 0 to " + std::to_string(bound) + ", itself left out");
  return static_cast<std::uint32_t>(number);
}

std::vector<std::uint32_t> numbers_below(std::size_t bound, const Json& list) {
  std::vector<std::uint32_t> numbers;
  for (const Json& number : list) numbers.push_back(number_below(bound, number));
  return numbers;
}

std::vector<ClientId> clients_below(std::size_t bound, const Json& list) {
  std::vector<ClientId> clients;
  for (const std::uint32_t number : numbers_below(bound, list)) clients.push_back(ClientId{number});
  return clients;
}

const Json* given(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

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
  for (const auto& table : {world_kinds, function_kinds, metrics_kinds, wireless_kinds, round_kinds, server_kinds, event_kinds})
    for (const CaseKind& each : table())
      if (each.algorithm == algorithm && (each.kind.empty() || kind.empty() || each.kind == kind)) return each.answer(golden_case);
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
