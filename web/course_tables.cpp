#include "web/course_tables.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "results/columns.hpp"

namespace rubato::web {

namespace {

std::string events_csv(const std::vector<CourseEvent>& events) {
  std::string text = "seconds,what,client,other,host,graph\n";
  const auto number = [](const auto& known) { return known ? std::to_string(*known) : std::string(); };
  for (const CourseEvent& event : events)
    fmt::format_to(std::back_inserter(text), "{:.15g},{},{},{},{},{}\n", event.seconds, event.what, number(event.client),
                   number(event.other), event.host, number(event.graph));
  return text;
}

std::string waits_csv(const RunScore& score) {
  std::string text = "client,for,seconds,times\n";
  for (const auto& [pair, waited] : score.by_waiting)
    fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", pair.first, pair.second, waited.seconds, waited.times);
  return text;
}

std::string staleness_csv(const RunScore& score) {
  const double slice = to_seconds(score.end) / static_cast<double>(score.ages_course.size());
  const auto age = [](int bin) { return 1e-9 * std::exp2(bin / 4.0); };
  std::string text = "from,to,age_from,age_to,messages,transit_mean\n";
  for (const auto& [place, like] : score.ages)
    fmt::format_to(std::back_inserter(text), "{:.9g},{:.9g},{:.6g},{:.6g},{},{}\n", slice * place.first, slice * (place.first + 1),
                   age(place.second), age(place.second + 1), like.messages,
                   score.has_arrivals ? like.transit / static_cast<double>(like.messages) : not_known);
  return text;
}

std::string versions_csv(const RunScore& score) {
  std::string text = "newer,messages\n";
  for (std::size_t newer = 0; newer < score.versions.size(); ++newer)
    fmt::format_to(std::back_inserter(text), "{},{}\n", newer, score.versions[newer]);
  return text;
}

std::string link_ages_csv(const RunScore& score) {
  std::string text = "sender,receiver,merged,age_mean,transit_mean\n";
  for (const auto& [ends, ages] : score.by_link)
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", ends.first, ends.second, ages.merged,
                   ages.age / static_cast<double>(ages.merged),
                   ages.arrived ? ages.transit / static_cast<double>(ages.arrived) : not_known);
  return text;
}

std::string critical_path_csv(const RunScore& score) {
  std::string text = "from,to,what,client,other\n";
  for (const PathPiece& piece : score.path)
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", to_seconds(piece.from), to_seconds(piece.to), word_of(piece.kind),
                   piece.client.value, piece.other == no_client ? std::string() : std::to_string(piece.other.value));
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> course_tables(const std::vector<CourseEvent>& events, const RunScore& score) {
  std::vector<std::pair<std::string, std::string>> tables{{"events.csv", events_csv(events)},
                                                          {"staleness.csv", staleness_csv(score)},
                                                          {"versions.csv", versions_csv(score)},
                                                          {"link_ages.csv", link_ages_csv(score)}};
  if (score.waits) tables.emplace_back("waits.csv", waits_csv(score));
  if (!score.path.empty()) tables.emplace_back("critical_path.csv", critical_path_csv(score));
  return tables;
}

}  // namespace rubato::web
