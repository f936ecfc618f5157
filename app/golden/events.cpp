#include "app/golden/events.hpp"

#include <algorithm>
#include <stdexcept>

namespace rubato::golden {

// A number, or nothing where the case says null or says nothing.
const Json* given(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

namespace {

Duration to_duration(const Json& seconds) {
  if (seconds.get<double>() >= 0) return from_seconds(seconds.get<double>());
  throw std::invalid_argument("a time or a delay is " + seconds.dump() + ": must be at least 0");
}

Time to_time(const Json& seconds) { return Time{to_duration(seconds)}; }

// The event table by client: ticks of both timers, and what each transmit tick finds on its links.
struct Script {
  explicit Script(std::size_t clients) : compute(clients), transmit(clients), active(clients), fates(clients) {}

  std::vector<std::vector<Time>> compute, transmit;
  ActiveLinks active;
  std::vector<std::vector<TableChannel::Turn>> fates;
  std::set<Edge> links;
};

void add_transmit(const Json& event, std::uint32_t client, Script& script) {
  TableChannel::Turn turn;
  std::vector<ClientId> receivers;
  for (const auto& [receiver, delay] : event.at("delays").items()) {
    const ClientId to{static_cast<std::uint32_t>(std::stoul(receiver))};
    receivers.push_back(to);
    script.links.insert({ClientId{client}, to});
    if (!delay.is_null()) turn[to] = {false, to_duration(delay)};
  }
  std::sort(receivers.begin(), receivers.end());
  script.transmit.at(client).push_back(to_time(event.at("t")));
  script.active[client].push_back(std::move(receivers));
  script.fates[client].push_back(std::move(turn));
}

Script read_script(const Json& events, std::size_t clients) {
  std::vector<Json> sorted(events.begin(), events.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Json& a, const Json& b) { return a.at("t").get<double>() < b.at("t").get<double>(); });
  Script script(clients);
  for (const Json& event : sorted) {
    const auto client = event.at("client").get<std::uint32_t>();
    if (event.at("type") == "compute")
      script.compute.at(client).push_back(to_time(event.at("t")));
    else
      add_transmit(event, client, script);
  }
  return script;
}

}  // namespace

void add_links(const Json& weights, std::size_t clients, std::set<Edge>& links) {
  for (std::uint32_t receiver = 0; receiver < clients; ++receiver)
    for (std::uint32_t sender = 0; sender < clients; ++sender)
      if (receiver != sender && weights.at(receiver).at(sender).get<double>() != 0)
        links.insert({ClientId{sender}, ClientId{receiver}});
}

// Everyone who is given a weight, and everyone who is sent to.
Graph to_graph(const Json& config, std::size_t clients, std::set<Edge> links) {
  for (const char* matrix : {"Q", "A", "B", "W", "P"})
    if (const Json* weights = given(config, matrix); weights && weights->is_array()) add_links(*weights, clients, links);
  return Graph(clients, true, {links.begin(), links.end()});
}

std::vector<double> link_weights(const Json& q, const Graph& graph) {
  std::vector<double> weights;
  for (LinkIndex link = 0; link < graph.links(); ++link) {
    const Edge ends = graph.ends_of(link);
    weights.push_back(q.at(ends.target.value).at(ends.source.value).get<double>());
  }
  return weights;
}

namespace {

std::vector<double> degree_weights(const Json& config, const Graph& graph) {
  const bool by_sender = config.value("q_norm", "receiver_static") == "sender_static";
  std::vector<double> weights;
  for (LinkIndex link = 0; link < graph.links(); ++link) {
    const Edge ends = graph.ends_of(link);
    weights.push_back(1.0 / static_cast<double>(by_sender ? graph.out_degree(ends.source) : graph.in_degree(ends.target)));
  }
  return weights;
}

}  // namespace

void set_weights(const Json& config, Timing& timing) {
  timing.settings.needs.weights_by_batch = config.value("q_norm", "receiver_static") == "batch";
  const Json* q = given(config, "Q");
  timing.settings.merge_weights = {q ? link_weights(*q, timing.graph) : degree_weights(config, timing.graph)};
}

namespace {

std::vector<TimerLaw> to_laws(std::vector<std::vector<Time>> ticks) {
  std::vector<TimerLaw> laws;
  for (auto& row : ticks) laws.push_back(TimerLaw::table(std::move(row)));
  return laws;
}

}  // namespace

void set_hubs(const Json& hubs, Timing& timing) {
  UnificationPlan& plan = timing.conductor.unification;
  plan.policy = HubPolicy::table;
  for (const Json& hub : hubs) plan.table.push_back(ClientId{hub.get<std::uint32_t>()});
  for (const ClientId hub : plan.table)
    if (hub.value >= timing.graph.clients()) throw std::invalid_argument("hub: there is no client " + std::to_string(hub.value));
}

namespace {

void set_dates(const Json& config, Timing& timing) {
  timing.conductor.until = to_time(config.at("t_end"));
  const Json* period = given(config, "period");
  if (!period) return;
  timing.conductor.cap_period = to_duration(*period);
  const Json* hubs = given(config, "hub");
  if (!hubs || hubs->empty()) return;
  timing.conductor.unification.period = timing.conductor.cap_period;
  timing.conductor.unification.clears_mailbox = config.value("unify_clears_mailbox", false);
  set_hubs(*hubs, timing);
}

void set_limits(const Json& config, MailboxLimits& limits) {
  if (const Json* window = given(config, "window")) limits.window = to_duration(*window);
  if (const Json* deadline = given(config, "deadline")) limits.deadline = to_duration(*deadline);
  if (const Json* cap = given(config, "psi")) limits.cap = cap->get<std::uint32_t>();
}

}  // namespace

std::unique_ptr<Timing> make_timing(const Json& golden_case) {
  const Json& config = golden_case.at("config");
  const std::size_t clients = number_below(most_clients, config.at("m"));
  Script script = read_script(golden_case.at("events"), clients);
  auto timing = std::make_unique<Timing>(to_graph(config, clients, script.links),
                                         std::make_unique<TableChannel>(std::move(script.fates)), ProtocolKind::push);
  timing->settings.compute = to_laws(std::move(script.compute));
  timing->settings.transmit = to_laws(std::move(script.transmit));
  timing->settings.links = LinkChoice(std::move(script.active));
  set_limits(config, timing->settings.limits);
  set_dates(config, *timing);
  return timing;
}

Json batch_of(std::span<const Arrival> arrivals) {
  Json batch = Json::array();
  for (const Arrival& arrival : arrivals) batch.push_back({arrival.id.sender.value, arrival.id.sequence});
  return batch;
}

Json used_of(std::span<const StepEntry> entries) {
  Json used = Json::array();
  for (const StepEntry& entry : entries) used.push_back({entry.peer.value, entry.sequence});
  return used;
}

Json lost_of(const Step& publish) {
  Json lost = Json::array();
  for (const StepEntry& entry : publish.entries)
    if (entry.lost) lost.push_back(entry.peer.value);
  return lost;
}

}  // namespace rubato::golden
