#include "web/course_events.hpp"

#include <algorithm>

namespace rubato::web {

namespace {

void add_churn(std::vector<CourseEvent>& events, const ChurnPlan& churn) {
  for (std::uint32_t i = 0; i < churn.clients(); ++i)
    if (!churn.begins_here({i})) events.push_back({.seconds = 0, .what = "absent", .client = i});
  for (const ChurnEvent& event : churn.events()) {
    const char* const word = word_of(event.kind);
    if (!word) continue;
    events.push_back({.seconds = to_seconds(event.at), .what = word});
    if (!event.is_of_links()) events.back().client = event.client.value;
  }
}

void add_models(std::vector<CourseEvent>& events, const std::vector<RunScore::Event>& models) {
  for (const RunScore::Event& event : models) {
    events.push_back({.seconds = to_seconds(event.at), .what = event.what, .client = event.client.value});
    if (event.other != no_client) events.back().other = event.other.value;
  }
}

void add_hosts(std::vector<CourseEvent>& events, const ResultJson& summary) {
  for (const ResultJson& one : summary.value("host_absences", ResultJson::array())) {
    const std::string host = one.at("host").get<std::string>();
    events.push_back({.seconds = one.at("from").get<double>(), .what = "host " + one.at("how").get<std::string>(), .host = host});
    if (one.at("to").is_number()) events.push_back({.seconds = one.at("to").get<double>(), .what = "host back", .host = host});
  }
}

// Rows of weights, in turn; those of one graph are equal, and so are those of graphs with the same links and weights.
class GraphSequence {
 public:
  GraphSequence(const ClientSettings& settings, std::size_t rows_of_graph)
      : rows_{std::max(settings.merge_weights.size(), settings.share_weights.size())}, rows_of_graph_{rows_of_graph} {
    const auto is_new = [&](const std::vector<std::vector<double>>& weights, std::size_t row) {
      return weights.size() > 1 && weights[row] != weights[(row + weights.size() - 1) % weights.size()];
    };
    for (std::size_t row = 0; row < rows_; ++row)
      is_new_.push_back(is_new(settings.merge_weights, row) || is_new(settings.share_weights, row));
  }
  bool changes() const { return rows_ > 1; }
  /// The graph of a row after the first, counted on and on, if another one was in force before.
  std::optional<std::size_t> new_in(std::uint64_t row) const {
    const auto place = static_cast<std::size_t>(row % rows_);
    return is_new_[place] ? std::optional(place / rows_of_graph_) : std::nullopt;
  }

 private:
  std::size_t rows_, rows_of_graph_;
  std::vector<bool> is_new_;
};

// By the clock, or as rounds begin: where these are known is the score's to say.
void add_graphs(std::vector<CourseEvent>& events, const ResolvedExperiment& resolved, const RunScore* score, double end) {
  const ClientSettings& settings = resolved.timing->settings;
  const bool by_clock = settings.change_every > Duration::zero();
  const double every = resolved.experiment.topology.change_every;
  const GraphSequence graphs(settings, by_clock ? 1 : static_cast<std::size_t>(std::max(1.0, every)));
  if (!graphs.changes()) return;
  std::size_t listed = 0;
  const auto add = [&](double seconds, std::uint64_t row) {
    const auto graph = graphs.new_in(row);
    if (graph) events.push_back({.seconds = seconds, .what = "graph", .graph = graph}), ++listed;
  };
  if (by_clock)
    for (std::uint64_t row = 1; listed < most_graph_changes; ++row) {
      const double seconds = to_seconds(static_cast<std::int64_t>(row) * settings.change_every);
      if (seconds > end) return;
      add(seconds, row);
    }
  else if (score)
    for (const auto& [at, round] : score->rounds)
      if (round > 0 && listed < most_graph_changes) add(to_seconds(at), round);
}

}  // namespace

const char* word_of(ChurnEvent::Kind kind) {
  constexpr const char* words[] = {nullptr, "heal", "partition", "leave", "crash", nullptr, "pause", "go on", "come"};
  static_assert(std::size(words) == static_cast<std::size_t>(ChurnEvent::Kind::come) + 1);
  return words[static_cast<std::size_t>(kind)];
}

std::vector<CourseEvent> course_events(const ResolvedExperiment& resolved, const ResultJson& summary, const RunScore* score,
                                       double end) {
  std::vector<CourseEvent> events;
  add_churn(events, resolved.timing->churn);
  if (score) add_models(events, score->events);
  add_hosts(events, summary);
  add_graphs(events, resolved, score, end);
  std::erase_if(events, [&](const CourseEvent& event) { return event.seconds > end; });
  std::ranges::stable_sort(events, {}, &CourseEvent::seconds);
  return events;
}

ResultJson page_events(const std::vector<CourseEvent>& events) {
  const auto number = [](const std::optional<std::uint32_t>& client) { return client ? ResultJson(*client) : ResultJson(); };
  ResultJson rows = ResultJson::array();
  for (const CourseEvent& event : events) {
    if (event.graph) continue;
    rows.push_back({event.seconds, event.what, number(event.client), number(event.other)});
    if (!event.host.empty()) rows.back().push_back(event.host);
  }
  return rows;
}

}  // namespace rubato::web
