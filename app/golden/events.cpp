#include "app/golden/events.hpp"

#include <algorithm>
#include <set>

#include "app/golden/rounds.hpp"

namespace rubato::golden {

std::vector<Json> sorted_events(const Json& golden_case) {
  const Json& events = golden_case.at("events");
  std::vector<Json> sorted(events.begin(), events.end());
  std::ranges::stable_sort(sorted, {}, [](const Json& event) { return event.at("t").get<double>(); });
  return sorted;
}

namespace {

// The event table by client: ticks of both timers, and what each transmit tick finds on its links.
struct Script {
  Script(const Json& golden_case, std::size_t clients) : compute(clients), transmit(clients), active(clients), fates(clients) {
    for (const Json& event : sorted_events(golden_case)) {
      const std::uint32_t client = number_below(clients, event.at("client"));
      const auto at = event.at("t").get<Time>();
      if (event.at("type") == "compute") {
        compute[client].push_back(at);
      } else {
        transmit[client].push_back(at);
        add_transmit(event, client);
      }
    }
  }

  void add_transmit(const Json& event, std::uint32_t client) {
    TableChannel::Turn& turn = fates[client].emplace_back();
    std::vector<ClientId>& receivers = active[client].emplace_back();
    for (const auto& [receiver, delay] : event.at("delays").items()) {
      const ClientId to{static_cast<std::uint32_t>(std::stoul(receiver))};
      receivers.push_back(to);
      links.insert({ClientId{client}, to});
      if (!delay.is_null()) turn[to] = {false, delay.get<Duration>()};
    }
    std::ranges::sort(receivers);
  }

  std::vector<std::vector<Time>> compute, transmit;
  ActiveLinks active;
  std::vector<std::vector<TableChannel::Turn>> fates;
  std::set<Edge> links;
};

std::vector<TimerLaw> to_laws(std::vector<std::vector<Time>> ticks) {
  std::vector<TimerLaw> laws;
  for (auto& row : ticks) laws.push_back(TimerLaw::table(std::move(row)));
  return laws;
}

}  // namespace

void set_weights(const Json& config, Timing& timing) {
  const std::string norm = config.value("q_norm", "receiver_static");
  timing.settings.needs.weights_by_batch = norm == "batch";
  const Graph& graph = timing.graph;
  std::vector<double> weights;
  if (const Json* q = given(config, "Q"))
    weights = link_weights(*q, graph);
  else
    for (LinkIndex link = 0; link < graph.links(); ++link) {
      const Edge ends = graph.ends_of(link);
      weights.push_back(
          1.0 / static_cast<double>(norm == "sender_static" ? graph.out_degree(ends.source) : graph.in_degree(ends.target)));
    }
  timing.settings.merge_weights = {std::move(weights)};
}

std::vector<std::uint32_t> absorb_periods(const Json& config, std::size_t clients) {
  const Json& kappa = config.at("kappa");
  std::vector<std::uint32_t> periods;
  for (std::size_t i = 0; i < clients; ++i)  // 0 is refused by the algorithm
    periods.push_back(std::max(number_below(most_rounds, kappa.is_array() ? kappa.at(i) : kappa), std::uint32_t{1}));
  return periods;
}

void set_hubs(const Json& hubs, Timing& timing) {
  UnificationPlan& plan = timing.conductor.unification;
  plan.policy = HubPolicy::table;
  plan.table = clients_below(timing.graph.clients(), hubs);
}

std::unique_ptr<Timing> make_timing(const Json& golden_case) {
  const Json& config = golden_case.at("config");
  const std::size_t clients = number_below(most_clients, config.at("m"));
  Script script(golden_case, clients);
  for (const char* name : {"Q", "A", "B", "W", "P"})  // links that are given a weight, and links that are used
    if (const Json* weights = given(config, name); weights && weights->is_array()) add_links(*weights, clients, script.links);
  auto timing = std::make_unique<Timing>(Graph(clients, true, {script.links.begin(), script.links.end()}),
                                         std::make_unique<TableChannel>(std::move(script.fates)), ProtocolKind::push);
  timing->settings.compute = to_laws(std::move(script.compute));
  timing->settings.transmit = to_laws(std::move(script.transmit));
  timing->settings.links = LinkChoice(std::move(script.active));
  MailboxLimits& limits = timing->settings.limits;
  read(config, "window", limits.window);
  read(config, "deadline", limits.deadline);
  read(config, "psi", limits.cap);
  timing->conductor.until = config.at("t_end").get<Time>();
  if (!read(config, "period", timing->conductor.cap_period)) return timing;
  const Json* hubs = given(config, "hub");
  if (!hubs || hubs->empty()) return timing;
  timing->conductor.unification.period = timing->conductor.cap_period;
  timing->conductor.unification.clears_mailbox = config.value("unify_clears_mailbox", false);
  set_hubs(*hubs, *timing);
  return timing;
}

}  // namespace rubato::golden
