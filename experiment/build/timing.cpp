#include "experiment/build/timing.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "experiment/build/channels.hpp"
#include "experiment/build/churn_plan.hpp"
#include "experiment/build/devices.hpp"
#include "experiment/build/per_client.hpp"
#include "experiment/build/timers.hpp"
#include "experiment/build/weights.hpp"
#include "runtime/protocols/gather_by_message.hpp"

namespace rubato {

namespace {

using config::Experiment;

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

MailboxLimits to_limits(const config::Mailbox& mailbox) {
  MailboxLimits limits;
  limits.window = from_seconds(mailbox.window);
  if (mailbox.deadline) limits.deadline = from_seconds(*mailbox.deadline);
  if (mailbox.cap) limits.cap = static_cast<std::uint32_t>(*mailbox.cap);
  return limits;
}

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

Timing::Timing(Graph given_graph, std::unique_ptr<Channel> given_channel, ProtocolKind protocol)
    : graph{std::move(given_graph)}, channel{std::move(given_channel)}, protocol_{protocol} {
  settings.graph = &graph;
  board.settings = &settings;
  server.push = gather.settings.push = &settings;
  pull.push = &settings;
  conductor.graph = &graph;
  conductor.channel = channel.get();
}

// The weights of merge and publish steps, from the rules of the file or those the algorithm is made for.
void Timing::configure_weights(const Experiment& experiment, const ResolvedAlgorithm& resolved) {
  if (resolved.merge != Weights::none && !(resolved.merge == Weights::neighbours && settings.needs.weights_by_batch))
    settings.merge_weights = {weights_of(graph, graph, experiment, resolved, false)};
  if (resolved.share != Weights::none) settings.share_weights = {weights_of(graph, graph, experiment, resolved, true)};
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
    settings.merge_weights.insert(settings.merge_weights.end(), repeats, weights_of(part, graph, experiment, resolved, false));
    if (resolved.share != Weights::none)
      settings.share_weights.insert(settings.share_weights.end(), repeats, weights_of(part, graph, experiment, resolved, true));
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
