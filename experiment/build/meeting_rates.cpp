#include "experiment/build/meeting_rates.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "experiment/build/devices.hpp"
#include "experiment/build/resolved_algorithm.hpp"
#include "experiment/build/world.hpp"

namespace rubato {

namespace {

// Of each client: its exchange ticks per second.
std::vector<double> ask_rates(const config::Experiment& experiment) {
  const std::vector<TimerLaw> computes = timers_of(experiment, false), asks = timers_of(experiment, true);
  const auto law_of = [](const std::vector<TimerLaw>& laws, std::size_t i) -> const TimerLaw& {
    return laws[laws.size() > 1 ? i : 0];
  };
  std::vector<double> rates;
  for (std::size_t i = 0; i < static_cast<std::size_t>(experiment.clients.count); ++i) {
    const TimerLaw& law = law_of(asks, i);
    const bool is_coupled = law.kind == TimerLaw::Kind::coupled;
    rates.push_back(is_coupled ? law_of(computes, i).mean_rate(experiment.until) / law.every : law.mean_rate(experiment.until));
  }
  return rates;
}

}  // namespace

std::vector<MeetingRate> meeting_rates(const Graph& graph, const config::Experiment& experiment) {
  std::vector<double> rates = ask_rates(experiment);
  if (experiment.protocol.roles == config::Roles::bipartite)
    if (const std::optional<std::vector<bool>> white = graph.colours())
      for (std::size_t i = 0; i < rates.size(); ++i) rates[i] *= (*white)[i] ? 0 : 1;  // the side of the first client asks
  const bool per_link = experiment.clients.transmit.per_link;
  const std::vector<double> weights = per_link ? std::vector<double>() : partner_weights_of(graph, experiment);
  std::vector<double> asked(graph.links());
  for (ClientId asker; asker.value < graph.clients(); ++asker.value) {
    const LinkIndex first = graph.first_link(asker);
    const std::size_t degree = graph.out_degree(asker);
    double all = 0;
    for (std::size_t place = 0; place < degree; ++place) all += weights.empty() ? 1 : weights[first + place];
    for (std::size_t place = 0; place < degree && all > 0; ++place)
      asked[first + place] = rates[asker.value] * (per_link ? 1 : (weights.empty() ? 1 : weights[first + place]) / all);
  }
  std::vector<MeetingRate> edges;
  for (ClientId one; one.value < graph.clients(); ++one.value)
    for (const ClientId other : graph.receivers_of(one)) {
      if (other < one) continue;
      const auto there = graph.find_link(one, other), back = graph.find_link(other, one);
      const double rate = asked[*there] + (back ? asked[*back] : 0);
      if (rate > 0) edges.push_back({one, other, rate});
    }
  return edges;
}

AcidConstants acid_constants_of(const config::Experiment& experiment) {
  constexpr std::int64_t most = 5000;
  constexpr std::size_t many = 1000, most_edges = 10'000;  // more of them fill the factors
  constexpr const char* key = "algorithm.constants = \"graph\"";
  if (experiment.clients.count > most)
    throw std::invalid_argument(fmt::format("{}: there are more than {} clients; give eta and alpha_tilde", key, most));
  const Graph graph = make_graph(experiment);
  try {
    const std::vector<MeetingRate> edges = meeting_rates(graph, experiment);
    if (graph.clients() > many && edges.size() > most_edges)
      throw std::invalid_argument(fmt::format("there are more than {} edges; give eta and alpha_tilde", most_edges));
    return acid_constants(graph.clients(), edges);
  } catch (const std::invalid_argument& fault) {
    throw std::invalid_argument(fmt::format("{}: {}", key, fault.what()));
  }
}

}  // namespace rubato
