#include "web/score_json.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "web/packing.hpp"
#include "web/shown.hpp"

namespace rubato::web {

namespace {

using Json = ResultJson;

constexpr std::uint64_t few_marks = 50'000;  // above, times are shortened: a page is to stay small

// Times as whole units since the beginning of a part: differences of these are exact.
class Ticks {
 public:
  Ticks(Time from, Duration unit) : from_{from}, unit_{unit} {}
  std::uint64_t of(Time at) const {
    const auto since = std::max(at - from_, Duration{});
    return static_cast<std::uint64_t>((since + unit_ / 2) / unit_);
  }

 private:
  Time from_;
  Duration unit_;
};

// Numbers that ascend: each as what it is more than the one before.
template <class Marks, class Read>
void pack_ascending(Packer& packer, const Marks& marks, Read number_of) {
  std::uint64_t last = 0;
  for (const auto& mark : marks) {
    const std::uint64_t number = number_of(mark);
    packer.add(number - last);
    last = number;
  }
}

void pack_computations(Packer& packer, const std::vector<RunScore::Computation>& marks, const Ticks& ticks) {
  packer.add(marks.size());
  pack_ascending(packer, marks, [&](const auto& mark) { return ticks.of(mark.at); });
  for (const auto& mark : marks) packer.add(mark.client.value);
}

// A difference that may be not known: 0, else one more than it is.
void pack_since(Packer& packer, Time from, Time to, const Ticks& ticks) {
  packer.add(to == never ? 0 : 1 + ticks.of(to) - std::min(ticks.of(to), ticks.of(from)));
}

void pack_messages(Packer& packer, const RunScore::Part& part, const Ticks& ticks) {
  const auto sent = [&](const RunScore::Message& message) { return part.publications[message.publication]; };
  packer.add(part.messages.size());
  pack_ascending(packer, part.messages, [](const auto& message) { return message.publication; });
  for (const RunScore::Message& message : part.messages) packer.add(static_cast<std::uint64_t>(message.fate));
  for (const RunScore::Message& message : part.messages)
    packer.add_signed(static_cast<std::int64_t>(message.receiver.value) - static_cast<std::int64_t>(sent(message).client.value));
  for (const RunScore::Message& message : part.messages) pack_since(packer, sent(message).at, message.arrived, ticks);
  for (const RunScore::Message& message : part.messages)
    pack_since(packer, message.arrived == never ? sent(message).at : message.arrived, message.ended, ticks);
  for (const RunScore::Message& message : part.messages) packer.add(message.lag);
}

void pack_waits(Packer& packer, std::vector<RunScore::Wait> waits, const Ticks& ticks) {
  std::ranges::stable_sort(waits, {}, &RunScore::Wait::from);
  packer.add(waits.size());
  pack_ascending(packer, waits, [&](const auto& wait) { return ticks.of(wait.from); });
  for (const RunScore::Wait& wait : waits) packer.add(wait.client.value);
  for (const RunScore::Wait& wait : waits) packer.add(wait.last.value);
  for (const RunScore::Wait& wait : waits) packer.add(ticks.of(wait.to) - ticks.of(wait.from));
}

Json part_json(const RunScore::Part& part, Duration unit) {
  const Ticks ticks(part.from, unit);
  Packer packer;
  pack_computations(packer, part.computations, ticks);
  pack_computations(packer, part.publications, ticks);
  pack_messages(packer, part, ticks);
  pack_waits(packer, part.waits, ticks);
  return {{"from", to_seconds(part.from)}, {"to", to_seconds(part.to)}, {"packed", packer.text()}};
}

Json density_json(const RunScore& score, std::size_t clients, const ScoreLimits& limits) {
  if (score.density_computations.empty()) return nullptr;
  Packer packer;
  for (const auto* values : {&score.density_computations, &score.density_merges})
    for (const std::uint64_t value : *values) packer.add(value);
  return {{"slices", limits.density_slices},
          {"groups", score.density_computations.size() / limits.density_slices},
          {"per_group", clients_of_group(clients, limits)},
          {"end", to_seconds(score.end)},
          {"packed", packer.text()}};
}

double usual_way(const RunScore& score) {
  RunScore::Ages all;
  for (const RunScore::Ages& part : score.ages_course) {
    all.arrived += part.arrived;
    all.transit += part.transit;
  }
  return all.arrived ? all.transit / static_cast<double>(all.arrived) : 0;
}

}  // namespace

Json score_json(const RunScore& score, std::size_t clients, std::uint64_t marks, const ScoreLimits& limits) {
  const Duration unit = marks <= few_marks ? std::chrono::microseconds{1} : std::chrono::microseconds{100};
  Json parts = Json::array();
  for (const RunScore::Part& part : score.parts)
    if (part.from <= score.end) parts.push_back(part_json(part, unit));
  return {{"end", to_seconds(score.end)},
          {"unit", to_seconds(unit)},
          {"has_arrivals", score.has_arrivals},
          {"is_cut", score.is_cut},
          {"usual_way", usual_way(score)},
          {"parts", std::move(parts)},
          {"density", density_json(score, clients, limits)}};
}

Json course_json(const RunScore& score) {
  constexpr const char* names[] = {"merged", "superseded", "late", "capped", "lost", "partition", "absent", "other"};
  const auto column = [&](auto read) { return json_list(score.course, read); };
  Json made = {{"end", to_seconds(score.end)}, {"slices", score.course.size()}};
  made["sent"] = column([](const auto& slice) { return std::accumulate(slice.begin(), slice.end(), std::uint64_t{0}); });
  for (std::size_t i = 0; i < std::size(names); ++i) made[names[i]] = column([&](const auto& slice) { return slice[i]; });
  made["waiting"] = column([](const auto& slice) {
    return slice[static_cast<std::size_t>(Ending::waiting)] + slice[static_cast<std::size_t>(Ending::under_way)];
  });
  return made;
}

Json ages_json(const RunScore& score, double window) {
  const auto column = [&](auto read) { return json_list(score.ages_course, read); };
  Json made = {{"end", to_seconds(score.end)}, {"slices", score.ages_course.size()}, {"smallest", 1e-9}, {"per_octave", 4}};
  made["window"] = window;
  made["cells"] = json_list(score.ages, [](const auto& cell) -> Json {
    return {cell.first.first, cell.first.second, cell.second.messages};
  });
  made["merged"] = column([](const RunScore::Ages& part) { return part.merged; });
  made["age"] = column([](const RunScore::Ages& part) { return shown_number(part.age); });
  made["transit"] = score.has_arrivals ? column([](const RunScore::Ages& part) { return shown_number(part.transit); }) : nullptr;
  made["versions"] = score.versions;
  return made;
}

namespace {

constexpr std::size_t most_pieces = 3000;  // of the path that the score draws; the file has all

// What the path comes to: by kind, by client at work and by link; and its last pieces, which led to the end.
Json path_json(const std::vector<PathPiece>& path) {
  if (path.empty()) return nullptr;
  std::map<std::string, double> kinds;
  std::map<std::pair<std::uint32_t, std::uint32_t>, RunScore::Waited> by_client, by_link;
  for (const PathPiece& piece : path) {
    const double seconds = to_seconds(piece.to - piece.from);
    kinds[word_of(piece.kind)] += seconds;
    const bool is_work = piece.kind == PathPiece::Kind::work;
    RunScore::Waited& sum = is_work ? by_client[{piece.client.value, 0}] : by_link[{piece.other.value, piece.client.value}];
    sum.times += piece.kind != PathPiece::Kind::mailbox;
    sum.seconds += seconds;
  }
  const auto costliest = [](const auto& sums) {
    constexpr std::size_t most_rows = 10;
    std::vector<std::pair<std::pair<std::uint32_t, std::uint32_t>, RunScore::Waited>> order(sums.begin(), sums.end());
    std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& one) { return one.second.seconds; });
    Json rows = Json::array();
    for (std::size_t i = 0; i < std::min(order.size(), most_rows); ++i)
      rows.push_back({order[i].first.first, order[i].first.second, shown_number(order[i].second.seconds), order[i].second.times});
    return rows;
  };
  Json made = {
      {"end", to_seconds(path.back().to)}, {"client", path.back().client.value}, {"pieces", path.size()}, {"kinds", kinds}};
  made["clients"] = by_client.size();
  made["by_client"] = costliest(by_client);
  made["by_link"] = costliest(by_link);
  made["last"] = Json::array();
  for (std::size_t i = path.size() - std::min(path.size(), most_pieces); i < path.size(); ++i)
    made["last"].push_back({shown_number(to_seconds(path[i].from)), static_cast<int>(path[i].kind), path[i].client.value,
                            path[i].other == no_client ? Json(nullptr) : Json(path[i].other.value)});
  return made;
}

}  // namespace

Json waits_json(const RunScore& score) {
  if (!score.has_arrivals) return nullptr;
  const auto column = [&](auto read) { return json_list(score.by_waiting, read); };
  return {{"client", column([](const auto& one) { return one.first.first; })},
          {"other", column([](const auto& one) { return one.first.second; })},
          {"seconds", column([](const auto& one) { return shown_number(one.second.seconds); })},
          {"times", column([](const auto& one) { return one.second.times; })},
          {"path", path_json(score.path)}};
}

}  // namespace rubato::web
