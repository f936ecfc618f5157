#include "actors/wall/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "actors/wall/beginning.hpp"
#include "actors/wall/gathering.hpp"
#include "actors/wall/status_teller.hpp"
#include "experiment/roster.hpp"
#include "results/metrics_rows.hpp"
#include "results/wall_checkpoint.hpp"
#include "results/whole_file.hpp"

namespace rubato {

namespace {

using config::Experiment;

// ---- what the last states say ---------------------------------------------------------------------------------------

// The last sample: of all that is known at the end.
void sample_last(const std::vector<FinalClient>& last, const Preparation& parts, Time end, WallHost& host) {
  const Task& task = *parts.task;
  const auto& drawn = parts.timing->conductor.measured;
  std::vector<ClientId> here;
  for (const FinalClient& client : last)
    if (client.is_here && (!drawn || std::ranges::binary_search(*drawn, client.client))) here.push_back(client.client);
  if (here.empty()) return;
  SampleGatherer gatherer(task.evaluation());
  const SampleHeader header = host.open_sample(std::move(here), last.size(), end);
  gatherer.open(header);
  for (const FinalClient& client : last) host.measured(client.client, header.number, client.counts);
  const auto memory = host.client_pool().lend();
  for (const FinalClient& client : last) {
    const bool is_measured = std::ranges::binary_search(*header.measured, client.client);
    Snapshot snapshot = is_measured ? client.snapshot : Snapshot{.traffic = client.snapshot.traffic};
    Scores scores = is_measured ? task.evaluation().scores(client.client, snapshot.model, *memory) : Scores{};
    if (const auto sample = gatherer.add(header.number, client.client, std::move(snapshot), std::move(scores), *memory))
      host.close_sample(*sample);
  }
}

// By the centre where it alone counts them; of clients that all count the slowest. Nothing where none of those is known.
std::optional<std::uint64_t> rounds_done(const std::vector<FinalClient>& last, const Timing& timing) {
  std::optional<std::uint64_t> done;
  for (const FinalClient& client : last)
    if (counts_rounds(timing, client.client)) done = std::min(done.value_or(client.rounds), client.rounds);
  return done;
}

void describe_clients(const std::vector<FinalClient>& last, const Timing& timing, double until, const RunOptions& options,
                      RunResult& result) {
  const std::size_t clients = timing.graph.clients();
  result.clients = clients;
  result.by_client.resize(clients);
  result.traffic_by_client.resize(clients);
  result.paces.resize(clients);
  std::vector<bool> is_there(clients);
  FinalModels models(last.size(), options, result);
  std::vector<StepHash> hashes;
  double staleness = 0;
  std::uint64_t absorbed = 0, unheard = 0;
  if (timing.protocol() == ProtocolKind::pair && !last.empty()) result.exchanges.emplace();
  for (const FinalClient& client : last) {
    const std::uint32_t i = client.client.value;
    is_there[i] = client.is_here;
    models.add(client.client, client.model, client.is_here);
    describe_client(client.client, client.snapshot.traffic, client.screened, client.collaboration, result);
    if (client.is_here) hashes.push_back(client.hash);
    unheard += client.unheard;
    if (result.exchanges) *result.exchanges += client.exchanges;
    result.messages += client.counts;
    result.by_client[i] = client.counts;
    result.steps += client.steps;
    result.paces[i] = {timing.settings.compute_law(client.client).mean_rate(until),
                       static_cast<double>(client.counts.computations) / std::max(client.seconds, 1e-9), client.skipped};
    staleness += client.staleness_sum;
    absorbed += client.staleness_count;
  }
  for (std::uint32_t i = 0; i < clients; ++i)
    if (!is_there[i]) result.absent.push_back({i});
  if (!result.is_of_host) result.under_way = result.messages.open();
  if (result.churn) result.churn->lost = unheard;
  if (const auto done = rounds_done(last, timing); result.rounds && done)
    result.rounds->done = *done;
  else
    result.rounds.reset();
  describe_energy(timing, result);
  result.digests = {models.digest(), timeline_digest(hashes)};
  result.staleness_mean = absorbed > 0 ? staleness / static_cast<double>(absorbed) : 0;
  const std::uint64_t stale = result.messages.stale, misshapen = result.messages.misshapen;
  if (stale > 0)
    result.notes.push_back(fmt::format("{} messages were of an older epoch or an earlier life, and were not used", stale));
  if (misshapen > 0) result.notes.push_back(fmt::format("{} messages did not fit this run's models, and were not used", misshapen));
}

void describe_host(WallHost& host, const Timing& timing, RunResult& result) {
  DurationHistogram staleness;
  for (const auto& client : host.clients()) staleness.add(client->tally().staleness);
  result.staleness_p95 = staleness.quantile_seconds(0.95);
  result.events = host.world().events.load();
  result.model_messages = host.world().model_messages.load();
  result.hand_overs = host.world().hand_overs.load();
  result.models_lost = host.world().models_lost.load();
  result.unifications = host.unifications();
  result.by_link = host.world().link_counts;
  if (goes_in_rounds(timing) && !host.clients().empty()) {
    RoundsSoFar rounds;  // how many are done all clients say
    std::uint64_t begun = 0;
    for (const auto& client : host.clients()) {
      const Waiting waiting = client->protocol().waiting();
      begun = std::max(begun, client->rounds());
      rounds.waiting.computations += waiting.computations, rounds.waiting.messages += waiting.messages;
    }
    result.rounds = rounds;
    if (timing.board.unify_every > 0) result.unifications = begun / timing.board.unify_every;  // rounds count them, no clock
  }
  describe_work(host.wall_seconds(), host.client_pool(), result);
  if (host.samples_left_out() > 0)
    result.notes.push_back(
        fmt::format("{} samples were left out: models were not scored as fast as they were measured", host.samples_left_out()));
}

void say_slow_clients(const Experiment& experiment, RunResult& result) {
  if (experiment.saturate) return;
  std::uint64_t skipped = 0, done = 0;
  std::size_t slow = 0;
  for (std::size_t i = 0; i < result.paces.size(); ++i) {
    skipped += result.paces[i].skipped;
    done += result.by_client[i].computations;
    slow += result.paces[i].skipped * 20 > result.by_client[i].computations + result.paces[i].skipped;
  }
  if (slow == 0) return;
  const double skipped_part = static_cast<double>(skipped) / static_cast<double>(std::max<std::uint64_t>(done + skipped, 1));
  result.notes.push_back(
      fmt::format("this machine does not keep the pace: {} computed at less than 95 % of their ticks, {:.1f} % of all ticks "
                  "were skipped; lower time_scale or the rates",
                  slow == 1 ? "a client" : fmt::format("{} clients", slow), 100 * skipped_part));
}

std::vector<FinalClient> last_states(WallHost& host, const Task& task, double until) {
  std::vector<FinalClient> last;
  const auto memory = host.client_pool().lend();
  const Time end = std::min(host.ended(), Time{from_seconds(until)});
  for (const auto& client : host.clients()) last.push_back(final_of(*client, end, task.evaluation(), *memory));
  return last;
}

void finish(const std::vector<FinalClient>& last, const Experiment& experiment, const Preparation& parts, const RunOptions& options,
            WallHost& host, RunResult& result) {
  describe_host(host, *parts.timing, result);
  result.virtual_seconds = std::min(to_seconds(host.ended()), experiment.until);
  result.churn = host.churn_counts();
  describe_clients(last, *parts.timing, experiment.until, options, result);
  say_slow_clients(experiment, result);
  say_rounds(result);
  if (result.messages.computations == 0) result.notes.push_back("the run ended before any client computed: nothing was learnt");
  const Time end = std::min(host.ended(), Time{from_seconds(experiment.until)});
  sample_last(last, parts, end, host);
  host.reporter().report();
  host.reporter().rethrow();
  describe_trouble(host.reporter().divergences(), options, result);
  describe_silence(*parts.timing, options, result);
  result.samples = std::move(host.samples());
  result.virtual_seconds = to_seconds(end);
  describe_stop(host.reporter(), end, Time{from_seconds(experiment.until)}, result);
}

}  // namespace

RunResult perform_wall(Preparation& parts, const Experiment& experiment, const RunOptions& options) {
  RunResult result = std::move(parts.result);
  WallRecord record(make_recorder(options, parts.timing->graph.clients()));
  WallHost host(experiment, *parts.task, *parts.timing, options, record, nullptr);
  host.begin(monotonic_now(), 0);
  host.perform(false, {});
  if (const auto failure = host.client_pool().failure()) throw RunFailed(to_string(*failure));
  finish_record(record.recorder(), result);
  host.reporter().rethrow();
  std::vector<FinalClient> last = last_states(host, *parts.task, experiment.until);
  finish(last, experiment, parts, options, host, result);
  return result;
}

// ---- one host among others -----------------------------------------------------------------------------------------

namespace {

constexpr Duration glance_at_others = std::chrono::milliseconds(10);
constexpr std::size_t most_tensors = 16;                              // with what there is to know of a client at the end
constexpr Duration own_turn = std::chrono::seconds(1);                // longer a host waits than the one before it in the roster
constexpr const char *run_file = "run", *gatherer_file = "gatherer";  // in the folder of a host

// What a client did in an earlier life, as far as steps say it.
struct Spent {
  MessageCounts counts;
  PairCounts exchanges;  // where clients meet in pairs
  Traffic traffic;       // without bytes

  void add(const Step& step) {
    const std::size_t messages = step.entries.size();
    if (step.kind == StepKind::compute) ++counts.computations, traffic.gradients += step.with_gradient;
    if (step.kind == StepKind::publish) traffic.messages += messages;
    if (step.message == MessageKind::model) return;
    if (step.kind == StepKind::merge) counts.kept += messages;
    if (step.kind != StepKind::publish) return;
    ++counts.publications;
    counts.sent += messages;
    exchanges.begun += step.phase == pair_request, exchanges.retried += step.phase == pair_request_again;
    exchanges.met += step.phase == pair_reply;
    for (const StepEntry& entry : step.entries) counts.lost += entry.lost;
  }
  Spent behind(const Spent& earlier) const {
    Spent rest = *this;
    rest.counts.computations -= earlier.counts.computations, rest.counts.kept -= earlier.counts.kept;
    rest.counts.publications -= earlier.counts.publications, rest.counts.sent -= earlier.counts.sent;
    rest.counts.lost -= earlier.counts.lost;
    rest.exchanges.begun -= earlier.exchanges.begun, rest.exchanges.retried -= earlier.exchanges.retried;
    rest.exchanges.met -= earlier.exchanges.met;
    rest.traffic.messages -= earlier.traffic.messages, rest.traffic.gradients -= earlier.traffic.gradients;
    return rest;
  }
};

struct ClientPast {
  StepHash hash;
  std::uint64_t steps = 0;
  Time first{};
  Spent spent;
  std::map<std::uint64_t, std::pair<Time, Spent>> saved;  // when it wrote its part of a checkpoint
};

// What an earlier life has recorded, so that this one goes on with it.
struct Past {
  std::uint32_t incarnation = 0;
  Time last{};  // of its steps
  std::vector<ClientPast> clients;
  std::uint64_t models = 0;  // that were sent
  std::unique_ptr<Recorder> recorder;
};

Past read_past(const RunOptions& options, std::size_t clients) {
  Past past;
  past.clients.resize(clients);
  past.incarnation = 1;
  if (options.record.empty()) return past;
  std::uint64_t intact = 0;
  {
    RecordReader reader(options.record);
    if (reader.clients() != clients)
      throw std::invalid_argument(options.record.string() + " is the record of a run with another number of clients");
    while (const Step* step = reader.next()) {
      ClientPast& client = past.clients[step->client.value];
      client.hash.add(*step);
      if (client.steps++ == 0) client.first = step->at;
      client.spent.add(*step);
      if (step->kind == StepKind::publish && step->message == MessageKind::model) past.models += step->entries.size();
      if (step->kind == StepKind::save) client.saved[step->index] = {step->at, client.spent};
      past.incarnation = std::max(past.incarnation, step->incarnation + 1);
      past.last = std::max(past.last, step->at);
    }
    intact = reader.intact_bytes();
  }
  past.recorder = Recorder::go_on(options.record, intact, options.record_bytes);
  return past;
}

// The first of the hosts that are there says when the run begins, unless it has begun. A run that all have left goes on
// where they left it.
Beginning agree_on_start(Membership& membership, std::uint64_t run, const WallClock& clock, Duration end, Duration longest,
                         Duration limit, const std::atomic<bool>* stop) {
  const Duration until = monotonic_now() + limit;
  while (true) {
    if (const auto begun = begun_by_others(membership, longest)) return *begun;
    const bool decides = membership.first_alive() == membership.self();
    if (decides || monotonic_now() > until || (stop && stop->load()))
      return {monotonic_now() + head_start - clock.unscaled(came_to(membership, run, end)), run};
    std::this_thread::sleep_for(glance_at_others);
  }
}

std::string sentence_about(const Membership& membership, HostId host) {
  std::string text = membership.name(host) + ": ";
  if (host == membership.self()) return text + "this one";
  const std::string state = membership.status(host).state;
  if (state == "never met") return text + "was never met";
  if (const std::string refusal = membership.refusal(host); !refusal.empty()) return text + "refused, because " + refusal;
  text += state == "stopped" ? "left before the end" : membership.is_alive(host) ? "there" : "gone";
  if (const auto offset = membership.offset(host))
    text += fmt::format(", its clock {:+.3f} ms, give or take {:.3f} ms", to_seconds(offset->nanoseconds) * 1e3,
                        to_seconds(offset->error) * 1e3);
  if (const std::uint64_t lost = membership.unaffordable(host))
    text += fmt::format(", {} of its parcels given up for want of memory", lost);
  return text;
}

std::string sentence_about(const TransportCounts& counts, const NetworkCounts& network) {
  std::string text = fmt::format("parcels: {} sent, {} received", counts.sent, counts.received);
  const std::pair<std::uint64_t, const char*> others[] = {{counts.dropped_states, " made room for newer ones"},
                                                          {counts.refused, " refused"},
                                                          {counts.gave_way, " gave way to others"},
                                                          {counts.malformed, " malformed"},
                                                          {counts.oversized, " oversized"},
                                                          {counts.unknown, " of an unknown kind"},
                                                          {counts.unauthenticated, " unauthenticated"},
                                                          {counts.replayed, " replayed"},
                                                          {counts.stale, " of an earlier life"},
                                                          {counts.flooded + network.flooded, " beyond what may wait"},
                                                          {network.malformed, " no messages of this run"},
                                                          {counts.unaffordable, " without memory for them"},
                                                          {counts.hasty, " faster than one host may send"},
                                                          {counts.crowded_out, " connections crowded out"}};
  for (const auto& [count, what] : others)
    if (count > 0) text += fmt::format(", {}{}", count, what);
  return text;
}

// Which run an earlier life of this host took part in; 0 if it left nothing.
std::uint64_t run_of(const HostOptions& home) {
  std::ifstream file(home.folder / run_file);
  std::uint64_t run = 0;
  file >> run;
  return run;
}

// The host that an earlier life has handed its last states to, in that run; empty: none.
std::string gatherer_of(const HostOptions& home, std::uint64_t run) {
  std::ifstream file(home.folder / gatherer_file);
  std::uint64_t of = 0;
  std::string name;
  std::getline(file >> of >> std::ws, name);
  return run > 0 && of == run ? name : "";
}

// Whole or not at all: a host that finds nothing begins anew.
void keep(const HostOptions& home, const char* file, const std::string& line) {
  if (home.folder.empty()) return;
  std::error_code none;  // writing the file will say it
  std::filesystem::create_directories(home.folder, none);
  write_whole(home.folder / file, line + "\n");
}

void require_same_run(const HostOptions& home, std::uint64_t earlier, std::uint64_t run) {
  if (earlier == 0 || earlier == run) return;
  throw std::invalid_argument(
      home.folder.parent_path().string() +
      " holds an earlier life of this host in another run than the one the others are in; start with --anew, "
      "or choose another --out");
}

// An earlier life is not gone on with.
void begin_again(const std::string& why, const RunOptions& options, Membership& membership, RunResult& result) {
  membership.say({EventLevel::warn, "going_on", "", {{"checkpoint", std::uint64_t{0}}, {"from_seconds", 0.0}}});
  membership.set_origin(0, {});
  say({why}, options, result);
}

// When it was made: the record says it; without one it was before the next was due.
CheckpointInfo checkpoint_of(const WallCheckpoint& found, const Experiment& experiment, const Past& past) {
  for (const ClientPast& client : past.clients)
    if (const auto saved = client.saved.find(found.number); saved != client.saved.end())
      return {found.number, to_seconds(saved->second.first)};
  return {found.number, static_cast<double>(found.number) * experiment.checkpoint_every};
}

// Where the clients of this host begin: where the run goes on, if that is still to come, and not before what they have done.
Time first_instant(const Membership& membership, const Beginning& beginning, const WallClock& clock, Time left, Duration end) {
  const Duration heard = clock.scaled(monotonic_now() + head_start - beginning.since);
  return std::max(left, Time{} + std::min(came_to(membership, beginning.run, end), heard));
}

void go_on(const FoundCheckpoint<WallCheckpoint>& found, const Experiment& experiment, const RunOptions& options, const Past& past,
           WallHost& host, Membership& membership, RunResult& result) {
  const auto add_earlier = [&](std::uint64_t number) {
    for (const auto& client : host.clients()) {
      const ClientPast& its = past.clients[client->id().value];
      const auto saved = its.saved.find(number);
      const Spent behind = saved == its.saved.end() ? its.spent : its.spent.behind(saved->second.second);
      client->add_earlier(behind.counts, behind.exchanges, behind.traffic);
    }
  };
  say(found.notes, options, result);
  if (!found.newest) {
    begin_again("an earlier life of this host left no checkpoint: its clients begin again with their first models", options,
                membership, result);
    host.mark_first_states(true);
    return add_earlier(0);
  }
  CheckpointInfo checkpoint = checkpoint_of(*found.newest, experiment, past);
  checkpoint.seconds = std::min(checkpoint.seconds, to_seconds(host.clock().now()));
  for (const auto& [client, state] : found.newest->states) host.load(client, checkpoint.number, state);
  host.go_on_from(checkpoint);
  add_earlier(checkpoint.number);
  membership.say({EventLevel::info, "going_on", "", {{"checkpoint", checkpoint.number}, {"from_seconds", checkpoint.seconds}}});
  membership.set_origin(checkpoint.number, from_seconds(checkpoint.seconds));
  say({"this host goes on from its checkpoint " + std::to_string(checkpoint.number)}, options, result);
}

// With which hosts and without which; later than 0 s in a run that was under way.
void say_begun(Membership& membership, const std::vector<HostId>& there, Time now, std::uint32_t incarnation, const WallHost& own) {
  std::vector<std::string> with, without;
  for (const HostId host : membership.others())
    (std::ranges::find(there, host) == there.end() ? without : with).push_back(membership.name(host));
  const bool is_alone = with.empty() && !without.empty();
  RunEvent begun{is_alone ? EventLevel::warn : EventLevel::info,
                 "begun",
                 "",
                 {{"with", with}, {"without", without}, {"at_seconds", to_seconds(now)}, {"life", std::uint64_t{incarnation} + 1}}};
  if (is_alone)
    begun.fields.emplace_back("text", fmt::format("alone: unless others come, the results are of {} of {} clients",
                                                  own.clients().size(), own.world().graph.clients()));
  membership.say(std::move(begun));
}

// The host that gathers names the hosts whose clients it lacks; the others say whether their states were taken.
void say_gathered(Membership& membership, std::optional<HostId> gatherer, const std::vector<FinalClient>& last,
                  const std::vector<HostId>& host_of, bool leaves_early, RunResult& result) {
  const std::uint64_t clients = last.size(), all = host_of.size();
  const auto keep_own = [&](const std::string& text) {
    result.notes.push_back(fmt::format("the results are of {} of {} clients: {}", clients, all, text));
    membership.say({EventLevel::info, "kept", "", {{"clients", clients}, {"text", text}}});
  };
  const auto goes_on = [&](HostId host) { return membership.name(host) + " goes on without this host"; };
  if (!gatherer) {
    const HostId first = membership.first_alive();
    return keep_own(first == membership.self() ? "no host took its states" : goes_on(first));
  }
  if (*gatherer != membership.self()) {
    result.gathered_by = membership.name(*gatherer);
    return membership.say({EventLevel::info, "handed_over", "", {{"to", result.gathered_by}, {"clients", clients}}});
  }
  std::set<HostId> lacking(host_of.begin(), host_of.end());
  for (const FinalClient& client : last) lacking.erase(host_of[client.client.value]);
  std::vector<std::string> without;
  std::optional<HostId> present;
  for (const HostId host : lacking) {
    const std::string state = membership.status(host).state;
    without.push_back(membership.name(host) + "(" + state + ")");
    if (state == "present" && !present) present = host;
  }
  const bool has_own_alone = lacking.size() + 1 == membership.hosts() && membership.hosts() > 1;
  if (has_own_alone && present && leaves_early) return keep_own(goes_on(*present));
  RunEvent gathered{without.empty() ? EventLevel::info : EventLevel::warn, "gathered", "", {{"clients", clients}, {"of", all}}};
  if (!without.empty()) gathered.fields.emplace_back("without", without);
  membership.say(std::move(gathered));
  if (has_own_alone)
    result.notes.push_back(fmt::format("{}: the results are of {} of {} clients",
                                       present ? "no other host handed its states over" : "this host was alone at the end", clients,
                                       all));
}

// Messages whose sender or receiver went with its host have no outcome. Links are drained at the end, unless the run was stopped.
void describe_lost(const Membership& membership, RunResult& result) {
  if (result.is_of_host) return;
  result.from_lost_hosts = result.messages.foreign();
  if (membership.has_lost_any() || !result.was_stopped) result.lost_between_hosts = std::exchange(result.under_way, 0);
}

// What this host knows of its earlier lives; events and seconds are no reason to doubt a sample of theirs.
Sample known_of(const WallHost& host, std::uint64_t models) {
  Sample known;
  known.header.events = std::numeric_limits<std::uint64_t>::max();
  known.header.at = Time{Duration::max()};
  known.header.model_messages = models;
  for (const auto& client : host.clients()) {
    known.header.counts += client->counts();
    known.traffic += client->traffic();
  }
  return known;
}

// Those that fell into the run.
void describe_absences(const Membership& membership, const WallClock& clock, RunResult& result) {
  for (const Absence& one : membership.absences()) {
    const double from = to_seconds(clock.at(one.from));
    std::optional<double> to;
    if (one.to) to = to_seconds(clock.at(*one.to));
    if (from >= result.virtual_seconds || (to && *to <= 0)) continue;
    if (to && *to > result.virtual_seconds) to.reset();
    result.host_absences.push_back({membership.name(one.host), one.has_left, std::max(from, 0.0), to});
  }
  std::ranges::stable_sort(result.host_absences, {}, &HostAbsence::from);
}

// What an earlier life has done and handed over: its record says it.
void describe_past(const WallHost& host, const Past& past, const RunOptions& options, double until, RunResult& result) {
  for (const auto& client : host.clients()) {
    const std::uint32_t i = client->id().value;
    const ClientPast& its = past.clients[i];
    result.by_client[i] = its.spent.counts;
    result.traffic_by_client[i] = its.spent.traffic;
    result.messages += its.spent.counts;
    result.traffic += its.spent.traffic;
    result.steps += its.steps;
    result.host_clients.push_back(client->id());
  }
  result.events = events_in(options.samples_file);
  result.model_messages = past.models;
  result.virtual_seconds = std::min(to_seconds(past.last), until);
}

}  // namespace

RunResult perform_wall_host(Preparation& parts, const Experiment& experiment, const RunOptions& options, Membership& membership,
                            Transport& transport, const HostOptions& home) {
  RunResult result = std::move(parts.result);
  const std::size_t clients = parts.timing->graph.clients();
  const std::uint64_t earlier_run = home.has_earlier_life ? run_of(home) : 0;  // 0: it ended before it had begun
  Past past = earlier_run > 0 ? read_past(options, clients) : Past{};
  WallRecord record(std::move(past.recorder));
  WallNetwork network{transport, membership, hosts_of_clients(experiment)};
  WallHost host(experiment, *parts.task, *parts.timing, options, record, &network);
  if (result.gathered_by = gatherer_of(home, earlier_run); !result.gathered_by.empty()) {
    const std::string sentence = "an earlier life of this host has handed its last states over: there is nothing left to do";
    if (home.on_event) home.on_event({EventLevel::info, "handed_over", "", {{"to", result.gathered_by}, {"text", sentence}}});
    result.notes.push_back(sentence);
    result.host = membership.name(membership.self());
    result.is_of_host = true;
    describe_host(host, *parts.timing, result);
    describe_clients({}, *parts.timing, experiment.until, options, result);
    describe_past(host, past, options, experiment.until, result);
    return result;
  }
  ItemExchange items(membership, transport, host.client_pool().pool);
  items.allow(most_tensors, (parts.task->dimension() + 1) * sizeof(double));
  WallGathering gathering(membership, items, network.host_of, host.client_pool().pool,
                          {experiment.precision, parts.task->dimension()}, parts.task->evaluation().measures());
  HostViews views(membership, transport, network.host_of, experiment.until);
  struct Parting {  // before what hears the assembly goes
    Membership& membership;
    ~Parting() { membership.stop(std::chrono::seconds(2)); }
  } parting{membership};
  StatusTeller status(home, experiment, membership, views, host);
  const std::string identity = membership.host_info(membership.self())->run;
  FoundCheckpoint<WallCheckpoint> found;
  Time left{};  // by earlier lives, as far as what they wrote of their steps and samples says it
  if (earlier_run > 0) {
    if (!home.folder.empty()) found = WallCheckpoint::find(home.folder, identity);
    left = std::max(past.last, Time{from_seconds(seconds_in(options.samples_file))});
    const Duration saved = found.newest ? from_seconds(checkpoint_of(*found.newest, experiment, past).seconds) : Duration{};
    membership.set_past(earlier_run, std::max(left - Time{}, saved));
  }
  membership.start();
  const std::vector<HostId> there = membership.meet(from_seconds(experiment.hosts.wait), options.stop);
  const std::uint64_t own_run = earlier_run > 0 ? earlier_run : membership.host_info(membership.self())->life;
  const Duration end = from_seconds(experiment.until);
  const Duration longest_run = host.clock().unscaled(end) + from_seconds(experiment.hosts.drain);
  const Duration longest_wait = std::chrono::seconds(5) + membership.self().value * own_turn;  // not all at one instant
  const Beginning beginning = agree_on_start(membership, own_run, host.clock(), end, longest_run, longest_wait, options.stop);
  require_same_run(home, earlier_run, beginning.run);
  const bool has_begun = !(options.stop && options.stop->load()) || begun_by_others(membership, longest_run);
  if (home.on_admitted) home.on_admitted();
  if (earlier_run == 0) record.use(make_recorder(options, clients));
  if (record.recorder()) record.recorder()->flush();
  if (earlier_run != beginning.run && has_begun) keep(home, run_file, std::to_string(beginning.run));
  const std::uint32_t incarnation = next_life(past.incarnation, membership.known_lives());
  membership.set_running(beginning.since, beginning.run, incarnation);
  host.begin(beginning.since, incarnation, first_instant(membership, beginning, host.clock(), left, end));
  if (earlier_run > 0) {
    for (const auto& client : host.clients()) {
      const ClientPast& its = past.clients[client->id().value];
      client->recall(its.hash, its.steps, its.first);
    }
    go_on(found, experiment, options, past, host, membership, result);
    host.recall(home.on_recalled ? home.on_recalled(known_of(host, past.models)) : 0, past.models);
  } else {
    if (incarnation > 0 && !home.folder.empty())
      begin_again("the folder has nothing of earlier lives of this host: its clients begin with their first models", options,
                  membership, result);
    host.mark_first_states(false);
  }
  const bool is_late = earlier_run > 0 || host.clock().now() > Time{};
  say_begun(membership, there, host.clock().now(), incarnation, host);
  status.enter(HostState::running);
  const auto keep_checkpoint = [&](const WallCheckpoint& checkpoint) { checkpoint.write(home.folder, identity); };
  host.perform(is_late, home.folder.empty() ? std::function<void(const WallCheckpoint&)>{} : keep_checkpoint);
  if (const auto failure = host.client_pool().failure()) throw RunFailed(to_string(*failure));
  finish_record(record.recorder(), result);  // what is not on the disk is not handed over
  std::vector<FinalClient> last = last_states(host, *parts.task, experiment.until);
  result.host = membership.name(membership.self());
  for (const auto& client : host.clients()) result.host_clients.push_back(client->id());
  status.enter(HostState::gathering);
  const HostId first = membership.first_alive();
  // The others may well go on, and gather later without it.
  const bool leaves_early = (options.stop && options.stop->load()) || host.reporter().has_thrown();
  if (!leaves_early && first != membership.self())  // later lives add no steps to what is handed over
    keep(home, gatherer_file, fmt::format("{} {}", beginning.run, membership.name(first)));
  const Duration patience =
      leaves_early ? Duration{std::chrono::seconds(2)} : from_seconds(experiment.hosts.drain + experiment.hosts.lost_after);
  std::optional<HostId> gatherer;
  if (auto all = gathering.gather(last, patience, gatherer)) last = std::move(*all);
  say_gathered(membership, gatherer, last, network.host_of, leaves_early, result);
  status.enter(HostState::scoring);
  host.reporter().rethrow();
  for (std::uint32_t each = 0; each < membership.hosts(); ++each) result.hosts.push_back(sentence_about(membership, {each}));
  result.hosts.push_back(sentence_about(transport.counts(), host.counts()));
  result.is_of_host = last.size() == host.clients().size() && last.size() < clients;
  finish(last, experiment, parts, options, host, result);
  describe_lost(membership, result);
  describe_absences(membership, host.clock(), result);
  return result;
}

}  // namespace rubato
