// Numbers that are not finite, or too large, and messages of clients that may not send them: they are left out, counted
// with their sender and said, and a client that has diverged itself is named.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "algos/screening.hpp"
#include "learning/learner.hpp"
#include "results/summary.hpp"
#include "runtime/world/churn.hpp"
#include "tests/actors/hosts.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// 1/2 |x - 1|^2; of a client that lies the centre is somewhere else from its sixth gradient on.
class CentredLearner final : public Learner<float> {
 public:
  explicit CentredLearner(float later) : later_{later} {}
  Index dimension() const override { return 20; }
  std::uint32_t samples() const override { return 1; }
  float gradient(ConstVectorRef<float> x, Picks, VectorRef<float> g, Scratch<float>&) const override {
    g = x.array() - (++calls_ > 5 ? later_ : 1);
    return 0.5f * g.squaredNorm();
  }
  Score score(ConstVectorRef<float> x, Part, Scratch<float>&) const override {
    Score score = empty_score(0);
    score.samples = 1;
    score.loss_sum = 0.5 * static_cast<double>((x.array() - 1).matrix().squaredNorm());
    return score;
  }

 private:
  float later_;
  mutable int calls_ = 0;
};

constexpr ClientId liar{2};
constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

RunOptions with_liar(float centre, unsigned threads = 2) {
  RunOptions options = on_threads(threads);
  options.own_float.learner = [centre](ClientId client) { return std::make_unique<CentredLearner>(client == liar ? centre : 1); };
  options.keeps_models = true;
  return options;
}

std::vector<ClientId> not_finite(const RunResult& result) {
  std::vector<ClientId> clients;
  for (std::uint32_t i = 0; i < result.models.size(); ++i)
    if (!are_finite(result.models[i], Scalar::float32)) clients.push_back({i});
  return clients;
}

bool is_of_liar_alone(const RunResult& result, std::uint64_t Screened::*reason) {
  return !result.screened.empty() && std::ranges::all_of(result.screened, [&](const Screened& link) {
    return link.refused() == link.*reason && (link.refused() > 0) == (link.sender == liar);
  });
}

const std::vector<ClientId> the_liar{liar};

}  // namespace

TEST_CASE("what a client sends that is not finite is left out by all others, counted with its sender and said") {
  for (const std::string algorithm : {"draco", "dpsgd", "sgp"}) {
    CAPTURE(algorithm);
    std::vector<std::string> said;
    std::vector<std::string> overrides = {"algorithm.name=" + algorithm};
    if (algorithm == "sgp") overrides = overrides + std::vector<std::string>{"unification.period=none", "mailbox.cap_period=2.0"};
    RunOptions options = with_liar(no_number);
    options.on_note = [&](const std::string& note) { said.push_back(note); };
    const RunResult result = run(experiment(overrides), options);
    CHECK(not_finite(result) == the_liar);
    CHECK(is_of_liar_alone(result, &Screened::not_finite));
    CHECK(std::ranges::count_if(said, [](const auto& note) { return contains(note, "of client 2 held numbers"); }) == 1);
    CHECK(has_note(result, "the model of client 2 is not finite any more"));
    REQUIRE(result.diverged.size() == 1);
    CHECK(result.diverged.front().client == liar);
    CHECK_FALSE(result.all_diverged);
    CHECK(digests(run(experiment(overrides), with_liar(no_number, 1))) == digests(result));
  }
}

TEST_CASE("what is not finite is left out in rounds and at a server as well") {
  for (const std::string algorithm : {"dpsgd", "fedavg", "swarm", "choco", "beer", "kgt"}) {
    CAPTURE(algorithm);
    const config::Experiment rounds =
        experiment({"algorithm.name=" + algorithm, "topology.kind=complete", "unification.period=none", "mailbox.cap=none",
                    "mailbox.cap_period=none", "channel.loss=0.0", "mailbox.deadline=none"});
    const RunResult result = run(rounds, with_liar(no_number));
    CHECK(is_of_liar_alone(result, &Screened::not_finite));
    CHECK((not_finite(result).empty() || not_finite(result) == the_liar));  // a server's model may be its own again
  }
}

TEST_CASE("hosts in virtual time leave out what one process leaves out") {
  const config::Experiment shared = over_hosts(experiment(), 3);
  const RunResult alone = run(experiment(), with_liar(no_number));
  for (const HostOutcome& outcome : run_hosts(shared, with_liar(no_number))) {
    CHECK(outcome.complaint == "");
    CHECK(digests(outcome.result) == digests(alone));
  }
}

TEST_CASE("in real time what is not finite is left out and counted, and the record lands on the digests") {
  const Folder folder;
  const config::Experiment wall = experiment({"clock=wall", "time_scale=30", "until=3600.5"});
  RunOptions options = with_liar(no_number);
  options.record = folder / "timeline.rbt";
  std::atomic<bool> stop{false};
  options.stop = &stop;
  options.on_sample = [&](const Sample& sample) { stop = stop || sample.header.counts.kept > 200; };
  const RunResult result = run(wall, options);
  CHECK(not_finite(result) == the_liar);
  CHECK(is_of_liar_alone(result, &Screened::not_finite));
  REQUIRE(result.diverged.size() == 1);
  CHECK(result.diverged.front().client == liar);
  CHECK(digests(replay(wall, folder / "timeline.rbt", with_liar(no_number))) == digests(result));
}

TEST_CASE("a run that is to stop at a model that is not finite ends at the first sample that sees it, on any threads") {
  const config::Experiment stopping = experiment({"metrics.stop_on_nan=true"});
  std::string first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const RunResult result = run(stopping, with_liar(no_number, threads));
    CHECK(result.was_stopped);
    REQUIRE(result.diverged.size() == 1);
    CHECK(result.diverged.front().seconds == doctest::Approx(result.virtual_seconds));
    CHECK(result.virtual_seconds < 30);
    if (first.empty()) first = digests(result);
    CHECK(digests(result) == first);
  }
}

TEST_CASE("in real time, too, a run that is to stop at a model that is not finite stops, with what it has") {
  const RunResult result =
      run(experiment({"clock=wall", "time_scale=30", "until=3600.5", "metrics.stop_on_nan=true", "metrics.every_events=100"}),
          with_liar(no_number));
  CHECK(result.was_stopped);
  CHECK(result.virtual_seconds < 3600);
  CHECK(not_finite(result) == the_liar);
  REQUIRE(result.diverged.size() == 1);
  CHECK(result.diverged.front().client == liar);
}

TEST_CASE("in real time messages beyond the norm limit are left out, too") {
  RunOptions options = with_liar(-1e5f);
  std::atomic<bool> stop{false};
  options.stop = &stop;
  options.on_sample = [&](const Sample& sample) { stop = stop || sample.header.counts.kept > 300; };
  const RunResult result =
      run(experiment({"clock=wall", "time_scale=30", "until=3600.5", "algorithm.name=dpsgd", "mailbox.norm_limit=50.0",
                      "unification.period=none", "mailbox.cap=none", "mailbox.cap_period=none", "metrics.every_events=100"}),
          options);
  CHECK(is_of_liar_alone(result, &Screened::beyond_norm));
  CHECK(has_note(result, "longer than mailbox.norm_limit allows"));
}

TEST_CASE("a run that watches its invariants ends at a model that is not finite, and says whose it is") {
  RunOptions options = with_liar(no_number);
  options.checks = true;
  const std::string said = complaint<RunFailed>([&] { run(experiment(), options); });
  CHECK(contains(said, "the model of client 2 is not finite"));
}

TEST_CASE("the summary says when the first model was not finite any more, and who had none at the end") {
  const config::Experiment some = experiment();
  const RunResult result = run(some, with_liar(no_number));
  const auto summary = nlohmann::json::parse(summary_json(some, result));
  CHECK(summary.at("diverged_at") == result.diverged.front().seconds);
  CHECK(summary.at("diverged_clients").at(0).at("client") == 2);
  CHECK(summary.at("messages").at("not_finite") > 0);
  const RunResult honest = run(some, with_liar(1));
  CHECK(nlohmann::json::parse(summary_json(some, honest)).at("diverged_at").is_null());
  CHECK(run(experiment({"algorithm.eta=1e9"}), with_liar(1)).all_diverged);
}

TEST_CASE("messages beyond the norm limit are left out, and the link says how long they were and where they pointed") {
  const config::Experiment bounded = experiment({"algorithm.name=dpsgd", "mailbox.norm_limit=50.0", "unification.period=none",
                                                 "mailbox.cap=none", "mailbox.cap_period=none"});
  const RunResult honest = run(bounded, with_liar(1));
  CHECK(std::ranges::all_of(honest.screened, [](const Screened& link) { return link.compared > 0; }));
  const RunResult result = run(bounded, with_liar(-1e5f));
  CHECK(is_of_liar_alone(result, &Screened::beyond_norm));
  CHECK(has_note(result, "longer than mailbox.norm_limit allows"));
  for (const Screened& link : result.screened)
    if (link.sender == liar) {
      CHECK(link.mean_norm() > 1000);
      CHECK(link.mean_cosine() < 0);
    }
}

// ---- mass that does not come back ------------------------------------------------------------------------------------

TEST_CASE("clients that take the mass of push-sum and give none back are named, and the models of the others stay finite") {
  const config::Experiment drained =
      experiment({"algorithm.name=sgp", "topology.kind=complete", "unification.period=none", "until=240.5", "mailbox.cap=none",
                  "clients.transmit.law=poisson", "clients.transmit.rate=[5, 5, 5, 1e-9, 5, 1e-9, 5, 5]"});
  const RunResult result = run(drained, with_liar(1));
  CHECK(not_finite(result).empty());
  CHECK(result.diverged.empty());
  CHECK(has_note(result, "nothing came from clients 3, 5, though"));
}

TEST_CASE("in real time over hosts no client is named as mute that other hosts hear") {
  const config::Experiment ring = over_hosts(
      experiment({"clock=wall", "time_scale=30", "until=60.5", "clients.count=12", "unification.period=none", "hosts.drain=2.0"}),
      3);
  for (const HostOutcome& outcome : run_hosts(ring, on_threads(1))) {
    CHECK(outcome.complaint == "");
    CHECK_FALSE(has_note(outcome.result, "nothing came from"));
  }
}

// ---- messages that are not a client's to send -----------------------------------------------------------------------

namespace {

// A host that means ill: with each message for host 0 it sends what `forge` makes.
class Forging final : public Transport {
 public:
  using Forge = std::function<void(std::uint32_t number, Message& message, Delivery& delivery)>;
  Forging(Transport& inner, Forge forge) : inner_{inner}, forge_{std::move(forge)} {}

  HostId self() const override { return inner_.self(); }
  void start(ParcelSink& sink) override { inner_.start(sink); }
  bool send(HostId to, Parcel parcel) override {
    constexpr std::uint32_t at_once = 20;
    if (parcel.kind == ParcelKind::message && to == HostId{0} && forge_)
      for (std::uint32_t i = 0; i < at_once; ++i) {
        Message message;
        Delivery delivery;
        forge_(forged_++, message, delivery);
        inner_.send(to, to_parcel(message, {delivery}, false));
      }
    return inner_.send(to, std::move(parcel));
  }
  void stop(Duration linger) override { inner_.stop(linger); }
  TransportCounts counts() const override { return inner_.counts(); }

 private:
  Transport& inner_;
  Forge forge_;
  std::atomic<std::uint32_t> forged_{0};
};

// Two hosts in real time, of which the second forges, until the first has heard enough; what the first host has then.
RunResult beside_a_forger(const config::Experiment& experiment, const Forging::Forge& forge) {
  const config::Experiment shared = over_hosts(experiment, 2);
  TensorPool pool;
  Hub hub(2);
  std::atomic<bool> stop{false};
  RunResult results[2];
  std::string complaints[2];
  const auto play = [&](std::uint32_t host) {
    WireLike wire(hub.end(HostId{host}), pool);
    Forging forging(wire, host == 1 ? forge : nullptr);
    RunOptions options = with_liar(1, 1);
    options.stop = &stop;
    if (host == 0) options.on_sample = [&](const Sample& sample) { stop = stop || sample.header.counts.kept > 300; };
    try {
      results[host] = run_host(shared, options, {}, forging);
    } catch (const std::exception& error) {
      complaints[host] = error.what();
      stop = true;
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  CHECK(complaints[0] == "");
  CHECK(complaints[1] == "");
  return std::move(results[0]);
}

const std::vector<std::string> real_time = {"clock=wall",
                                            "time_scale=30",
                                            "until=3600.5",
                                            "topology.kind=complete",
                                            "mailbox.cap=none",
                                            "mailbox.cap_period=none",
                                            "channel.loss=0.0",
                                            "metrics.every_events=0",
                                            "metrics.every_seconds=1.0",
                                            "hosts.drain=2.0"};

// A model with the numbers of another run, from a client of the second host to one of the first.
void forge_model(std::uint64_t sequence, Message& message, Delivery& delivery) {
  static TensorPool pool;
  Tensor model = pool.make<float>(20);
  std::fill_n(model.writable<float>(), 20, 1e30f);
  message.payload.common[0] = model;
  message.id = {{5}, 0, static_cast<Sequence>(sequence)};
  message.kind = MessageKind::model;
  delivery.receiver = {1};
}

std::uint64_t refused_of(const RunResult& result, std::uint64_t Screened::*reason) {
  std::uint64_t sum = 0;
  for (const Screened& link : result.screened)
    if (link.sender == ClientId{5} && link.receiver == ClientId{1}) sum += link.*reason;
  return sum;
}

// None of the numbers of the model of client 1 comes from a forged one.
bool is_own_model(const RunResult& result) {
  const auto* numbers = reinterpret_cast<const float*>(result.models.at(1).data());
  return std::all_of(numbers, numbers + 20, [](float number) { return std::abs(number) < 1e3f; });
}

}  // namespace

TEST_CASE("a model that is still zero takes no message that is longer than one of ones may take") {
  const Vector<float> zero = Vector<float>::Zero(16);
  TensorPool pool;
  const auto takes = [&](float number) {
    Tensor tensor = pool.make<float>(16);
    std::fill_n(tensor.writable<float>(), 16, number);
    Payload payload;
    payload.common[0] = tensor;
    return Screening(10).takes<float>({1}, payload, 0, ConstVectorRef<float>(zero.data(), zero.size()));
  };
  CHECK(takes(9.9f));
  CHECK_FALSE(takes(10.1f));
  CHECK_FALSE(takes(1e30f));
}

TEST_CASE("in real time the model of a unification is taken from its hub alone") {
  const config::Experiment unified =
      experiment(real_time + std::vector<std::string>{"unification.period=1.0", "unification.hub=fixed", "unification.client=0",
                                                      "mailbox.cap_period=none"});
  const RunResult result =
      beside_a_forger(unified, [](std::uint32_t number, auto&... to) { forge_model(1 + number % 400, to...); });
  CHECK(refused_of(result, &Screened::unauthorised) > 0);
  CHECK(is_own_model(result));
  CHECK(has_note(result, "of client 5 were not its to send"));
}

TEST_CASE("in real time a client that comes takes the model of the one that hands it over alone") {
  const config::Experiment joined =
      experiment(real_time + std::vector<std::string>{"unification.period=none", "algorithm.name=dpsgd",
                                                      "churn.events=[{at=3.0,what=\"join\",clients=[1],from=\"neighbour\"}]"});
  const RunResult result =
      beside_a_forger(joined, [](std::uint32_t number, auto&... to) { forge_model(first_fetched_model + number % 4, to...); });
  CHECK(refused_of(result, &Screened::unauthorised) > 0);
  CHECK(is_own_model(result));
}

TEST_CASE("in real time no client gets a whole state where the protocol has no need of it") {
  const config::Experiment increments = experiment(real_time + std::vector<std::string>{"unification.period=none"});
  const auto ask = [](std::uint32_t, Message& message, Delivery& delivery) {
    message.id.sender = {5};
    message.kind = MessageKind::request;
    delivery.receiver = {1};
  };
  const RunResult result = beside_a_forger(increments, ask);
  CHECK(refused_of(result, &Screened::unasked) > 0);
  CHECK(result.messages.resyncs == 0);
  CHECK(has_note(result, "of client 5 asked for what"));
}

TEST_CASE("in real time a client that asks again at once gets one answer a round trip") {
  const config::Experiment ordered =
      experiment(real_time + std::vector<std::string>{"unification.period=none", "algorithm.name=choco"});
  const auto ask = [](std::uint32_t, Message& message, Delivery& delivery) {
    message.id.sender = {5};
    message.kind = MessageKind::request;
    delivery.receiver = {1};
  };
  const RunResult result = beside_a_forger(ordered, ask);
  CHECK(refused_of(result, &Screened::unasked) > 0);
}

TEST_CASE("in real time a letter of more models than can be meant is thrown away before it may wait, and counted") {
  const config::Experiment plain = experiment(real_time + std::vector<std::string>{"unification.period=none"});
  const auto forge = [](std::uint32_t number, Message& message, Delivery& delivery) {
    static TensorPool pool;
    message.payload.common[0] = pool.make<float>(20 * 40);
    message.id = {{5}, 0, static_cast<Sequence>(1000 + number)};
    delivery.receiver = {1};
  };
  const RunResult result = beside_a_forger(plain, forge);
  CHECK(std::ranges::any_of(result.hosts, [](const std::string& said) { return contains(said, " no messages of this run"); }));
  CHECK(result.messages.misshapen == 0);
}
