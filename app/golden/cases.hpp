// What all golden cases share: how their JSON is read and written, and the tables of the kinds that can be answered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "learning/types.hpp"
#include "runtime/ids.hpp"
#include "runtime/time.hpp"
#include "runtime/words.hpp"
#include "runtime/world/graph.hpp"
#include "runtime/world/points.hpp"

namespace rubato::golden {

using Json = nlohmann::json;

/// A whole number from 0 to below the bound. Throws std::out_of_range.
std::uint32_t number_below(std::size_t bound, const Json& json);
/// The same of a list, and of a list of clients.
std::vector<std::uint32_t> numbers_below(std::size_t bound, const Json& list);
std::vector<ClientId> clients_below(std::size_t bound, const Json& list);

/// A 1 or a true of a table.
inline bool is_set(const Json& json) { return json.is_boolean() ? json.get<bool>() : json.get<double>() != 0; }

/// A value, or nothing where the case says null or says nothing.
const Json* given(const Json& object, const char* key);
/// The value takes the place of the member's where one is given; whether it is.
template <class Member>
bool read(const Json& object, const char* key, Member& member) {
  const Json* value = given(object, key);
  if (value) member = value->get<Member>();
  return value != nullptr;
}

/// A word of the enumeration; choice_of() looks for no end of any other. Throws std::invalid_argument.
template <class Choice>
Choice known_choice(const Json& json) {
  const auto word = json.get<std::string>();
  const std::string_view words = word_list(Choice{});
  const auto count = static_cast<std::size_t>(std::ranges::count(words, '|')) + 1;
  for (std::size_t place = 0; place < count; ++place)
    if (word_at(words, place) == word) return static_cast<Choice>(place);
  throw std::invalid_argument("\"" + word + "\" is none of " + std::string(words));
}

/// [f(0), f(1), ..., f(count - 1)]
template <class F>
Json list_of(std::size_t count, F f) {
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) list.push_back(f(i));
  return list;
}
/// [f(a), f(b), ...] of the elements of a range
template <class F, class Range>
Json list_from(const Range& range, F f) {
  Json list = Json::array();
  for (const auto& element : range) list.push_back(f(element));
  return list;
}

/// More clients, classes and rounds than any case has.
inline constexpr std::size_t most_clients = 100'000, most_classes = 100'000, most_rounds = 1'000'000;

/// {"m", "directed", "edges"} as a graph.
Graph to_graph(const Json& json);

/// How the cases of an algorithm are answered.
struct CaseKind {
  std::string algorithm;
  std::string kind;  ///< "sync" or "events" where cases of both are answered; empty: any
  /// To the keys of "expect". Throws for damaged cases.
  std::function<Json(const Json& golden_case)> answer;
  bool is_formula = false;  ///< the harness computes it by itself: the case can be computed twice, but not by the engine
};

/// Graphs, matrices and partitions; penalties, partial means, compressors; radio.
std::vector<CaseKind> world_kinds();
std::vector<CaseKind> function_kinds();
std::vector<CaseKind> metrics_kinds();
std::vector<CaseKind> wireless_kinds();
/// Seconds until a gradient is small.
std::vector<CaseKind> bounds_kinds();
/// In rounds, with a centre, with tokens: through the protocol of their form.
std::vector<CaseKind> round_kinds();
std::vector<CaseKind> server_kinds();
/// With a centre without rounds, and in trees; when they update in constant worlds.
std::vector<CaseKind> order_kinds();
std::vector<CaseKind> tree_kinds();
/// In continuous time, through conductor, push protocol, client actors and algorithm.
std::vector<CaseKind> event_kinds();
/// Meetings of two, in continuous time and one after the other.
std::vector<CaseKind> pair_kinds();

/// Empty if ours satisfies the golden value within abs + rel |golden|; else where and how it differs.
std::string difference(const Json& golden, const Json& ours, double abs, double rel, const std::string& where);

}  // namespace rubato::golden

namespace nlohmann {

template <>
struct adl_serializer<rubato::Vector<double>> {
  static void to_json(json& list, const rubato::Vector<double>& vector) {
    list = std::vector<double>(vector.data(), vector.data() + vector.size());
  }
  static void from_json(const json& list, rubato::Vector<double>& vector) {
    const auto numbers = list.get<std::vector<double>>();
    vector = Eigen::Map<const rubato::Vector<double>>(numbers.data(), static_cast<rubato::Index>(numbers.size()));
  }
};

template <>
struct adl_serializer<rubato::Matrix<double>> {
  static void to_json(json& rows, const rubato::Matrix<double>& matrix) {
    rows = json::array();
    for (rubato::Index i = 0; i < matrix.rows(); ++i) rows.push_back(rubato::Vector<double>(matrix.row(i)));
  }
  static void from_json(const json& list, rubato::Matrix<double>& matrix) {
    const auto rows = list.get<std::vector<rubato::Vector<double>>>();
    matrix.resize(static_cast<rubato::Index>(rows.size()), rows.empty() ? 0 : rows[0].size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].size() != rows[0].size()) throw std::invalid_argument("the rows of a matrix are not of one length");
      matrix.row(static_cast<rubato::Index>(i)) = rows[i];
    }
  }
};

template <>
struct adl_serializer<rubato::ClientId> {
  static void to_json(json& number, rubato::ClientId client) { number = client.value; }
  static void from_json(const json& number, rubato::ClientId& client) {
    client.value = rubato::golden::number_below(rubato::golden::most_clients, number);
  }
};

template <>
struct adl_serializer<rubato::Edge> {
  static void to_json(json& pair, const rubato::Edge& edge) { pair = {edge.source, edge.target}; }
  static void from_json(const json& pair, rubato::Edge& edge) {
    edge = {pair.at(0).get<rubato::ClientId>(), pair.at(1).get<rubato::ClientId>()};
  }
};

/// In seconds, at least 0.
template <>
struct adl_serializer<rubato::Duration> {
  static void from_json(const json& seconds, rubato::Duration& duration) {
    if (!(seconds.get<double>() >= 0))
      throw std::invalid_argument("a time or a delay is " + seconds.dump() + ": must be at least 0");
    duration = rubato::from_seconds(seconds.get<double>());
  }
};

template <>
struct adl_serializer<rubato::Time> {
  static void to_json(json& seconds, rubato::Time time) { seconds = rubato::to_seconds(time); }
  static void from_json(const json& seconds, rubato::Time& time) { time = rubato::Time{seconds.get<rubato::Duration>()}; }
};

template <>
struct adl_serializer<rubato::Point> {
  static void from_json(const json& pair, rubato::Point& point) { point = {pair.at(0), pair.at(1)}; }
};

}  // namespace nlohmann
