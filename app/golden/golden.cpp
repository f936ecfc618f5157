#include "app/golden/golden.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
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

}  // namespace

std::string difference(const Json& golden, const Json& ours, double abs, double rel, const std::string& where) {
  if (golden.is_structured()) {
    const bool is_list = golden.is_array();
    if (golden.type() != ours.type() || (is_list && golden.size() != ours.size())) return differs(where, golden, ours);
    for (const auto& [key, value] : golden.items()) {
      const std::string place = is_list ? where + "[" + key + "]" : where + "." + key;
      if (!is_list && !ours.contains(key)) return place + ": missing";
      std::string found = difference(value, is_list ? ours[std::stoul(key)] : ours[key], abs, rel, place);
      if (!found.empty()) return found;
    }
    return {};
  }
  if (golden.is_number_float() && ours.is_number()) {
    const double expected = golden.get<double>();
    const double distance = std::abs(expected - ours.get<double>());
    return distance <= abs + rel * std::abs(expected) ? "" : differs(where, golden, ours);
  }
  return golden == ours ? "" : differs(where, golden, ours);
}

}  // namespace golden

namespace {

using golden::Json;

Json read_case(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot be read");
  return Json::parse(stream);
}

std::optional<golden::CaseKind> kind_of(const Json& golden_case) {
  using namespace golden;
  const auto algorithm = golden_case.at("algorithm").get<std::string>();
  const std::string kind = golden_case.value("kind", "");
  for (const auto& table : {world_kinds, function_kinds, bounds_kinds, metrics_kinds, wireless_kinds, round_kinds, server_kinds,
                            order_kinds, tree_kinds, event_kinds, pair_kinds})
    for (CaseKind& each : table())
      if (each.algorithm == algorithm && (each.kind.empty() || kind.empty() || each.kind == kind)) return std::move(each);
  return std::nullopt;
}

void judge(const Json& golden_case, GoldenVerdict& verdict) {
  const auto kind = kind_of(golden_case);
  if (!kind) {
    verdict.outcome = GoldenOutcome::unsupported;
    return;
  }
  const Json answer = kind->answer(golden_case);
  verdict.is_formula = kind->is_formula;
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
