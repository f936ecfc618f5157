// Whole runs: what two runs share, what may not matter, how a run ends.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>

#include "actors/core/task.hpp"
#include "experiment/build/timing.hpp"
#include "experiment/digest.hpp"
#include "learning/models/problems.hpp"
#include "results/summary.hpp"
#include "tests/actors/support.hpp"
#include "transports/in_process.hpp"

using namespace rubato;
using namespace rubato::test;

// ---- one and the same ----------------------------------------------------------------------------------------------

TEST_CASE("the digests are the same on 1, 2 and 4 threads and at every repetition") {
  for (const auto& overrides : {std::vector<std::string>{}, digits_instead()}) {
    const config::Experiment same = experiment(overrides);
    const std::string first = digests(run(same, on_threads(1)));
    CHECK(first.size() == 64 + 1 + 64);
    for (int repetition = 0; repetition < 5; ++repetition)
      for (const unsigned threads : {1u, 2u, 4u}) {
        CAPTURE(repetition);
        CAPTURE(threads);
        CHECK(digests(run(same, on_threads(threads))) == first);
      }
  }
}

TEST_CASE("another seed has another timing and other models") {
  const RunResult one = run(experiment()), other = run(experiment({"seed=4"}));
  CHECK(one.digests.model != other.digests.model);
  CHECK(one.digests.timeline != other.digests.timeline);
}

TEST_CASE("where the memory of the clients lies does not matter") {
  const config::Experiment same = experiment(digits_instead());
  const std::string first = digests(run(same, on_threads(2)));
  for (const std::uint64_t shuffle : {1u, 2u, 3u}) {
    RunOptions options = on_threads(2);
    options.shuffle_memory = shuffle;
    CHECK(digests(run(same, options)) == first);
  }
}

TEST_CASE("the models are those of a plain loop that performs the steps one after the other") {
  // The dull road: no actors, no batches, no waiting; a step is performed when it is issued.
  class PlainLoop final : public StepSink {
   public:
    PlainLoop(const Task& task, const ClientViews& views) {
      for (std::uint32_t i = 0; i < views.clients(); ++i)
        performers_.push_back(task.make_performer(views.of({i}, task.samples()), pool_));
    }
    SlotIndex open_slot(std::uint32_t receivers) override { return slots_.open(receivers); }
    void perform(const Step& step) override {
      Performer& client = *performers_[step.client.value];
      std::vector<const Payload*> payloads;
      if (needs_payloads(step.kind))
        for (const StepEntry& entry : step.entries) payloads.push_back(&slots_.payload(entry.slot));
      StepResult result = client.perform(step, payloads, memory_);
      if (step.kind == StepKind::measure) return;
      if (step.kind == StepKind::publish) {
        if (!step.entries.empty()) slots_.fill(step.entries.front().slot, std::move(result.published));
        return;
      }
      for (const StepEntry& entry : step.entries) slots_.release(entry.slot);
    }
    const Performer& performer(std::uint32_t client) const { return *performers_[client]; }

   private:
    TensorPool pool_;  // first: it outlives everything that holds tensors
    SlotTable slots_;
    ThreadMemory memory_;
    std::vector<std::unique_ptr<Performer>> performers_;
  };
  for (const auto& overrides : {std::vector<std::string>{"precision=float64"}, digits_instead()}) {
    const config::Experiment same = experiment(overrides);
    const bool is_double = same.precision == Scalar::float64;
    const auto task = is_double ? make_task<double>(same, {}, {}) : make_task<float>(same, {}, {});
    std::ostringstream notes;
    Timing timing(same, resolve_algorithm(same), notes);
    const ClientViews views = timing.views(false);
    PlainLoop loop(*task, views);
    Conductor conductor(timing.conductor, timing.make_protocols(), loop);
    while (conductor.walk(1000)) {
    }
    RunOptions options = on_threads(2);
    options.keeps_models = true;
    const RunResult result = run(same, options);
    REQUIRE(result.models.size() == 8);
    for (std::uint32_t i = 0; i < 8; ++i) {
      const auto bytes = loop.performer(i).model_bytes();
      CHECK(result.models[i] == std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
    CHECK(result.digests.timeline == timeline_digest(conductor.hashes()));
  }
}

TEST_CASE("the model digest is SHA-256 over all final models in client order") {
  RunOptions options;
  options.keeps_models = true;
  const RunResult result = run(experiment(), options);
  Sha256 sum;
  for (const auto& model : result.models) {
    CHECK(model.size() == 16 * sizeof(float));
    sum.add(model);
  }
  CHECK(sum.hex() == result.digests.model);
}

TEST_CASE("SHA-256 of abc is the one of the standard, however it is cut") {
  const std::string text = "abc";
  Sha256 whole, cut;
  whole.add(std::as_bytes(std::span{text}));
  for (const char message : text) cut.add(std::as_bytes(std::span{&message, 1}));
  const std::string expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  CHECK(whole.hex() == expected);
  CHECK(cut.hex() == expected);
}

// ---- what may not matter -------------------------------------------------------------------------------------------

TEST_CASE("a dry run has the timing of the run") {
  const RunResult real = run(experiment());
  RunOptions options;
  options.dry_run = true;
  const RunResult dry = run(experiment(), options);
  CHECK(dry.digests.timeline == real.digests.timeline);
  CHECK(dry.digests.model.empty());
  CHECK(dry.events == real.events);
  CHECK(dry.steps == real.steps);
  CHECK(dry.messages.sent == real.messages.sent);
  CHECK(dry.messages.kept == real.messages.kept);
  CHECK(dry.dimension == real.dimension);
  CHECK(dry.samples.empty());
}

TEST_CASE("timing does not depend on what is learnt") {
  const RunResult quadratic = run(experiment()), digits = run(experiment(digits_instead()));
  CHECK(quadratic.digests.timeline == digits.digests.timeline);
  CHECK(quadratic.events == digits.events);
  CHECK(quadratic.digests.model != digits.digests.model);
}

TEST_CASE("evaluation changes neither timing nor models") {
  const std::string expected = digests(run(experiment(), on_threads(2)));
  for (const std::string metrics : {"metrics.every_events=0", "metrics.every_events=7", "metrics.every_seconds=0.35",
                                    "metrics.clients=3", "metrics.test_samples=1", "metrics.every_events=none"}) {
    CAPTURE(metrics);
    CHECK(digests(run(experiment({metrics}), on_threads(2))) == expected);
  }
}

TEST_CASE("where [metrics] is silent there is a sample at the start and at every hundredth of the run") {
  const RunResult result = run(experiment({"metrics.every_events=none", "until=3000.0"}), on_threads(2));
  REQUIRE(result.samples.size() == 101);
  CHECK(result.samples.front().header.events == 0);
  CHECK(result.samples.front().consensus == 0);  // all begin with one model
  for (std::size_t i = 0; i < result.samples.size(); ++i)
    CHECK(to_seconds(result.samples[i].header.at) == doctest::Approx(30.0 * static_cast<double>(i)));
  CHECK(result.samples_plan.samples == 101);
}

TEST_CASE("every sample is of the same drawn clients, and has what all clients have spent") {
  const std::vector<std::string> open = {"metrics.every_events=none", "until=3000.0"};
  const RunResult few = run(experiment(open + std::vector<std::string>{"metrics.clients=3"}), on_threads(2));
  const RunResult all = run(experiment(open), on_threads(2));
  CHECK(contains(few.notes.back(), "3 of 8 clients are measured (drawn)"));
  REQUIRE(few.samples.size() == all.samples.size());
  for (std::size_t i = 0; i < few.samples.size(); ++i) {
    REQUIRE(few.samples[i].header.measured);
    CHECK(*few.samples[i].header.measured == *few.samples_plan.measured);
    CHECK(few.samples[i].traffic.messages == all.samples[i].traffic.messages);
    CHECK(few.samples[i].traffic.gradients == all.samples[i].traffic.gradients);
  }
}

TEST_CASE("the scores do not depend on the number of threads") {
  const config::Experiment same = experiment(digits_instead());
  const auto one = run(same, on_threads(1)).samples, four = run(same, on_threads(4)).samples;
  REQUIRE(one.size() == four.size());
  REQUIRE(one.size() > 3);
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(one[i].header.number == four[i].header.number);
    CHECK(one[i].header.events == four[i].header.events);
    CHECK(one[i].accuracy_mean == four[i].accuracy_mean);
    CHECK(one[i].loss_mean_model == four[i].loss_mean_model);
    CHECK(one[i].f1_macro == four[i].f1_macro);
    CHECK(one[i].consensus == four[i].consensus);
  }
  CHECK(one.back().accuracies == four.back().accuracies);
}

TEST_CASE("a run that takes back what no receiver acknowledged is the same on every number of threads") {
  const config::Experiment same = experiment({"algorithm.retain_on_loss=true", "channel.loss=0.6"});
  const std::string first = digests(run(same, on_threads(1)));
  for (const unsigned threads : {2u, 4u}) CHECK(digests(run(same, on_threads(threads))) == first);
}

TEST_CASE("limits slow a run down at most: the results stay the same") {
  const std::string expected = digests(run(experiment(), on_threads(2)));
  for (const unsigned threads : {1u, 2u})
    for (const std::string limit : {"limits.outstanding_steps=1", "limits.payload_bytes=1", "limits.outstanding_steps=17"}) {
      CAPTURE(limit);
      CHECK(digests(run(experiment({limit}), on_threads(threads))) == expected);
    }
  CHECK(digests(run(experiment({"limits.outstanding_steps=1", "limits.payload_bytes=1"}))) == expected);
}

TEST_CASE("on a regular undirected graph the weights of senders and receivers are the same (5.1, invariant viii)") {
  const auto both = [](const std::vector<std::string>& overrides) {
    return std::pair{digests(run(experiment(overrides + std::vector<std::string>{"algorithm.q=receiver_static"}))),
                     digests(run(experiment(overrides + std::vector<std::string>{"algorithm.q=sender_static"})))};
  };
  const auto [ring_by_receiver, ring_by_sender] = both({});
  CHECK(ring_by_receiver == ring_by_sender);
  const auto [star_by_receiver, star_by_sender] = both({"topology.kind=star"});
  CHECK(star_by_receiver != star_by_sender);
}

TEST_CASE("every option of draco leads to models of its own") {
  std::vector<std::string> seen;
  for (const std::string option : {"algorithm.eta=0.05", "algorithm.eta=0.06", "algorithm.local_batches=2",
                                   "algorithm.outbox=latest", "algorithm.self_apply=false", "algorithm.snapshot=at_start",
                                   "algorithm.q=batch", "algorithm.retain_on_loss=true", "precision=float64"}) {
    CAPTURE(option);
    const std::string model = run(experiment({option})).digests.model;
    CHECK(std::find(seen.begin(), seen.end(), model) == seen.end());
    seen.push_back(model);
  }
}

// ---- the laws of a run ---------------------------------------------------------------------------------------------

TEST_CASE("right after a unification the models are equal to the bit: consensus is exactly 0") {
  // 7.0 s is a unification; a sample at the same instant comes after it.
  const RunResult result = run(experiment({"metrics.every_events=0", "metrics.every_seconds=3.5"}), on_threads(2));
  std::size_t unified = 0;
  for (const Sample& sample : result.samples) {
    const double seconds = to_seconds(sample.header.at);
    const bool is_unified = seconds > 0 && std::fmod(seconds, 7.0) == 0;
    CAPTURE(seconds);
    CHECK((sample.consensus == 0) == (is_unified || seconds == 0));  // all begin with one model, too
    unified += is_unified;
  }
  CHECK(unified == 4);
  CHECK(result.unifications == 4);
  CHECK(result.model_messages == 4 * 7);
}

TEST_CASE("every message sent was lost, kept, late, capped or is still on its way") {
  for (const auto& overrides : {std::vector<std::string>{},
                                {"topology.kind=complete", "channel.loss=0.5"},
                                {"mailbox.cap=1"},
                                {"algorithm.retain_on_loss=true"},
                                {"mailbox.deadline=0.01"},
                                {"unification.clears_mailbox=true"},
                                {"protocol.kind=rounds"},
                                {"protocol.kind=rounds", "protocol.missing=drop"},
                                {"unification.period=0.1", "unification.via=transport"}}) {
    const std::string which = overrides.empty() ? "as it stands" : overrides.front();
    CAPTURE(which);
    RunOptions options = on_threads(2);
    options.counts_links = true;
    const RunResult result = run(experiment(overrides), options);
    const MessageCounts& all = result.messages;
    CHECK(all.sent > 50);
    CHECK(all.sent == all.lost + all.kept + all.late + all.capped + result.under_way);
    MessageCounts sum;
    for (const MessageCounts& client : result.by_client) {
      sum.sent += client.sent;
      sum.lost += client.lost;
      sum.kept += client.kept;
      sum.late += client.late;
      sum.capped += client.capped;
      sum.computations += client.computations;
    }
    CHECK(sum.sent == all.sent);
    CHECK(sum.lost == all.lost);
    CHECK(sum.kept == all.kept);
    CHECK(sum.late == all.late);
    CHECK(sum.capped == all.capped);
    CHECK(sum.computations == all.computations);
    LinkCounts links;
    for (const LinkCounts& link : result.by_link) {
      links.sent += link.sent;
      links.lost += link.lost;
      links.kept += link.kept;
      links.late += link.late;
      links.capped += link.capped;
    }
    CHECK(links.sent == all.sent);
    CHECK(links.lost == all.lost);
    CHECK(links.kept == all.kept);
    CHECK(links.late == all.late);
    CHECK(links.capped == all.capped);
    CHECK(links.refused() == all.late + all.capped);
  }
}

TEST_CASE("the loss falls and the clients learn") {
  const RunResult result = run(experiment(digits_instead() + std::vector<std::string>{"until=60.5"}), on_threads(2));
  REQUIRE(result.samples.size() > 4);
  CHECK(result.samples.back().loss_mean < 0.8 * result.samples.front().loss_mean);
  CHECK(result.samples.back().accuracy_mean_model > 0.6);
  CHECK(result.samples.back().accuracies.size() == 8);
  CHECK(result.samples.front().accuracies.empty());  // memory must not grow with the length of a run
}

TEST_CASE("rounds run on one thread and on two, and a round is a round for everybody") {
  const std::vector<std::string> rounds{"protocol.kind=rounds", "unification.period=5"};
  const RunResult one = run(experiment(rounds)), two = run(experiment(rounds), on_threads(2));
  CHECK(digests(one) == digests(two));
  CHECK(one.messages.computations > 50);
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  for (const MessageCounts& client : one.by_client) {
    least = std::min(least, client.computations);
    most = std::max(most, client.computations);
  }
  CHECK(most - least <= 1);
  CHECK(one.unifications > 0);
}

TEST_CASE("rounds need a law of intervals, and the run says so") {
  const auto tabled = complaint<std::invalid_argument>([] {
    run(experiment({"protocol.kind=rounds", "clients.compute.law=off"}));
  });
  CHECK(contains(tabled, "clients.compute"));
}

TEST_CASE("ten times as long a run holds no more payloads") {
  const auto peak = [](const char* until) {
    // A small credit: what is under way is then what the links hold, whatever the machine does.
    const RunResult result =
        run(experiment({until, "data.dimension=256", "limits.outstanding_steps=64", "unification.period=none"}), on_threads(2));
    return result.peak_payload_bytes;
  };
  const std::uint64_t brief = peak("until=100.5"), lengthy = peak("until=1000.5");
  CHECK(brief > 0);
  CHECK(lengthy <= 3 * brief);
}

TEST_CASE("models that overflow neither hang a run nor make its summary unreadable") {
  const config::Experiment exploding = experiment({"algorithm.eta=1e9"});
  const RunResult one = run(exploding, on_threads(1)), two = run(exploding, on_threads(2));
  CHECK(digests(one) == digests(two));
  CHECK_FALSE(std::isfinite(one.samples.back().loss_mean));
  const auto summary = nlohmann::json::parse(summary_json(exploding, one));
  CHECK(summary.at("loss").at("mean").is_null());
  CHECK(summary.at("consensus").is_null());
}

TEST_CASE("one client alone learns") {
  const RunResult result = run(experiment({"clients.count=1", "topology.kind=complete"}));
  CHECK(result.messages.sent == 0);
  CHECK(result.messages.computations > 10);
  CHECK(result.samples.back().consensus == 0);
  CHECK(result.samples.back().loss_mean < result.samples.front().loss_mean);
}

TEST_CASE("a run shorter than the first tick has the start models, everywhere the same") {
  const RunResult result = run(experiment({"until=1e-6"}), on_threads(2));
  CHECK(result.events == 0);
  REQUIRE(result.samples.size() == 2);
  CHECK(result.samples.front().loss_mean == result.samples.back().loss_mean);
  CHECK(result.samples.back().consensus == 0);
}

// ---- parts of one's own --------------------------------------------------------------------------------------------

namespace {

// 1/2 |x - centre|^2, which somebody watches, or which throws.
template <class Real>
class WatchedLearner final : public Learner<Real> {
 public:
  WatchedLearner(Index dimension, Real centre, std::function<void()> on_gradient, std::function<void()> on_score)
      : dimension_{dimension}, centre_{centre}, on_gradient_{std::move(on_gradient)}, on_score_{std::move(on_score)} {}
  Index dimension() const override { return dimension_; }
  std::uint32_t samples() const override { return 1; }
  Real gradient(ConstVectorRef<Real> x, Picks, VectorRef<Real> g, Scratch<Real>&) const override {
    on_gradient_();
    g = x.array() - centre_;
    return Real(0.5) * g.squaredNorm();
  }
  Score score(ConstVectorRef<Real> x, Part, Scratch<Real>&) const override {
    on_score_();
    Score score = empty_score(0);
    score.samples = 1;
    score.loss_sum = 0.5 * static_cast<double>((x.array() - centre_).matrix().squaredNorm());
    return score;
  }

 private:
  Index dimension_;
  Real centre_;
  std::function<void()> on_gradient_, on_score_;
};

const std::function<void()> nothing = [] {};

// A client that throws `what` at its n-th gradient.
RunOptions failing(unsigned threads, ClientId client, std::uint64_t at_call, std::atomic<std::uint64_t>& calls,
                   const char* what = "the sensor is gone") {
  RunOptions options = on_threads(threads);
  options.own_float.learner = [=, &calls](ClientId self) -> std::unique_ptr<Learner<float>> {
    const auto fail = [=, &calls] {
      if (self == client && ++calls == at_call) throw std::runtime_error(what);
    };
    return std::make_unique<WatchedLearner<float>>(4, 1.0f, fail, nothing);
  };
  return options;
}

}  // namespace

TEST_CASE("a learner from outside takes the place of data and model") {
  RunOptions options = on_threads(2);
  options.own_double.learner = [](ClientId client) {
    return std::make_unique<WatchedLearner<double>>(3, static_cast<double>(client.value), nothing, nothing);
  };
  options.keeps_models = true;
  const config::Experiment own = experiment({"precision=float64", "until=200.5", "algorithm.eta=0.01"});
  const RunResult result = run(own, options);
  CHECK(result.dimension == 3);
  const double* numbers = reinterpret_cast<const double*>(result.models[0].data());
  CHECK(numbers[0] > 1.5);  // towards the mean of 0 .. 7
  CHECK(numbers[0] < 5.5);
  options.threads = 1;
  CHECK(digests(run(own, options)) == digests(result));
}

TEST_CASE("a learner that is not there is refused before any client runs, in a dry run too") {
  RunOptions options;
  options.own_float.learner = [](ClientId client) -> std::unique_ptr<Learner<float>> {
    if (client.value % 8 == 3) return nullptr;
    return std::make_unique<WatchedLearner<float>>(3, 0.0f, nothing, nothing);
  };
  CHECK(complaint<std::invalid_argument>([&] { run(experiment(), options); }) ==
        "OwnParts::learner gives nothing for client 3: must give every client a learner");
  options.own_float.learner = [](ClientId) { return nullptr; };
  options.dry_run = true;
  CHECK(complaint<std::invalid_argument>([&] { run(experiment(), options); }) ==
        "OwnParts::learner gives nothing for client 0: must give every client a learner");
}

TEST_CASE("an experiment filled in by a program is judged whole before any client runs or replays") {
  config::Experiment wrong = experiment();
  wrong.until = -1;
  wrong.metrics.every_events = -5;
  const std::string faults =
      "experiment: until = -1.0: must be at least 1e-09 and at most 9000000000\n"
      "experiment: metrics.every_events = -5: must be at least 0 and at most 1000000000000, or \"none\"";
  CHECK(complaint<BadExperiment>([&] { run(wrong); }) == faults);
  CHECK(complaint<BadExperiment>([&] { replay(wrong, "nowhere.rec", {}); }) == faults);
}

TEST_CASE("what is unwise is noted of a program's experiment, too") {
  config::Experiment unwise = experiment({"mailbox.cap=none", "unification.period=none"});
  unwise.mailbox.cap_period = 2;
  RunOptions options;
  std::vector<std::string> said;
  options.on_note = [&](const std::string& note) { said.push_back(note); };
  run(unwise, options);
  CHECK(std::ranges::count(said, "mailbox.cap_period is not used: there is no mailbox.cap") == 1);
}

TEST_CASE("learners of different dimensions are refused by client and size before any client runs") {
  RunOptions options;
  std::atomic<int> gradients{0};
  options.own_float.learner = [&](ClientId client) {
    return std::make_unique<WatchedLearner<float>>(
        client.value == 5 ? 4 : 3, 0.0f, [&] { ++gradients; }, nothing);
  };
  CHECK(complaint<std::invalid_argument>([&] { run(experiment(), options); }) ==
        "the learner of client 5 has dimension 4, that of client 0 has 3");
  CHECK(gradients == 0);
}

namespace {

// Sends its model, takes the mean of what it hears.
class OwnGossip final : public Algorithm<float> {
 public:
  OwnGossip(ConstVectorRef<float> start, std::atomic<int>& begins) : x_{start}, begins_{begins} {}
  void begin(Work<float>&) override { ++begins_; }
  void compute(Work<float>& work, const Step& step) override {
    work.learner.descend(view(x_), work.batch(step.index), 0.05f, work.scratch);
  }
  Payload publish(Work<float>& work, const Step&) override {
    Payload payload;
    payload.common[0] = copy_of<float>(model(), work.pool);
    return payload;
  }
  void merge(Work<float>&, const Step&, std::span<const Received<float>> window) override {
    Vector<float> sum = Vector<float>::Zero(x_.size());
    for (const Received<float>& message : window)
      sum += static_cast<float>(message.weight) * (message.common() - view(std::as_const(x_)));
    x_ += sum;
  }
  void reclaim(Work<float>&, const Step&, const Payload&) override {}
  void adopt(ConstVectorRef<float> model) override { x_ = model; }
  ConstVectorRef<float> model() const override { return view(x_); }
  void inspect(Probe&) const override {}

 private:
  Vector<float> x_;
  std::atomic<int>& begins_;
};

}  // namespace

TEST_CASE("an algorithm from outside runs with the needs it states") {
  std::atomic<int> begins{0};
  RunOptions options = on_threads(2);
  options.own_float.algorithm = [&](const ClientView&, ConstVectorRef<float> start, TensorPool&) {
    return std::make_unique<OwnGossip>(start, begins);
  };
  options.own_float.needs.keep = Keep::newest;  // and send_only_if_computed = false: every tick sends
  const config::Experiment own = experiment({"mailbox.window=1.5", "mailbox.cap=none", "unification.period=none"});
  const RunResult result = run(own, options);
  CHECK(result.messages.superseded > 0);
  CHECK(result.messages.publications > run(experiment({"mailbox.window=1.5"})).messages.publications);
  CHECK(begins == 0);
  options.threads = 1;
  CHECK(digests(run(own, options)) == digests(result));
  run(experiment({"algorithm.snapshot=at_start"}), options);
  CHECK(begins > 0);
}

// ---- how a run ends ------------------------------------------------------------------------------------------------

TEST_CASE("a client that throws ends the run, named with its step and time") {
  for (const unsigned threads : {1u, 2u}) {
    CAPTURE(threads);
    std::atomic<std::uint64_t> calls{0};
    const RunOptions options = failing(threads, {3}, 6, calls);
    // Ticks at 0.5, 1.5, ...: the sixth, number 5, is at 5.5 s.
    const std::vector<std::string> fixed{"clients.compute.law=fixed", "clients.compute.period=1.0", "clients.compute.phase=0.5",
                                         "until=100000.0"};
    CHECK(complaint<RunFailed>([&] { run(experiment(fixed), options); }) ==
          "client 3 failed in compute 5 at 5.500000 s: the sensor is gone");
    CHECK(calls == 6);  // afterwards it is left alone
  }
}

TEST_CASE("a client that throws something else than an exception ends the run as well") {
  RunOptions options;
  options.own_float.learner = [](ClientId) {
    return std::make_unique<WatchedLearner<float>>(
        2, 0.0f, [] { throw 7; }, nothing);
  };
  CHECK(contains(complaint<RunFailed>([&] { run(experiment(), options); }), "something that is no std::exception"));
}

TEST_CASE("of very many clients that all throw one is named, and the run ends") {
  RunOptions options = on_threads(2);
  options.own_float.learner = [](ClientId client) {
    return std::make_unique<WatchedLearner<float>>(
        2, 0.0f, [client] { throw std::runtime_error("client " + std::to_string(client.value) + " is tired"); }, nothing);
  };
  const std::string said = complaint<RunFailed>([&] { run(experiment({"clients.count=3000", "until=1000.0"}), options); });
  CAPTURE(said);
  REQUIRE(said.starts_with("client "));
  const std::string named = said.substr(0, said.find(" failed"));
  CHECK(said.ends_with(": " + named + " is tired"));
}

TEST_CASE("a learner that throws while it is scored ends the run instead of stopping it for ever") {
  for (const unsigned threads : {1u, 2u}) {
    const std::string said = in_a_process(
        [&] {
          RunOptions options = on_threads(threads);
          options.own_float.learner = [](ClientId client) {
            const auto fail = [client] {
              if (client.value == 2) throw std::runtime_error("no test rows");
            };
            return std::make_unique<WatchedLearner<float>>(2, 0.0f, nothing, fail);
          };
          return complaint<RunFailed>([&] { run(experiment(), options); });
        },
        patience);
    CHECK(contains(said, "client 2 failed"));
    CHECK(contains(said, "no test rows"));
  }
}

TEST_CASE("a learner that throws while it scores the mean model is named") {
  const config::Experiment two = experiment({"metrics.clients=2", "until=1e-6"});  // samples at the start and at the end
  const ClientId last = measured_clients(two)->back();
  std::atomic<int> scored{0};
  RunOptions options = on_threads(2);
  options.own_float.learner = [&](ClientId client) {
    const auto fail = [&scored, fails = client == last] {
      if (fails && ++scored == 4) throw std::runtime_error("no test rows");  // its own model comes before a mean model
    };
    return std::make_unique<WatchedLearner<float>>(2, 0.0f, nothing, fail);
  };
  const std::string said = complaint<RunFailed>([&] { run(two, options); });
  CHECK(contains(said, "client " + std::to_string(last.value) + " failed in measure "));
  CHECK(contains(said, "no test rows"));
}

TEST_CASE("a caller whose function throws gets its own exception back, when the run has ended") {
  RunOptions options = on_threads(2);
  options.on_sample = [](const Sample&) { throw std::logic_error("I have seen enough"); };
  CHECK(complaint<std::logic_error>([&] { run(experiment({"until=1e6"}), options); }) == "I have seen enough");
}

TEST_CASE("a run that is stopped has the results so far, and its record leads to the same models") {
  const Folder folder;
  for (const unsigned threads : {1u, 2u}) {
    std::atomic<bool> stop{false};
    RunOptions options = on_threads(threads);
    options.stop = &stop;
    options.record = folder / "timeline.rbt";
    options.on_sample = [&](const Sample& sample) { stop = sample.header.number >= 3; };
    const config::Experiment endless = experiment({"until=1e7"});
    const RunResult result = run(endless, options);
    CHECK(result.was_stopped);
    CHECK(result.virtual_seconds > 0);
    CHECK(result.virtual_seconds < 1e7);
    CHECK(result.samples.size() >= 4);
    CHECK(result.samples.back().header.events == result.events);  // the last state is scored
    CHECK(digests(replay(endless, options.record, on_threads(2))) == digests(result));
  }
}

TEST_CASE("a run that is stopped before it begins ends at once") {
  const std::atomic<bool> stop{true};
  RunOptions options;
  options.stop = &stop;
  const RunResult result = run(experiment({"until=1e9"}), options);
  CHECK(result.was_stopped);
  CHECK(result.samples.size() >= 1);
  options.dry_run = true;
  CHECK(run(experiment({"until=1e9"}), options).was_stopped);
}

TEST_CASE("a program that ends a run by its samples ends it at one instant, with one digest, on any number of threads") {
  for (const std::vector<std::string>& overrides :
       {std::vector<std::string>{}, {"metrics.clients=3", "limits.outstanding_steps=1"}}) {
    const config::Experiment endless = experiment(overrides + std::vector<std::string>{"until=1e7"});
    std::string first;
    double end = 0;
    for (int repetition = 0; repetition < 3; ++repetition)
      for (const unsigned threads : {1u, 2u, 4u}) {
        CAPTURE(threads);
        std::vector<std::uint64_t> asked;
        RunOptions options = on_threads(threads);
        options.stop_when = [&](const Sample& sample) {
          asked.push_back(sample.header.number);
          return sample.header.events >= 700;
        };
        const RunResult result = run(endless, options);
        CHECK(result.was_stopped);
        CHECK(result.stopped_by == "stop_when");
        CHECK(std::ranges::is_sorted(asked));
        CHECK(asked.size() == result.samples.size());
        CHECK(result.samples.back().header.events == result.events);
        CHECK(to_seconds(result.samples.back().header.at) == result.virtual_seconds);
        CHECK(contains(result.notes.back(), "stopped early at "));
        if (first.empty()) first = digests(result), end = result.virtual_seconds;
        CHECK(digests(result) == first);
        CHECK(result.virtual_seconds == end);
      }
  }
}

TEST_CASE("a rule on a metric ends a run at one sample, with one digest, on any number of threads") {
  const std::vector<std::string> often = {"metrics.every_events=25"};
  const RunResult whole = run(experiment(often), on_threads(1));
  const TightRule rule(whole.samples, 4);
  REQUIRE(rule.last > 3);
  std::string first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    CAPTURE(threads);
    const RunResult result = run(experiment(often + rule.keys), on_threads(threads));
    CHECK(result.was_stopped);
    CHECK(result.stopped_by == "metrics.stop");
    CHECK(contains(result.notes.back(), "because of metrics.stop"));
    REQUIRE(result.samples.size() == rule.last + 1);
    for (std::size_t i = 0; i < result.samples.size(); ++i)
      CHECK(result.samples[i].loss_mean_model == whole.samples[i].loss_mean_model);
    CHECK(to_seconds(result.samples.back().header.at) == result.virtual_seconds);
    if (first.empty()) first = digests(result);
    CHECK(digests(result) == first);
  }
}

TEST_CASE("a rule on a metric ends a run in real time soon after it holds") {
  const RunResult result = run(experiment({"clock=wall", "time_scale=30.0", "until=36000.5", "metrics.stop.metric=computations",
                                           "metrics.stop.by=mean", "metrics.stop.window=1", "metrics.stop.below=1e9"}),
                               on_threads(2));
  CHECK(result.stopped_by == "metrics.stop");
}

TEST_CASE("a run that has come to its end was not stopped, whatever its last sample says") {
  RunOptions options = on_threads(2);
  options.stop_when = [](const Sample& sample) { return sample.header.at >= Time{std::chrono::seconds(30)}; };
  const RunResult result = run(experiment({"until=30.0"}), options);
  CHECK_FALSE(result.was_stopped);
  CHECK(result.stopped_by.empty());
}

TEST_CASE("a sentence of the program that is asked whether to stop is the sentence of the run") {
  RunOptions options = on_threads(2);
  options.stop_when = [](const Sample&) -> bool { throw std::logic_error("I cannot tell"); };
  CHECK(complaint<std::logic_error>([&] { run(experiment({"until=1e6"}), options); }) == "I cannot tell");
}

TEST_CASE("the literal steps of sgp are noted outside rounds, where its weights may run to 0") {
  const auto notes_of = [](const std::string& weigh_step) {
    std::string notes;
    for (const std::string& note : run(experiment({"algorithm.name=sgp", "algorithm.weigh_step=" + weigh_step,
                                                   "unification.period=none", "mailbox.cap=none", "mailbox.cap_period=none"}),
                                       on_threads(1))
                                       .notes)
      notes += note + "\n";
    return notes;
  };
  CHECK(contains(notes_of("false"), "sgp with weigh_step = false"));
  CHECK_FALSE(contains(notes_of("true"), "weigh_step"));
}

TEST_CASE("no threads, or another instruction set than the build's, are refused with a sentence") {
  CHECK(complaint<std::invalid_argument>([] { run(experiment(), on_threads(0)); }) == "threads must be at least 1");
  CHECK(contains(complaint<std::invalid_argument>([] { run(experiment({"isa=neon"})); }), "isa = \"neon\""));
}

// ---- records -------------------------------------------------------------------------------------------------------

namespace {

struct Recorded {
  explicit Recorded(const std::vector<std::string>& overrides = {}, std::uint64_t most_bytes = 0)
      : of{experiment(overrides)}, file{folder / "timeline.rbt"} {
    RunOptions options = on_threads(2);
    options.record = file;
    options.record_bytes = most_bytes;
    result = run(of, options);
  }
  std::string replay_fault() const {
    return complaint<std::runtime_error>([&] { replay(of, file, on_threads(2)); });
  }

  Folder folder;
  config::Experiment of;
  std::filesystem::path file;
  RunResult result;
};

}  // namespace

TEST_CASE("a record leads to the same models, on one thread and on two") {
  for (const auto& overrides : {std::vector<std::string>{},
                                digits_instead(),
                                {"protocol.kind=rounds"},
                                {"algorithm.snapshot=at_start"},
                                {"algorithm.retain_on_loss=true"},
                                {"unification.via=transport"},
                                {"unification.clears_mailbox=true"},
                                {"precision=float64"}}) {
    const Recorded recorded(overrides);
    for (const unsigned threads : {1u, 2u}) {
      const RunResult again = replay(recorded.of, recorded.file, on_threads(threads));
      CHECK(digests(again) == digests(recorded.result));
      CHECK(again.steps == recorded.result.steps);
    }
  }
}

TEST_CASE("a record makes no difference to the run, and a dry run writes the same one") {
  const Recorded recorded;
  CHECK(digests(run(experiment())) == digests(recorded.result));
  RunOptions options;
  options.dry_run = true;
  options.record = recorded.folder / "dry.rbt";
  run(recorded.of, options);
  CHECK(text_of(options.record) == text_of(recorded.file));
}

TEST_CASE("a record replayed with other data has the same timing and other models") {
  const Recorded recorded;
  config::Experiment other = recorded.of;
  other.seed = 99;
  const RunResult again = replay(other, recorded.file, on_threads(1));
  CHECK(again.digests.timeline == recorded.result.digests.timeline);
  CHECK(again.digests.model != recorded.result.digests.model);
}

TEST_CASE("a flipped bit in a record is noticed") {
  const Recorded recorded;
  const std::string whole = text_of(recorded.file);
  REQUIRE(whole.size() > 1000);
  for (const std::size_t place : {std::size_t{30}, whole.size() / 2, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 4);
    write_text(recorded.file, damaged);
    CHECK(contains(recorded.replay_fault(), "the record ends before the run did"));
  }
}

TEST_CASE("a torn record is noticed wherever it is torn") {
  const Recorded recorded;
  const std::string whole = text_of(recorded.file);
  for (std::size_t length = 12 + 1; length < whole.size(); length += whole.size() / 23) {
    CAPTURE(length);
    write_text(recorded.file, whole.substr(0, length));
    CHECK(contains(recorded.replay_fault(), "the record ends before the run did"));
  }
}

TEST_CASE("what is no record, or the record of other clients, is refused with a sentence") {
  const Recorded recorded;
  const config::Experiment other = experiment({"clients.count=9"});
  CHECK(complaint<RunFailed>([&] { replay(other, recorded.file, on_threads(1)); }) ==
        recorded.file.string() + " was made by 8 clients, the experiment has 9");
  write_text(recorded.file, "Dear diary");
  CHECK(contains(recorded.replay_fault(), "is not a record of a run"));
  std::filesystem::remove(recorded.file);
  CHECK(contains(recorded.replay_fault(), "cannot read"));
}

TEST_CASE("a record that reached its limit says so, and cannot stand for the run") {
  const Recorded recorded({}, 2000);
  CHECK(recorded.result.record_was_cut);
  CHECK(std::filesystem::file_size(recorded.file) < 2000 + (1 << 18) + 4096);
  CHECK(contains(recorded.replay_fault(), "the record ends before the run did"));
  CHECK(digests(recorded.result) == digests(run(experiment())));
}
