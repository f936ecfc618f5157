#include "experiment/build/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "experiment/build/devices.hpp"
#include "experiment/build/expected_weights.hpp"
#include "experiment/build/timers.hpp"
#include "runtime/protocols/async_server.hpp"
#include "runtime/protocols/gather_by_message.hpp"

namespace rubato {

namespace {

using config::Experiment;

constexpr double usual_time_out = 10;  // seconds: longer than all but a disturbed message takes in DRACO's experiments

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
  if (rounds == std::floor(rounds)) return static_cast<std::uint64_t>(rounds);
  throw std::invalid_argument(fmt::format("{} = {:f}: in rounds it counts rounds and must be whole", key, rounds));
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

// Whether there is an exchange in this round.
bool happens_exchange(const PhaseList& phases, std::uint64_t round) {
  for (std::size_t i = 0; i < phases.size(); ++i)
    if (phases[i].kind == PhaseKind::exchange && phases[i].happens_in(round)) return true;
  return false;
}

ReceptionCensus count_receptions(Experiment experiment, const ResolvedAlgorithm& resolved, const MessageSizes& sizes) {
  constexpr std::uint64_t many_steps = 1'000'000;
  experiment.mailbox.cap_rule = config::CapRule::first_come;
  std::ostringstream unheard;
  Timing timing(experiment, resolved, unheard);
  ReceptionCensus census(timing.graph.clients());
  timing.channel->set_sizes(sizes);
  timing.settings.limits.cap = MailboxLimits::unlimited;
  timing.settings.counts_receptions = &census;
  timing.conductor.samples_last_state = false;
  NoSteps nothing;
  Conductor conductor(timing.conductor, timing.make_protocols(), nothing);
  while (conductor.walk(many_steps)) continue;
  return census;
}

// Fills in a timing, part by part. A part is made where the keys that it follows are in order; what it finds wrong is a
// fault, and the others are judged nonetheless.
class Builder {
 public:
  Builder(Timing& timing, const Experiment& experiment, const ResolvedAlgorithm& resolved, config::Faults& faults,
          std::ostream& notes)
      : made_{timing},
        is_{experiment},
        resolved_{resolved},
        protocol_{resolved.protocol},
        kind_{fmt::format("protocol.kind = \"{}\"", word_of(resolved.protocol))},
        name_{fmt::format("algorithm.name = \"{}\"", experiment.algorithm.name)},
        faults_{faults},
        notes_{notes} {}

  void build() {
    make_world();
    make_timers();
    set_plans();
    faults_.attempt({"topology", "algorithm", "protocol.kind"}, [&] { set_weights(); });
    faults_.attempt({"algorithm", "protocol", "clients.count"}, [&] { set_exchanges(); });
    faults_.attempt({"topology", "algorithm", "protocol", "clients"}, [&] { set_chances(); });
    faults_.attempt({"channel", "topology", "algorithm", "protocol", "mailbox.deadline"}, [&] { set_fading(); });
    faults_.attempt({"algorithm.name", "protocol", "mailbox", "unification"}, [&] { judge_algorithm(); });
    if (protocol_ == ProtocolKind::rounds) set_rounds();
    if (protocol_ != ProtocolKind::push && protocol_ != ProtocolKind::rounds) set_centred();
    if (protocol_ == ProtocolKind::push) faults_.attempt({"protocol"}, [&] { refuse_attempts(); });
    if (protocol_ == ProtocolKind::pair)
      faults_.attempt({"algorithm.name", "protocol", "channel", "topology", "clock"}, [&] { set_pairs(); });
    faults_.attempt({"algorithm", "protocol", "clients", "topology"}, [&] { say_constants(options_in_force(is_)); });
    set_churn();
    if (protocol_ == ProtocolKind::pull) warn_of_equal_answers();
    if (is_.clock == config::ClockKind::wall_time)
      faults_.attempt({"clock", "algorithm.name", "protocol", "mailbox.deadline"}, [&] { judge_real_time(); });
    faults_.attempt({"topology", "algorithm", "protocol"}, [&] {
      if (resolved_.entry) require_graph(*resolved_.entry, is_.algorithm.options, made_.graph, made_.centre);
    });
  }

 private:
  template <class... Parts>
  void refuse(fmt::format_string<Parts...> sentence, Parts&&... parts) {
    faults_.refuse(fmt::format(sentence, std::forward<Parts>(parts)...));
  }

  // The graph, and the links between its clients; whichever says where clients are comes first.
  void make_world() {
    const bool is_placed = is_.topology.points == config::PointsKind::channel;
    faults_.attempt({"topology", "clients.count", is_placed ? "channel" : "topology"}, [&] {
      graphs_ = make_graphs(is_);
      made_.graph = whole_of(graphs_);
    });
    faults_.attempt({"channel", "clients.count", "clients.classes", "mailbox.deadline", is_placed ? "topology" : "channel"}, [&] {
      made_.channel = make_channel(is_, places_of(is_), protocol_ == ProtocolKind::rounds);
      made_.conductor.channel = made_.channel.get();
    });
    faults_.attempt({"topology", "channel"}, [&] { check_links(is_.channel, made_.channel.get(), made_.graph); });
    const bool is_one_step = is_.topology.kind == config::TopologyKind::one_peer_exponential && graphs_.size() == 1;
    faults_.attempt({"topology", "clients.count"}, [&] {
      if (!is_one_step) require_connected(made_.graph);
    });
    made_.centre = ClientId{static_cast<std::uint32_t>(is_.protocol.center)};
  }

  void make_timers() {
    made_.settings.seed = static_cast<std::uint64_t>(is_.seed);
    faults_.attempt({"clients.compute", "clients.count", "clients.classes"},
                    [&] { made_.settings.compute = timers_of(is_, false); });
    faults_.attempt({"clients.transmit", "clients.count", "clients.classes"},
                    [&] { made_.settings.transmit = timers_of(is_, true); });
    made_.settings.transmit_per_link = is_.clients.transmit.per_link;
  }

  void set_plans() {
    ClientSettings& settings = made_.settings;
    settings.limits = to_limits(is_.mailbox);
    settings.needs = resolved_.needs;
    settings.needs.fixes_model_at_start |= is_.algorithm.snapshot == config::SnapshotAt::at_start;
    settings.needs.weights_by_batch |= resolved_.merge == Weights::neighbours && is_.algorithm.q == config::WeightKind::batch;
    settings.needs.acknowledgements |= is_.algorithm.retain_on_loss;
    settings.may_duplicate = is_.channel.duplicate > 0;
    faults_.attempt({"model"}, [&] {
      if (is_.model.batches == config::BatchRule::epochs && is_.model.batch == 0 && !is_.model.client_batch)
        refuse("model.batches = \"epochs\" needs model.batch: with batch = 0 every batch is all rows");
    });
    if (is_.mailbox.cap_rule == config::CapRule::random)
      faults_.attempt({"mailbox", "algorithm", "protocol.kind"}, [&] { thin_receptions(); });
    settings.shares_out_weights = resolved_.merge == Weights::neighbours;
    ConductorSettings& conductor = made_.conductor;
    conductor.acknowledges = settings.needs.acknowledgements;
    conductor.seed = settings.seed;
    conductor.until = Time{from_seconds(is_.until)};
    conductor.unification = to_plan(is_.unification);
    if (is_.mailbox.cap_period) conductor.cap_period = from_seconds(*is_.mailbox.cap_period);
    faults_.attempt({"unification", "channel.kind"}, [&] {
      if (is_.unification.period) require_hub(is_);
    });
  }

  // How many messages a period will bring is counted beforehand, by a walk through the timing without the cap: that does not change
  // which messages come, unless what a receiver takes has an effect on what is sent.
  void thin_receptions() {
    constexpr const char* rule = "mailbox.cap_rule = \"random\"";
    const Needs& needs = made_.settings.needs;
    if (!is_.mailbox.cap) return refuse("{} needs mailbox.cap", rule);
    if (is_.clock == config::ClockKind::wall_time)
      return refuse("{}: in real time it is not known how many messages a period will bring: \"random\" needs clock = \"virtual\"",
                    rule);
    if (protocol_ != ProtocolKind::push) return refuse("{}: {} has no periods of single messages; use \"push\"", rule, kind_);
    if (needs.acknowledgements || needs.in_order || needs.asks_before_sending)
      return refuse(
          "{}: with {} what is sent depends on what was taken or learnt, so that the messages of a period are not known "
          "before it ends; use \"first_come\"",
          rule, needs.acknowledgements ? "algorithm.retain_on_loss = true" : name_);
    made_.counts_receptions = [experiment = is_, resolved = resolved_](const MessageSizes& sizes) {
      return count_receptions(experiment, resolved, sizes);
    };
  }

  // Those that the file does not give.
  void say_constants(const AlgorithmOptions& options) {
    if (options.word("constants", "given") == "graph")
      notes_ << fmt::format("algorithm.constants = \"graph\": eta = {:.6g}, alpha = {:.6g}, alpha_tilde = {:.6g}\n",
                            options.number("eta", 0), options.number("alpha", 0), options.number("alpha_tilde", 0));
  }

  void judge_algorithm() {
    if (resolved_.entry && is_.unification.period && !resolved_.entry->may_be_unified)
      refuse("unification.period: {} must not be unified, because overwriting a model breaks what it conserves", name_);
    if (!is_.algorithm.retain_on_loss) return;
    if (protocol_ != ProtocolKind::push)
      refuse("algorithm.retain_on_loss = true: rounds have no acknowledgements; use protocol.kind = \"push\"");
    if (!is_.mailbox.deadline)
      refuse("algorithm.retain_on_loss = true needs mailbox.deadline: that is when a message counts as lost");
  }

  // The weights of merge and publish steps, from the rules of the file or those the algorithm is made for.
  void set_weights() {
    if (graphs_.size() > 1) return set_changing_weights();
    ClientSettings& settings = made_.settings;
    const Graph& graph = made_.graph;
    if (resolved_.merge != Weights::none && !(resolved_.merge == Weights::neighbours && settings.needs.weights_by_batch))
      settings.merge_weights = {weights_of(graph, graph, is_, resolved_, false)};
    if (resolved_.share != Weights::none) settings.share_weights = {weights_of(graph, graph, is_, resolved_, true)};
  }

  // A row of weights for every graph of the sequence; a client without links in a graph keeps its model meanwhile.
  void set_changing_weights() {
    const bool in_rounds = protocol_ == ProtocolKind::rounds;
    ClientSettings& settings = made_.settings;
    if (!in_rounds && protocol_ != ProtocolKind::push)
      return refuse("topology.change: {} needs a graph that stays; \"push\" and \"rounds\" do not", kind_);
    if (in_rounds && follows_wanderers(is_.topology))
      return refuse(
          "topology.points = \"channel\" with topology.change = \"redraw\": clients move by the clock, rounds do not; "
          "use protocol.kind = \"push\"");
    const double every = is_.topology.change_every;
    const std::uint64_t repeats = in_rounds ? whole_rounds(every, "topology.change_every") : 1;
    const std::size_t links = made_.graph.links();
    constexpr std::size_t most = std::size_t{1} << 27;
    if (graphs_.size() * repeats > most / std::max<std::size_t>(links, 1))
      throw std::invalid_argument(fmt::format("{} graphs of {} links are more than memory should hold; lower topology.graphs",
                                              graphs_.size() * repeats, links));
    if (!in_rounds) settings.change_every = from_seconds(every);
    settings.weighs_as_sent = resolved_.merge == Weights::none || resolved_.merge == Weights::neighbours;
    for (const Graph& part : graphs_) {
      const auto add = [&](std::vector<std::vector<double>>& all, bool is_share) {
        all.insert(all.end(), repeats, weights_of(part, made_.graph, is_, resolved_, is_share));
      };
      add(settings.merge_weights, false);
      if (resolved_.share != Weights::none) add(settings.share_weights, true);
    }
  }

  // How often, and who takes part, where the file says it in place of the algorithm.
  void set_exchanges() {
    const config::Protocol& protocol = is_.protocol;
    Needs& needs = made_.settings.needs;
    const bool is_on_air = is_.channel.kind == config::ChannelKind::aircomp;
    if (protocol.exchange_every) {
      if (!needs.may_pause)
        refuse("protocol.exchange_every: {} says itself in which rounds it exchanges, or needs an exchange in each", name_);
      else
        set_periods(*protocol.exchange_every);
    }
    if (!protocol.participation) return;
    if (is_on_air)
      refuse("protocol.participation: channel.kind = \"aircomp\" adds up what all neighbours send");
    else if (needs.partial == Partial::none)
      refuse("protocol.participation: {} says itself who takes part in an exchange, or needs all", name_);
    else
      set_participation(*protocol.participation);
  }

  void set_periods(const config::Law& law) {
    Needs& needs = made_.settings.needs;
    const PerClient periods(law, made_.settings.seed, 10);
    const auto number_of = [&](std::uint32_t client) {
      return static_cast<std::uint32_t>(std::max(1.0, std::round(periods.of({client}))));
    };
    if (periods.is_same_for_all()) {
      if (law.value != std::floor(law.value))
        return refuse("protocol.exchange_every = {:g}: must be a whole number of rounds", law.value);
      needs.program.round = with_period(needs.program.round, number_of(0));
      return;
    }
    if (needs.partial != Partial::receivers || !exchanges_once(needs.program))
      return refuse(
          "protocol.exchange_every: {} needs the same number for all clients, because an exchange of it is for all or for none",
          name_);
    needs.fanout.chosen_by_receiver = true;
    needs.fanout.late = 1;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(is_.clients.count); ++i) needs.asks_every.list.push_back(number_of(i));
  }

  void set_participation(const config::Law& law) {
    Needs& needs = made_.settings.needs;
    const PerClient drawn(law, made_.settings.seed, 11);
    std::vector<double> shares;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(is_.clients.count); ++i)
      shares.push_back(std::clamp(drawn.of({i}), 0.0, 1.0));
    if (needs.partial == Partial::clients) {
      RoundBoard& board = made_.board;
      board.participation = std::move(shares);
      const PhaseList& round = needs.program.round;
      while (!happens_exchange(round, board.first_exchange)) ++board.first_exchange;
      return;
    }
    needs.fanout.shares = std::move(shares);
    needs.fanout.chosen_by_receiver = needs.partial == Partial::receivers;
    needs.fanout.in_pairs = needs.partial == Partial::pairs;
  }

  void set_chances() {
    const Graph& graph = made_.graph;
    ClientSettings& settings = made_.settings;
    settings.chances.computes = compute_chances(is_);
    settings.chances.links = link_chances(is_, graph);
    const Needs& needs = settings.needs;
    const Every& every = needs.asks_every;
    const std::size_t listed = every.list.size();
    if (listed > 1 && listed != graph.clients())
      throw std::invalid_argument(fmt::format("the algorithm lists {} periods for {} clients", listed, graph.clients()));
    for (std::uint32_t i = 0; i < graph.clients() && (every.high > 1 || listed > 0); ++i) {
      Stream stream(settings.seed, ClientId{i}, Purpose::neighbours, 2);
      const auto drawn = static_cast<std::uint32_t>(stream.below(every.high - every.low + 1));
      settings.absorb_every.push_back(listed == 0 ? every.low + drawn : every.list[listed > 1 ? i : 0]);
    }
    Fanout fanout = needs.fanout;
    if (fanout.shares.size() > 1 && fanout.shares.size() != graph.clients())
      throw std::invalid_argument(
          fmt::format("the algorithm lists {} shares for {} clients", fanout.shares.size(), graph.clients()));
    if (protocol_ != ProtocolKind::rounds) fanout = {.share = fanout.share, .shares = fanout.shares};
    settings.links =
        LinkChoice(graph, settings.seed, fanout, fanout.chosen_by_receiver ? settings.absorb_every : std::vector<std::uint32_t>{},
                   needs.sporadic.links ? settings.chances.links : std::vector<double>{});
    if (settings.transmit_per_link && !settings.links.is_all())
      refuse("clients.transmit.per_link: every link has its own ticks, so none can be chosen or left to chance");
  }

  // Mixing weights of the links that are up, block by block. Where an algorithm has no such weights messages are lost
  // instead.
  void set_fading() {
    const config::ChannelKind kind = is_.channel.kind;
    const bool is_on_air = kind == config::ChannelKind::aircomp;
    if (!is_on_air && kind != config::ChannelKind::rayleigh_threshold) return;
    const config::MixingKind mixing = is_.topology.mixing;
    const bool mixes =
        resolved_.merge == Weights::doubly && (mixing == config::MixingKind::auto_ || mixing == config::MixingKind::metropolis);
    if (!mixes && protocol_ == ProtocolKind::rounds && is_.protocol.missing == config::MissingRule::wait)
      refuse("protocol.missing = \"wait\" waits for ever on a link that is down for its round; use \"drop\"");
    ClientSettings& settings = made_.settings;
    if (mixes && settings.merge_weights.size() > 1)
      return refuse("channel.kind = \"{}\": its links come and go, so topology.change and topology.cycle must not", word_of(kind));
    if (mixes) {
      made_.fading = std::make_unique<FadingLinks>(made_.graph, fading_of(is_));
      settings.fading = made_.fading.get();
      settings.weighs_as_sent = true;
      if (protocol_ != ProtocolKind::rounds) settings.change_every = from_seconds(is_.channel.coherence);
    }
    if (is_on_air) set_air();
  }

  void set_air() {
    constexpr const char* on_air = "channel.kind = \"aircomp\"";
    if (protocol_ != ProtocolKind::rounds) return refuse("{} has slots for rounds: use protocol.kind = \"rounds\"", on_air);
    const bool sends_models = resolved_.entry && !resolved_.entry->message_bytes && made_.fading;
    if (is_.unification.period && is_.unification.via == config::UnifyVia::transport)
      refuse("{} has no slots for unification.via = \"transport\"; use \"ideal\"", on_air);
    if (!sends_models || !exchanges_once(made_.settings.needs.program))
      return refuse("{} adds models up with metropolis weights, once a round: {} does not; dpsgd, decefl and async_dsgd do", on_air,
                    name_);
    const Air::Settings power{is_.channel.power_cap, is_.channel.noise, from_seconds(is_.channel.slot), made_.settings.seed,
                              is_.channel.slot_stars};
    made_.air = std::make_unique<Air>(*made_.fading, power);
    made_.channel = std::make_unique<AirChannel>(*made_.air, made_.fading->fading());
    made_.conductor.channel = made_.channel.get();
  }

  void require_no_dead_links() {
    for (const config::Link& link : is_.channel.links)
      if (link.loss.value_or(is_.channel.loss) >= 1)
        return refuse("protocol.missing = \"wait\" waits for ever on a link with loss 1");
  }

  void require_intervals() {
    faults_.attempt({"clients.compute", "clients.classes", "protocol.kind", "algorithm.name"}, [&] {
      const TimerLaw& law = made_.settings.compute.front();
      if (!law.ticks_by_itself() || law.kind == TimerLaw::Kind::table)
        refuse("clients.compute: {} needs a law of intervals: poisson, fixed, shifted_exp, gamma or lognormal", kind_);
    });
  }

  // What only some protocols can do, and what they need: without a deadline a lost message would never be given up.
  void set_centred() {
    made_.server.centre = made_.gather.settings.first_leader = made_.centre;
    made_.gather.settings.draws_leaders = resolved_.needs.draws_leaders;
    made_.server.share = is_.protocol.selected;
    if (protocol_ == ProtocolKind::server || protocol_ == ProtocolKind::tree) require_intervals();
    const bool is_tree = protocol_ == ProtocolKind::tree;
    const std::optional<AnswerRule>& answers = made_.settings.needs.answers;
    if (is_tree || answers) {
      // An order is given up by patience alone, a sum never: without it an attempt that takes longer is repeated.
      made_.conductor.retransmits = is_tree || answers->patience == Duration::max();
      set_attempts(made_.conductor.retransmits ? is_.mailbox.deadline : std::nullopt);
      if (made_.conductor.retransmits) made_.settings.limits.deadline = Duration::max();
    } else {
      made_.conductor.retransmits = !is_.mailbox.deadline;
      set_attempts({});
    }
    faults_.attempt({"algorithm.name", "protocol.kind", "mailbox.deadline"}, [&] {
      if (is_.mailbox.deadline && !(*is_.mailbox.deadline > 0))
        refuse("mailbox.deadline = 0: under {} all would be too late at once, again and again at the same instant", kind_);
    });
    faults_.attempt({"algorithm.name", "protocol.kind"}, [&] {
      if (made_.conductor.retransmits && !faults_.has("channel") && !faults_.has("mailbox.deadline")) require_no_dead_links();
      if (is_.mailbox.cap) refuse("mailbox.cap: {} has no reception cap", kind_);
      if (is_.unification.period) refuse("unification.period: {} is not unified", kind_);
    });
  }

  // Exchanges of pairs: what both know of a meeting, who asks, and whether an attempt is made again.
  void set_pairs() {
    const config::Protocol& protocol = is_.protocol;
    PairSettings& pair = made_.pair;
    const bool in_real_time = is_.clock == config::ClockKind::wall_time;
    const bool adds_up = made_.settings.needs.pairing.in_increments;
    pair.busy = protocol.busy;
    pair.commit = protocol.commit.value_or(in_real_time && adds_up ? Commit::counted : Commit::known);
    pair.retries = static_cast<std::uint32_t>(protocol.retries);
    pair.retry_after = from_seconds(protocol.retry_after);
    if (pair.commit == Commit::counted && !adds_up)
      refuse("protocol.commit = \"counted\": {} has no increments that add up", name_);
    if (pair.commit == Commit::known && in_real_time && adds_up)
      refuse("protocol.commit = \"known\": in real time no client knows what becomes of its reply; use \"counted\"");
    if (pair.commit == Commit::known && !in_real_time && made_.channel &&
        (made_.channel->is_shared() || made_.channel->transfers()))
      refuse("protocol.commit = \"known\": with channel.kind = \"{}\" no client knows when its reply will arrive; use \"counted\"",
             word_of(is_.channel.kind));
    if (made_.settings.needs.pairing.in_batches)
      made_.settings.transmit = {TimerLaw::off()}, made_.settings.transmit_per_link = false;
    if (!made_.settings.transmit_per_link) pair.partner_weights = partner_weights_of(made_.graph, is_);
    if (protocol.roles == config::Roles::bipartite) {
      const std::optional<std::vector<bool>> white = made_.graph.colours();
      if (!white) return refuse("protocol.roles = \"bipartite\": the graph has a circle of an odd number of clients");
      pair.asks = *white;
      pair.asks.flip();  // the side of the first client
    }
  }

  void refuse_attempts() {
    const config::Protocol& protocol = is_.protocol;
    const auto judge = [&](const char* key, const std::optional<double>& value) {
      if (value)
        refuse("protocol.{} = {:g}: no message is sent again; that needs {}", key, *value,
               protocol_ == ProtocolKind::rounds ? "protocol.missing = \"wait\""
               : protocol_ == ProtocolKind::push ? "protocol.kind = \"rounds\""
                                                 : "a run without mailbox.deadline");
    };
    judge("attempt_timeout", protocol.attempt_timeout);
    judge("back_off", protocol.back_off);
  }

  // What is lost is sent again: when an attempt is given up, and how long it is until the next.
  void set_attempts(const std::optional<double>& time_out) {
    ConductorSettings& conductor = made_.conductor;
    const config::Protocol& protocol = is_.protocol;
    faults_.attempt({"protocol", "channel", "mailbox.deadline", "algorithm.name"}, [&] {
      const bool is_radio = made_.channel && made_.channel->is_shared();
      const std::optional<double> longest = protocol.attempt_timeout ? protocol.attempt_timeout : time_out;
      if (!conductor.retransmits) return refuse_attempts();
      conductor.attempts.seed = made_.settings.seed;
      if (longest || is_radio) conductor.attempts.longest = from_seconds(longest.value_or(usual_time_out));
      if (is_radio && !longest)
        notes_ << "what does not get through is sent again after " << usual_time_out
               << " s: neither protocol.attempt_timeout nor mailbox.deadline says when\n";
      if (is_radio) conductor.attempts.back_off = conductor.attempts.longest;
      if (protocol.back_off) conductor.attempts.back_off = from_seconds(*protocol.back_off);
      const bool is_constant = is_.channel.kind == config::ChannelKind::ideal;
      if (is_constant && made_.channel && made_.channel->longest_delay() > conductor.attempts.longest)
        refuse("channel.delay = {:g}: every attempt takes longer than {}, so that no message ever arrives", is_.channel.delay.value,
               protocol.attempt_timeout ? "protocol.attempt_timeout" : "mailbox.deadline");
    });
  }

  // In rounds a period counts rounds: one round stands for one second of its paper.
  void set_rounds() {
    const config::Protocol& protocol = is_.protocol;
    ConductorSettings& conductor = made_.conductor;
    RoundBoard& board = made_.board;
    conductor.cumulated_delay = &board.delay;
    board.send_probability = protocol.send_probability;
    made_.merges_what_arrives = is_.clock == config::ClockKind::virtual_time && is_.mailbox.norm_limit == 0;
    faults_.attempt({"unification.period", "algorithm.name", "protocol.kind"},
                    [&] { board.unify_every = whole_rounds(is_.unification.period, "unification.period"); });
    faults_.attempt({"mailbox.cap_period", "algorithm.name", "protocol.kind"},
                    [&] { board.refill_every = whole_rounds(is_.mailbox.cap_period, "mailbox.cap_period"); });
    if (protocol.compute_phase) board.jobs.phase = from_seconds(*protocol.compute_phase);
    board.jobs.carries_on = protocol.late_work == config::LateWork::carry_on;
    board.unification = &conductor.unification;
    if (protocol.missing == config::MissingRule::drop) board.patience = made_.settings.limits.deadline;
    board.ask_after = from_seconds(std::clamp(0.25 * is_.time_scale, 1e-3, 1e6));  // a quarter of a real second
    conductor.refuses_at_close = true;
    conductor.retransmits = protocol.missing == config::MissingRule::wait;
    set_attempts(is_.mailbox.deadline);
    if (conductor.retransmits) made_.settings.limits.deadline = Duration::max();  // an attempt that takes longer is repeated
    conductor.loses_both_ways = protocol.missing == config::MissingRule::symmetric_drop;
    conductor.unification.period = {};
    conductor.cap_period = {};
    require_intervals();
    faults_.attempt({"algorithm.name", "protocol", "mailbox", "channel", "topology"}, [&] { judge_rounds(); });
    if (board.unify_every > 0 || board.refill_every > 0)
      notes_ << "in rounds unification.period and mailbox.cap_period count rounds: every " << board.unify_every << " and "
             << board.refill_every << " (0: never)\n";
  }

  void judge_rounds() {
    const ConductorSettings& conductor = made_.conductor;
    const ClientSettings& settings = made_.settings;
    if (conductor.retransmits) require_no_dead_links();
    if (conductor.loses_both_ways && (is_.mailbox.deadline || is_.mailbox.cap))
      refuse("protocol.missing = \"symmetric_drop\" goes by what the links lose: leave out mailbox.deadline and mailbox.cap");
    if (made_.board.jobs.is_in_force() && resolved_.entry && !resolved_.entry->may_begin)
      refuse("protocol.compute_phase: {} cannot go on with a computation that began in an earlier round", name_);
    const bool is_exact = resolved_.entry && !resolved_.entry->allows_missing;
    if (is_exact && (!made_.misses_nothing() || settings.merge_weights.size() > 1 || settings.fading))
      refuse(
          "{} is exact only where no message is missing and the graph stays: use protocol.missing = \"wait\", and no "
          "mailbox.cap, protocol.send_probability, topology.cycle or links that fade",
          name_);
  }

  void set_churn() {
    faults_.attempt({"churn", "clients.count", "until"}, [&] { made_.churn = make_churn_plan(is_); });
    if (made_.churn.is_empty() && !faults_.has("churn")) return;
    ConductorSettings& conductor = made_.conductor;
    faults_.attempt({"protocol.kind", "algorithm.name", "mailbox.deadline"}, [&] {
      if (protocol_ != ProtocolKind::push && protocol_ != ProtocolKind::pull && protocol_ != ProtocolKind::pair)
        refuse("churn: {} holds all clients together; use \"push\", \"pull\" or \"pair\"", kind_);
      if ((protocol_ == ProtocolKind::pull || protocol_ == ProtocolKind::pair) && conductor.retransmits)
        refuse("churn: {} needs mailbox.deadline, because clients that have gone do not answer", kind_);
    });
    conductor.churn = &made_.churn;
    conductor.passes_mass_on = !made_.settings.share_weights.empty() || made_.settings.needs.in_order;
    conductor.may_adopt = !resolved_.entry || resolved_.entry->may_be_unified;
    if (!conductor.may_adopt)
      notes_ << "churn: a client that joins begins with its own first model, because that of \"" << is_.algorithm.name
             << "\" must not be overwritten\n";
  }

  // A client that waits for the first answers alone hears the same neighbours each time where all answers take equally long.
  void warn_of_equal_answers() {
    const bool has_one_delay = is_.channel.kind == config::ChannelKind::ideal ||
                               (is_.channel.kind == config::ChannelKind::random && is_.channel.links.empty());
    const PullSettings rules{&made_.settings, {}};
    const auto counts_first = [&](std::uint32_t client) {
      const std::size_t degree = made_.graph.in_degree({client});
      return share_of(rules.awaits({client}), degree) < degree;
    };
    if (is_.clock == config::ClockKind::virtual_time && has_one_delay && is_.channel.delay.law == LawKind::constant &&
        std::ranges::any_of(std::views::iota(0u, static_cast<std::uint32_t>(made_.graph.clients())), counts_first))
      notes_ << "channel.delay is one number: the first to answer are the same neighbours in every exchange; give it a law\n";
  }

  // What needs something that knows of all clients.
  void judge_real_time() {
    constexpr const char* in_real_time = "clock = \"wall\": in real time";
    const bool in_rounds = protocol_ == ProtocolKind::rounds;
    if (protocol_ == ProtocolKind::tree)
      refuse("{} a node does not know when its link is free: {} needs clock = \"virtual\"", in_real_time, kind_);
    if (made_.conductor.loses_both_ways)
      refuse(
          "{} a client does not know what a link has lost the other way: protocol.missing = \"symmetric_drop\" needs clock = "
          "\"virtual\"; "
          "use \"wait\" or \"drop\"",
          in_real_time);
    if (in_rounds && is_.channel.kind == config::ChannelKind::aircomp)
      refuse("{} no client sends in the same slot as the others: channel.kind = \"aircomp\" needs clock = \"virtual\"",
             in_real_time);
    const std::optional<AnswerRule>& answers = made_.settings.needs.answers;
    if (protocol_ == ProtocolKind::server && answers && answers->patience == Duration::max() && !is_.roster.empty())
      refuse("algorithm.patience = 0: {} needs it in real time on several hosts, which may lose a message for good", name_);
    const bool waits = protocol_ != ProtocolKind::push && !in_rounds;
    if (waits && !answers && !is_.mailbox.deadline && !is_.roster.empty())
      refuse("mailbox.deadline: {} needs it in real time on several hosts, which may lose a message for good", kind_);
    const config::Metrics& metrics = is_.metrics;
    const std::pair<bool, const char*> of_all[] = {
        {metrics.stationarity, "stationarity"},       {metrics.training, "training"},
        {metrics.gradient_norm, "gradient_norm"},     {metrics.tracked, "tracked"},
        {metrics.joint_objective, "joint_objective"}, {metrics.stop.metric.has_value(), "stop"}};
    for (const auto& [is_asked_for, key] : of_all)
      if (is_asked_for && !is_.roster.empty())
        refuse("metrics.{}: over several hosts it is {} in virtual time only", key,
               key == std::string_view("stop") ? "kept" : "measured");
  }

  Timing& made_;
  const Experiment& is_;
  const ResolvedAlgorithm& resolved_;
  const ProtocolKind protocol_;
  const std::string kind_, name_;  // for sentences
  config::Faults& faults_;
  std::ostream& notes_;
  std::vector<Graph> graphs_;
};

}  // namespace

Timing::Timing(Graph given_graph, std::unique_ptr<Channel> given_channel, ProtocolKind protocol)
    : graph{std::move(given_graph)}, channel{std::move(given_channel)}, protocol_{protocol} {
  settings.graph = &graph;
  board.settings = &settings;
  server.push = gather.settings.push = &settings;
  pull.push = pair.push = &settings;
  tree.push = &settings;
  conductor.graph = &graph;
  conductor.channel = channel.get();
}

Timing::Timing(const Experiment& experiment, const ResolvedAlgorithm& resolved, config::Faults& faults, std::ostream& notes)
    : Timing(Graph(1, false, {}), nullptr, resolved.protocol) {
  Builder(*this, experiment, resolved, faults, notes).build();
}

Timing::Timing(const Experiment& experiment, const ResolvedAlgorithm& resolved, std::ostream& notes)
    : Timing(Graph(1, false, {}), nullptr, resolved.protocol) {
  config::Faults faults("experiment");
  Builder(*this, experiment, resolved, faults, notes).build();
  faults.throw_if_any();
}

void Timing::size_messages(const Experiment& experiment, const ResolvedAlgorithm& resolved, std::size_t numbers,
                           std::size_t scalar_bytes) {
  const double model = static_cast<double>(numbers * scalar_bytes);
  MessageSizes sizes{.update = model, .model = model};
  if (resolved.entry && resolved.entry->message_bytes)
    sizes.update = resolved.entry->message_bytes(experiment.algorithm.options,
                                                 {numbers, scalar_bytes, merges_everything() ? scalar_bytes : sizeof(double)});
  this->sizes = sizes;
  if (experiment.channel.message_bytes) sizes.update = sizes.model = *experiment.channel.message_bytes;
  carried_ = sizes;
  channel->set_sizes(sizes);
  conductor.energy = energy_model(experiment, sizes.update);
}

void Timing::set_samples(const SamplePlan& plan) {
  conductor.sample_every_events = plan.every_events;
  conductor.sample_every = plan.every;
  conductor.samples_first_state = plan.at_start;
  conductor.samples_before_unifications = plan.before_unifications > 0;
  conductor.measured = plan.measured;
}

ClientViews Timing::views(bool keeps_balance) const {
  ClientViews views{.graph = graph, .air = air.get()};
  if (settings.needs.sporadic.computes) views.compute_chances = settings.chances.computes;
  if (settings.needs.knows_weights)
    for (std::uint32_t i = 0; i < graph.clients(); ++i)
      for (std::size_t k = 0; k < graph.in_degree({i}); ++k)
        views.merge_weights.push_back(settings.merge_weight(graph.in_link({i}, k)));
  views.common.centre = centre;
  views.common.in_rounds = protocol_ == ProtocolKind::rounds;
  views.common.loses_nothing = merges_everything();
  views.common.keeps_balance = keeps_balance;
  views.common.sends_per_link = protocol_ == ProtocolKind::push && settings.transmit_per_link;
  views.common.counts_increments =
      protocol_ == ProtocolKind::pair && pair.commit == Commit::counted && settings.needs.pairing.in_increments;
  return views;
}

bool Timing::misses_nothing() const {
  return protocol_ == ProtocolKind::rounds && conductor.retransmits && settings.limits.deadline == Duration::max() &&
         settings.limits.cap == MailboxLimits::unlimited && board.send_probability >= 1;
}

std::vector<std::unique_ptr<Protocol>> Timing::make_protocols(bool in_real_time) {
  if (counts_receptions) {
    receptions = counts_receptions(carried_);
    settings.receptions = &receptions;
  }
  if (protocol_ == ProtocolKind::tree) {
    if (tree.parent.empty()) tree.pivot = centre, tree.parent = tree.point_parent = shortest_path_tree(graph, centre);
    tree.open();
  }
  if (protocol_ == ProtocolKind::pair) {
    conductor.goes_by_exchange = true;
    conductor.foresight = &pair.foresight;
    settings.takes_late = pair.commit == Commit::counted;
  }
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
      if (settings.needs.answers) return std::make_unique<AsyncServer>(server, client);
      if (!server.gathers_first()) return std::make_unique<Server>(server, client);
      if (in_real_time) return std::make_unique<GatherByMessage>(gather.settings, client);
      return std::make_unique<GatherFirst>(gather, client);
    case ProtocolKind::token:
      return std::make_unique<Token>(settings, client);
    case ProtocolKind::pull:
      return std::make_unique<Pull>(pull, client);
    case ProtocolKind::tree:
      return std::make_unique<Tree>(tree, client);
    case ProtocolKind::pair:
      return std::make_unique<Pair>(pair, client);
  }
  return nullptr;
}

}  // namespace rubato
