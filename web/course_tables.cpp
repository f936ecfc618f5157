#include "web/course_tables.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace rubato::web {

namespace {

std::string events_csv(const ResultJson& events) {
  std::string text = "seconds,what,client,other\n";
  for (const ResultJson& event : events) {
    const auto client = [&](std::size_t place) {
      return event.size() > place && event[place].is_number() ? std::to_string(event[place].get<std::uint32_t>()) : std::string();
    };
    fmt::format_to(std::back_inserter(text), "{:.15g},{},{},{}\n", event[0].get<double>(), event[1].get<std::string>(), client(2),
                   client(3));
  }
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
  std::string text = "from,to,age_from,age_to,messages\n";
  for (const auto& [place, messages] : score.ages)
    fmt::format_to(std::back_inserter(text), "{:.9g},{:.9g},{:.6g},{:.6g},{}\n", slice * place.first, slice * (place.first + 1),
                   age(place.second), age(place.second + 1), messages);
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> course_tables(const ResultJson& events, const RunScore& score) {
  std::vector<std::pair<std::string, std::string>> tables{{"events.csv", events_csv(events)},
                                                          {"staleness.csv", staleness_csv(score)}};
  if (score.waits) tables.emplace_back("waits.csv", waits_csv(score));
  return tables;
}

}  // namespace rubato::web
