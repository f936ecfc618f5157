#include "runtime/world/trace_channel.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "runtime/random.hpp"
#include "runtime/sentence.hpp"

namespace rubato {

namespace {

constexpr double longest = 9e9;  // seconds

struct Line {
  double source = 0, target = 0, time = 0, delay = 0, loss = 0;
};

// Empty if the line holds anything but five numbers.
std::optional<Line> numbers_of(std::string text) {
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream numbers(text);
  Line line;
  std::string more;
  if (!(numbers >> line.source >> line.target >> line.time >> line.delay >> line.loss) || numbers >> more) return std::nullopt;
  return line;
}

std::string fault_of(const Line& line, std::size_t clients) {
  const auto is_client = [&](double number) {
    return number >= 0 && number == std::floor(number) && number < static_cast<double>(clients);
  };
  if (!is_client(line.source) || !is_client(line.target) || line.source == line.target)
    return "must name two different clients, 0 to " + std::to_string(clients - 1);
  if (!(line.time >= 0 && line.time <= longest)) return "time must be at least 0";
  if (!(line.delay > 0 && line.delay <= longest)) return "delay must be greater than 0";
  if (!(line.loss >= 0 && line.loss <= 1)) return "loss must be from 0 to 1";
  return "";
}

}  // namespace

LinkTraces read_link_traces(const std::string& file, std::size_t clients) {
  std::ifstream lines(file);
  if (!lines) refuse("cannot read the trace ", file);
  LinkTraces traces;
  std::size_t number = 0;
  for (std::string text; std::getline(lines, text);) {
    ++number;
    if (text.find_first_not_of(" \t\r") == std::string::npos || text.front() == '#') continue;
    const std::optional<Line> line = numbers_of(text);
    if (!line && number == 1) continue;  // names of columns
    const std::string fault = line ? fault_of(*line, clients) : "must hold source, target, time, delay and loss";
    if (!fault.empty()) refuse(file, ": line ", number, ": ", fault);
    const std::pair link{ClientId{static_cast<std::uint32_t>(line->source)}, ClientId{static_cast<std::uint32_t>(line->target)}};
    traces[link].push_back({Time{from_seconds(line->time)}, std::max(from_seconds(line->delay), Duration{1}), line->loss});
  }
  for (auto& [link, rows] : traces) {
    std::stable_sort(rows.begin(), rows.end(), [](const TraceRow& a, const TraceRow& b) { return a.from < b.from; });
    const auto twice =
        std::adjacent_find(rows.begin(), rows.end(), [](const TraceRow& a, const TraceRow& b) { return a.from == b.from; });
    if (twice != rows.end())
      refuse(file, ": the link from ", link.first.value, " to ", link.second.value, " has two rows for one time");
  }
  return traces;
}

Fate TraceChannel::carry(const LinkUse& use) const {
  const auto found = traces_.find({use.sender, use.receiver});
  if (found == traces_.end()) return {.delay = usual_delay_};
  const std::vector<TraceRow>& rows = found->second;
  const auto next = std::upper_bound(rows.begin(), rows.end(), later(use.now, use.waited),
                                     [](Time now, const TraceRow& row) { return now < row.from; });
  const TraceRow& row = next == rows.begin() ? rows.front() : *(next - 1);
  const bool lost = uniform01(draw(seed_, use.sender, Purpose::loss, address_of(use), use.receiver.value).first) < row.loss;
  return {.lost = lost, .delay = row.delay};
}

}  // namespace rubato
