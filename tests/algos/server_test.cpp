// The algorithms with a centre on numbers that can be computed by hand, and against dense loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "algos/local_solver.hpp"
#include "algos/penalty.hpp"
#include "learning/models/problems.hpp"
#include "runtime/protocols/gather_first.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/seated_run.hpp"
#include "tests/support/values.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

using Learners = std::vector<std::unique_ptr<Learner<double>>>;

Vector<double> normal_vector(Index size, std::uint64_t seed) {
  Stream stream(seed, {0}, Purpose::noise);
  Vector<double> numbers(size);
  for (Index i = 0; i < size; ++i) numbers[i] = stream.normal();
  return numbers;
}

// f_i(x) = 1/2 (x - c_i)^T A_i (x - c_i), A_i = R R^T / 3 + 1/2 with eigenvalues between 0.5 and about 4.
struct Quadratics {
  explicit Quadratics(std::uint32_t clients, std::uint64_t seed = 1) {
    for (std::uint32_t i = 0; i < clients; ++i) {
      const Vector<double> numbers = normal_vector(9, 100 * seed + i);
      const Matrix<double> r = Eigen::Map<const Matrix<double>>(numbers.data(), 3, 3);
      a.push_back(r * r.transpose() / 3 + 0.5 * Matrix<double>::Identity(3, 3));
      c.push_back(normal_vector(3, 1000 * seed + i));
    }
  }
  Learners learners() const {
    Learners all;
    for (std::size_t i = 0; i < a.size(); ++i) all.push_back(make_quadratic<double>(a[i], c[i]));
    return all;
  }
  Vector<double> gradient(std::size_t i, const Vector<double>& x) const { return a[i] * (x - c[i]); }
  Vector<double> mean_gradient(const Vector<double>& x) const {
    Vector<double> sum = Vector<double>::Zero(3);
    for (std::size_t i = 0; i < a.size(); ++i) sum += gradient(i, x) / static_cast<double>(a.size());
    return sum;
  }
  // argmin f_i(x) + |x - v|^2 / (2 eta), by very many gradient steps.
  Vector<double> near(std::size_t i, const Vector<double>& v, double eta) const {
    Vector<double> x = v;
    for (int step = 0; step < 4000; ++step) x -= 0.1 * (gradient(i, x) + (x - v) / eta);
    return x;
  }

  std::vector<Matrix<double>> a;
  std::vector<Vector<double>> c;
};

std::int64_t whole(std::int64_t value) { return value; }
std::string word(const char* value) { return value; }

// A run of one algorithm under the server protocol; a round takes about a second.
struct Federation {
  Federation(const char* name, const AlgorithmOptions& options, Learners learners, const std::vector<Vector<double>>& starts,
             std::vector<std::uint32_t> samples = {})
      : world(topologies::complete(starts.size())),
        run(world.graph, std::move(learners), make_algorithm<double>(catalogue_entry(name), options), starts, {}, {},
            std::move(samples)) {
    world.push.needs = catalogue_entry(name).needs(options);
    world.push.compute = {TimerLaw::fixed(0.8, 0)};
    server.push = board.settings.push = &world.push;
  }
  /// Then after_round(0) at the end of the opening, and after_round(r) when r rounds are over.
  void rounds(
      std::uint64_t count, const std::function<void(std::uint64_t)>& after_round = [](std::uint64_t) {}) {
    world.on_round = [&](Time, std::uint64_t round) {
      if (round <= count) after_round(round);
      if (round == count) last_model = run.model(0);
    };
    const auto make = [&](ClientId client) -> std::unique_ptr<Protocol> {
      if (server.gathers_first()) return std::make_unique<GatherFirst>(board, client);
      return std::make_unique<Server>(server, client);
    };
    world.run(make, run, 1.05 * static_cast<double>(count) + 2.1);
  }

  ProtocolWorld world;
  ServerSettings server;
  GatherBoard board;
  SeatedRun run;
  Vector<double> last_model;  // at the centre
};

std::vector<Vector<double>> everywhere(const Vector<double>& start, std::size_t clients) {
  return std::vector<Vector<double>>(clients, start);
}

std::string complaint(const char* name, const AlgorithmOptions& options) {
  try {
    make_algorithm<float>(catalogue_entry(name), options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("fedavg by hand: two local steps of each, weighed by samples") {
  // f_i = (x - c_i)^2 / 2 with eta = 1/2: two steps from 0 come to 3/4 c_i. Samples 1 and 3.
  Learners learners;
  learners.push_back(make_quadratic<double>(Matrix<double>::Identity(1, 1), numbers({4})));
  learners.push_back(make_quadratic<double>(Matrix<double>::Identity(1, 1), numbers({8})));
  Federation federation("fedavg", options_of({{"eta", 0.5}, {"local_steps", whole(2)}}), std::move(learners),
                        everywhere(numbers({0}), 2), {1, 3});
  federation.rounds(1);
  CHECK(federation.last_model == numbers({0.25 * 3 + 0.75 * 6}));
}

TEST_CASE("fedavg with uniform weights takes the plain mean of those that were selected") {
  Learners learners;
  for (const double centre : {4.0, 8.0, 100.0})
    learners.push_back(make_quadratic<double>(Matrix<double>::Identity(1, 1), numbers({centre})));
  Federation federation("fedavg", options_of({{"eta", 0.5}, {"weighting", word("uniform")}}), std::move(learners),
                        everywhere(numbers({0}), 3), {1, 3, 7});
  federation.server.selected = {{{0}, {1}}};
  federation.rounds(1);
  CHECK(federation.last_model == numbers({3}));
}

TEST_CASE("fedavg is the dense loop, with local steps, weights and selections") {
  const Quadratics problem(5);
  const std::vector<std::uint32_t> samples{3, 1, 4, 1, 5};
  const std::vector<std::vector<std::uint32_t>> selected{{0, 1, 2, 3, 4}, {1, 3}, {0, 4}, {2}, {0, 1, 2}};
  Federation federation("fedavg", options_of({{"eta", 0.1}, {"local_steps", whole(4)}}), problem.learners(),
                        everywhere(numbers({1, -1, 2}), 5), samples);
  for (const auto& round : selected) {
    federation.server.selected.emplace_back();
    for (const std::uint32_t client : round) federation.server.selected.back().push_back({client});
  }
  Vector<double> x = numbers({1, -1, 2});
  federation.rounds(5, [&](std::uint64_t round) {
    CHECK(distance(federation.run.model(0), x) < 1e-12);
    if (round == 5) return;
    Vector<double> sum = Vector<double>::Zero(3);
    double total = 0;
    for (const std::uint32_t i : selected[round]) {
      Vector<double> mine = x;
      for (int step = 0; step < 4; ++step) mine -= 0.1 * problem.gradient(i, mine);
      sum += samples[i] * mine;
      total += samples[i];
    }
    x = sum / total;
  });
}

TEST_CASE("fedavg with one step of everybody and equal weights is centralised gradient descent") {
  const Quadratics problem(4);
  const std::vector<Vector<double>> starts = everywhere(numbers({1, 2, 3}), 4);
  Federation averaging("fedavg", options_of({{"eta", 0.2}, {"weighting", word("uniform")}}), problem.learners(), starts);
  Federation central("centralised", options_of({{"eta", 0.2}}), problem.learners(), starts);
  averaging.rounds(20);
  central.rounds(20);
  Vector<double> x = starts[0];
  for (int step = 0; step < 20; ++step) x -= 0.2 * problem.mean_gradient(x);
  CHECK(distance(averaging.last_model, x) < 1e-12);
  CHECK(distance(central.last_model, x) < 1e-12);
}

TEST_CASE("a diminishing step goes by the round") {
  const Quadratics problem(3);
  Federation federation("centralised", options_of({{"eta", 0.5}, {"step", word("diminishing")}, {"step_offset", 2.0}}),
                        problem.learners(), everywhere(numbers({1, 2, 3}), 3));
  federation.rounds(6);
  Vector<double> x = numbers({1, 2, 3});
  for (int round = 0; round < 6; ++round) x -= 0.5 / (round + 2.0) * problem.mean_gradient(x);
  CHECK(distance(federation.last_model, x) < 1e-12);
}

TEST_CASE("where nobody answers the model stays as it is, whatever the algorithm") {
  for (const char* name : {"fedavg", "centralised", "fedmid", "fedavg_plus"}) {
    CAPTURE(name);
    const Quadratics problem(3);
    Federation federation(name, {}, problem.learners(), everywhere(numbers({1, 2, 3}), 3));
    federation.world.push.compute = {TimerLaw::fixed(9, 0)};
    federation.world.push.limits.deadline = from_seconds(1);
    federation.rounds(3);
    CHECK(federation.last_model == numbers({1, 2, 3}));
  }
}

TEST_CASE("a client is scored with the model that it last heard of") {
  const Quadratics problem(3);
  Federation federation("fedavg", options_of({{"eta", 0.1}}), problem.learners(), everywhere(numbers({1, 2, 3}), 3));
  Vector<double> before = numbers({1, 2, 3});
  federation.rounds(4, [&](std::uint64_t round) {
    if (round > 0) CHECK(federation.run.model(1) == before);
    before = federation.run.model(0);
  });
}

TEST_CASE("fedmid by hand: proximal steps of clients and server") {
  // One client, f = (x - 4)^2 / 2, h = 0.4 |x|, from 0: gradient step of 1/2 to 2, prox to 1.8; server step 1, prox
  // 0.2.
  Learners learners;
  learners.push_back(make_quadratic<double>(Matrix<double>::Identity(1, 1), numbers({4})));
  AlgorithmOptions options = options_of({{"eta_c", 0.5}, {"eta_s", 1.0}, {"h", word("l1")}, {"h_lam", 0.4}});
  Federation federation("fedmid", options, std::move(learners), everywhere(numbers({0}), 1));
  federation.rounds(1);
  CHECK(federation.last_model[0] == doctest::Approx(1.6).epsilon(1e-14));

  Learners again;
  again.push_back(make_quadratic<double>(Matrix<double>::Identity(1, 1), numbers({4})));
  options.set("server_prox", false);
  Federation without("fedmid", options, std::move(again), everywhere(numbers({0}), 1));
  without.rounds(1);
  CHECK(without.last_model[0] == doctest::Approx(1.8).epsilon(1e-14));
}

TEST_CASE("fedmid is the dense loop") {
  const Quadratics problem(4);
  const Penalty penalty(PenaltyKind::l1, 0.2, 0, 0);
  const AlgorithmOptions options =
      options_of({{"eta_c", 0.1}, {"eta_s", 0.7}, {"local_steps", whole(3)}, {"h", word("l1")}, {"h_lam", 0.2}});
  Federation federation("fedmid", options, problem.learners(), everywhere(numbers({1, -1, 2}), 4));
  federation.rounds(10);
  const auto prox = [&](Vector<double>& x, double step) {
    for (double& number : x) number = penalty.prox(number, step);
  };
  Vector<double> x = numbers({1, -1, 2});
  for (int round = 0; round < 10; ++round) {
    Vector<double> change = Vector<double>::Zero(3);
    for (std::size_t i = 0; i < 4; ++i) {
      Vector<double> mine = x;
      for (int step = 0; step < 3; ++step) {
        mine -= 0.1 * problem.gradient(i, mine);
        prox(mine, 0.1);
      }
      change += (mine - x) / 4;
    }
    x += 0.7 * change;
    prox(x, 0.7 * 0.1 * 3);
  }
  CHECK(distance(federation.last_model, x) < 1e-12);
}

TEST_CASE("the exact local solver finds the minimiser of a quadratic, and the same from every start") {
  const Quadratics problem(1);
  const auto learner = make_quadratic<double>(problem.a[0], problem.c[0]);
  const ProximalSolver solver({options_of({{"local", word("exact")}}), solver_options});
  const Vector<double> v = numbers({3, -2, 5});
  TensorPool pool;
  Scratch<double> scratch;
  const BatchPlan plan;
  const Work<double> work(*learner, plan, scratch, pool);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Vector<double> x = 100 * normal_vector(3, seed);
    solver(work, 0, view(x), view(v), 0.5);
    CHECK(distance(problem.gradient(0, x) + (x - v) / 0.5, numbers({0, 0, 0})) < 1e-12);
  }
}

TEST_CASE("the exact local solver comes close on a loss that is not quadratic") {
  const Vector<double> features = normal_vector(40, 5);
  Vector<double> labels(20);
  for (Index i = 0; i < 20; ++i) labels[i] = i % 3 == 0;
  const auto learner = make_logistic<double>(Eigen::Map<const Matrix<double>>(features.data(), 20, 2), labels, 0.01);
  const ProximalSolver solver({options_of({{"local", word("exact")}}), solver_options});
  TensorPool pool;
  Scratch<double> scratch;
  const BatchPlan plan;
  const Work<double> work(*learner, plan, scratch, pool);
  Vector<double> x = numbers({4, -3}), g(2);
  const Vector<double> v = numbers({1, 1});
  solver(work, 0, view(x), view(v), 2.0);
  learner->gradient(view(std::as_const(x)), {}, view(g), scratch);
  CHECK(distance(g + (x - v) / 2, numbers({0, 0})) < 1e-9);
}

TEST_CASE("feddr is the dense loop, with an opening and selections") {
  const Quadratics problem(4);
  const Penalty penalty(PenaltyKind::l1, 0.2, 0, 0);
  const double eta = 0.5, alpha = 0.9;
  const AlgorithmOptions options =
      options_of({{"eta", eta}, {"alpha", alpha}, {"local", word("exact")}, {"h", word("l1")}, {"h_lam", 0.2}});
  const Vector<double> start = numbers({1, -1, 2});
  Federation federation("feddr", options, problem.learners(), everywhere(start, 4));
  const std::vector<std::vector<std::uint32_t>> selected{{0, 1}, {2}, {0, 3}, {0, 1, 2, 3}, {1, 2}};
  for (const auto& round : selected) {
    federation.server.selected.emplace_back();
    for (const std::uint32_t client : round) federation.server.selected.back().push_back({client});
  }
  Vector<double> xbar = start;
  std::vector<Vector<double>> x(4, start), y(4, start), xhat(4, start);
  const auto step = [&](const std::vector<std::uint32_t>& clients) {
    for (const std::uint32_t i : clients) {
      y[i] += alpha * (xbar - x[i]);
      x[i] = problem.near(i, y[i], eta);
      xhat[i] = 2 * x[i] - y[i];
    }
    xbar.setZero();
    for (const Vector<double>& one : xhat) xbar += one / 4;
    for (double& number : xbar) number = penalty.prox(number, eta);
  };
  step({0, 1, 2, 3});
  federation.rounds(5, [&](std::uint64_t round) {
    CHECK(distance(federation.run.shown(0, "xbar"), xbar) < 1e-11);
    for (std::uint32_t i = 0; i < 4; ++i) {
      CHECK(distance(federation.run.shown(i, "x"), x[i]) < 1e-11);
      CHECK(distance(federation.run.shown(i, "y"), y[i]) < 1e-11);
    }
    if (round < 5) step(selected[round]);
  });
}

TEST_CASE("feddr with alpha = 1 from a plain start is fedadmm, also when few are selected") {
  const Quadratics problem(5);
  const auto options = [](bool of_feddr, const char* local) {
    AlgorithmOptions all = options_of({{"eta", 0.4}, {"local", word(local)}, {"local_lr", 0.1}, {"h", word("l1")}, {"h_lam", 0.1}});
    if (of_feddr) all.set("alpha", 1.0);
    if (of_feddr) all.set("init", word("plain"));
    return all;
  };
  for (const char* local : {"exact", "gd"}) {
    CAPTURE(local);
    Federation one("feddr", options(true, local), problem.learners(), everywhere(numbers({1, -1, 2}), 5));
    Federation other("fedadmm", options(false, local), problem.learners(), everywhere(numbers({1, -1, 2}), 5));
    one.server.share = other.server.share = 0.4;
    std::vector<Vector<double>> trajectory;
    one.rounds(30, [&](std::uint64_t) { trajectory.push_back(one.run.model(0)); });
    other.rounds(30, [&](std::uint64_t round) { CHECK(distance(other.run.model(0), trajectory[round]) < 1e-11); });
    CHECK(trajectory.size() == 31);
  }
}

TEST_CASE("feddr and fedadmm end at the minimiser of the mean loss plus the penalty") {
  for (const char* name : {"feddr", "fedadmm"}) {
    CAPTURE(name);
    const Quadratics problem(4);
    const double lam = 0.3;
    Federation federation(name, options_of({{"eta", 0.5}, {"local", word("exact")}, {"h", word("l1")}, {"h_lam", lam}}),
                          problem.learners(), everywhere(numbers({1, -1, 2}), 4));
    federation.rounds(400);
    const Vector<double> x = federation.last_model, g = problem.mean_gradient(x);
    for (Index i = 0; i < 3; ++i) {
      if (x[i] == 0)
        CHECK(std::abs(g[i]) <= lam + 1e-9);
      else
        CHECK(g[i] == doctest::Approx(x[i] > 0 ? -lam : lam).epsilon(1e-7));
    }
  }
}

TEST_CASE("swarm is decefl on the averaging matrix: a mean of the models and a gradient of the client's own") {
  const Quadratics problem(6);
  std::vector<Vector<double>> starts, x;
  for (std::uint32_t i = 0; i < 6; ++i) starts.push_back(normal_vector(3, 77 + i));
  x = starts;
  Federation federation("swarm", options_of({{"eta", 0.15}}), problem.learners(), starts);
  federation.board.settings.leaders = {{3}, {0}, {5}, {5}};
  federation.board.settings.draws_leaders = true;
  const Matrix<double> w = Matrix<double>::Constant(6, 6, 1.0 / 6);
  federation.rounds(12, [&](std::uint64_t) {
    for (std::uint32_t i = 0; i < 6; ++i) CHECK(distance(federation.run.model(i), x[i]) < 1e-12);
    std::vector<Vector<double>> next(6, Vector<double>::Zero(3));
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j) next[i] += w(static_cast<Index>(i), static_cast<Index>(j)) * x[j];
      next[i] -= 0.15 * problem.gradient(i, x[i]);
    }
    x = next;
  });
}

TEST_CASE("swarm with local steps adds what they changed to the mean: one step is equation 25") {
  const Quadratics problem(6);
  std::vector<Vector<double>> starts, x;
  for (std::uint32_t i = 0; i < 6; ++i) starts.push_back(normal_vector(3, 78 + i));
  x = starts;
  Federation federation("swarm", options_of({{"eta", 0.15}, {"local_steps", 3.0}, {"lr_decay", 0.5}, {"lr_every", whole(2)}}),
                        problem.learners(), starts);
  federation.rounds(12, [&](std::uint64_t) {
    for (std::uint32_t i = 0; i < 6; ++i) CHECK(distance(federation.run.model(i), x[i]) < 1e-12);
    Vector<double> mean = Vector<double>::Zero(3);
    for (const Vector<double>& model : x) mean += model / 6;
    for (std::size_t i = 0; i < 6; ++i) {
      Vector<double> u = x[i];
      for (const double eta : {0.15, 0.15, 0.075}) u -= eta * problem.gradient(i, u);
      x[i] = mean + u - x[i];
    }
  });
}

TEST_CASE("leaders of swarm are drawn where they should be") {
  CHECK_FALSE(catalogue_entry("swarm").needs({}).draws_leaders);
  CHECK(catalogue_entry("swarm").needs(options_of({{"leader", word("random")}})).draws_leaders);
}

TEST_CASE("fedavg trains with a step size that falls within a round and begins anew with the next") {
  const Quadratics problem(3);
  Federation federation(
      "fedavg",
      options_of({{"eta", 0.2}, {"local_steps", 4.0}, {"lr_decay", 0.5}, {"lr_every", whole(2)}, {"weighting", word("uniform")}}),
      problem.learners(), everywhere(numbers({1, -1, 2}), 3));
  Vector<double> x = numbers({1, -1, 2});
  federation.rounds(6, [&](std::uint64_t) {
    CHECK(distance(federation.run.model(0), x) < 1e-12);
    Vector<double> mean = Vector<double>::Zero(3);
    for (std::size_t i = 0; i < 3; ++i) {
      Vector<double> mine = x;
      for (const double eta : {0.2, 0.2, 0.1, 0.1}) mine -= eta * problem.gradient(i, mine);
      mean += mine / 3;
    }
    x = mean;
  });
}

TEST_CASE("swarm weighs by samples where it is told to, and by those that were heard") {
  Learners learners;
  for (int i = 0; i < 3; ++i) learners.push_back(make_quadratic<double>(Matrix<double>::Zero(1, 1), numbers({0})));
  Federation federation("swarm", options_of({{"weighting", word("samples")}}), std::move(learners),
                        {numbers({8}), numbers({4}), numbers({100})}, {1, 3, 6});
  federation.world.push.limits.deadline = from_seconds(1);
  federation.world.channel = std::make_unique<ScriptedLinks>(ScriptedLinks::Exceptions{{{2, 0, 0}, -1}});
  federation.rounds(1);
  for (std::uint32_t i = 0; i < 3; ++i) CHECK(federation.run.model(i) == numbers({5}));  // (8 + 3 * 4) / 4
}

TEST_CASE("fedavg_plus: fedavg before the switch, reptile behind it, personal models from a few steps") {
  const Quadratics problem(3);
  const AlgorithmOptions options = options_of({{"eta", 0.1},
                                               {"local_steps", whole(2)},
                                               {"switch", whole(3)},
                                               {"inner_lr", 0.05},
                                               {"inner_steps", whole(4)},
                                               {"epsilon", 0.4},
                                               {"ft_lr", 0.2},
                                               {"ft_steps", whole(3)}});
  const std::vector<std::uint32_t> samples{1, 2, 5};
  Federation federation("fedavg_plus", options, problem.learners(), everywhere(numbers({1, -1, 2}), 3), samples);
  Vector<double> x = numbers({1, -1, 2});
  const auto local = [&](std::size_t i, double eta, int steps) {
    Vector<double> mine = x;
    for (int step = 0; step < steps; ++step) mine -= eta * problem.gradient(i, mine);
    return mine;
  };
  federation.rounds(7, [&](std::uint64_t round) {
    CHECK(distance(federation.run.model(0), x) < 1e-12);
    CHECK(distance(federation.run.snapshot(0), local(0, 0.2, 3)) < 1e-12);
    CHECK(distance(federation.run.model(0), x) < 1e-12);
    Vector<double> sum = Vector<double>::Zero(3);
    const bool is_reptile = round >= 3;
    for (std::size_t i = 0; i < 3; ++i)
      sum += (is_reptile ? 1.0 / 3 : samples[i] / 8.0) * local(i, is_reptile ? 0.05 : 0.1, is_reptile ? 4 : 2);
    x += (is_reptile ? 0.4 : 1) * (sum - x);
  });
}

TEST_CASE("fedavg_plus: Reptile and the fine-tuning step by eta where nothing else is said, also where defaults are spelled out") {
  const Quadratics problem(2);
  for (const bool are_spelled_out : {false, true}) {
    AlgorithmOptions options = options_of({{"eta", 0.2}, {"switch", whole(0)}, {"inner_steps", whole(2)}, {"ft_steps", whole(3)}});
    for (const char* name : {"inner_lr", "ft_lr"})
      if (are_spelled_out) options.set(name, 0.0);
    Federation federation("fedavg_plus", options, problem.learners(), everywhere(numbers({1, -1, 2}), 2), {1, 1});
    Vector<double> x = numbers({1, -1, 2});
    const auto local = [&](std::size_t i, int steps) {
      Vector<double> mine = x;
      for (int step = 0; step < steps; ++step) mine -= 0.2 * problem.gradient(i, mine);
      return mine;
    };
    federation.rounds(3, [&](std::uint64_t) {
      CHECK(distance(federation.run.model(0), x) < 1e-12);
      CHECK(distance(federation.run.snapshot(0), local(0, 3)) < 1e-12);
      const Vector<double> mean = 0.5 * (local(0, 2) + local(1, 2));
      x += 0.5 * (mean - x);
    });
  }
}

TEST_CASE("a computation takes the batches that are its own") {
  // Samples pull towards 3, 5, 9: the batch of one sample decides where a step of length one goes.
  Learners learners;
  learners.push_back(make_least_squares<double>(Matrix<double>::Ones(3, 1), numbers({3, 5, 9})));
  ChoiceTable table;
  table.batches = {{0}, {1}, {2}, {0}};
  const AlgorithmOptions options = options_of({{"eta", 0.5}, {"local_steps", whole(2)}});
  ProtocolWorld world(Graph(1, false, {}));
  world.push.compute = {TimerLaw::fixed(1, 0)};
  ServerSettings server{.push = &world.push};
  SeatedRun run(world.graph, std::move(learners), make_algorithm<double>(catalogue_entry("fedavg"), options), {numbers({1})}, {},
                {table});
  std::vector<double> models;
  world.on_round = [&](Time, std::uint64_t) { models.push_back(run.model(0)[0]); };
  world.run([&](ClientId client) { return std::make_unique<Server>(server, client); }, run, 2.5);
  // 1 -> 2 -> 3.5; 3.5 -> 6.25 -> 4.625
  CHECK(models == std::vector{1.0, 3.5, 4.625});
}

TEST_CASE("a model that was handed out never changes, and no client holds another's memory") {
  for (const char* name : {"centralised", "fedavg", "fedavg_plus", "fedmid", "feddr", "fedadmm", "swarm"}) {
    CAPTURE(name);
    const Quadratics problem(1);
    const auto learner = make_quadratic<double>(problem.a[0], problem.c[0]);
    TensorPool pool;
    Scratch<double> scratch;
    const BatchPlan plan;
    Work<double> work(*learner, plan, scratch, pool);
    const std::vector<std::uint32_t> samples{1, 1};
    Vector<double> start = numbers({1, -1, 2});
    const ClientView client_view{.client = {0}, .senders = {}, .receivers = {}, .samples = samples};
    const auto algorithm = make_algorithm<double>(catalogue_entry(name), {})(client_view, view(std::as_const(start)), pool);
    const Payload first = algorithm->publish(work, {.kind = StepKind::publish, .phase = 0});
    start.setConstant(9);
    const Vector<double> sent = numbers_of<double>(std::as_const(first.common[0]));
    CHECK(sent == numbers({1, -1, 2}));
    Payload answer;
    answer.common[0] = copy_of<double>(view(std::as_const(start)), pool);
    const Received<double> message{{1}, 0, 1, Duration{}, answer, 0};
    for (std::uint64_t round = 0; round < 3; ++round) {
      algorithm->compute(work, {.kind = StepKind::compute, .index = round});
      algorithm->merge(work, {.kind = StepKind::merge, .phase = 1, .index = round}, {&message, 1});
      algorithm->merge(work, {.kind = StepKind::merge, .phase = 0, .index = round + 1}, {&message, 1});
      CHECK(algorithm->model().allFinite());
    }
    CHECK(numbers_of<double>(std::as_const(first.common[0])) == sent);
    CHECK(numbers_of<double>(std::as_const(answer.common[0])) == numbers({9, 9, 9}));
  }
}

TEST_CASE("options that cannot be are refused with what is allowed") {
  CHECK(complaint("fedavg", options_of({{"local_steps", whole(0)}})) == "algorithm.local_steps = 0: must be at least 1");
  CHECK(complaint("fedavg", options_of({{"weighting", word("rows")}})) ==
        "algorithm.weighting = \"rows\": must be \"samples\" or \"uniform\"");
  CHECK(complaint("fedavg", options_of({{"eta", 0.0}})) == "algorithm.eta = 0: must be greater than 0");
  CHECK(complaint("feddr", options_of({{"alpha", 2.0}})) == "algorithm.alpha = 2: must be greater than 0 and less than 2");
  CHECK(complaint("feddr", options_of({{"init", word("cold")}})) == "algorithm.init = \"cold\": must be \"prox\" or \"plain\"");
  CHECK(complaint("fedadmm", options_of({{"local", word("newton")}})) ==
        "algorithm.local = \"newton\": must be \"gd\" or \"exact\"");
  CHECK(complaint("fedadmm", options_of({{"eta", 9.0}, {"h", word("mcp")}})).starts_with("algorithm.eta = 9"));
  CHECK(complaint("fedmid", options_of({{"eta_s", -1.0}})) == "algorithm.eta_s = -1: must be greater than 0");
  CHECK(complaint("fedavg_plus", options_of({{"switch", whole(-1)}})) == "algorithm.switch = -1: must be at least 0");
}
