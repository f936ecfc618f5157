// DRACO (docs/references.md#draco) on numbers that can be computed by hand, and its laws on small worlds.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "tests/support/algorithm_contract.hpp"
#include "tests/support/serial_run.hpp"
#include "tests/support/values.hpp"
#include "tests/support/world.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

AlgorithmOptions options_with(double eta, bool self_apply = false) {
  AlgorithmOptions options;
  options.set("eta", eta);
  options.set("self_apply", self_apply);
  return options;
}

template <class Real>
AlgorithmFactory<Real> make_draco(const AlgorithmOptions& options) {
  return make_algorithm<Real>(catalogue_entry("draco"), options);
}

class Theta final : public Probe {
 public:
  void vector(std::string_view name, std::span<const double> values) override {
    Vector<double>& kept = seen[std::string(name)];
    kept = Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size()));
  }
  std::map<std::string, Vector<double>> seen;
};

// One client at theta = (3, 1) whose loss is (x - 1)^2 / 2 + y^2: the gradient is (x - 1, 2 y). eta = 1/2.
struct DracoClient {
  explicit DracoClient(AlgorithmOptions options) {
    options.set("eta", 0.5);
    plan.local_batches = local_batches_of(options);
    algorithm = make_draco<double>(options)({0}, view(start), pool);
  }
  void begin() {
    Work<double> work(*learner, plan, scratch, pool);
    algorithm->begin(work);
  }
  void compute(std::uint64_t index = 0) {
    Work<double> work(*learner, plan, scratch, pool);
    algorithm->compute(work, {.kind = StepKind::compute, .index = index});
  }
  Vector<double> publish() {
    Work<double> work(*learner, plan, scratch, pool);
    last = algorithm->publish(work, {.kind = StepKind::publish});
    return numbers_of<double>(std::as_const(last.common[0]));
  }
  struct Weighted {
    double weight;
    Vector<double> numbers;
    Duration age{};
  };
  void merge(std::initializer_list<Weighted> weighted) {
    std::vector<Payload> payloads(weighted.size());
    std::vector<Received<double>> window;
    for (const auto& [weight, numbers, age] : weighted) {
      Payload& payload = payloads[window.size()];
      payload.common[0] = copy_of<double>(view(numbers), pool);
      window.push_back({{1}, 0, weight, age, payload, 0});
    }
    Work<double> work(*learner, plan, scratch, pool);
    algorithm->merge(work, {.kind = StepKind::merge}, window);
  }
  Vector<double> theta() const { return algorithm->model(); }
  Vector<double> outbox() const {
    Theta probe;
    algorithm->inspect(probe);
    CHECK(probe.seen.at("theta") == theta());
    return probe.seen.at("outbox");
  }

  const Vector<double> start = numbers({3, 1});
  TensorPool pool;
  Scratch<double> scratch;
  BatchPlan plan;
  std::unique_ptr<Learner<double>> learner =
      make_quadratic<double>((Matrix<double>(2, 2) << 1, 0, 0, 2).finished(), numbers({1, 0}));
  std::unique_ptr<Algorithm<double>> algorithm;
  Payload last;
};

}  // namespace

TEST_CASE("draco keeps the contract of algorithms") { algorithm_contract("draco"); }

TEST_CASE("draco keeps the contract of algorithms with every option the other way") {
  AlgorithmOptions options = options_with(0.125, true);
  options.set("outbox", std::string("latest"));
  options.set("local_batches", std::int64_t{3});
  options.set("age_half_life", 0.25);
  algorithm_contract("draco", options);
}

TEST_CASE("the same calls lead to the same bits whether begin fixes the model or not") {
  const auto last_models = [](bool begins) {
    DracoClient client(options_with(0.5, true));
    for (std::uint64_t turn = 0; turn < 6; ++turn) {
      if (begins) client.begin();
      client.merge({{0.25, numbers({0.1, 0.7})}, {0.25, numbers({-0.3, 0.2})}});
      client.compute(turn);
      client.merge({{0.25, client.publish()}});
    }
    return client.theta();
  };
  CHECK(same_bits<double>(last_models(true), last_models(true)));
  CHECK(same_bits<double>(last_models(false), last_models(false)));
  CHECK_FALSE(same_bits<double>(last_models(true), last_models(false)));
}

TEST_CASE("an increment is as long as the model, in its scalar, and lies in a message of its own") {
  DracoClient client({});
  client.compute(0);
  client.publish();
  const Payload first = client.last;
  client.compute(1);
  client.publish();
  const Payload& second = client.last;
  for (const Payload* payload : {&first, &second}) {
    REQUIRE(payload->common[0]);
    CHECK(payload->common[0].count() == 2);
    CHECK(payload->common[0].scalar() == Scalar::float64);
    CHECK_FALSE(payload->common[1]);
    CHECK(payload->own.empty());
  }
  CHECK(first.common[0].data<double>() != second.common[0].data<double>());
}

TEST_CASE("merging keeps no payload, and an empty window changes nothing") {
  DracoClient client({});
  Payload payload;
  const Vector<double> increment = numbers({2, 4});
  payload.common[0] = copy_of<double>(view(increment), client.pool);
  Work<double> work(*client.learner, client.plan, client.scratch, client.pool);
  const Received<double> message{{1}, 0, 0.5, Duration{}, payload, 0};
  client.algorithm->merge(work, {.kind = StepKind::merge}, {&message, 1});
  CHECK(client.theta() == numbers({4, 3}));
  numbers_of<double>(payload.common[0]).setConstant(77);
  CHECK(client.theta() == numbers({4, 3}));
  client.merge({});
  CHECK(client.theta() == numbers({4, 3}));
  CHECK(client.outbox() == numbers({0, 0}));
}

TEST_CASE("a computation puts -eta g into the outbox and leaves the model alone") {
  DracoClient client({});
  client.compute();  // g = (2, 2)
  CHECK(client.outbox() == numbers({-1, -1}));
  CHECK(client.theta() == numbers({3, 1}));
}

TEST_CASE("computations without a reception add the same direction again") {
  DracoClient client({});
  client.compute(0);
  client.compute(1);
  CHECK(client.outbox() == numbers({-2, -2}));
}

TEST_CASE("with outbox latest a computation replaces what was not sent") {
  AlgorithmOptions options;
  options.set("outbox", std::string("latest"));
  DracoClient client(options);
  client.compute(0);
  client.merge({{1, numbers({2, -1})}});  // theta = (5, 0)
  client.compute(1);                      // g = (4, 0)
  CHECK(client.outbox() == numbers({-2, 0}));
}

TEST_CASE("with self_apply the client's own increment moves its own model") {
  DracoClient client(options_with(0.5, true));
  client.compute(0);
  CHECK(client.theta() == numbers({2, 0}));
  client.compute(1);  // g = (1, 0)
  CHECK(client.theta() == numbers({1.5, 0}));
  CHECK(client.outbox() == numbers({-1.5, -1}));
}

TEST_CASE("local batches are steps one after the other, and the increment is their sum") {
  AlgorithmOptions options;
  options.set("local_batches", std::int64_t{2});
  DracoClient client(options);
  client.compute();  // (3, 1) -> (2, 0) -> (1.5, 0)
  CHECK(client.outbox() == numbers({-1.5, -1}));
  CHECK(client.theta() == numbers({3, 1}));
}

TEST_CASE("computation k takes the batches k B to k B + B - 1") {
  AlgorithmOptions options;
  options.set("local_batches", std::int64_t{2});
  DracoClient client(options);
  // f = ((x - 2)^2 + (x - 4)^2 + ...) / 2N: the batch of one sample pulls towards that sample.
  client.learner = make_least_squares<double>((Matrix<double>(4, 2) << 1, 0, 1, 0, 1, 0, 1, 0).finished(), numbers({3, 3, 5, 9}));
  const ChoiceTable table{.batches = {{0}, {1}, {2}, {3}}};
  client.plan.table = &table;
  client.compute(1);  // x: 3 -> 3 + (5 - 3)/2 = 4 -> 4 + (9 - 4)/2 = 6.5
  CHECK(client.outbox() == numbers({3.5, 0}));
}

TEST_CASE("a computation starts from the model that begin fixed, and is applied to the one of now") {
  DracoClient client(options_with(0.5, true));
  client.begin();
  client.merge({{0.5, numbers({10, 10})}});  // theta = (8, 6)
  client.compute();                          // from (3, 1): d = (-1, -1)
  CHECK(client.outbox() == numbers({-1, -1}));
  CHECK(client.theta() == numbers({7, 5}));
  client.begin();
  client.compute(1);  // from (7, 5): g = (6, 10)
  CHECK(client.theta() == numbers({4, 0}));
}

TEST_CASE("what was sent is sent once, and an empty outbox is sent as zeros") {
  DracoClient client({});
  client.compute();
  CHECK(client.publish() == numbers({-1, -1}));
  CHECK(client.outbox() == numbers({0, 0}));
  CHECK(client.publish() == numbers({0, 0}));
}

TEST_CASE("a window adds every message with its weight, two of one sender as well") {
  DracoClient client({});
  client.merge({{0.5, numbers({2, 4})}, {0.25, numbers({4, 8})}, {0.25, numbers({-4, 0})}});
  CHECK(client.theta() == numbers({4, 5}));
}

TEST_CASE("with age_half_life every half-life that an increment was on its way halves its weight") {
  AlgorithmOptions options;
  options.set("age_half_life", 0.5);
  DracoClient client(options);
  client.merge({{0.5, numbers({2, 4}), from_seconds(0)}});  // as it is: + (1, 2)
  CHECK(client.theta() == numbers({4, 3}));
  client.merge({{0.5, numbers({8, 16}), from_seconds(0.5)}, {1, numbers({-4, 8}), from_seconds(1)}});  // + (2, 4) + (-1, 2)
  CHECK((client.theta() - numbers({5, 9})).norm() < 1e-13);
  client.merge({{1, numbers({std::sqrt(2), 0}), from_seconds(0.25)}, {1, numbers({0, 1024}), from_seconds(5)}});  // + (1, 1)
  CHECK((client.theta() - numbers({6, 10})).norm() < 1e-13);
}

TEST_CASE("without age_half_life an increment weighs the same at any age, to the bit") {
  DracoClient young({}), old({});
  young.merge({{0.3, numbers({0.1, 0.7})}});
  old.merge({{0.3, numbers({0.1, 0.7}), from_seconds(1000)}});
  CHECK(same_bits<double>(young.theta(), old.theta()));
}

TEST_CASE("a reclaimed increment is back in the outbox, before or after the next computation") {
  DracoClient client({});
  client.compute();
  client.publish();
  Work<double> work(*client.learner, client.plan, client.scratch, client.pool);
  client.algorithm->reclaim(work, {.kind = StepKind::reclaim}, client.last);
  CHECK(client.outbox() == numbers({-1, -1}));
  client.publish();
  client.compute(1);
  client.algorithm->reclaim(work, {.kind = StepKind::reclaim}, client.last);
  CHECK(client.outbox() == numbers({-2, -2}));
}

TEST_CASE("a unification changes the model and keeps the outbox") {
  DracoClient client({});
  client.compute();
  const Vector<double> hub = numbers({7, 8});
  client.algorithm->adopt(view(hub));
  CHECK(client.theta() == hub);
  CHECK(client.outbox() == numbers({-1, -1}));
}

TEST_CASE("an option that cannot be is refused when the factory is made, with what is allowed") {
  const auto complaint = [](const char* name, AlgorithmOptions::Value value) -> std::string {
    AlgorithmOptions options;
    options.set(name, std::move(value));
    try {
      make_draco<float>(options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  CHECK(complaint("outbox", std::string("newest")) == "algorithm.outbox = \"newest\": must be \"accumulate\" or \"latest\"");
  CHECK(complaint("outbox", true) == "algorithm.outbox must be a word");
  CHECK(complaint("eta", std::string("big")) == "algorithm.eta must be a number");
  CHECK(complaint("self_apply", std::string("yes")) == "algorithm.self_apply must be true or false");
  CHECK(complaint("age_half_life", -1.0) == "algorithm.age_half_life = -1: must be at least 0");
  CHECK(complaint("age_half_life", true) == "algorithm.age_half_life must be a number");
}

// ---- small worlds ------------------------------------------------------------------------------------------------

namespace {

// f_i(x) = 1/2 |x - c_i|^2
std::vector<std::unique_ptr<Learner<double>>> pulls_towards(const std::vector<Vector<double>>& centres) {
  std::vector<std::unique_ptr<Learner<double>>> learners;
  for (const Vector<double>& centre : centres)
    learners.push_back(make_quadratic<double>(Matrix<double>::Identity(centre.size(), centre.size()), centre));
  return learners;
}

std::vector<Vector<double>> different_points(std::size_t count, std::uint64_t seed) {
  std::vector<Vector<double>> points;
  for (std::size_t i = 0; i < count; ++i) points.push_back(contract_vector<double>(3, 1000 * seed + i));
  return points;
}

Graph topology(const char* kind, std::size_t clients) {
  TopologyOptions options;
  options.kind = kind;
  return make_topology(options, clients, 1);
}

// Every sender of a receiver weighs the same, and together they weigh one.
void weigh_by_receiver(World& world) {
  std::vector<double>& weights = world.push.merge_weights.emplace_back(world.graph.links());
  for (LinkIndex link = 0; link < world.graph.links(); ++link)
    weights[link] = 1.0 / static_cast<double>(world.graph.in_degree(world.graph.ends_of(link).target));
}

void walk(World& world, SerialRun<double>& run, Time until) {
  world.settings.until = until;
  world.build(run, nullptr);
  while (world.conductor().walk(1000)) {
  }
}

// Late, lost and capped messages, windows and unifications.
std::unique_ptr<World> rough_world(std::uint64_t seed) {
  auto world = std::make_unique<World>(topology("ring", 6), seed);
  world->channel = random_links(seed, 0.3, 0.2);
  world->push.compute = {TimerLaw::poisson(2)};
  world->push.transmit = {TimerLaw::poisson(1.5)};
  world->push.needs.send_only_if_computed = true;
  world->push.limits = {.window = from_seconds(0.1), .deadline = from_seconds(0.6), .cap = 3};
  world->settings.cap_period = from_seconds(1);
  weigh_by_receiver(*world);
  return world;
}

}  // namespace

TEST_CASE("without receptions a model never changes, however long its client computes (invariant vi)") {
  const auto world = rough_world(1);
  world->channel = std::make_unique<IdealChannel>(from_seconds(0.7));  // everything is late
  const auto starts = different_points(6, 1);
  SerialRun<double> run(pulls_towards(different_points(6, 2)), make_draco<double>(options_with(0.1)), starts);
  walk(*world, run, at_seconds(30));
  CHECK(world->conductor().total_counts().computations > 200);
  CHECK(world->conductor().total_counts().late > 100);
  for (std::uint32_t i = 0; i < 6; ++i) CHECK(run.model({i}) == starts[i]);
}

TEST_CASE("a model is its start plus every weighted increment it took and every jump of a unification (invariant vii)") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const bool self_apply = seed % 2 == 0;
    const double half_life = seed % 4 < 2 ? 0 : 0.2;  // messages are up to 0.7 s old
    AlgorithmOptions options = options_with(0.05, self_apply);
    options.set("age_half_life", half_life);
    const auto world = rough_world(seed);
    world->settings.unification.period = from_seconds(3);
    const auto starts = different_points(6, seed);
    SerialRun<double> run(pulls_towards(different_points(6, seed + 500)), make_draco<double>(options), starts);
    std::vector<Vector<double>> replayed = starts;
    std::uint64_t merged = 0, adopted = 0;
    run.before = [&](const Step& step) {
      Vector<double>& mine = replayed[step.client.value];
      // The own increment of a full gradient: -eta (theta - c_i), recomputed from the replayed model.
      if (step.kind == StepKind::compute && self_apply) mine -= 0.05 * (mine - different_points(6, seed + 500)[step.client.value]);
      for (const StepEntry& entry : step.entries) {
        if (step.kind == StepKind::merge) {
          const double halves = half_life > 0 ? to_seconds(entry.age) / half_life : 0;
          mine += entry.weight * std::pow(0.5, halves) * numbers_of<double>(run.payload(entry.slot).common[0]);
          ++merged;
        }
        if (step.kind == StepKind::adopt) {
          mine += run.model(entry.peer) - run.model(step.client);
          ++adopted;
        }
      }
    };
    walk(*world, run, at_seconds(20));
    REQUIRE(merged > 50);
    REQUIRE(adopted > 20);
    for (std::uint32_t i = 0; i < 6; ++i) REQUIRE((run.model({i}) - replayed[i]).norm() < 1e-11);
  }
}

TEST_CASE("after a unification every model is the hub's, bit for bit (invariant v)") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const auto world = rough_world(seed);
    world->settings.unification.period = from_seconds(5);
    SerialRun<double> run(pulls_towards(different_points(6, seed)), make_draco<double>(options_with(0.05, true)),
                          different_points(6, seed + 1));
    std::uint32_t adopted = 0, unified = 0;
    run.after = [&](const Step& step) {
      if (step.kind != StepKind::adopt || ++adopted % 5 != 0) return;
      ++unified;
      for (std::uint32_t i = 0; i < 6; ++i) REQUIRE(same_bits<double>(run.model({i}), run.model(step.entries.front().peer)));
      REQUIRE(run.disagreement() < 1e-28);
    };
    walk(*world, run, at_seconds(22));
    REQUIRE(unified == 4);
  }
}

TEST_CASE("clients who agree on their minimiser and stand on it never leave it") {
  const auto world = rough_world(3);
  const std::vector<Vector<double>> here(6, numbers({1, -2, 0.25}));
  SerialRun<double> run(pulls_towards(here), make_draco<double>(options_with(0.3, true)), here);
  walk(*world, run, at_seconds(30));
  CHECK(world->conductor().total_counts().kept > 50);
  for (std::uint32_t i = 0; i < 6; ++i) CHECK(same_bits<double>(run.model({i}), here[0]));
}

TEST_CASE("clients with equal clocks take their mean model to the mean of their minimisers") {
  World world(topology("complete", 6), 4);
  world.channel = std::make_unique<IdealChannel>(from_seconds(0.01));
  world.push.compute = {TimerLaw::poisson(1)};
  world.push.transmit = {TimerLaw::coupled(1, 1)};
  world.push.needs.send_only_if_computed = true;
  weigh_by_receiver(world);
  const auto centres = different_points(6, 9);
  SerialRun<double> run(pulls_towards(centres), make_draco<double>(options_with(0.002, true)),
                        std::vector<Vector<double>>(6, numbers({20, 20, 20})));
  walk(world, run, at_seconds(2000));
  Vector<double> model = Vector<double>::Zero(3), minimiser = Vector<double>::Zero(3);
  for (std::uint32_t i = 0; i < 6; ++i) {
    model += run.model({i}) / 6;
    minimiser += centres[i] / 6;
  }
  CHECK((model - minimiser).norm() < 0.1);
}

// ---- the paper's failure modes -----------------------------------------------------------------------------------

namespace {

// Everybody computes at full seconds and sends at once; a quarter of a second later the window closes for everybody.
// With f_i = 1/2 x^2 the models follow x <- x - eta Q x (+ -eta x with self_apply), which linear algebra can tell.
std::unique_ptr<World> lock_step(const char* kind, std::uint32_t clients) {
  auto world = std::make_unique<World>(topology(kind, clients));
  world->channel = std::make_unique<IdealChannel>(from_seconds(0.25));
  world->push.compute = {TimerLaw::fixed(1, 1)};
  world->push.transmit = {TimerLaw::coupled(1, 1)};
  world->push.needs.send_only_if_computed = true;
  weigh_by_receiver(*world);
  return world;
}

std::vector<Vector<double>> taking_sides(std::uint32_t clients) {
  std::vector<Vector<double>> points;
  for (std::uint32_t i = 0; i < clients; ++i) points.push_back(numbers({i % 2 == 0 ? 1.0 : -1.0}));
  return points;
}

std::unique_ptr<SerialRun<double>> pulled_to_zero(std::uint32_t clients, const AlgorithmOptions& options,
                                                  const std::vector<Vector<double>>& starts) {
  return std::make_unique<SerialRun<double>>(pulls_towards(std::vector<Vector<double>>(clients, numbers({0}))),
                                             make_draco<double>(options), starts);
}

}  // namespace

TEST_CASE("taken literally, disagreement on an even ring grows by 1 + eta a tick (5.1, failure modes: mu_min = -1)") {
  const auto world = lock_step("ring", 6);
  const auto run = pulled_to_zero(6, options_with(0.1), taking_sides(6));
  walk(*world, *run, at_seconds(20.5));
  const double expected = std::pow(1.1, 20);
  for (std::uint32_t i = 0; i < 6; ++i)
    CHECK(run->model({i})[0] == doctest::Approx(i % 2 == 0 ? expected : -expected).epsilon(1e-12));
}

TEST_CASE("on a complete graph it grows by 1 + eta / (N - 1) only (mu_min = -1 / (N - 1))") {
  const auto world = lock_step("complete", 6);
  const auto run = pulled_to_zero(6, options_with(0.1), taking_sides(6));
  walk(*world, *run, at_seconds(20.5));
  CHECK(run->model({0})[0] == doctest::Approx(std::pow(1 + 0.1 / 5, 20)).epsilon(1e-12));
}

TEST_CASE("what all have in common is learnt all the same: the mean shrinks by 1 - eta a tick") {
  const auto world = lock_step("ring", 6);
  const auto run = pulled_to_zero(6, options_with(0.1), std::vector<Vector<double>>(6, numbers({1})));
  walk(*world, *run, at_seconds(20.5));
  for (std::uint32_t i = 0; i < 6; ++i) CHECK(run->model({i})[0] == doctest::Approx(std::pow(0.9, 20)).epsilon(1e-12));
}

TEST_CASE("with self_apply the same ring does not drift apart") {
  const auto world = lock_step("ring", 6);
  const auto run = pulled_to_zero(6, options_with(0.1, true), taking_sides(6));
  const double before = run->disagreement();
  walk(*world, *run, at_seconds(200.5));
  CHECK(run->disagreement() <= before * (1 + 1e-12));
}

TEST_CASE(
    "only a unification bounds the literal form: between two of them disagreement is at most (1 + eta)^P of the "
    "first") {
  const auto world = lock_step("ring", 6);
  world->settings.unification.period = from_seconds(5.5);
  const auto run =
      std::make_unique<SerialRun<double>>(pulls_towards(taking_sides(6)), make_draco<double>(options_with(0.1)), taking_sides(6));
  double largest = 0;
  run->after = [&](const Step& step) {
    if (step.kind == StepKind::merge) largest = std::max(largest, run->disagreement());
  };
  walk(*world, *run, at_seconds(110.75));
  // Alternating pulls c = +-1: in half a period the drift is d <- (1 + eta) d - eta, from 1 at the start, from 0 later.
  CHECK(largest < 6 * std::pow(1.1, 12) * 4);
  CHECK(run->disagreement() < 6);
}

TEST_CASE("the same drift shows in free time, with Poisson clocks: it grows, and self_apply mends it") {
  const auto disagreement = [](bool self_apply) {
    const auto world = lock_step("ring", 6);
    world->push.compute = {TimerLaw::poisson(1)};
    const auto run = pulled_to_zero(6, options_with(0.1, self_apply), taking_sides(6));
    walk(*world, *run, at_seconds(60));
    return run->disagreement();
  };
  CHECK(disagreement(false) > 6 * 100);
  CHECK(disagreement(true) < 12);
}
