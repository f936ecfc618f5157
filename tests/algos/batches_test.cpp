// How many mini-batches a computation takes, and which rows are in them.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "algos/catalogue.hpp"
#include "algos/option_table.hpp"
#include "learning/models/problems.hpp"

using namespace rubato;

namespace {

constexpr std::array<ClientId, 1> neighbour{ClientId{1}};
constexpr std::array<std::uint32_t, 2> all_samples{12, 12};

// f(x) = 1/2 |x|^2 pulled towards (number of the first row, 0): the gradient tells which batch it is of.
class CountingLearner final : public Learner<double> {
 public:
  Index dimension() const override { return 2; }
  std::uint32_t samples() const override { return 12; }
  double gradient(ConstVectorRef<double> x, Picks picks, VectorRef<double> g, Scratch<double>&) const override {
    seen.push_back(picks.empty() ? 0 : picks.front());
    g = x;
    g[0] -= seen.back();
    return 0.5 * g.squaredNorm();
  }
  std::uint32_t classes() const override { return 2; }
  void predict(ConstVectorRef<double>, Picks, MatrixRef<double> out, Scratch<double>&) const override { out.setConstant(0.5); }

  mutable std::vector<std::uint32_t> seen;  // the first row of each batch
};

ChoiceTable numbered_batches() {
  ChoiceTable table;
  for (std::uint32_t i = 0; i < 2000; ++i) table.batches.push_back({i % 12});
  return table;
}

// One client that computes alone.
struct Alone {
  Alone(const char* name, std::uint64_t local_batches) : Alone(catalogue_entry(name), local_batches) {}
  Alone(const CatalogueEntry& entry, std::uint64_t local_batches) : needs{entry.needs({})} {
    plan.table = &table;
    plan.local_batches = local_batches;
    const ClientView view_of{.client = {}, .senders = neighbour, .receivers = neighbour, .samples = all_samples};
    algorithm = make_algorithm<double>(entry, {})(view_of, view(start), pool);
  }
  void compute(std::uint64_t index = 0, bool begins = false) {
    Work<double> work(learner, plan, scratch, pool);
    if (begins || needs.fixes_model_at_start) algorithm->begin(work);
    algorithm->compute(work, {.kind = StepKind::compute, .index = index});
  }
  Vector<double> publish() {
    Work<double> work(learner, plan, scratch, pool);
    const StepEntry receiver{.peer = neighbour[0]};
    const Payload payload = algorithm->publish(work, {.kind = StepKind::publish, .entries = {&receiver, 1}});
    return numbers_of<double>(std::as_const(payload.common[0]));
  }

  Needs needs;
  CountingLearner learner;
  const ChoiceTable table = numbered_batches();
  const Vector<double> start = (Vector<double>(2) << 4, 8).finished();
  TensorPool pool;
  Scratch<double> scratch;
  BatchPlan plan;
  std::unique_ptr<Algorithm<double>> algorithm;
};

std::vector<std::uint32_t> rows(const Work<double>& work, std::uint64_t number) {
  const Picks picks = work.batch(number);
  return {picks.begin(), picks.end()};
}

}  // namespace

TEST_CASE("a computation of any algorithm takes local_batches times as many gradients, of batches that no other takes") {
  for (const CatalogueEntry* entry : catalogue()) {
    CAPTURE(std::string(entry->name));
    Alone one(*entry, 1), three(*entry, 3);
    one.compute();
    three.compute();
    REQUIRE_FALSE(one.learner.seen.empty());
    CHECK(three.learner.seen.size() == 3 * one.learner.seen.size());
    const std::set<std::uint32_t> distinct(three.learner.seen.begin(), three.learner.seen.end());
    CHECK(distinct.size() >= std::min<std::size_t>(3, three.learner.seen.size()));
  }
}

TEST_CASE("local batches of a method that descends are steps one after the other, from where its computation began") {
  Alone client("dpsgd", 2);  // eta = 0.05; g = x - (row, 0)
  client.compute(1);         // rows 2 and 3
  const double first = 4 - 0.05 * (4 - 2);
  CHECK(client.algorithm->model()[0] == doctest::Approx(first - 0.05 * (first - 3)).epsilon(1e-14));
  CHECK(client.algorithm->model()[1] == doctest::Approx(8 * 0.95 * 0.95).epsilon(1e-14));
  Alone begun("async_dsgd", 2);
  begun.compute(1);
  CHECK((begun.algorithm->model() - client.algorithm->model()).norm() < 1e-14);
}

TEST_CASE("local batches of a method that tracks gradients are one gradient, their mean") {
  Alone client("dsgt", 4);
  client.compute(0);  // rows 0, 1, 2, 3 at the model of now: its y, which the next computation goes along
  const Vector<double> before = client.algorithm->model();
  client.compute(1);
  const Vector<double> moved = before - client.algorithm->model();
  CHECK(moved[0] == doctest::Approx(0.05 * (before[0] - 1.5)).epsilon(1e-12));
}

TEST_CASE("fewer local batches than one are refused by name") {
  const auto complaint = [](AlgorithmOptions::Value value) -> std::string {
    AlgorithmOptions options;
    options.set("local_batches", std::move(value));
    try {
      local_batches_of(options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  CHECK(complaint(1.5) == "algorithm.local_batches must be a whole number");
  CHECK(complaint(std::int64_t{0}) == "algorithm.local_batches = 0: must be at least 1");
  CHECK(complaint(std::int64_t{-1}) == "algorithm.local_batches = -1: must be at least 1");
}

// Section 3.5 and appendix B.2 of the thesis: samples are "arranged into training batches", 50 of them into batches of 15.
TEST_CASE("an epoch has every row once, its last batch what is left, and each epoch another order") {
  const auto learner = make_least_squares<double>(Matrix<double>::Ones(50, 2), Vector<double>::Ones(50));
  Scratch<double> scratch;
  TensorPool pool;
  const BatchPlan plan{.seed = 1, .client = {3}, .size = 15, .in_epochs = true};
  const Work<double> work(*learner, plan, scratch, pool);
  std::vector<std::vector<std::uint32_t>> orders;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::uint32_t> order;
    for (std::uint64_t k = 0; k < 4; ++k) {
      const std::vector<std::uint32_t> batch = rows(work, 4 * epoch + k);
      CHECK(batch.size() == (k < 3 ? 15 : 5));
      order.insert(order.end(), batch.begin(), batch.end());
    }
    orders.push_back(order);
    std::ranges::sort(order);
    for (std::uint32_t row = 0; row < 50; ++row) REQUIRE(order[row] == row);
  }
  CHECK(orders[0] != orders[1]);
  CHECK(orders[1] != orders[2]);

  // A client that resumes asks for any batch first, and gets the same.
  const BatchPlan again{.seed = 1, .client = {3}, .size = 15, .in_epochs = true};
  const Work<double> resumed(*learner, again, scratch, pool);
  for (const std::uint64_t number : {9u, 2u, 9u, 0u}) CHECK(rows(resumed, number) == rows(work, number));
  const BatchPlan other{.seed = 1, .client = {4}, .size = 15, .in_epochs = true};
  CHECK(rows(Work<double>(*learner, other, scratch, pool), 0) != rows(work, 0));
}

TEST_CASE("over many epochs each row is first, and follows each other row, equally often") {
  constexpr std::uint32_t rows_of_client = 5;
  const auto learner = make_least_squares<double>(Matrix<double>::Ones(rows_of_client, 1), Vector<double>::Ones(rows_of_client));
  Scratch<double> scratch;
  TensorPool pool;
  const BatchPlan plan{.seed = 11, .client = {0}, .size = rows_of_client, .in_epochs = true};
  const Work<double> work(*learner, plan, scratch, pool);
  constexpr int epochs = 20'000;
  std::array<std::array<double, rows_of_client>, rows_of_client> pairs{};
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const std::vector<std::uint32_t> order = rows(work, epoch);
    ++pairs[order[0]][order[1]];
  }
  constexpr double expected = epochs / 20.0;
  double chi_squared = 0;
  for (std::uint32_t a = 0; a < rows_of_client; ++a)
    for (std::uint32_t b = 0; b < rows_of_client; ++b)
      if (a != b) chi_squared += (pairs[a][b] - expected) * (pairs[a][b] - expected) / expected;
  CHECK(chi_squared < 43.8);  // 19 degrees of freedom: exceeded by chance once in 1,000 seeds, and the seed stays
}

TEST_CASE("a batch larger than a client's rows is an epoch, and local batches go on through epochs") {
  const auto learner = make_least_squares<double>(Matrix<double>::Ones(4, 1), Vector<double>::Ones(4));
  Scratch<double> scratch;
  TensorPool pool;
  const BatchPlan plan{.seed = 1, .size = 9, .in_epochs = true};
  std::vector<std::uint32_t> all = rows(Work<double>(*learner, plan, scratch, pool), 7);
  std::ranges::sort(all);
  CHECK(all == std::vector<std::uint32_t>{0, 1, 2, 3});
}
