#include "actors/wall/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <thread>
#include <utility>

#include "actors/wall/checkpoint.hpp"
#include "actors/wall/gathering.hpp"
#include "experiment/file/fingerprint.hpp"
#include "experiment/roster.hpp"

namespace rubato {

namespace {

using config::Experiment;

// ---- what the last states say ---------------------------------------------------------------------------------------

// The last sample: of all that is known at the end.
void sample_last(const std::vector<FinalClient>& last, const Task& task, WallHost& host) {
  std::vector<ClientId> here;
  for (const FinalClient& client : last)
    if (client.is_here) here.push_back(client.client);
  SampleGatherer gatherer(task.evaluation());
  const SampleHeader header = host.open_sample(std::move(here));
  gatherer.open(header);
  for (const FinalClient& client : last) host.measured(client.client, header.number, client.counts);
  const auto memory = host.client_pool().lend();
  for (const FinalClient& client : last) {
    if (!client.is_here) continue;
    Scores scores = task.evaluation().scores(client.client, client.snapshot.model, *memory);
    if (const auto sample = gatherer.add(header.number, client.client, client.snapshot, std::move(scores), *memory))
      host.close_sample(*sample);
  }
}

void describe_clients(const std::vector<FinalClient>& last, const Timing& timing, double until, const RunOptions& options,
                      RunResult& result) {
  const std::size_t clients = timing.graph.clients();
  result.clients = clients;
  result.by_client.resize(clients);
  result.paces.resize(clients);
  std::vector<bool> is_there(clients);
  FinalModels models(last.size(), options, result);
  std::vector<StepHash> hashes;
  double staleness = 0;
  std::uint64_t absorbed = 0, stale = 0, unheard = 0, misshapen = 0;
  for (const FinalClient& client : last) {
    const std::uint32_t i = client.client.value;
    is_there[i] = client.is_here;
    models.add(client.model, client.is_here);
    if (client.is_here) hashes.push_back(client.hash);
    unheard += client.unheard;
    result.messages += client.counts;
    result.by_client[i] = client.counts;
    result.traffic += client.snapshot.traffic;
    result.steps += client.steps;
    result.paces[i] = {timing.settings.compute_law(client.client).mean_rate(until),
                       static_cast<double>(client.counts.computations) / std::max(client.seconds, 1e-9), client.skipped};
    staleness += client.staleness_sum;
    absorbed += client.staleness_count;
    stale += client.counts.stale;
    misshapen += client.misshapen;
  }
  for (std::uint32_t i = 0; i < clients; ++i)
    if (!is_there[i]) result.absent.push_back({i});
  if (result.churn) result.churn->lost = unheard;
  describe_energy(timing, result);
  result.digests = {models.digest(), timeline_digest(hashes)};
  result.staleness_mean = absorbed > 0 ? staleness / static_cast<double>(absorbed) : 0;
  if (stale > 0)
    result.notes.push_back(fmt::format("{} messages were of an older epoch or an earlier life, and were not used", stale));
  if (misshapen > 0) result.notes.push_back(fmt::format("{} messages did not fit this run's models, and were not used", misshapen));
}

void describe_host(WallHost& host, RunResult& result) {
  DurationHistogram staleness;
  for (const auto& client : host.clients()) staleness.add(client->tally().staleness);
  result.staleness_p95 = staleness.quantile_seconds(0.95);
  result.events = host.world().events.load();
  result.model_messages = host.world().model_messages.load();
  result.by_link = host.world().link_counts;
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
  result.notes.push_back(fmt::format(
      "this machine does not keep the pace: {} clients computed at less than 95 % of their ticks, {:.1f} % of all ticks "
      "were skipped; lower time_scale or the rates",
      slow, 100 * skipped_part));
}

std::vector<FinalClient> last_states(WallHost& host, const Task& task, double until) {
  std::vector<FinalClient> last;
  const auto memory = host.client_pool().lend();
  const Time end = std::min(host.clock().now(), Time{from_seconds(until)});
  for (const auto& client : host.clients()) last.push_back(final_of(*client, end, task.evaluation(), *memory));
  return last;
}

void finish(const std::vector<FinalClient>& last, const Experiment& experiment, const Preparation& parts, const RunOptions& options,
            WallHost& host, RunResult& result) {
  describe_host(host, result);
  result.churn = host.churn_counts();
  describe_clients(last, *parts.timing, experiment.until, options, result);
  say_slow_clients(experiment, result);
  sample_last(last, *parts.task, host);
  host.reporter().report();
  host.reporter().rethrow();
  result.samples = std::move(host.samples());
  result.virtual_seconds = std::min(to_seconds(host.clock().now()), experiment.until);  // the links were drained after it
  result.was_stopped = options.stop && options.stop->load();
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
constexpr Duration head_start = std::chrono::milliseconds(300);  // for everybody to hear when the run begins
constexpr std::size_t most_tensors = 16;                         // with what there is to know of a client at the end
constexpr Duration own_turn = std::chrono::seconds(1);           // longer a host waits than the one before it in the roster

// What an earlier life has recorded, so that this one goes on with it.
struct Past {
  std::uint32_t incarnation = 0;
  Time last{};  // of its steps
  std::vector<StepHash> hashes;
  std::vector<std::uint64_t> steps;
  std::unique_ptr<Recorder> recorder;
};

Past read_past(const RunOptions& options, std::size_t clients) {
  Past past;
  past.hashes.resize(clients);
  past.steps.resize(clients);
  past.incarnation = 1;
  if (options.record.empty()) return past;
  std::uint64_t intact = 0;
  {
    RecordReader reader(options.record);
    if (reader.clients() != clients)
      throw std::invalid_argument(options.record.string() + " is the record of a run with another number of clients");
    while (const Step* step = reader.next()) {
      past.hashes[step->client.value].add(*step);
      ++past.steps[step->client.value];
      past.incarnation = std::max(past.incarnation, step->incarnation + 1);
      past.last = std::max(past.last, step->at);
    }
    intact = reader.intact_bytes();
  }
  past.recorder = Recorder::go_on(options.record, intact, options.record_bytes);
  return past;
}

// When the run begins on this machine's clock, and which run it is.
struct Beginning {
  Duration since{};
  std::uint64_t run = 0;
};

// Of the others; nothing if none of them has begun.
std::optional<Beginning> begun_by_others(const Membership& membership) {
  for (std::uint32_t host = 0; host < membership.hosts(); ++host) {
    if (HostId{host} == membership.self() || !membership.is_alive({host})) continue;
    const auto theirs = membership.host_info({host});
    const auto offset = membership.offset({host});
    if (theirs && theirs->running_since && offset) return Beginning{*theirs->running_since - offset->nanoseconds, theirs->begun};
  }
  return std::nullopt;
}

// The first of those who are there says when the run begins, unless it has begun. A run that everybody has left goes on
// where the record of this host ends.
Beginning agree_on_start(const Membership& membership, const Beginning& own, Duration limit, const std::atomic<bool>* stop) {
  const Duration until = monotonic_now() + limit;
  while (true) {
    if (const auto begun = begun_by_others(membership)) return *begun;
    const bool decides = membership.first_alive() == membership.self();
    if (decides || monotonic_now() > until || (stop && stop->load())) return {monotonic_now() + head_start - own.since, own.run};
    std::this_thread::sleep_for(glance_at_others);
  }
}

std::string sentence_about(const Membership& membership, HostId host) {
  std::string text = membership.name(host) + ": ";
  if (host == membership.self()) return text + "this one";
  if (!membership.host_info(host)) return text + "was never there";
  text += membership.is_alive(host) ? "there" : "gone";
  if (const auto offset = membership.offset(host))
    text += fmt::format(", its clock {:+.3f} ms, give or take {:.3f} ms", to_seconds(offset->nanoseconds) * 1e3,
                        to_seconds(offset->error) * 1e3);
  return text;
}

std::string sentence_about(const TransportCounts& counts, const NetworkCounts& network) {
  std::string text = fmt::format("parcels: {} sent, {} received", counts.sent, counts.received);
  const std::pair<std::uint64_t, const char*> others[] = {{counts.dropped_states, " made room for newer ones"},
                                                          {counts.refused, " refused"},
                                                          {counts.malformed, " malformed"},
                                                          {counts.oversized, " oversized"},
                                                          {counts.unknown, " of an unknown kind"},
                                                          {counts.unauthenticated, " unauthenticated"},
                                                          {counts.replayed, " replayed"},
                                                          {counts.stale, " of an earlier life"},
                                                          {counts.flooded + network.flooded, " beyond what may wait"},
                                                          {network.malformed, " no letters of this run"},
                                                          {counts.unaffordable, " without memory for them"},
                                                          {counts.crowded_out, " connections crowded out"}};
  for (const auto& [count, what] : others)
    if (count > 0) text += fmt::format(", {}{}", count, what);
  return text;
}

std::filesystem::path run_file(const HostOptions& home) { return home.folder / "run"; }

// Which run an earlier life of this host took part in; 0 if it left nothing.
std::uint64_t run_of(const HostOptions& home) {
  std::ifstream file(run_file(home));
  std::uint64_t run = 0;
  file >> run;
  return run;
}

// Whole or not at all: a host that finds nothing begins anew.
void keep_run(const HostOptions& home, std::uint64_t run) {
  if (home.folder.empty()) return;
  const std::filesystem::path file = run_file(home), unfinished = home.folder / "run.part";
  std::error_code error;
  std::filesystem::create_directories(home.folder, error);
  std::ofstream stream(unfinished);
  stream << run << "\n";
  stream.close();
  if (stream) std::filesystem::rename(unfinished, file, error);
  if (!stream || error) throw RunFailed("cannot write " + file.string());
}

void require_same_run(const HostOptions& home, std::uint64_t earlier, std::uint64_t run) {
  if (earlier == 0 || earlier == run) return;
  throw std::invalid_argument(
      home.folder.parent_path().string() +
      " holds an earlier life of this host in another run than the one the others are in; start with --anew, "
      "or choose another --out");
}

void go_on(const HostOptions& home, const std::string& run, WallHost& host, RunResult& result) {
  FoundCheckpoint<WallCheckpoint> found;
  if (!home.folder.empty()) found = WallCheckpoint::find(home.folder, run);
  result.notes.insert(result.notes.end(), found.notes.begin(), found.notes.end());
  if (!found.newest) {
    result.notes.push_back("an earlier life of this host left no checkpoint: its clients begin again with their first models");
    return host.mark_first_states(true);
  }
  for (const auto& [client, state] : found.newest->states) host.load(client, found.newest->number, state);
  result.notes.push_back("this host goes on from its checkpoint " + std::to_string(found.newest->number));
}

}  // namespace

RunResult perform_wall_host(Preparation& parts, const Experiment& experiment, const RunOptions& options, Membership& membership,
                            Transport& transport, const HostOptions& home) {
  RunResult result = std::move(parts.result);
  const std::size_t clients = parts.timing->graph.clients();
  const std::uint64_t earlier_run = home.has_earlier_life ? run_of(home) : 0;  // 0: it ended before it had begun
  Past past = earlier_run > 0 ? read_past(options, clients) : Past{0, {}, {}, {}, make_recorder(options, clients)};
  WallRecord record(std::move(past.recorder));
  WallNetwork network{transport, membership, hosts_of_clients(experiment)};
  WallHost host(experiment, *parts.task, *parts.timing, options, record, &network);
  ItemExchange items(membership, transport, host.client_pool().pool);
  items.allow(most_tensors * (parts.task->dimension() + 1) * sizeof(double));
  WallGathering gathering(membership, items, network.host_of, host.client_pool().pool,
                          {experiment.precision, parts.task->dimension()});
  struct Parting {  // before what hears the assembly goes
    Membership& membership;
    ~Parting() { membership.stop(std::chrono::seconds(2)); }
  } parting{membership};
  membership.start();
  membership.meet(from_seconds(experiment.hosts.wait), home.on_missing, options.stop);
  const Beginning own{past.last > Time{} ? host.clock().unscaled(past.last - Time{}) : Duration{},
                      earlier_run > 0 ? earlier_run : membership.host_info(membership.self())->life};
  const Duration longest_wait = std::chrono::seconds(5) + membership.self().value * own_turn;  // not all at one instant
  const Beginning beginning = agree_on_start(membership, own, longest_wait, options.stop);
  require_same_run(home, earlier_run, beginning.run);
  const bool has_begun = !(options.stop && options.stop->load()) || begun_by_others(membership);
  if (record.recorder()) record.recorder()->flush();
  if (earlier_run != beginning.run && has_begun) keep_run(home, beginning.run);
  const std::uint32_t incarnation = std::max(past.incarnation, membership.known_lives());
  membership.set_running(beginning.since, beginning.run, incarnation);
  host.begin(beginning.since, incarnation);
  if (earlier_run > 0) {
    for (const auto& client : host.clients()) client->recall(past.hashes[client->id().value], past.steps[client->id().value]);
    go_on(home, fingerprint(experiment), host, result);
  } else {
    host.mark_first_states(false);
  }
  const bool is_late = earlier_run > 0 || host.clock().now() > Time{};
  host.perform(
      is_late, home.folder.empty() ? std::function<void(const WallCheckpoint&)>{} : [&](const WallCheckpoint& checkpoint) {
        checkpoint.write(home.folder, fingerprint(experiment));
      });
  if (const auto failure = host.client_pool().failure()) throw RunFailed(to_string(*failure));
  std::vector<FinalClient> last = last_states(host, *parts.task, experiment.until);
  HostId gatherer = membership.self();
  // The others may well go on, and gather later without it.
  const bool leaves_early = (options.stop && options.stop->load()) || record.has_failed() || host.reporter().has_thrown();
  const Duration patience =
      leaves_early ? Duration{std::chrono::seconds(2)} : from_seconds(experiment.hosts.drain + experiment.hosts.lost_after);
  if (auto all = gathering.gather(last, patience, gatherer))
    last = std::move(*all);
  else
    result.gathered_by = membership.name(gatherer);
  finish_record(record.recorder(), result);
  host.reporter().rethrow();
  for (std::uint32_t each = 0; each < membership.hosts(); ++each) result.hosts.push_back(sentence_about(membership, {each}));
  result.hosts.push_back(sentence_about(transport.counts(), host.counts()));
  finish(last, experiment, parts, options, host, result);
  return result;
}

}  // namespace rubato
