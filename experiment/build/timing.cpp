#include "experiment/build/timing.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "experiment/build/channels.hpp"
#include "experiment/build/churn_plan.hpp"
#include "experiment/build/devices.hpp"
#include "experiment/build/per_client.hpp"
#include "runtime/protocols/gather_by_message.hpp"
#include "runtime/world/changing.hpp"
#include "runtime/world/mixing.hpp"
#include "runtime/world/topology.hpp"

namespace rubato {

Law law_of(const config::Law& law) {
  using Kind = LawKind;
  switch (law.law) {
    case Kind::constant:
      return Law::constant(law.value);
    case Kind::exponential:
      return {.kind = law.law, .first = law.mean};
    case Kind::uniform:
      return {.kind = Kind::uniform, .first = law.low, .second = law.high};
    case Kind::lognormal:
      return {.kind = Kind::lognormal, .first = law.mean, .second = law.sigma};
    case Kind::beta:
      return {.kind = Kind::beta, .first = law.a, .second = law.b};
    case Kind::gamma:
      return {.kind = Kind::gamma, .first = law.shape, .second = law.rate};
    case Kind::shifted_exponential:
      return {.kind = Kind::shifted_exponential, .first = law.min, .second = law.rate};
    case Kind::list:
      return {.kind = Kind::list, .values = law.values};
  }
  return {};
}

std::vector<std::vector<Time>> read_trace(const std::string& file, std::size_t clients) {
  std::ifstream lines(file);
  if (!lines) throw std::invalid_argument("cannot read the trace " + file);
  std::vector<std::vector<Time>> ticks;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() == '#') continue;
    std::istringstream numbers(line);
    std::vector<Time> row;
    for (double seconds; numbers >> seconds;) {
      const Time tick{from_seconds(seconds)};
      if (seconds < 0 || (!row.empty() && tick <= row.back()))
        throw std::invalid_argument(file + ": line " + std::to_string(ticks.size() + 1) + " must ascend from 0");
      row.push_back(tick);
    }
    if (!numbers.eof())
      throw std::invalid_argument(file + ": line " + std::to_string(ticks.size() + 1) + " holds something that is no number");
    ticks.push_back(std::move(row));
  }
  if (ticks.size() == clients) return ticks;
  throw std::invalid_argument(file + " has " + std::to_string(ticks.size()) +
                              " lines, must have one per client: " + std::to_string(clients));
}

namespace {

using config::Experiment;

double above_zero(double value, ClientId client, const char* what) {
  if (value > 0 && std::isfinite(value)) return value;
  throw std::invalid_argument(std::string(what) + " of client " + std::to_string(client.value) + " is " + std::to_string(value) +
                              ": must be greater than 0");
}

std::vector<TimerLaw> tabled(std::vector<std::vector<Time>> ticks) {
  std::vector<TimerLaw> laws;
  for (auto& row : ticks) laws.push_back(TimerLaw::table(std::move(row)));
  return laws;
}

std::vector<std::vector<Time>> to_ticks(const std::vector<std::vector<double>>& table) {
  std::vector<std::vector<Time>> ticks;
  for (const auto& row : table) {
    ticks.emplace_back();
    for (const double seconds : row) ticks.back().push_back(Time{from_seconds(seconds)});
  }
  return ticks;
}

// One law for all clients where its numbers are the same for all, else a law each.
template <class Make>
std::vector<TimerLaw> spread(const config::Law& first, const config::Law& second, std::uint64_t seed, std::uint32_t stream,
                             std::size_t clients, Make make) {
  const PerClient one(first, seed, stream), other(second, seed, stream + 1);
  if (one.is_same_for_all() && other.is_same_for_all()) return {make(one.of({0}), other.of({0}), ClientId{0})};
  std::vector<TimerLaw> laws;
  for (std::uint32_t i = 0; i < clients; ++i) laws.push_back(make(one.of({i}), other.of({i}), ClientId{i}));
  return laws;
}

std::vector<TimerLaw> to_timers(const config::TimerLaw& law, std::uint64_t seed, std::uint32_t stream, std::size_t clients) {
  using Kind = config::TimerKind;
  static const config::Law none;
  switch (law.law) {
    case Kind::poisson:
      return spread(law.rate, none, seed, stream, clients,
                    [](double rate, double, ClientId client) { return TimerLaw::poisson(above_zero(rate, client, "the rate")); });
    case Kind::fixed:
      return spread(law.period, law.phase, seed, stream, clients, [](double period, double phase, ClientId client) {
        return TimerLaw::fixed(above_zero(period, client, "the period"), phase);
      });
    case Kind::shifted_exp:
      return spread(law.min, law.rate, seed, stream, clients, [](double minimum, double rate, ClientId client) {
        return TimerLaw::shifted_exponential(minimum, above_zero(rate, client, "the rate"));
      });
    case Kind::gamma:
      return spread(law.shape, law.rate, seed, stream, clients, [](double shape, double rate, ClientId client) {
        return TimerLaw::gamma(above_zero(shape, client, "the shape"), above_zero(rate, client, "the rate"));
      });
    case Kind::lognormal:
      return spread(law.mean, law.sigma, seed, stream, clients, [](double mean, double sigma, ClientId client) {
        return TimerLaw::lognormal(above_zero(mean, client, "the mean interval"), sigma);
      });
    case Kind::trace:
      return tabled(read_trace(law.file.string(), clients));
    case Kind::table:
      return tabled(to_ticks(law.ticks));
    case Kind::coupled:
      return {TimerLaw::coupled(static_cast<std::uint32_t>(law.every), static_cast<std::uint32_t>(law.repeat))};
    case Kind::off:
      break;
  }
  return {TimerLaw::off()};
}

UnificationPlan to_plan(const config::Unification& unification) {
  UnificationPlan plan;
  if (unification.period) plan.period = from_seconds(*unification.period);
  plan.policy = unification.hub;
  plan.fixed = ClientId{static_cast<std::uint32_t>(unification.client)};
  for (const std::int64_t hub : unification.hubs) plan.table.push_back(ClientId{static_cast<std::uint32_t>(hub)});
  plan.via_transport = unification.via == config::UnifyVia::transport;
  plan.clears_mailbox = unification.clears_mailbox;
  return plan;
}

// A number for every directed link from what is known of its ends.
template <class Weight>
std::vector<double> weigh_links(const Graph& graph, Weight weight) {
  std::vector<double> weights(graph.links());
  for (std::uint32_t i = 0; i < graph.clients(); ++i) {
    const auto receivers = graph.receivers_of(ClientId{i});
    for (std::uint32_t k = 0; k < receivers.size(); ++k)
      weights[graph.first_link(ClientId{i}) + k] = weight(ClientId{i}, receivers[k]);
  }
  return weights;
}

std::vector<double> draco_weights(const config::Algorithm& algorithm, const Graph& graph) {
  const auto inverse = [](std::size_t degree) { return 1.0 / static_cast<double>(degree); };
  switch (algorithm.q) {
    case config::WeightKind::receiver_static:
      return weigh_links(graph, [&](ClientId, ClientId receiver) { return inverse(graph.in_degree(receiver)); });
    case config::WeightKind::sender_static:
      return weigh_links(graph, [&](ClientId sender, ClientId) { return inverse(graph.out_degree(sender)); });
    case config::WeightKind::explicit_:
      return weigh_links(graph,
                         [&](ClientId sender, ClientId receiver) { return algorithm.q_matrix[receiver.value][sender.value]; });
    case config::WeightKind::batch:
      break;
  }
  return {};
}

std::string_view usual_rule(Weights weights) {
  switch (weights) {
    case Weights::row:
      return "uniform_row";
    case Weights::column:
      return "uniform_col";
    case Weights::doubly:
      return "metropolis";
    case Weights::averaging:
      return "averaging";
    case Weights::neighbours:
      return "draco_row";
    case Weights::none:
      break;
  }
  return "";
}

// What is wrong with the sums of a matrix that must be of this kind; empty if nothing is.
std::string sum_fault(const MixingMatrix& matrix, Weights weights) {
  std::ostringstream text;
  const auto say = [&](const char* what, double defect) {
    if (defect > sum_tolerance) text << what << " do not sum to one: they are off by up to " << defect;
  };
  const bool needs_rows = weights == Weights::row || weights == Weights::doubly || weights == Weights::averaging;
  if (needs_rows) say("its rows", row_defect(matrix));
  if (text.str().empty() && (weights == Weights::column || weights == Weights::doubly)) say("its columns", column_defect(matrix));
  if (text.str().empty() && weights == Weights::doubly && symmetry_defect(matrix) > sum_tolerance) text << "it is not symmetric";
  if (text.str().empty() && smallest_weight(matrix) < 0) text << "it has a negative weight";
  return text.str();
}

MixingMatrix make_weights(config::MixingKind kind, const DenseMatrix& given, Weights weights, const char* key, const Graph& graph) {
  MixingOptions options;
  options.kind = std::string(kind == config::MixingKind::auto_ ? usual_rule(weights) : word_of(kind));
  options.weights = given;
  MixingMatrix matrix = make_mixing(options, graph);
  if (const std::string fault = sum_fault(matrix, weights); !fault.empty())
    throw std::invalid_argument("topology." + std::string(key) + " = \"" + options.kind + "\": " + fault);
  return matrix;
}

MailboxLimits to_limits(const config::Mailbox& mailbox) {
  MailboxLimits limits;
  limits.window = from_seconds(mailbox.window);
  if (mailbox.deadline) limits.deadline = from_seconds(*mailbox.deadline);
  if (mailbox.cap) limits.cap = static_cast<std::uint32_t>(*mailbox.cap);
  return limits;
}

TopologyOptions to_options(const Experiment& experiment) {
  const config::Topology& topology = experiment.topology;
  TopologyOptions options;
  options.kind = std::string(word_of(topology.kind));
  if (topology.kind == config::TopologyKind::random_geometric) options.kind = "rgg";
  options.rows = static_cast<std::size_t>(topology.rows);
  options.columns = static_cast<std::size_t>(topology.columns);
  options.center = static_cast<std::size_t>(topology.center);
  options.k = static_cast<std::size_t>(topology.k);
  options.step = static_cast<std::size_t>(topology.step);
  options.probability = topology.probability;
  options.radius = topology.radius;
  options.symmetrise = topology.symmetrise;
  options.file = topology.file.string();
  options.is_directed = topology.directed;
  if (topology.points == config::PointsKind::channel) options.points = connected_places(experiment, options);
  return options;
}

}  // namespace

namespace {

// A period in rounds.
std::uint64_t whole_rounds(const std::optional<double>& period, const char* key) {
  const double rounds = period.value_or(0);
  if (rounds != std::floor(rounds))
    throw std::invalid_argument(std::string(key) + " = " + std::to_string(rounds) +
                                ": in rounds it counts rounds and must be whole");
  return static_cast<std::uint64_t>(rounds);
}

void check_waiting(const config::Channel& channel) {
  for (const config::Link& link : channel.links)
    if (link.loss.value_or(channel.loss) >= 1)
      throw std::invalid_argument("protocol.missing = \"wait\" waits for ever on a link with loss 1");
}

// Whether every round has one exchange, and nothing is exchanged before the first.
bool exchanges_once(const RoundProgram& program) {
  std::size_t exchanges = 0;
  for (std::size_t i = 0; i < program.round.size(); ++i) {
    const Phase& phase = program.round[i];
    if (phase.kind == PhaseKind::exchange) exchanges += phase.every == 1 && phase.first == 0 ? 1 : 2;
  }
  for (std::size_t i = 0; i < program.opening.size(); ++i) exchanges += 2 * (program.opening[i].kind == PhaseKind::exchange);
  return exchanges == 1;
}

bool retains_on_loss(const Experiment& experiment, ProtocolKind protocol) {
  if (!experiment.algorithm.retain_on_loss) return false;
  if (protocol != ProtocolKind::push)
    throw std::invalid_argument("algorithm.retain_on_loss = true: rounds have no acknowledgements; use protocol.kind = \"push\"");
  if (!experiment.mailbox.deadline)
    throw std::invalid_argument("algorithm.retain_on_loss = true needs mailbox.deadline: that is when a message counts as lost");
  return true;
}

}  // namespace

namespace {

Graph graph_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& edges, bool is_directed, std::size_t clients) {
  std::vector<Edge> all;
  for (const auto& [source, target] : edges)
    all.push_back({ClientId{static_cast<std::uint32_t>(source)}, ClientId{static_cast<std::uint32_t>(target)}});
  return Graph(clients, is_directed, std::move(all));
}

Graph whole_of(std::span<const Graph> graphs) { return graphs.size() > 1 ? joined(graphs) : graphs.front(); }

// A graph of the cycle may only have edges of the whole one, and each stays as long as it says.
std::vector<Graph> graphs_of_edges(const config::Topology& topology, std::size_t clients) {
  const Graph whole = graph_of(topology.edges, topology.directed, clients);
  if (topology.cycle.empty()) return {whole};
  if (!topology.cycle_rounds.empty() && topology.cycle_rounds.size() != topology.cycle.size())
    throw std::invalid_argument("topology.cycle_rounds has " + std::to_string(topology.cycle_rounds.size()) +
                                " numbers, must have one for each of the " + std::to_string(topology.cycle.size()) + " graphs");
  std::vector<Graph> graphs;
  for (std::size_t k = 0; k < topology.cycle.size(); ++k) {
    const Graph part = graph_of(topology.cycle[k], topology.directed, clients);
    for (LinkIndex link = 0; link < part.links(); ++link)
      if (const Edge ends = part.ends_of(link); !whole.find_link(ends.source, ends.target))
        throw std::invalid_argument("topology.cycle[" + std::to_string(k) + "]: topology.edges has no edge from " +
                                    std::to_string(ends.source.value) + " to " + std::to_string(ends.target.value));
    graphs.insert(graphs.end(), topology.cycle_rounds.empty() ? 1 : static_cast<std::size_t>(topology.cycle_rounds[k]), part);
  }
  return graphs;
}

GraphChange to_change(const config::Topology& topology) {
  return {topology.change, topology.activation, static_cast<std::size_t>(topology.graphs)};
}

}  // namespace

namespace {

bool follows_wanderers(const config::Topology& topology) {
  return topology.change == ChangeKind::redraw && topology.points == config::PointsKind::channel;
}

// Of those who are near each other at each change; after the end of the run the first one would come again.
std::vector<Graph> graphs_of_wanderers(const Experiment& experiment) {
  const config::Topology& topology = experiment.topology;
  TopologyOptions options = to_options(experiment);
  const Places places = wanderers(experiment, options.points);
  if (places.is_still())
    throw std::invalid_argument(
        "topology.change = \"redraw\" with topology.points = \"channel\": clients stay where they are; set "
        "channel.speed_high");
  const double changes = experiment.until / topology.change_every;
  if (changes > 1e6) throw std::invalid_argument("topology.change_every: a million changes in the course of a run are too many");
  options.allow_disconnected = true;
  std::vector<Graph> graphs;
  for (std::int64_t k = 0; static_cast<double>(k) <= changes; ++k) {
    const Time at{from_seconds(static_cast<double>(k) * topology.change_every)};
    for (std::uint32_t i = 0; i < options.points.size(); ++i) options.points[i] = places.of({i}, at);
    graphs.push_back(make_topology(options, options.points.size(), static_cast<std::uint64_t>(experiment.seed)));
  }
  return graphs;
}

}  // namespace

std::vector<Point> places_of(const Experiment& experiment) {
  if (experiment.topology.points == config::PointsKind::channel) return to_options(experiment).points;
  return usual_places(experiment);
}

std::vector<Graph> make_graphs(const Experiment& experiment) {
  const auto clients = static_cast<std::size_t>(experiment.clients.count);
  const config::Topology& topology = experiment.topology;
  if (topology.kind == config::TopologyKind::edges) return graphs_of_edges(topology, clients);
  if (follows_wanderers(topology)) return graphs_of_wanderers(experiment);
  return make_changing(to_options(experiment), to_change(topology), clients, static_cast<std::uint64_t>(experiment.seed));
}

Graph make_graph(const Experiment& experiment) { return whole_of(make_graphs(experiment)); }

ResolvedAlgorithm resolve_algorithm(const Experiment& experiment) {
  const CatalogueEntry& entry = catalogue_entry(experiment.algorithm.name);
  const ProtocolKind protocol = experiment.protocol.kind.value_or(entry.usual);
  if (!entry.runs_under(protocol)) {
    std::string known;
    for (const ProtocolKind kind :
         {ProtocolKind::push, ProtocolKind::rounds, ProtocolKind::server, ProtocolKind::token, ProtocolKind::pull})
      if (entry.runs_under(kind)) known += (known.empty() ? "" : ", ") + std::string(word_of(kind));
    throw std::invalid_argument("algorithm.name = \"" + experiment.algorithm.name + "\" does not run under protocol.kind = \"" +
                                std::string(word_of(protocol)) + "\"; it runs under: " + known);
  }
  return {entry.needs(experiment.algorithm.options), entry.merge, entry.share, protocol, &entry};
}

Timing::Timing(Graph given_graph, std::unique_ptr<Channel> given_channel, ProtocolKind protocol)
    : graph{std::move(given_graph)}, channel{std::move(given_channel)}, protocol_{protocol} {
  settings.graph = &graph;
  board.settings = &settings;
  server.push = gather.settings.push = &settings;
  pull.push = &settings;
  conductor.graph = &graph;
  conductor.channel = channel.get();
}

// What every link of the whole graph weighs while this part of it is there; links that are not weigh nothing.
std::vector<double> Timing::weights_of(const Graph& part, const Experiment& experiment, const ResolvedAlgorithm& resolved,
                                       bool is_share) const {
  const config::Topology& topology = experiment.topology;
  const Weights rule = is_share ? resolved.share : resolved.merge;
  const auto on_whole = [&](auto weight) {
    return weigh_links(graph, [&](ClientId sender, ClientId receiver) {
      return part.find_link(sender, receiver) ? weight(sender, receiver) : 0.0;
    });
  };
  if (rule == Weights::none) return on_whole([](ClientId, ClientId) { return 1.0; });
  if (rule == Weights::neighbours) {
    const std::vector<double> weights = draco_weights(experiment.algorithm, part);
    return on_whole(
        [&](ClientId sender, ClientId receiver) { return weights.empty() ? 1.0 : weights[*part.find_link(sender, receiver)]; });
  }
  const bool is_one_matrix = resolved.share == resolved.merge && topology.shares == config::MixingKind::auto_;
  const MixingMatrix matrix = is_share && !is_one_matrix
                                  ? make_weights(topology.shares, topology.shares_matrix, rule, "shares", part)
                                  : make_weights(topology.mixing, topology.mixing_matrix, rule, "mixing", part);
  if (part.links() == graph.links()) return {matrix.link_weights().begin(), matrix.link_weights().end()};
  return on_whole([&](ClientId sender, ClientId receiver) { return matrix.at(receiver, sender); });
}

// The weights of merge and publish steps, from the rules of the file or those the algorithm is made for.
void Timing::configure_weights(const Experiment& experiment, const ResolvedAlgorithm& resolved) {
  if (resolved.merge != Weights::none && !(resolved.merge == Weights::neighbours && settings.needs.weights_by_batch))
    settings.merge_weights = {weights_of(graph, experiment, resolved, false)};
  if (resolved.share != Weights::none) settings.share_weights = {weights_of(graph, experiment, resolved, true)};
}

// A row of weights for every graph of the sequence; who has no link in a graph keeps its model meanwhile.
void Timing::configure_changing_weights(const Experiment& experiment, const ResolvedAlgorithm& resolved,
                                        std::span<const Graph> graphs) {
  if (protocol_ != ProtocolKind::rounds && protocol_ != ProtocolKind::push)
    throw std::invalid_argument("topology.change: protocol.kind = \"" + std::string(word_of(protocol_)) +
                                "\" needs a graph that stays; \"push\" and \"rounds\" do not");
  if (protocol_ == ProtocolKind::rounds && follows_wanderers(experiment.topology))
    throw std::invalid_argument(
        "topology.points = \"channel\" with topology.change = \"redraw\": clients move by the clock, rounds do not; "
        "use protocol.kind = \"push\"");
  const double every = experiment.topology.change_every;
  const std::uint64_t repeats = protocol_ == ProtocolKind::rounds ? whole_rounds(every, "topology.change_every") : 1;
  constexpr std::size_t most = std::size_t{1} << 27;
  if (graphs.size() * repeats > most / std::max<std::size_t>(graph.links(), 1))
    throw std::invalid_argument(std::to_string(graphs.size() * repeats) + " graphs of " + std::to_string(graph.links()) +
                                " links are more than memory should hold; lower topology.graphs");
  if (protocol_ == ProtocolKind::push) settings.change_every = from_seconds(every);
  settings.weighs_as_sent = resolved.merge == Weights::none || resolved.merge == Weights::neighbours;
  for (const Graph& part : graphs) {
    settings.merge_weights.insert(settings.merge_weights.end(), repeats, weights_of(part, experiment, resolved, false));
    if (resolved.share != Weights::none)
      settings.share_weights.insert(settings.share_weights.end(), repeats, weights_of(part, experiment, resolved, true));
  }
}

void Timing::configure_chances(const Experiment& experiment) {
  const config::Protocol& protocol = experiment.protocol;
  constexpr double least = 0.01;  // drawn chances below it are clipped: their inverse is a delay
  if (protocol.compute_chance) {
    const PerClient chance(*protocol.compute_chance, settings.seed, 8);
    for (std::uint32_t i = 0; i < graph.clients(); ++i) settings.chances.computes.push_back(std::clamp(chance.of({i}), least, 1.0));
  }
  if (protocol.link_chance) {
    const Law law = law_of(*protocol.link_chance);
    for (LinkIndex link = 0; link < graph.links(); ++link) {
      const Edge ends = graph.ends_of(link);
      Stream stream(settings.seed, ends.source, Purpose::rate, 16 + ends.target.value);
      settings.chances.links.push_back(std::clamp(sample(law, stream, ends.source), least, 1.0));
    }
  }
  const Needs& needs = settings.needs;
  const Every& every = needs.asks_every;
  if (!every.list.empty() && every.list.size() != graph.clients() && every.list.size() != 1)
    throw std::invalid_argument("the algorithm lists " + std::to_string(every.list.size()) + " periods for " +
                                std::to_string(graph.clients()) + " clients");
  for (std::uint32_t i = 0; i < graph.clients() && (every.high > 1 || !every.list.empty()); ++i) {
    Stream stream(settings.seed, ClientId{i}, Purpose::neighbours, 2);
    const auto drawn = static_cast<std::uint32_t>(stream.below(every.high - every.low + 1));
    settings.absorb_every.push_back(every.list.empty() ? every.low + drawn : every.list[every.list.size() > 1 ? i : 0]);
  }
  Fanout fanout = needs.fanout;
  if (protocol_ != ProtocolKind::rounds) fanout.chosen_by_receiver = false;
  settings.links =
      LinkChoice(graph, settings.seed, fanout, fanout.chosen_by_receiver ? settings.absorb_every : std::vector<std::uint32_t>{},
                 needs.sporadic.links ? settings.chances.links : std::vector<double>{});
  if (settings.transmit_per_link && !settings.links.is_all())
    throw std::invalid_argument("clients.transmit.per_link: every link has its own ticks, so none can be chosen or left to chance");
}

Timing::Timing(const Experiment& experiment, const ResolvedAlgorithm& resolved, std::ostream& notes)
    : Timing(make_graphs(experiment), experiment, resolved, notes) {}

Timing::Timing(std::span<const Graph> graphs, const Experiment& experiment, const ResolvedAlgorithm& resolved, std::ostream& notes)
    : Timing(whole_of(graphs), make_channel(experiment, places_of(experiment), resolved.protocol == ProtocolKind::rounds),
             resolved.protocol) {
  const bool is_one_step = experiment.topology.kind == config::TopologyKind::one_peer_exponential && graphs.size() == 1;
  if (!is_one_step) require_connected(graph);
  check_links(experiment.channel, channel.get(), graph);
  centre = ClientId{static_cast<std::uint32_t>(experiment.protocol.center)};
  if (resolved.entry) require_graph(*resolved.entry, experiment.algorithm.options, graph, centre);
  const auto seed = static_cast<std::uint64_t>(experiment.seed);
  const std::size_t clients = graph.clients();
  settings.seed = seed;
  settings.compute = with_class_rates(to_timers(experiment.clients.compute, seed, 0, clients), experiment.clients, seed, false);
  settings.transmit = with_class_rates(to_timers(experiment.clients.transmit, seed, 2, clients), experiment.clients, seed, true);
  settings.transmit_per_link = experiment.clients.transmit.per_link;
  settings.limits = to_limits(experiment.mailbox);
  settings.needs = resolved.needs;
  settings.needs.fixes_model_at_start |= experiment.algorithm.snapshot == config::SnapshotAt::at_start;
  settings.needs.weights_by_batch |= resolved.merge == Weights::neighbours && experiment.algorithm.q == config::WeightKind::batch;
  settings.needs.acknowledgements |= retains_on_loss(experiment, protocol_);
  settings.may_duplicate = experiment.channel.duplicate > 0;
  settings.shares_out_weights = resolved.merge == Weights::neighbours;
  conductor.acknowledges = settings.needs.acknowledgements;
  if (graphs.size() > 1)
    configure_changing_weights(experiment, resolved, graphs);
  else
    configure_weights(experiment, resolved);
  configure_chances(experiment);
  const config::ChannelKind kind = experiment.channel.kind;
  const bool is_on_air = kind == config::ChannelKind::aircomp;
  if (is_on_air || kind == config::ChannelKind::rayleigh_threshold) configure_fading(experiment, resolved);
  if (is_on_air) configure_aircomp(experiment, resolved);

  conductor.seed = seed;
  conductor.until = Time{from_seconds(experiment.until)};
  conductor.unification = to_plan(experiment.unification);
  if (conductor.unification.period > Duration::zero()) require_hub(experiment);
  if (resolved.entry && conductor.unification.period > Duration::zero() && !resolved.entry->may_be_unified)
    throw std::invalid_argument("unification.period: algorithm.name = \"" + experiment.algorithm.name +
                                "\" must not be unified, because overwriting a model breaks what it conserves");
  if (experiment.mailbox.cap_period) conductor.cap_period = from_seconds(*experiment.mailbox.cap_period);
  conductor.sample_every_events = static_cast<std::uint64_t>(experiment.metrics.every_events);
  conductor.sample_every = from_seconds(experiment.metrics.every_seconds);
  conductor.sampled_clients = static_cast<std::uint32_t>(experiment.metrics.clients);
  if (protocol_ == ProtocolKind::rounds) configure_rounds(experiment, resolved, notes);
  if (protocol_ == ProtocolKind::server) require_intervals();
  if (protocol_ == ProtocolKind::server || protocol_ == ProtocolKind::token || protocol_ == ProtocolKind::pull)
    configure_centred(experiment);
  configure_churn(experiment, resolved, notes);
}

void Timing::configure_churn(const Experiment& experiment, const ResolvedAlgorithm& resolved, std::ostream& notes) {
  churn = make_churn_plan(experiment);
  if (churn.is_empty()) return;
  const std::string kind = "protocol.kind = \"" + std::string(word_of(protocol_)) + "\"";
  if (protocol_ != ProtocolKind::push && protocol_ != ProtocolKind::pull)
    throw std::invalid_argument("churn: " + kind + " holds everybody together; use \"push\" or \"pull\"");
  if (protocol_ == ProtocolKind::pull && conductor.retransmits)
    throw std::invalid_argument("churn: " + kind + " needs mailbox.deadline, because who has gone answers nobody");
  conductor.churn = &churn;
  conductor.passes_mass_on = !settings.share_weights.empty() || settings.needs.in_order;
  conductor.may_adopt = !resolved.entry || resolved.entry->may_be_unified;
  if (!conductor.may_adopt)
    notes << "churn: who joins begins with its own first model, because that of \"" << experiment.algorithm.name
          << "\" must not be overwritten\n";
}

// Mixing weights of the links that are up, block by block. Where an algorithm has no such weights messages are lost
// instead.
void Timing::configure_fading(const Experiment& experiment, const ResolvedAlgorithm& resolved) {
  const config::MixingKind mixing = experiment.topology.mixing;
  const bool mixes =
      resolved.merge == Weights::doubly && (mixing == config::MixingKind::auto_ || mixing == config::MixingKind::metropolis);
  const bool may_wait = protocol_ == ProtocolKind::rounds && experiment.protocol.missing == config::MissingRule::wait;
  if (!mixes && may_wait)
    throw std::invalid_argument("protocol.missing = \"wait\" waits for ever on a link that is down for its round; use \"drop\"");
  if (!mixes) return;
  if (settings.merge_weights.size() > 1)
    throw std::invalid_argument("channel.kind = \"" + std::string(word_of(experiment.channel.kind)) +
                                "\": its links come and go, so topology.change and topology.cycle must not");
  fading = std::make_unique<FadingLinks>(graph, fading_of(experiment));
  settings.fading = fading.get();
  settings.weighs_as_sent = true;
  if (protocol_ != ProtocolKind::rounds) settings.change_every = from_seconds(experiment.channel.coherence);
}

void Timing::configure_aircomp(const Experiment& experiment, const ResolvedAlgorithm& resolved) {
  const std::string on_air = "channel.kind = \"aircomp\" ";
  if (protocol_ != ProtocolKind::rounds)
    throw std::invalid_argument(on_air + "has slots for rounds: use protocol.kind = \"rounds\"");
  const bool sends_models = resolved.entry && !resolved.entry->message_bytes && fading;
  if (!sends_models || !exchanges_once(settings.needs.program))
    throw std::invalid_argument(on_air + "adds models up with metropolis weights, once a round: algorithm.name = \"" +
                                experiment.algorithm.name + "\" does not; dpsgd, decefl and async_dsgd do");
  if (experiment.unification.period && experiment.unification.via == config::UnifyVia::transport)
    throw std::invalid_argument(on_air + "has no slots for unification.via = \"transport\"; use \"ideal\"");
  const Air::Settings power{experiment.channel.power_cap, experiment.channel.noise, from_seconds(experiment.channel.slot),
                            static_cast<std::uint64_t>(experiment.seed)};
  air = std::make_unique<Air>(*fading, power);
  channel = std::make_unique<AirChannel>(*air, fading->fading());
  conductor.channel = channel.get();
}

void Timing::size_messages(const Experiment& experiment, const ResolvedAlgorithm& resolved, std::size_t numbers,
                           std::size_t scalar_bytes) {
  const double model = static_cast<double>(numbers * scalar_bytes);
  MessageSizes sizes{.update = model, .model = model};
  if (resolved.entry && resolved.entry->message_bytes)
    sizes.update = resolved.entry->message_bytes(experiment.algorithm.options, numbers, scalar_bytes);
  if (experiment.channel.message_bytes) sizes.update = sizes.model = *experiment.channel.message_bytes;
  channel->set_sizes(sizes);
  conductor.energy = energy_model(experiment, sizes.update);
}

// What only some protocols can do, and what they need: without a deadline nobody would ever give up a lost message.
void Timing::configure_centred(const Experiment& experiment) {
  server.centre = gather.settings.first_leader = centre;
  server.share = experiment.protocol.selected;
  conductor.retransmits = !experiment.mailbox.deadline;
  if (conductor.retransmits) check_waiting(experiment.channel);
  if (experiment.mailbox.cap)
    throw std::invalid_argument("mailbox.cap: protocol.kind = \"" + std::string(word_of(protocol_)) + "\" has no reception cap");
  if (experiment.unification.period)
    throw std::invalid_argument("unification.period: protocol.kind = \"" + std::string(word_of(protocol_)) + "\" is not unified");
}

// In rounds a period counts rounds: one round stands for one second of its paper.
void Timing::configure_rounds(const Experiment& experiment, const ResolvedAlgorithm& resolved, std::ostream& notes) {
  conductor.cumulated_delay = &board.delay;
  board.send_probability = experiment.protocol.send_probability;
  board.unify_every = whole_rounds(experiment.unification.period, "unification.period");
  board.refill_every = whole_rounds(experiment.mailbox.cap_period, "mailbox.cap_period");
  if (experiment.protocol.compute_phase) board.jobs.phase = from_seconds(*experiment.protocol.compute_phase);
  board.jobs.carries_on = experiment.protocol.late_work == config::LateWork::carry_on;
  board.unification = &conductor.unification;
  if (experiment.protocol.missing == config::MissingRule::drop) board.patience = settings.limits.deadline;
  board.ask_after = from_seconds(std::clamp(0.25 * experiment.time_scale, 1e-3, 1e6));  // a quarter of a real second
  conductor.refuses_at_close = true;
  conductor.retransmits = experiment.protocol.missing == config::MissingRule::wait;
  conductor.loses_both_ways = experiment.protocol.missing == config::MissingRule::symmetric_drop;
  if (conductor.retransmits) check_waiting(experiment.channel);
  conductor.unification.period = {};
  conductor.cap_period = {};
  require_intervals();
  const std::string name = "algorithm.name = \"" + experiment.algorithm.name + "\"";
  const bool is_exact = resolved.entry && !resolved.entry->allows_missing;
  if (is_exact && (!misses_nothing() || settings.merge_weights.size() > 1 || settings.fading))
    throw std::invalid_argument(
        name +
        " is exact only where no message is missing and the graph stays: use protocol.missing = \"wait\", "
        "and no mailbox.deadline, mailbox.cap, protocol.send_probability, topology.cycle or links that fade");
  if (conductor.loses_both_ways && (experiment.mailbox.deadline || experiment.mailbox.cap))
    throw std::invalid_argument(
        "protocol.missing = \"symmetric_drop\" goes by what the links lose: leave out mailbox.deadline and "
        "mailbox.cap");
  if (board.jobs.is_in_force() && resolved.entry && !resolved.entry->may_begin)
    throw std::invalid_argument("protocol.compute_phase: " + name +
                                " cannot go on with a computation that began in an earlier round");
  if (board.unify_every > 0 || board.refill_every > 0)
    notes << "in rounds unification.period and mailbox.cap_period count rounds: every " << board.unify_every << " and "
          << board.refill_every << " (0: never)\n";
}

bool Timing::misses_nothing() const {
  return protocol_ == ProtocolKind::rounds && conductor.retransmits && settings.limits.deadline == Duration::max() &&
         settings.limits.cap == MailboxLimits::unlimited && board.send_probability >= 1;
}

void Timing::require_intervals() const {
  const TimerLaw& law = settings.compute.front();
  if (law.ticks_by_itself() && law.kind != TimerLaw::Kind::table) return;
  throw std::invalid_argument("clients.compute: protocol.kind = \"" + std::string(word_of(protocol_)) +
                              "\" needs a law of intervals: poisson, fixed, shifted_exp, gamma or lognormal");
}

std::vector<std::unique_ptr<Protocol>> Timing::make_protocols(bool in_real_time) {
  std::vector<std::unique_ptr<Protocol>> protocols;
  protocols.reserve(graph.clients());
  for (std::uint32_t i = 0; i < graph.clients(); ++i) protocols.push_back(make_protocol(ClientId{i}, in_real_time));
  return protocols;
}

std::unique_ptr<Protocol> Timing::make_protocol(ClientId client, bool in_real_time) {
  switch (protocol_) {
    case ProtocolKind::push:
      return std::make_unique<Push>(settings, client);
    case ProtocolKind::rounds:
      if (in_real_time) return std::make_unique<LocalRounds>(board, client);
      return std::make_unique<Rounds>(board, client);
    case ProtocolKind::server:
      if (!server.gathers_first()) return std::make_unique<Server>(server, client);
      if (in_real_time) return std::make_unique<GatherByMessage>(gather.settings, client);
      return std::make_unique<GatherFirst>(gather, client);
    case ProtocolKind::token:
      return std::make_unique<Token>(settings, client);
    case ProtocolKind::pull:
      return std::make_unique<Pull>(pull, client);
  }
  return nullptr;
}

}  // namespace rubato
