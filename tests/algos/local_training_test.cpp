// How long a computation trains: steps or epochs, for all or client by client, and how the step size falls in it.
#include "algos/local_training.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "algos/entries.hpp"
#include "tests/support/quadratic_world.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

constexpr auto table = local_training_options();

// Pulls to zero and says that it has so many rows.
class CountedRows final : public Learner<double> {
 public:
  explicit CountedRows(std::uint32_t rows) : rows_{rows} {}
  Index dimension() const override { return 1; }
  std::uint32_t samples() const override { return rows_; }
  double gradient(ConstVectorRef<double> x, Picks, VectorRef<double> g, Scratch<double>&) const override {
    g = x;
    return 0;
  }

 private:
  std::uint32_t rows_;
};

struct Lent {
  Lent(std::uint32_t rows, std::uint32_t batch) : learner(rows), plan{1, {0}, batch, nullptr} {}
  Work<double> work() { return Work<double>(learner, plan, scratch, pool); }
  CountedRows learner;
  BatchPlan plan;
  TensorPool pool;
  Scratch<double> scratch;
};

LocalTraining read(const AlgorithmOptions& options) { return LocalTraining(OptionReader(options, table)); }

std::string complaint(const AlgorithmOptions& options) {
  try {
    read(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("ten epochs of 166 and of 1,656 rows in batches of 64 are 30 and 260 steps") {
  const LocalTraining training = read(options_of({{"local_epochs", 10.0}}));
  Lent few(166, 64), many(1656, 64), whole(1656, 0);
  CHECK(training.steps(few.work(), 0) == 30);
  CHECK(training.steps(many.work(), 1) == 260);
  CHECK(training.steps(whole.work(), 1) == 10);  // a batch of all rows is an epoch
}

TEST_CASE("steps and epochs are one number for all or one for each client, and 0 epochs leave it to the steps") {
  Lent rows(100, 50);
  const LocalTraining steps = read(options_of({{"local_steps", std::vector<double>{3, 7}}}));
  CHECK(steps.steps(rows.work(), 0) == 3);
  CHECK(steps.steps(rows.work(), 1) == 7);
  const LocalTraining both = read(options_of({{"local_epochs", std::vector<double>{0, 4}}}));
  CHECK(both.steps(rows.work(), 0) == 1);
  CHECK(both.steps(rows.work(), 1) == 8);
}

TEST_CASE("every computation has batches of its own, and the step size falls after so many steps or epochs, anew in each") {
  Lent rows(100, 50);  // two batches an epoch
  const auto steps_of = [&](const AlgorithmOptions& options, std::uint64_t computation) {
    std::vector<std::pair<std::uint64_t, double>> steps;
    read(options).each_step(rows.work(), 0, computation, 8,
                            [&](std::uint64_t batch, double eta) { steps.emplace_back(batch, eta); });
    return steps;
  };
  using Steps = std::vector<std::pair<std::uint64_t, double>>;
  const AlgorithmOptions by_step = options_of({{"local_steps", 3.0}, {"lr_decay", 0.5}, {"lr_every", std::int64_t{1}}});
  CHECK(steps_of(by_step, 0) == Steps{{0, 8}, {1, 4}, {2, 2}});
  CHECK(steps_of(by_step, 2) == Steps{{6, 8}, {7, 4}, {8, 2}});
  const AlgorithmOptions by_epoch = options_of({{"local_epochs", 3.0}, {"lr_decay", 0.5}, {"lr_every", std::int64_t{1}}});
  CHECK(steps_of(by_epoch, 1) == Steps{{6, 8}, {7, 8}, {8, 4}, {9, 4}, {10, 2}, {11, 2}});
  CHECK(steps_of(options_of({{"local_steps", 2.0}, {"lr_decay", 0.5}}), 0) == Steps{{0, 8}, {1, 8}});
}

TEST_CASE("DeceFL's schedule, times 0.2 every 5 epochs of 10, leaves a pull to zero where the formula says") {
  Lent rows(166, 64);
  const LocalTraining training = read(options_of({{"local_epochs", 10.0}, {"lr_decay", 0.2}, {"lr_every", std::int64_t{5}}}));
  Vector<double> x = numbers({1});
  train_locally<double>(training, rows.work(), 0, 0, view(x), 0.1);
  CHECK(x[0] == doctest::Approx(std::pow(0.9, 15) * std::pow(0.98, 15)).epsilon(1e-14));
}

TEST_CASE("what says how long a client trains is said once, in whole numbers") {
  CHECK(complaint(options_of({{"local_steps", 2.5}})) == "algorithm.local_steps = 2.5: must be a whole number");
  CHECK(complaint(options_of({{"local_steps", 0.0}})) == "algorithm.local_steps = 0: must be at least 1");
  CHECK(complaint(options_of({{"local_epochs", -1.0}})) == "algorithm.local_epochs = -1: must be at least 0");
  CHECK(complaint(options_of({{"local_steps", 4.0}, {"local_epochs", 2.0}})) ==
        "algorithm.local_epochs = 2: must be 0 where local_steps is not 1: one of them says how long a client trains");
  CHECK(complaint(options_of({{"lr_decay", 1.5}})) == "algorithm.lr_decay = 1.5: must be greater than 0 and at most 1");
  const AlgorithmOptions gradient = options_of({{"local_epochs", 2.0}});
  CHECK_THROWS_WITH(make_algorithm<double>(entries::decefl, gradient),
                    "algorithm.local_epochs = 2: needs form = \"pseudo\": a gradient is no training");
}
