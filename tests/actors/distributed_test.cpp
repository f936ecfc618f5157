// Virtual runs over several hosts: what they give, whatever is lost on the way, and how they end.
#include <doctest/doctest.h>

#include <atomic>
#include <sstream>

#include "experiment/file/experiment_file.hpp"
#include "experiment/file/fingerprint.hpp"
#include "experiment/roster.hpp"
#include "results/run_folder.hpp"
#include "tests/actors/hosts.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// Nobody complains, and everybody has the digests of one process.
void check_like_one_process(const std::vector<HostOutcome>& outcomes, const std::string& expected) {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    CAPTURE(i);
    CHECK(outcomes[i].complaint == "");
    CHECK(digests(outcomes[i].result) == expected);
  }
}

// Six clients on quadratics under one algorithm, over links with delay and loss where the protocol has them.
config::Experiment few(const std::string& algorithm, const std::vector<std::string>& more = {}) {
  const std::string text = R"(
until = 25.5
[clients]
count = 6
[topology]
kind = "complete"
[channel]
kind = "random"
delay = { law = "exponential", mean = 0.1 }
[algorithm]
name = ")" + algorithm + R"("
[data]
name = "quadratic"
dimension = 8
[model]
name = "quadratic"
[metrics]
every_events = 50
)";
  return experiment(more, text);
}

struct Case {
  std::string algorithm;
  std::vector<std::string> more = {};
};

// Every way in which messages are named, kept, asked for and let go of.
const std::vector<Case> cases = {
    {"draco", {"channel.loss=0.1", "unification.period=5.0", "algorithm.self_apply=true"}},
    {"draco", {"unification.period=2.5", "algorithm.self_apply=true", "metrics.before_unifications=true"}},
    {"draco", {"algorithm.retain_on_loss=true", "channel.loss=0.2", "mailbox.deadline=0.3", "algorithm.self_apply=true"}},
    {"draco",
     {"unification.period=4.0", "unification.via=transport", "channel.duplicate=0.2", "mailbox.cap=4", "mailbox.cap_period=2.0",
      "algorithm.self_apply=true"}},
    {"spodgt", {"channel.loss=0.1", "precision=float64"}},
    {"pame", {}},
    {"depositum", {"channel.loss=0.1"}},
    {"depositum", {"protocol.kind=rounds", "precision=float64"}},
    {"choco", {"channel.loss=0.1"}},
    {"decefl", {"topology.kind=ring"}},
    {"beer", {}},
    {"digest", {}},
    {"fedavg", {}},
    {"swarm", {}},
    {"event_triggered", {"algorithm.threshold=0.3"}},
};

config::Experiment experiment_of(const Case& one) { return few(one.algorithm, one.more); }

// 1/2 |x|^2, until its client is out of breath.
class TiringLearner final : public Learner<float> {
 public:
  explicit TiringLearner(bool tires) : tires_{tires} {}
  Index dimension() const override { return 4; }
  std::uint32_t samples() const override { return 1; }
  float gradient(ConstVectorRef<float> x, Picks, VectorRef<float> g, Scratch<float>&) const override {
    if (tires_ && ++gradients_ > 50) throw std::runtime_error("the gradient is out of order");
    g = x;
    return 0.5f * x.squaredNorm();
  }
  Score score(ConstVectorRef<float>, Part, Scratch<float>&) const override { return empty_score(0); }

 private:
  bool tires_;
  mutable int gradients_ = 0;
};

// 1/2 |x|^2, in its own good time.
class SlowLearner final : public Learner<float> {
 public:
  explicit SlowLearner(bool is_slow) : is_slow_{is_slow} {}
  Index dimension() const override { return 4; }
  std::uint32_t samples() const override { return 1; }
  float gradient(ConstVectorRef<float> x, Picks, VectorRef<float> g, Scratch<float>&) const override {
    if (is_slow_) std::this_thread::sleep_for(std::chrono::microseconds(500));  // the work of a larger model
    g = x;
    return 0.5f * x.squaredNorm();
  }
  Score score(ConstVectorRef<float>, Part, Scratch<float>&) const override { return empty_score(0); }

 private:
  bool is_slow_;
};

// Sends its model and hears the others out.
class Listener final : public Algorithm<float> {
 public:
  explicit Listener(ConstVectorRef<float> start) : x_{start} {}
  void compute(Work<float>&, const Step&) override {}
  Payload publish(Work<float>& work, const Step&) override {
    Payload payload;
    payload.common[0] = copy_of<float>(read_only(x_), work.pool);
    return payload;
  }
  void merge(Work<float>&, const Step&, std::span<const Received<float>>) override {}
  ConstVectorRef<float> model() const override { return view(x_); }
  void inspect(Probe&) const override {}

 private:
  Vector<float> x_;
};

}  // namespace

// ---- the same as in one process ------------------------------------------------------------------------------------

TEST_CASE("three hosts have the digests of one process, under every kind of protocol") {
  for (const Case& one : cases) {
    CAPTURE(one.algorithm);
    CAPTURE(one.more);
    const std::string expected = digests(run(experiment_of(one)));
    check_like_one_process(run_hosts(over_hosts(experiment_of(one), 3)), expected);
  }
}

TEST_CASE("two hosts share every algorithm that has an example, and each takes what the other sends") {
  for (const std::filesystem::path& file : example_algorithms()) {
    CAPTURE(file.stem());
    std::ostringstream notes;
    const std::vector<std::string> overrides = {"until=6.5", "metrics.test_samples=50", "metrics.every_events=0"};
    const config::Experiment alone = config::read_experiment(file, overrides, notes);
    check_like_one_process(run_hosts(over_hosts(alone, 2)), digests(run(alone, on_threads(1))));
  }
}

TEST_CASE("hosts that learn digits have the digests of one process") {
  const config::Experiment digits = experiment(digits_instead());
  check_like_one_process(run_hosts(over_hosts(digits, 3), on_threads(2)), digests(run(digits, on_threads(2))));
}

TEST_CASE("parcels that are lost, doubled, overtaken or spoilt change nothing but the time it takes") {
  for (const Case& one : cases) {
    CAPTURE(one.algorithm);
    CAPTURE(one.more);
    config::Experiment shorter = experiment_of(one);
    shorter.until = 10.5;
    check_like_one_process(run_hosts(over_hosts(shorter, 3), {}, bad_links()), digests(run(shorter)));
  }
}

TEST_CASE("clients may be dealt unevenly, in any order, and a host may have none") {
  const std::string expected = digests(run(experiment()));
  const std::vector<std::vector<std::vector<std::int64_t>>> deals = {
      {{7, 0, 3}, {6, 5, 4, 2, 1}},       {{}, {0, 1, 2, 3, 4, 5, 6, 7}},
      {{0, 1, 2, 3, 4, 5, 6, 7}, {}, {}}, {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}},
      {{0, 2, 4, 6}, {}, {1, 3, 5, 7}},
  };
  for (const auto& deal : deals) {
    CAPTURE(deal.size());
    check_like_one_process(run_hosts(over_hosts(experiment(), deal.size(), deal)), expected);
  }
}

TEST_CASE("a credit of one step and one payload slows a run down and never stops it") {
  const std::string expected = digests(run(experiment()));
  const config::Experiment tiny = experiment({"limits.outstanding_steps=1", "limits.payload_bytes=1"});
  check_like_one_process(run_hosts(over_hosts(tiny, 3)), expected);
  std::vector<HostStart> starts(3, HostStart{over_hosts(experiment(), 3), {}, {}});
  starts[1].experiment = over_hosts(tiny, 3);
  check_like_one_process(run_hosts(starts), expected);
}

TEST_CASE("hosts may have different numbers of threads") {
  std::vector<HostStart> starts(3, HostStart{over_hosts(experiment(), 3), on_threads(1), {}});
  starts[1].options = on_threads(3);
  starts[2].options = on_threads(2);
  check_like_one_process(run_hosts(starts), digests(run(experiment())));
}

TEST_CASE("a roster of one host is a run in one process") {
  check_like_one_process(run_hosts(over_hosts(experiment(), 1)), digests(run(experiment())));
}

// ---- what is measured ----------------------------------------------------------------------------------------------

TEST_CASE("the first host's metrics, models and traffic are those of one process, also with checks") {
  for (const bool checks : {false, true}) {
    const config::Experiment conserving = few("spodgt", {"precision=float64"});
    RunOptions options;
    options.keeps_models = true;
    options.checks = checks;
    const RunResult alone = run(conserving, options);
    const std::vector<HostOutcome> outcomes = run_hosts(over_hosts(conserving, 3), options);
    REQUIRE(outcomes[0].complaint == "");
    const RunResult& first = outcomes[0].result;
    REQUIRE(first.samples.size() == alone.samples.size());
    for (std::size_t i = 0; i < alone.samples.size(); ++i)
      CHECK(metrics_csv_row(first.samples[i]) == metrics_csv_row(alone.samples[i]));
    CHECK(first.models == alone.models);
    CHECK(first.traffic.bytes == alone.traffic.bytes);
    CHECK(first.traffic.gradients == alone.traffic.gradients);
    CHECK(first.samples.back().defect.name == alone.samples.back().defect.name);
    CHECK(clients_csv(first) == clients_csv(alone));
    CHECK(outcomes[1].result.samples.empty());
    CHECK(outcomes[1].result.notes.back() == "what was measured is with host \"a\"");
  }
}

TEST_CASE("stationarity is measured over hosts as in one process") {
  const config::Experiment composite = few("depositum", {"metrics.stationarity=true", "algorithm.h=l1", "algorithm.h_lam=0.0001"});
  const RunResult alone = run(composite);
  const std::vector<HostOutcome> outcomes = run_hosts(over_hosts(composite, 2));
  REQUIRE(outcomes[0].complaint == "");
  REQUIRE(outcomes[0].result.samples.size() == alone.samples.size());
  for (std::size_t i = 0; i < alone.samples.size(); ++i)
    CHECK(metrics_csv_row(outcomes[0].result.samples[i]) == metrics_csv_row(alone.samples[i]));
}

TEST_CASE("training losses, gradients and trackers are measured over hosts as in one process") {
  const config::Experiment all =
      few("depositum", {"metrics.training=true", "metrics.gradient_norm=true", "metrics.tracked=true", "metrics.mean_weights=phi"});
  const RunResult alone = run(all);
  const std::vector<HostOutcome> outcomes = run_hosts(over_hosts(all, 2));
  REQUIRE(outcomes[0].complaint == "");
  REQUIRE(outcomes[0].result.samples.size() == alone.samples.size());
  for (std::size_t i = 0; i < alone.samples.size(); ++i)
    CHECK(metrics_csv_row(outcomes[0].result.samples[i]) == metrics_csv_row(alone.samples[i]));
}

TEST_CASE("a rule on a metric ends a run at the same sample on every host, also over bad links") {
  const std::vector<std::string> usual = {"algorithm.self_apply=true"};
  const TightRule rule(run(few("draco", usual)).samples, 3);
  const config::Experiment ending = few("draco", usual + rule.keys);
  const RunResult alone = run(ending);
  REQUIRE(alone.stopped_by == "metrics.stop");
  REQUIRE(alone.samples.size() == rule.last + 1);
  for (const Impairment& links : {Impairment{}, bad_links()}) {
    const std::vector<HostStart> starts(3, HostStart{over_hosts(ending, 3), {}, {}});
    const std::vector<HostOutcome> outcomes = run_hosts(starts, links);
    check_like_one_process(outcomes, digests(alone));
    for (const HostOutcome& outcome : outcomes) {
      CHECK(outcome.result.was_stopped);
      CHECK(outcome.result.stopped_by == "metrics.stop");
      CHECK(outcome.result.virtual_seconds == alone.virtual_seconds);
      CHECK(outcome.result.events == alone.events);
    }
    CHECK(outcomes[0].result.samples.size() == alone.samples.size());
  }
}

TEST_CASE("a rule that never holds, or only at the last sample, leaves a run over hosts alone") {
  const std::vector<std::string> never = {"algorithm.self_apply=true", "metrics.stop.metric=loss_mean_model",
                                          "metrics.stop.by=mean", "metrics.stop.below=-1.0"};
  const config::Experiment whole = few("draco", never);
  const std::string expected = digests(run(few("draco", {"algorithm.self_apply=true"})));
  const std::vector<HostOutcome> outcomes = run_hosts(over_hosts(whole, 2));
  check_like_one_process(outcomes, expected);
  for (const HostOutcome& outcome : outcomes) CHECK_FALSE(outcome.result.was_stopped);
}

TEST_CASE("every host's record is that of one process and plays again in one process") {
  Folder folder;
  RunOptions alone;
  alone.record = folder / "alone.rbt";
  const std::string expected = digests(run(experiment(), alone));
  std::vector<HostStart> starts(3, HostStart{over_hosts(experiment(), 3), {}, {}});
  for (std::size_t i = 0; i < 3; ++i) starts[i].options.record = folder / ("host" + std::to_string(i) + ".rbt");
  check_like_one_process(run_hosts(starts), expected);
  for (const HostStart& start : starts) {
    CHECK(text_of(start.options.record) == text_of(alone.record));
    CHECK(digests(replay(experiment(), start.options.record, {})) == expected);
  }
}

// ---- how it ends ---------------------------------------------------------------------------------------------------

TEST_CASE("who wants to stop stops all hosts at the same instant, as if the run had been meant to end there") {
  std::vector<HostStart> starts(3, HostStart{over_hosts(experiment({"until=3000.0"}), 3), {}, {}});
  std::atomic<bool> stop{false};
  starts[1].options.stop = &stop;
  starts[0].options.on_sample = [&](const Sample& sample) {
    if (sample.header.number == 3) stop = true;
  };
  const std::vector<HostOutcome> outcomes = run_hosts(starts);
  for (const HostOutcome& outcome : outcomes) {
    CHECK(outcome.complaint == "");
    CHECK(outcome.result.was_stopped);
    CHECK(outcome.result.virtual_seconds < 3000);
    CHECK(digests(outcome.result) == digests(outcomes[0].result));
  }
  config::Experiment shorter = experiment({"until=3000.0"});
  shorter.until = outcomes[0].result.virtual_seconds;
  CHECK(digests(run(shorter)) == digests(outcomes[0].result));
}

TEST_CASE("a host without clients does not run away from the others, so that a wish to stop is heard in time") {
  RunOptions options;
  options.own_float.learner = [](ClientId) { return std::make_unique<SlowLearner>(true); };
  std::vector<HostStart> starts(2,
                                HostStart{over_hosts(experiment({"until=1e6"}), 2, {{0, 1, 2, 3, 4, 5, 6, 7}, {}}), options, {}});
  std::atomic<bool> stop{false};
  starts[0].options.stop = &stop;
  starts[0].options.on_sample = [&](const Sample& sample) { stop = sample.header.number >= 10; };
  for (const HostOutcome& outcome : run_hosts(starts)) {
    CHECK(outcome.complaint == "");
    CHECK(outcome.result.was_stopped);
    CHECK(outcome.result.virtual_seconds < 5000);  // forty seconds of learning, in which a host alone walks to the end
  }
}

TEST_CASE("files that the timing follows are compared by their content, wherever they lie") {
  Folder folder;
  const auto with_ticks = [&](const std::string& place, const std::string& first) {
    std::filesystem::create_directory(folder / place);
    std::string ticks;
    for (int client = 0; client < 8; ++client) ticks += first + " 2 3\n";
    write_text(folder / place / "ticks.txt", ticks);
    return fingerprint(over_hosts(
        experiment({"clients.compute.law=trace", "clients.compute.file=" + (folder / place / "ticks.txt").string()}), 2));
  };
  const std::string one = with_ticks("one", "1");
  CHECK(with_ticks("other", "1") == one);
  CHECK(with_ticks("third", "1.5") != one);
}

TEST_CASE("a client that fails on one host ends the run on all with its sentence") {
  config::Experiment failing = over_hosts(experiment({"until=3000.0"}), 3);
  RunOptions options;
  options.own_float.learner = [](ClientId client) { return std::make_unique<TiringLearner>(client == ClientId{7}); };
  std::vector<HostStart> starts(3, HostStart{failing, options, {}});
  const std::vector<HostOutcome> outcomes = run_hosts(starts);
  for (const HostOutcome& outcome : outcomes) {
    CHECK(contains(outcome.complaint, "host \"c\": client 7 failed in compute "));
    CHECK(contains(outcome.complaint, "the gradient is out of order"));
  }
}

TEST_CASE("a caller whose function throws ends the run on all hosts, and gets its own exception back") {
  std::vector<HostStart> starts(2, HostStart{over_hosts(experiment({"until=3000.0"}), 2), {}, {}});
  starts[0].options.on_sample = [](const Sample&) { throw std::runtime_error("I have seen enough"); };
  const std::vector<HostOutcome> outcomes = run_hosts(starts);
  CHECK(outcomes[0].complaint == "I have seen enough");
  CHECK(outcomes[1].complaint == "host \"a\": I have seen enough");
}

TEST_CASE("a caller whose function throws what is no exception ends the run on all hosts as well") {
  const config::Experiment shared = over_hosts(experiment({"until=3000.0"}), 2);
  TensorPool pool;
  Hub hub(2);
  std::string said;
  std::thread other([&] {
    WireLike wire(hub.end(HostId{1}), pool);
    said = complaint<RunFailed>([&] { run_host(shared, on_threads(1), {}, wire); });
  });
  int thrown = 0;
  try {
    WireLike wire(hub.end(HostId{0}), pool);
    RunOptions options = on_threads(1);
    options.on_sample = [](const Sample&) { throw 7; };
    run_host(shared, options, {}, wire);
  } catch (int number) {
    thrown = number;
  }
  other.join();
  CHECK(thrown == 7);
  CHECK(contains(said, "host \"a\": something that is no std::exception"));
}

TEST_CASE("who sends to a slow host and hears nothing of it keeps no more than its credit") {
  constexpr std::uint64_t credit = 20;
  const std::string payload_bytes = std::to_string(credit * 4 * sizeof(float));
  // What the slow one sends comes too late to be merged, so the other never waits for it.
  config::Experiment one_way =
      experiment({"clients.count=2", "channel.links=[{source=1,target=0,delay=3.0}]", "unification.period=1e9", "until=300.5",
                  "channel.loss=0", "metrics.every_events=0", "limits.payload_bytes=" + payload_bytes});
  RunOptions options;
  options.own_float.learner = [](ClientId client) { return std::make_unique<SlowLearner>(client == ClientId{1}); };
  const std::vector<HostOutcome> outcomes = run_hosts(over_hosts(one_way, 2), options);
  check_like_one_process(outcomes, digests(run(one_way, options)));
  CHECK(outcomes[0].result.messages.publications > 10 * credit);
  for (const HostOutcome& outcome : outcomes) CHECK(outcome.result.peak_payload_bytes <= 2 * credit * 4 * sizeof(float));
}

TEST_CASE("hosts that walk different timings notice it at a sample, and say so") {
  std::vector<HostStart> starts(2, HostStart{over_hosts(experiment({"until=3000.0", "unification.period=1e9"}), 2), {}, {}});
  for (std::size_t i = 0; i < 2; ++i) {
    starts[i].options.own_float.algorithm = [](const ClientView&, ConstVectorRef<float> start, TensorPool&) {
      return std::make_unique<Listener>(start);
    };
    starts[i].options.own_float.needs.send_only_if_computed = i == 1;  // a program of one's own that differs
  }
  for (const HostOutcome& outcome : run_hosts(starts)) {
    CHECK(contains(outcome.complaint, "disagree about the steps before sample"));
    CHECK(contains(outcome.complaint, "host \"a\""));
    CHECK(contains(outcome.complaint, "host \"b\""));
  }
}

TEST_CASE("hosts with different experiments refuse each other with a sentence that names both") {
  std::vector<HostStart> starts(2, HostStart{over_hosts(experiment(), 2), {}, {}});
  starts[1].experiment = over_hosts(experiment({"seed=4"}), 2);
  const std::vector<HostOutcome> outcomes = run_hosts(starts);
  CHECK(contains(outcomes[0].complaint, "host \"b\" has another experiment"));
  CHECK(contains(outcomes[1].complaint, "host \"a\" has another experiment"));
}

TEST_CASE("a program's experiment is judged whole before a host meets the others") {
  config::Experiment wrong = over_hosts(experiment(), 2);
  wrong.until = -1;
  for (const HostOutcome& outcome : run_hosts(std::vector<HostStart>(2, HostStart{wrong, {}, {}})))
    CHECK(outcome.complaint == "experiment: until = -1.0: must be at least 1e-09 and at most 9000000000");
}

TEST_CASE("limits, records and addresses may differ from host to host") {
  config::Experiment other = over_hosts(experiment({"limits.outstanding_steps=40", "record=off"}), 2);
  other.roster[0].address = "tcp://10.0.0.1:7001";
  CHECK(fingerprint(other) == fingerprint(over_hosts(experiment(), 2)));
  CHECK(fingerprint(over_hosts(experiment(), 2, {{0, 1}, {2, 3, 4, 5, 6, 7}})) != fingerprint(over_hosts(experiment(), 2)));
}

TEST_CASE("who does not come is named, while it is waited for and in the end") {
  config::Experiment waiting = over_hosts(experiment(), 3);
  waiting.hosts.wait = 2.5;
  std::vector<std::string> named;
  TensorPool pool;
  Hub hub(3);
  const auto transport = hub.end(HostId{1});
  HostOptions host;
  host.on_event = [&](const RunEvent& event) {
    if (event.event == "waiting") named = std::get<std::vector<std::string>>(event.fields.front().second);
  };
  CHECK(complaint<RunFailed>([&] { run_host(waiting, {}, host, *transport); }) ==
        "these hosts are missing, and a virtual run needs all of them: a, c");
  CHECK(named == std::vector<std::string>{"a", "c"});
}

TEST_CASE("a host that vanishes ends the run of the others with its name") {
  config::Experiment impatient = over_hosts(experiment({"until=100000.0"}), 3);
  impatient.hosts.lost_after = 3;
  std::vector<HostStart> starts(3, HostStart{impatient, {}, {}});
  const std::vector<HostOutcome> outcomes = run_hosts_and_cut_off(starts, HostId{1});
  CHECK(contains(outcomes[0].complaint, "host \"b\" is gone"));
  CHECK(contains(outcomes[2].complaint, "host \"b\" is gone"));
  CHECK(contains(outcomes[1].complaint, "is gone"));
}
