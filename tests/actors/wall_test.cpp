// Runs in real time: they learn, keep their pace, end when nothing is under way, and their records land on their
// digests.
#include <doctest/doctest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "actors/core/run_parts.hpp"
#include "actors/wall/clock.hpp"
#include "actors/wall/host.hpp"
#include "runtime/record.hpp"
#include "tests/actors/hosts.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// Messages may take a second, too: a busy machine makes none late.
const std::vector<std::string> in_a_second = {"clock=wall", "time_scale=30", "mailbox.deadline=30.0"};
// Two minutes, for what ends when enough has happened.
const std::vector<std::string> sampled_until_enough = {"until=3600.5", "metrics.every_seconds=3.0"};

// A law without a largest number: a message may say that its link takes an hour.
const std::vector<std::string> unbounded_delay = {"channel.delay={law=\"gamma\",shape=1.0,rate=5.0}"};

RunOptions recorded_at(const Folder& folder, const std::string& name = "timeline.rbt", unsigned threads = 2) {
  RunOptions options = on_threads(threads);
  options.record = folder / name;
  return options;
}

// What each client did, without saying when: the same in virtual and in real time where the ticks are.
std::map<std::uint32_t, std::vector<std::string>> steps_of(const std::filesystem::path& record) {
  std::map<std::uint32_t, std::vector<std::string>> steps;
  RecordReader reader(record);
  while (const Step* step = reader.next()) {
    std::string text(name_of(step->kind));
    text += ' ' + std::to_string(step->index);
    for (const StepEntry& entry : step->entries)
      text += ' ' + std::to_string(entry.peer.value) + ':' + std::to_string(entry.sequence);
    steps[step->client.value].push_back(text);
  }
  return steps;
}

// In a sentence about parcels; 0 where it says nothing of them.
std::size_t number_before(const std::string& words, const std::string& sentence) {
  const std::size_t end = sentence.find(words);
  return end == sentence.npos ? 0 : std::stoul(sentence.substr(sentence.rfind(' ', end - 1)));
}

// Each host on a thread of its own, with a record under its name.
std::vector<HostStart> recorded_starts(const config::Experiment& wall, const Folder& folder, const std::string& kind = "") {
  std::vector<HostStart> starts;
  for (const config::Host& host : wall.roster) starts.push_back({wall, recorded_at(folder, kind + host.name, 1), {}});
  return starts;
}

std::string tabled_ticks(double phase) {
  std::string text = "[";
  for (int client = 0; client < 8; ++client) {
    text += client ? ",[" : "[";
    for (int tick = 1; tick <= 6; ++tick) text += (tick > 1 ? "," : "") + std::to_string(tick + phase + 0.04 * client);
    text += "]";
  }
  return text + "]";
}

}  // namespace

TEST_CASE("a run in real time replays to its digests, whichever thread does the arithmetic") {
  const std::vector<std::string> hasty{"algorithm.retain_on_loss=true", "mailbox.deadline=0.5"};
  for (const auto& more : {std::vector<std::string>{}, digits_instead(), hasty}) {
    const Folder folder;
    const config::Experiment wall = experiment(in_a_second + sampled_until_enough + more);
    const RunResult result = run_until(wall, recorded_at(folder), [](const Sample& sample) {
      const MessageCounts& counts = sample.header.counts;
      return counts.computations > 300 && counts.kept + counts.late > 200 && counts.lost > 10 &&
             sample.header.model_messages >= 4 * 7;
    });
    CHECK(result.was_stopped);
    CHECK(result.unifications * 7 >= result.model_messages);  // a hub that is behind leaves one out
    CHECK(result.model_messages % 7 == 0);
    for (const unsigned threads : {1u, 2u})
      CHECK(digests(replay(wall, folder / "timeline.rbt", on_threads(threads))) == digests(result));
  }
}

TEST_CASE("a tampered record of a real run lands elsewhere or is refused") {
  const Folder folder;
  const config::Experiment wall = experiment(in_a_second + std::vector<std::string>{"until=5.5"});
  const RunResult result = run(wall, recorded_at(folder));
  const std::string whole = text_of(folder / "timeline.rbt");
  write_text(folder / "timeline.rbt", whole.substr(0, whole.size() - 9));
  CHECK(digests(replay(wall, folder / "timeline.rbt", on_threads(1))) != digests(result));
}

TEST_CASE("with tabled ticks every client takes the same steps in virtual and in real time") {
  // Between what a client does and what it does next, or hears, lie at least 40 milliseconds.
  const std::vector<std::string> tabled = {"until=9.0",
                                           "unification.period=none",
                                           "mailbox.cap=none",
                                           "mailbox.cap_period=none",
                                           "channel.loss=0.25",
                                           "channel.delay=0.2",
                                           "mailbox.window=0.16",
                                           "mailbox.deadline=5.0",
                                           "clients.compute={law=\"table\",ticks=" + tabled_ticks(0) + "}",
                                           "clients.transmit={law=\"table\",ticks=" + tabled_ticks(0.5) + "}"};
  const Folder folder;
  run(experiment(tabled), recorded_at(folder, "virtual.rbt"));
  const auto expected = steps_of(folder / "virtual.rbt");
  CHECK(expected.size() == 8);
  CHECK(expected.at(0).size() > 18);
  config::Experiment wall = experiment(tabled + std::vector<std::string>{"clock=wall", "time_scale=2"});
  std::map<std::uint32_t, std::vector<std::string>> recorded;
  at_some_pace(wall, [&] {  // at which none of these gaps is bridged
    run(wall, recorded_at(folder, "wall.rbt"));
    recorded = steps_of(folder / "wall.rbt");
    return recorded == expected;
  });
  CHECK(recorded == expected);
}

TEST_CASE("the last sample of a real run has what all clients have spent") {
  const RunResult result = run(experiment(in_a_second + std::vector<std::string>{"energy.compute_joules=0.5"}), on_threads(1));
  REQUIRE(result.energy);
  const double spent = 0.5 * static_cast<double>(result.messages.computations);
  CHECK(result.energy->joules() == doctest::Approx(spent));
  CHECK(result.samples.back().header.energy.joules() == doctest::Approx(spent));
  CHECK(result.samples.back().header.counts == result.messages);
}

TEST_CASE("ticks come at the pace that is asked for: what is not computed is skipped, and counted") {
  const RunResult virtually = run(experiment(), on_threads(2));  // where no tick is skipped
  const std::vector<std::string> as_it_is, beyond_any_machine{"time_scale=3000"};
  for (const auto& more : {as_it_is, beyond_any_machine}) {
    const RunResult result = run(experiment(in_a_second + more), on_threads(2));
    REQUIRE(result.paces.size() == 8);
    double requested = 0, achieved = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const Pace& pace = result.paces[i];
      CHECK(result.by_client[i].computations + pace.skipped == virtually.by_client[i].computations);
      requested += pace.requested, achieved += pace.achieved;
    }
    CHECK(requested == doctest::Approx(16));
    CHECK(achieved == doctest::Approx(static_cast<double>(result.messages.computations) / 30.5));
  }
}

TEST_CASE("ticks that find the computation before unfinished are skipped, and the run says so") {
  config::Experiment hasty =
      experiment(in_a_second + digits_instead() +
                 std::vector<std::string>{"clients.compute.rate=20000.0", "clients.transmit.law=off", "until=10.0"});
  const RunResult result = run(hasty, on_threads(1));
  std::uint64_t skipped = 0;
  for (const Pace& pace : result.paces) skipped += pace.skipped;
  CHECK(skipped > result.messages.computations);
  bool is_said = false;
  for (const std::string& note : result.notes) is_said = is_said || note.find("does not keep the pace") != note.npos;
  CHECK(is_said);
}

TEST_CASE("saturated clients compute one after the other without waiting for a timer") {
  const std::vector<std::string> slow = {"clock=wall", "time_scale=1", "until=1.0", "clients.compute.rate=1e-6"};
  const RunResult idle = run(experiment(slow), on_threads(2));
  const config::Experiment busy = experiment(slow + std::vector<std::string>{"saturate=true"} + sampled_until_enough);
  const auto is_enough = [](const Sample& sample) { return sample.header.counts.computations > 1000; };
  CHECK(idle.messages.computations == 0);
  CHECK(run_until(busy, on_threads(2), is_enough).was_stopped);
}

TEST_CASE("the first sample that is enough for the program ends a real run") {
  RunOptions options = on_threads(2);
  std::size_t asked = 0;
  options.stop_when = [&](const Sample& sample) { return ++asked, sample.header.counts.computations > 20; };
  const RunResult result = run(experiment(sampled_until_enough + std::vector<std::string>{"clock=wall", "time_scale=20"}), options);
  CHECK(result.was_stopped);
  CHECK(result.stopped_by == "stop_when");
  CHECK(asked <= result.samples.size());
}

TEST_CASE("a wish to stop ends a real run with its results so far") {
  std::atomic<bool> stop{false};
  RunOptions options = on_threads(2);
  options.stop = &stop;
  options.on_progress = [&](const Progress& progress) { stop = progress.virtual_seconds > 5; };
  const RunResult result = run(experiment({"clock=wall", "time_scale=20", "until=100000.0"}), options);
  CHECK(result.was_stopped);
  CHECK(result.virtual_seconds < 50000);  // 40 minutes
  CHECK(result.digests.model.size() == 64);
}

TEST_CASE("a client that fails in the middle of a real run ends it, while the others are at work") {
  class Tiring final : public Learner<double> {
   public:
    explicit Tiring(bool tires) : tires_{tires} {}
    Index dimension() const override { return 16; }
    std::uint32_t samples() const override { return 1; }
    double gradient(ConstVectorRef<double> x, Picks, VectorRef<double> g, Scratch<double>&) const override {
      if (tires_ && ++gradients_ > 30) throw std::runtime_error("too tired");
      g = x;
      return 0.5 * x.squaredNorm();
    }
    // Else it might tire while a model is scored.
    Score score(ConstVectorRef<double>, Part, Scratch<double>&) const override { return empty_score(0); }

   private:
    bool tires_;
    mutable std::atomic<int> gradients_{0};
  };
  RunOptions options = on_threads(2);
  options.own_double.learner = [](ClientId client) { return std::make_unique<Tiring>(client == ClientId{3}); };
  const config::Experiment tiring =
      experiment({"clock=wall", "time_scale=1", "saturate=true", "precision=float64", "until=1000.0"});
  const std::string text = complaint<RunFailed>([&] { run(tiring, options); });
  CHECK(contains(text, "client 3 failed in compute"));
  CHECK(contains(text, "too tired"));
}

TEST_CASE("a record that the disk does not take ends a run in real time at once") {
  RunOptions options = on_threads(1);
  options.record = "/dev/full";
  const Duration before = monotonic_now();
  CHECK(contains(complaint<RunFailed>([&] {
                   run(experiment({"clock=wall", "time_scale=30", "until=30000.0"}), options);
                 }),
                 "cannot write /dev/full"));
  CHECK(monotonic_now() - before < patience);  // of a thousand
}

TEST_CASE("what an earlier start has left that never came to a run is begun anew") {
  const Folder folder;
  const config::Experiment wall = over_hosts(experiment(in_a_second), 2);
  std::vector<HostStart> starts;
  for (const std::string host : {"a", "b"}) {
    starts.push_back({wall, recorded_at(folder, host, 1), {}});
    starts.back().host.folder = folder / ("states of " + host);
    starts.back().host.life = 5;
    starts.back().host.has_earlier_life = true;  // as its folder says, which holds the beginning of a record
    write_text(starts.back().options.record, "RB");
  }
  const auto outcomes = run_hosts(starts);
  for (const HostOutcome& outcome : outcomes) CHECK(outcome.complaint == "");
  CHECK(digests(replay(wall, {folder / "a", folder / "b"}, {}, on_threads(2))) == digests(outcomes[0].result));
}

TEST_CASE("a checkpoint that cannot be written ends a host with the reason, after its last handler") {
  const Folder folder;
  write_text(folder / "no_folder", "a file");
  const config::Experiment kept = over_hosts(experiment(in_a_second + std::vector<std::string>{"checkpoint_every=5.0"}), 2);
  std::vector<HostStart> starts;
  for (const std::string name : {"a", "no_folder"}) {
    HostStart start{kept, recorded_at(folder, name + ".rbt", 1), {}};
    start.host.folder = folder / name;
    starts.push_back(std::move(start));
  }
  const auto outcomes = run_hosts(starts);
  CHECK(outcomes[0].complaint == "");
  CHECK(contains(outcomes[1].complaint, "no_folder"));
}

TEST_CASE("a host whose run breaks off ends its clock and its actors first, whatever still rings") {
  const config::Experiment wall = over_hosts(experiment(in_a_second), 2);
  const RunOptions options = on_threads(2);
  Hub hub(2);
  const auto one = hub.end(HostId{0}), two = hub.end(HostId{1});
  std::function<void()> knock;  // at a client, again and again
  std::atomic<bool> is_to_break{false};
  Membership::Settings settings{.names = {"a", "b"}, .self = {}, .on_lost = {}, .on_back = {}};
  Membership other(*two, settings);
  settings.now = [&, caller = std::this_thread::get_id()] {
    const bool breaks = std::this_thread::get_id() == caller && is_to_break;
    if (breaks) knock();
    if (breaks) throw std::runtime_error("what time is it?");
    return monotonic_now();
  };
  Membership membership(*one, settings);
  ResolvedExperiment resolved = resolve(wall, options);
  Preparation parts(resolved, options);
  parts.read_data(wall, options);
  WallRecord record(nullptr);
  WallNetwork network{*one, membership, {}};
  for (std::uint32_t client = 0; client < 8; ++client) network.host_of.push_back(HostId{client / 4});
  WallHost host(wall, *parts.task, *parts.timing, options, record, &network);
  knock = [&] {
    auto note = std::make_shared<Message>();
    note->id = {ClientId{1}, 0, 1};
    note->kind = MessageKind::acknowledgement;
    host.send(std::move(note), {{.receiver = ClientId{0}}});
    host.clock().alarm(Time{}, knock);
  };
  other.start();
  membership.start();
  REQUIRE(membership.meet(std::chrono::seconds(60)).size() == 2);
  host.begin(monotonic_now(), 0);
  is_to_break = true;  // where perform() first asks who is there, its actors are
  CHECK(complaint<std::runtime_error>([&] { host.perform(false, {}); }) == "what time is it?");
  is_to_break = false;
  membership.stop({});
  other.stop({});
}

TEST_CASE("after a checkpoint that cannot be written none is tried any more") {
  const config::Experiment wall = experiment(in_a_second + std::vector<std::string>{"checkpoint_every=0.2"});
  const RunOptions options = on_threads(2);
  ResolvedExperiment resolved = resolve(wall, options);
  Preparation parts(resolved, options);
  parts.read_data(wall, options);
  WallRecord record(nullptr);
  WallHost host(wall, *parts.task, *parts.timing, options, record, nullptr);
  host.begin(monotonic_now(), 0);
  int tries = 0;
  host.perform(false, [&](const WallCheckpoint&) {
    ++tries;
    throw std::runtime_error("the disk is full");
  });
  CHECK(tries == 1);
  CHECK(complaint<std::runtime_error>([&] { host.reporter().rethrow(); }) == "the disk is full");
}

TEST_CASE("a host whose caller throws ends with that exception, while the others go on") {
  const config::Experiment wall =
      over_hosts(experiment(in_a_second + std::vector<std::string>{"until=1000000.0", "hosts.drain=3600.0"}), 2);
  TensorPool pool;
  Hub hub(2);
  std::atomic<bool> stop{false};  // of the host that goes on, when the other has ended
  std::string said;
  std::thread other([&] {
    WireLike wire(hub.end(HostId{1}), pool);
    RunOptions options = on_threads(1);
    options.on_sample = [](const Sample&) { throw std::logic_error("I have seen enough"); };
    said = complaint<std::logic_error>([&] { run_host(wall, options, {}, wire); });
    stop = true;
  });
  WireLike wire(hub.end(HostId{0}), pool);
  RunOptions options = on_threads(1);
  options.stop_when = [](const Sample&) { return true; };
  const std::string refused = complaint<std::invalid_argument>([&] { run_host(wall, options, {}, wire); });
  CHECK(contains(refused, "over several hosts no sample ends a run"));
  options.stop_when = {};
  options.stop = &stop;
  const std::string own = complaint<std::exception>([&] { CHECK(run_host(wall, options, {}, wire).was_stopped); });
  other.join();
  CHECK(said == "I have seen enough");
  CHECK(own == "nothing was thrown");
}

namespace {

// Nothing is lost for good, nobody is given up.
std::vector<std::string> rounds_of(const std::string& algorithm) {
  return {"algorithm.name=" + algorithm, "protocol.kind=rounds",  "unification.period=none", "mailbox.cap=none",
          "mailbox.cap_period=none",     "mailbox.deadline=none", "precision=float64"};
}

// Eight clients on a ring that hear both neighbours in each round: the slowest is hardly behind the others.
auto have_gone_through(std::uint64_t rounds) {
  return [rounds](const Sample& sample) { return sample.header.counts.kept >= 16 * rounds; };
}

// They may end in another round of the same run. What came twice, because it was asked for, and first states do not count.
void check_begins_as(const std::filesystem::path& expected, const std::filesystem::path& record, std::size_t clients,
                     std::size_t least) {
  const auto all = steps_of(expected);
  auto recorded = steps_of(record);
  REQUIRE(recorded.size() == clients);
  for (auto& [client, steps] : recorded) {
    CAPTURE(client);
    std::erase_if(steps, [](const std::string& step) { return step.starts_with("discard") || step.starts_with("save"); });
    const auto& same = all.at(client);
    const std::size_t common = std::min(steps.size(), same.size());
    REQUIRE(common >= least);
    for (std::size_t k = 0; k < common; ++k) REQUIRE(steps[k] == same[k]);
  }
}

}  // namespace

TEST_CASE("in rounds every client takes the same steps in virtual and in real time, and the record replays to its digests") {
  for (const std::string algorithm : {"dpsgd", "dsgt", "beer", "nids", "draco"}) {
    CAPTURE(algorithm);
    const Folder folder;
    std::vector<std::string> more = rounds_of(algorithm);
    if (algorithm == "dpsgd") more = more + std::vector<std::string>{"unification.period=3.0"};
    run(experiment(more + std::vector<std::string>{"channel.loss=0.2"}), recorded_at(folder, "virtual.rbt"));
    const config::Experiment wall =
        experiment(in_a_second + sampled_until_enough + more + std::vector<std::string>{"channel.loss=0.2"});
    const RunResult result = run_until(wall, recorded_at(folder, "wall.rbt"), have_gone_through(20));
    CHECK(result.was_stopped);
    CHECK(result.messages.lost == 0);
    CHECK(result.messages.late == 0);
    check_begins_as(folder / "virtual.rbt", folder / "wall.rbt", 8, 15);
    CHECK((result.unifications >= 15 / 3) == (algorithm == "dpsgd"));  // the others are never unified
    CHECK(digests(replay(wall, folder / "wall.rbt", on_threads(1))) == digests(result));
  }
}

TEST_CASE("in rounds in real time a message takes the links of the round of its exchange") {
  const Folder folder;
  const std::vector<std::string> fading = {"until=20.5", "channel={kind=\"rayleigh_threshold\",threshold=1.0,delay=0.01}"};
  run(experiment(rounds_of("dpsgd") + fading), recorded_at(folder, "virtual.rbt"));
  const config::Experiment wall =
      experiment(std::vector<std::string>{"clock=wall", "time_scale=20"} + rounds_of("dpsgd") + fading + sampled_until_enough);
  const RunResult result = run_until(wall, recorded_at(folder, "wall.rbt"), have_gone_through(20));
  CHECK(result.was_stopped);
  CHECK(result.messages.lost == 0);
  check_begins_as(folder / "virtual.rbt", folder / "wall.rbt", 8, 20);
}

TEST_CASE("in rounds in real time nothing is sent once more while it is under way") {
  // 2.6 real seconds; who waits asks after 0.25, 0.75 and 1.75 of them, and then after 3.75.
  const std::vector<std::string> slow = {"clock=wall", "time_scale=20", "channel={kind=\"random\",delay=52.0}"};
  const RunResult result =
      run_until(experiment(rounds_of("dpsgd") + sampled_until_enough + slow), on_threads(1), have_gone_through(1));
  CHECK(result.was_stopped);
  CHECK(result.messages.duplicates == 0);
}

TEST_CASE("three hosts go through their rounds together, whatever their links lose, double and overtake") {
  const Folder folder;
  const std::vector<std::string> exact = rounds_of("nids") + std::vector<std::string>{"until=15.5", "channel={kind=\"ideal\"}"};
  run(experiment(exact), recorded_at(folder, "virtual.rbt"));
  config::Experiment wall = over_hosts(experiment(std::vector<std::string>{"clock=wall", "time_scale=5"} + exact), 3);
  Impairment links;
  links.loss = 0.1, links.duplicate = 0.1, links.reorder = 0.2;
  std::vector<HostOutcome> outcomes;
  const bool had_time = at_some_pace(wall, [&] {
    outcomes = run_hosts(recorded_starts(wall, folder), links);
    for (const HostOutcome& outcome : outcomes) REQUIRE(outcome.complaint == "");
    const MessageCounts& counts = outcomes[0].result.messages;
    return counts.duplicates > 0 && counts.kept > 16 * 6;
  });
  CHECK(had_time);
  const std::map<std::string, std::size_t> shares{{"a", 3}, {"b", 3}, {"c", 2}};
  for (const auto& [host, clients] : shares) check_begins_as(folder / "virtual.rbt", folder / host, clients, 9);
  CHECK(digests(replay(wall, {folder / "a", folder / "b", folder / "c"}, {}, on_threads(2))) == digests(outcomes[0].result));
}

TEST_CASE("rounds in which a link that loses a message loses the one the other way too are refused in real time") {
  const auto complaint_of = [&] {
    run(experiment(std::vector<std::string>{"clock=wall", "protocol.missing=symmetric_drop"} + rounds_of("dpsgd")), on_threads(1));
  };
  CHECK(contains(complaint<std::invalid_argument>(complaint_of), "symmetric_drop"));
}

TEST_CASE("three hosts in real time gather their results at the first, and their records land on its digests") {
  for (const std::string algorithm : {"draco", "spodgt", "pame", "depositum", "choco"}) {
    CAPTURE(algorithm);
    const Folder folder;
    std::vector<std::string> more = {"algorithm.name=" + algorithm};
    if (algorithm != "draco")
      more = more + std::vector<std::string>{"unification.period=none", "mailbox.cap=none", "mailbox.cap_period=none"};
    if (algorithm == "pame") more = more + std::vector<std::string>{"topology.kind=complete"};
    config::Experiment wall = over_hosts(experiment(in_a_second + more), 3);
    std::vector<HostOutcome> outcomes;
    const bool had_time = at_some_pace(wall, [&] {
      outcomes = run_hosts(recorded_starts(wall, folder));
      for (const HostOutcome& outcome : outcomes) CHECK(outcome.complaint == "");
      return outcomes[0].result.messages.kept > 100;
    });
    CHECK(had_time);
    CHECK(outcomes[0].result.gathered_by == "");
    CHECK(outcomes[1].result.gathered_by == "a");
    CHECK(outcomes[2].result.gathered_by == "a");
    CHECK(outcomes[0].result.absent.empty());
    const RunResult again = replay(wall, {folder / "a", folder / "b", folder / "c"}, {}, on_threads(2));
    CHECK(digests(again) == digests(outcomes[0].result));
  }
}

TEST_CASE("what one host of a run lets wait at another is bounded and counted, and all of them go on learning") {
  const Folder folder;
  const auto run = [&](std::uint32_t floods) {
    const std::string kind = floods > 0 ? "flooded" : "calm";
    config::Experiment wall =
        over_hosts(experiment(in_a_second + unbounded_delay + std::vector<std::string>{"hosts.drain=1.0"}), 2);
    std::vector<HostOutcome> outcomes;
    std::size_t refused = 0;
    const bool had_time = at_some_pace(wall, [&] {
      std::vector<HostStart> starts = recorded_starts(wall, folder, kind);
      starts[0].floods = floods;
      outcomes = run_hosts(starts);
      for (const HostOutcome& outcome : outcomes) CHECK(outcome.complaint == "");
      refused = number_before(" beyond what may wait", outcomes[1].result.hosts.back());
      return outcomes[0].result.messages.kept > 20 && refused >= floods / 6;
    });
    CHECK(had_time);
    CHECK((refused > 0) == (floods > 0));
    const RunResult again = replay(wall, {folder / (kind + "a"), folder / (kind + "b")}, {}, on_threads(2));
    CHECK(digests(again) == digests(outcomes[0].result));
    return outcomes[0].result;
  };
  run(0);
  CHECK(run(120'000).absent.empty());  // 100,000 may wait
}

TEST_CASE("gradient tracking keeps its mass over hosts and links that lose, double and overtake, and finds the optimum") {
  const std::vector<std::string> tracking = {
      "clock=wall",           "time_scale=30",           "until=120.0",      "algorithm.name=spodgt",   "algorithm.eta=0.05",
      "precision=float64",    "unification.period=none", "mailbox.cap=none", "mailbox.cap_period=none", "channel={kind=\"ideal\"}",
      "mailbox.deadline=none"};
  config::Experiment wall = over_hosts(experiment(tracking), 3);
  Impairment links;
  links.loss = 0.1, links.duplicate = 0.1, links.reorder = 0.2;
  RunOptions options = on_threads(1);
  options.keeps_models = true;
  const bool had_time = at_some_pace(wall, [&] {
    const auto outcomes = run_hosts(wall, options, links);
    REQUIRE(outcomes[0].complaint == "");
    const RunResult& result = outcomes[0].result;
    const Sample& last = result.samples.back();
    CHECK(last.defect.name != "");
    CHECK(last.defect.size < 1e-9);
    return last.consensus < 1e-8 && result.messages.duplicates + result.messages.superseded > 0;
  });
  CHECK(had_time);
}

TEST_CASE("an alarm rings on one thread, in the order of time, and never before its time") {
  WallClock clock(1000);
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int> rung;
  bool is_early = false;
  const auto ring = [&](int number, Time due) {
    const std::lock_guard lock(mutex);
    rung.push_back(number);
    is_early = is_early || clock.now() < due;
    changed.notify_one();
  };
  for (const int number : {5, 3, 9, 1, 7, 2, 8, 4, 6}) {
    const Time due{std::chrono::seconds(number * 5)};
    clock.alarm(due, [&, number, due] { ring(number, due); });
  }
  CHECK(clock.now() == Time{});
  clock.start();
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return rung.size() == 9; });
  }
  clock.stop();
  CHECK(rung == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK_FALSE(is_early);
}
