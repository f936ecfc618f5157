// D-PSGD, DeceFL, asynchronous DSGD and their relatives against dense loops.
#include <doctest/doctest.h>

#include <cmath>

#include "algos/entries.hpp"
#include "algos/gossip.hpp"
#include "tests/support/quadratic_world.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

using Word = std::string;
using Whole = std::int64_t;

const Matrix<double> averaging = Matrix<double>::Constant(6, 6, 1.0 / 6);

Graph complete_graph(std::uint32_t clients) {
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < clients; ++i)
    for (std::uint32_t j = i + 1; j < clients; ++j) edges.push_back({{i}, {j}});
  return Graph(clients, false, edges);
}

// Everybody hears everybody, all with the same weight.
LockStep averaging_run(const QuadraticWorld& world, const CatalogueEntry& entry, const AlgorithmOptions& options) {
  return world.lock_step(entry, options,
                         {.graph = complete_graph(6), .program = entry.needs(options).program, .merge = {averaging}});
}

}  // namespace

// ---- the meeting of models ------------------------------------------------------------------------------------------

TEST_CASE("a model moves towards every message by its weight, all compared with the model as it was") {
  LoneClient client(entries::dpsgd, {}, numbers({1, 2}), pull_to_zero(2));
  const Payload one = client.payload(numbers({3, 2})), other = client.payload(numbers({1, 6}));
  client.merge({{{1}, 0.25, one}, {{2}, 0.5, other}});  // (1, 2) + 1/4 (2, 0) + 1/2 (0, 4)
  CHECK(client.model() == numbers({1.5, 4}));
}

TEST_CASE("an empty window leaves the model as it is, bit for bit") {
  LoneClient client(entries::dpsgd, {}, numbers({0.1, -0.3}), pull_to_zero(2));
  client.merge({});
  CHECK(client.model() == numbers({0.1, -0.3}));
}

TEST_CASE("long models meet as short ones do, to the last number") {
  constexpr Index size = 5003;
  LoneClient client(entries::async_dsgd, options_of({{"xi", 0.5}}), Vector<double>::LinSpaced(size, 0, 1), pull_to_zero(size));
  const Payload ones = client.payload(Vector<double>::Ones(size));
  client.merge({{{1}, 0.5, ones}});
  for (Index l = 0; l < size; ++l) {
    const double before = static_cast<double>(l) / (size - 1);
    REQUIRE(std::abs(client.model()[l] - (before + 0.25 * (1 - before))) < 1e-12);
  }
}

// ---- D-PSGD

TEST_CASE("adapt then combine is X+ = W (X - eta G)") {
  const QuadraticWorld world(6, 3, 1);
  LockStep run = world.lock_step(entries::dpsgd, options_of({{"eta", 0.2}}));
  Matrix<double> x = world.start;
  run.run(20, [&](std::uint64_t round) {
    if (round > 0) x = (world.weights * (x - 0.2 * world.gradients(x))).eval();
    REQUIRE(distance(models(run, 6), x) < 1e-12);
  });
}

TEST_CASE("combine then adapt is X+ = W X - eta G, the gradients those of the models before they met") {
  const QuadraticWorld world(6, 3, 2);
  LockStep run = world.lock_step(entries::dpsgd, options_of({{"eta", 0.2}, {"variant", Word("cta")}}));
  Matrix<double> x = world.start;
  run.run(20, [&](std::uint64_t round) {
    if (round > 0) x = (world.weights * x - 0.2 * world.gradients(x)).eval();
    REQUIRE(distance(models(run, 6), x) < 1e-12);
  });
}

TEST_CASE("both variants move the mean model along the mean gradient") {
  for (const char* variant : {"atc", "cta"}) {
    const QuadraticWorld world(6, 3, 3);
    LockStep run = world.lock_step(entries::dpsgd, options_of({{"eta", 0.1}, {"variant", Word(variant)}}));
    Matrix<double> before = world.start;
    run.run(10, [&](std::uint64_t round) {
      const Matrix<double> x = models(run, 6);
      if (round > 0) REQUIRE(distance(mean_of(x), mean_of(before) - 0.1 * mean_of(world.gradients(before))) < 1e-12);
      before = x;
    });
  }
}

TEST_CASE("adapt then combine with equal weights is centralised descent") {
  QuadraticWorld world(6, 3, 4);
  world.start = Vector<double>::Ones(6) * world.start.row(0);
  LockStep run = averaging_run(world, entries::dpsgd, options_of({{"eta", 0.3}}));
  Vector<double> x = world.start.row(0).transpose();
  run.run(15, [&](std::uint64_t round) {
    if (round > 0) x -= 0.3 * mean_of(world.gradients(Vector<double>::Ones(6) * x.transpose()));
    for (std::uint32_t i = 0; i < 6; ++i) REQUIRE(distance(run.model(i), x) < 1e-12);
  });
}

TEST_CASE("a diminishing step is eta / (k + offset) in computation k") {
  LoneClient client(entries::dpsgd, options_of({{"eta", 1.0}, {"step", Word("diminishing")}, {"step_offset", 2.0}}), numbers({4}),
                    pull_to_zero(1));
  client.compute(0);  // 4 - 4/2
  CHECK(client.model() == numbers({2}));
  client.compute(2);  // 2 - 2/4
  CHECK(client.model() == numbers({1.5}));
}

TEST_CASE("a computation that had begun steps along the old gradient from the model of now, and the next starts anew") {
  LoneClient client(entries::dpsgd, options_of({{"eta", 0.5}}), numbers({4}), pull_to_zero(1));
  const Payload message = client.payload(numbers({8}));
  client.begin();
  client.merge({{{1}, 0.5, message}});  // 6
  client.compute();                     // 6 - 4/2
  CHECK(client.model() == numbers({4}));
  client.compute(1);  // 4 - 4/2
  CHECK(client.model() == numbers({2}));
}

TEST_CASE("a computation without a gradient leaves the model alone") {
  for (const CatalogueEntry* entry :
       {&entries::dpsgd, &entries::decefl, &entries::async_dsgd, &entries::dfedsam, &entries::local_only}) {
    CAPTURE(entry->name);
    LoneClient client(*entry, {}, numbers({4}), pull_to_zero(1));
    client.compute(0, false);
    CHECK(client.model() == numbers({4}));
  }
}

TEST_CASE("local_only is D-PSGD with W = I, and has nothing to send") {
  const QuadraticWorld world(6, 3, 5);
  LockStep run = world.lock_step(entries::local_only, options_of({{"eta", 0.2}}));
  Matrix<double> x = world.start;
  run.run(10, [&](std::uint64_t round) {
    if (round > 0) x -= 0.2 * world.gradients(x);
    REQUIRE(distance(models(run, 6), x) < 1e-12);
  });
  CHECK_FALSE(entries::local_only.needs({}).sends);
}

// ---- DeceFL

TEST_CASE("DeceFL is w+ = W w - eta_t c g(w), each client with the step size and the weight that are its own") {
  const QuadraticWorld world(6, 3, 6);
  const std::vector<double> eta{0.9, 0.8, 0.7, 0.6, 0.5, 0.4};
  LockStep run = world.lock_step(
      entries::decefl,
      options_of({{"eta", eta}, {"step", Word("diminishing")}, {"step_offset", 3.0}, {"data_weight", Word("size")}}));
  Matrix<double> w = world.start;
  run.run(12, [&](std::uint64_t round) {
    REQUIRE(distance(models(run, 6), w) < 1e-12);
    Matrix<double> next = world.weights * w;
    for (std::uint32_t i = 0; i < 6; ++i)  // every client has one sample of six
      next.row(i) -= (eta[i] / (static_cast<double>(round) + 3) / 6 * world.gradient(i, w.row(i).transpose())).transpose();
    w = next;
  });
}

TEST_CASE("with equal weights DeceFL is the FedAvg of its paper: the mean of all, minus the own gradient") {
  const QuadraticWorld world(6, 3, 7);
  LockStep decefl = averaging_run(world, entries::decefl, options_of({{"eta", 0.15}}));
  LockStep fedavg = averaging_run(world, entries::fedavg_paper, options_of({{"eta", 0.15}}));
  Matrix<double> w = world.start;
  std::vector<Matrix<double>> dull{w};
  for (int round = 0; round < 10; ++round) dull.push_back(w = (averaging * w - 0.15 * world.gradients(w)).eval());
  decefl.run(10, [&](std::uint64_t round) { REQUIRE(distance(models(decefl, 6), dull[round]) < 1e-12); });
  fedavg.run(10, [&](std::uint64_t round) { REQUIRE(distance(models(fedavg, 6), dull[round]) < 1e-12); });
}

TEST_CASE("clients that are pulled to their starts come to eta ((1 + eta) I - W)^-1 w(0) with a constant step") {
  QuadraticWorld world(6, 1, 8);
  for (std::uint32_t i = 0; i < 6; ++i) {
    world.a[i].setIdentity();
    world.c[i] = world.start.row(i).transpose();
  }
  const double eta = 0.2;
  LockStep run = world.lock_step(entries::decefl, options_of({{"eta", eta}}));
  run.run(400);
  const Matrix<double> matrix = (1 + eta) * Matrix<double>::Identity(6, 6) - world.weights;
  const Vector<double> limit = QuadraticWorld::solve(matrix, eta * Vector<double>(world.start.col(0)));
  CHECK(distance(models(run, 6), limit) < 1e-12);
}

TEST_CASE("clients that are pulled to their starts come to the mean of all with a diminishing step") {
  QuadraticWorld world(6, 1, 9);
  for (std::uint32_t i = 0; i < 6; ++i) {
    world.a[i].setIdentity();
    world.c[i] = world.start.row(i).transpose();
  }
  LockStep run = world.lock_step(entries::decefl, options_of({{"eta", 1.0}, {"step", Word("diminishing")}, {"step_offset", 2.0}}));
  run.run(20000);
  const Matrix<double> limit = Vector<double>::Constant(6, world.start.col(0).mean());
  CHECK(distance(models(run, 6), limit) < 1e-3);
}

TEST_CASE("a client's data weight is its share of all samples, or m times that") {
  const auto after_one_step = [](const char* weight) {  // client 0 has 1 sample of 8, there are 3 clients
    LoneClient client(entries::decefl, options_of({{"eta", 1.0}, {"data_weight", Word(weight)}}), numbers({8}), pull_to_zero(1));
    client.compute();
    return client.model()[0];
  };
  CHECK(after_one_step("none") == 0);
  CHECK(after_one_step("size") == 7);
  CHECK(after_one_step("size_norm") == 5);
}

TEST_CASE("the pseudo-gradient is what local training changed, decay, clipping and all") {
  const auto after_one_step = [](AlgorithmOptions options) {  // w = 4, g(u) = u
    options.set("form", Word("pseudo"));
    options.set("local_lr", 0.5);
    options.set("local_steps", Whole{2});
    options.set("mu", 0.5);
    LoneClient client(entries::decefl, options, numbers({4}), pull_to_zero(1));
    client.compute();
    return client.model()[0];
  };
  CHECK(after_one_step({}) == 2.5);                                                        // u: 4, 2, 1
  CHECK(after_one_step(options_of({{"clip", 1.0}})) == 3.5);                               // u: 4, 3.5, 3
  CHECK(after_one_step(options_of({{"lr_decay", 0.5}, {"lr_every", Whole{1}}})) == 2.75);  // u: 4, 2, 1.5
  CHECK(after_one_step(options_of({{"weight_decay", 0.5}})) == 2.125);                     // u: 4, 1, 0.25
}

TEST_CASE("the pseudo-gradient belongs to the model before it met the others") {
  const QuadraticWorld world(6, 3, 10);
  LockStep run = world.lock_step(entries::decefl,
                                 options_of({{"form", Word("pseudo")}, {"local_lr", 0.1}, {"local_steps", Whole{3}}, {"mu", 0.4}}));
  Matrix<double> w = world.start;
  run.run(8, [&](std::uint64_t round) {
    if (round > 0) {
      Matrix<double> u = w;
      for (int s = 0; s < 3; ++s) u -= 0.1 * world.gradients(u);
      w = (world.weights * w - 0.4 * (w - u)).eval();
    }
    REQUIRE(distance(models(run, 6), w) < 1e-12);
  });
}

// ---- asynchronous DSGD

TEST_CASE("without staleness, noise and damping asynchronous DSGD is D-PSGD, and so are its synchronous baselines") {
  const QuadraticWorld world(6, 3, 11);
  for (const CatalogueEntry* entry : {&entries::async_dsgd, &entries::sync_dsgd, &entries::sync_barrier_dsgd}) {
    CAPTURE(entry->name);
    LockStep run = world.lock_step(*entry, options_of({{"eta", 0.2}}));
    Matrix<double> x = world.start;
    run.run(10, [&](std::uint64_t round) {
      if (round > 0) x = (world.weights * (x - 0.2 * world.gradients(x))).eval();
      REQUIRE(distance(models(run, 6), x) < 1e-12);
    });
  }
}

TEST_CASE("noise is added to the consensus term: it is damped with it, and stragglers keep their model before") {
  const QuadraticWorld world(6, 3, 12);
  Stream stream(12, {1}, Purpose::noise);
  LockStepWorld lock_step{.graph = world.graph, .merge = {world.weights}};
  lock_step.with_gradient = [](std::uint64_t round, ClientId client) { return (round + client.value) % 3 != 0; };
  lock_step.choices.resize(6);
  std::vector<Matrix<double>> noise;
  for (std::uint64_t round = 0; round < 9; ++round) {
    noise.push_back(QuadraticWorld::draw(stream, 6, 3));
    for (std::uint32_t i = 0; i < 6; ++i)
      lock_step.choices[i].noise[round] = {noise[round](i, 0), noise[round](i, 1), noise[round](i, 2)};
  }
  const auto uses_gradient = lock_step.with_gradient;
  LockStep run = world.lock_step(entries::async_dsgd, options_of({{"eta", 0.2}, {"xi", 0.6}}), std::move(lock_step));
  Matrix<double> x = world.start;
  run.run(9, [&](std::uint64_t round) {
    if (round == 0) return;
    Matrix<double> half = x;
    const Matrix<double> g = world.gradients(x);
    for (std::uint32_t i = 0; i < 6; ++i)
      if (uses_gradient(round - 1, {i})) half.row(i) -= 0.2 * g.row(i);
    x = (0.4 * half + 0.6 * (world.weights * half + noise[round - 1])).eval();
    REQUIRE(distance(shown(run, 6, "half"), half) < 1e-12);
    REQUIRE(distance(models(run, 6), x) < 1e-12);
    REQUIRE(distance(mean_of(x), mean_of(half) + 0.6 * mean_of(noise[round - 1])) < 1e-12);
  });
}

TEST_CASE("a straggler's job goes on: its gradient is the one at its start, also after a phase without a result") {
  LoneClient client(entries::async_dsgd, options_of({{"eta", 0.5}}), numbers({4}), pull_to_zero(1), true);
  const Payload message = client.payload(numbers({8}));
  client.begin();
  client.compute(0, false);
  client.merge({{{1}, 0.5, message}});  // 6
  client.compute(1);                    // 6 - 4/2
  CHECK(client.model() == numbers({4}));
}

TEST_CASE("equalised steps are as long in the mean, whatever a client's chance to straggle") {
  const AlgorithmOptions options = options_of({{"eta", 0.4}, {"equalise", true}, {"nu", std::vector<double>{0, 0.5, 0.75}}});
  for (std::uint32_t i = 0; i < 3; ++i) {  // eta (1/4) / (1 - nu_i) = 0.1, 0.2, 0.4
    LoneClient client(entries::async_dsgd, options, numbers({1}), pull_to_zero(1), true, {i});
    client.compute();
    CHECK(client.model()[0] == doctest::Approx(1 - 0.1 * (1 << i)).epsilon(1e-15));
  }
}

// ---- DFedSAM

TEST_CASE("a sharpness-aware step takes the gradient rho ahead, and none where the loss is flat") {
  const AlgorithmOptions options = options_of({{"eta", 0.5}, {"rho", 1.0}});
  LoneClient client(entries::dfedsam, options, numbers({3}), pull_to_zero(1));
  client.compute();  // g(3 + 1) = 4
  CHECK(client.model() == numbers({1}));
  LoneClient flat(entries::dfedsam, options, numbers({0}), pull_to_zero(1));
  flat.compute();
  CHECK(flat.model() == numbers({0}));
}

TEST_CASE("DFedSAM with rho = 0 and one local step is adapt then combine") {
  const QuadraticWorld world(6, 3, 13);
  LockStep run = world.lock_step(entries::dfedsam, options_of({{"eta", 0.2}, {"rho", 0.0}}));
  LockStep atc = world.lock_step(entries::dpsgd, options_of({{"eta", 0.2}}));
  run.run(10);
  atc.run(10);
  CHECK(distance(models(run, 6), models(atc, 6)) < 1e-12);
}

TEST_CASE("Q gossip steps apply W Q times to what K local steps made") {
  const QuadraticWorld world(6, 3, 14);
  const AlgorithmOptions options = options_of({{"eta", 0.1}, {"rho", 0.05}, {"local_steps", Whole{4}}, {"gossip_steps", Whole{3}}});
  LockStep run = world.lock_step(entries::dfedsam, options);
  Matrix<double> x = world.start;
  run.run(5, [&](std::uint64_t round) {
    if (round > 0) {
      for (std::uint32_t i = 0; i < 6; ++i) {
        Vector<double> z = x.row(i).transpose();
        for (int s = 0; s < 4; ++s) {
          const Vector<double> g = world.gradient(i, z);
          z -= 0.1 * world.gradient(i, z + 0.05 * g / g.norm());
        }
        x.row(i) = z.transpose();
      }
      x = (world.weights * world.weights * world.weights * x).eval();
    }
    REQUIRE(distance(models(run, 6), x) < 1e-12);
  });
  CHECK(entries::dfedsam.needs(options).send_times == 3);
}

// ---- event-triggered gossip

TEST_CASE("an event-triggered client sends when its model has moved farther than the threshold since it last sent") {
  LoneClient client(entries::event_triggered, options_of({{"eta", 0.5}, {"threshold", 1.0}}), numbers({4, 0}), pull_to_zero(2));
  CHECK_FALSE(client.decide());
  client.compute(0);  // (2, 0)
  CHECK(client.decide());
  const Payload sent = client.publish();
  CHECK_FALSE(client.decide());
  client.compute(1);  // (1, 0): moved by 1, and no farther
  CHECK_FALSE(client.decide());
  client.compute(2);
  CHECK(client.decide());
  CHECK(Vector<double>(numbers_of<double>(sent.common[0])) == numbers({2, 0}));
}

TEST_CASE("with threshold 0 every model that has moved is sent") {
  LoneClient client(entries::event_triggered, options_of({{"threshold", 0.0}}), numbers({4}), pull_to_zero(1));
  CHECK_FALSE(client.decide());
  client.compute();
  CHECK(client.decide());
}

// ---- options

TEST_CASE("options of the gossip family that cannot be are refused with the condition that fails") {
  const auto complaint = [](const CatalogueEntry& entry, const char* name, AlgorithmOptions::Value value) {
    return complaint_about(entry, options_of({{name, std::move(value)}}));
  };
  CHECK(complaint(entries::dpsgd, "variant", Word("best")) == "algorithm.variant = \"best\": must be \"atc\" or \"cta\"");
  CHECK(complaint(entries::dpsgd, "eta", 0.0) == "algorithm.eta = 0: must be greater than 0");
  CHECK(complaint(entries::decefl, "form", Word("x")) == "algorithm.form = \"x\": must be \"gradient\" or \"pseudo\"");
  CHECK(complaint(entries::decefl, "local_steps", Whole{0}) == "algorithm.local_steps = 0: must be at least 1");
  CHECK(complaint(entries::decefl, "clip", -1.0) == "algorithm.clip = -1: must be at least 0");
  CHECK(complaint(entries::decefl, "lr_decay", 1.5) == "algorithm.lr_decay = 1.5: must be greater than 0 and at most 1");
  CHECK(complaint(entries::async_dsgd, "xi", 0.0) == "algorithm.xi = 0: must be greater than 0 and at most 1");
  CHECK(complaint(entries::dfedsam, "gossip_steps", Whole{40}) == "algorithm.gossip_steps = 40: must be at least 1 and at most 39");
  CHECK(complaint(entries::event_triggered, "threshold", -1.0) == "algorithm.threshold = -1: must be at least 0");
  CHECK(complaint_about(entries::async_dsgd, options_of({{"equalise", true}, {"nu", std::vector<double>{0, 1}}})) ==
        "algorithm.nu = 1: must be at least 0 and less than 1");
}

TEST_CASE("a gossiping client of floats does what one of doubles does, to float accuracy") {
  const AlgorithmOptions options = options_of({{"eta", 0.25}});
  TensorPool pool;
  Scratch<float> scratch;
  const auto learner = make_quadratic<float>(Matrix<float>::Identity(2, 2), Vector<float>::Zero(2));
  const Vector<float> start = Vector<float>::Constant(2, 4);
  const auto algorithm = make_algorithm<float>(entries::dpsgd, options)({}, view(start), pool);
  const BatchPlan plan;
  Work<float> work(*learner, plan, scratch, pool);
  algorithm->compute(work, {});
  CHECK(Vector<float>(algorithm->model()) == Vector<float>::Constant(2, 3));
}
