// Steps that save, load and reset a client, without actors.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "actors/core/client_pool.hpp"
#include "algos/catalogue.hpp"
#include "learning/models/problems.hpp"

using namespace rubato;

namespace {

class NoSnapshots final : public SnapshotSink {
 public:
  void on_measure(const Step&, const Performer&, ThreadMemory&) override {}
};

// A client that learns alone, on f(x) = 1/2 |x - 1|^2.
class Alone {
 public:
  explicit Alone(const char* algorithm = "dpsgd")
      : learner_{make_quadratic<double>(Matrix<double>::Identity(3, 3), Vector<double>::Ones(3))} {
    const Vector<double> start = Vector<double>::Zero(3);
    const ClientView client_view{.client = {0}, .senders = {}, .receivers = {}, .samples = samples_};
    const BatchPlan plan{1, {0}, 0, nullptr};
    client_ = std::make_unique<Client>(
        ClientId{0}, std::make_unique<PerformerOf<double>>(
                         make_algorithm<double>(catalogue_entry(algorithm), {})(client_view, view(start), client_pool_.pool),
                         *learner_, plan, client_pool_.pool));
  }

  void perform(StepKind kind, std::uint64_t index) {
    const Step step{.kind = kind, .client = {0}, .index = index};
    StepBatch& batch = client_pool_.batches.take(step);
    batch.add(step);
    client_->add(batch);
    REQUIRE(client_->enter());
    REQUIRE(client_->run(client_pool_, memory_, [](Client&) {}) == 1);
  }
  void compute(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) perform(StepKind::compute, i);
  }

  std::vector<double> model() const {
    const auto bytes = client_->performer().model_bytes();
    const double* const numbers = reinterpret_cast<const double*>(bytes.data());
    return {numbers, numbers + 3};
  }
  std::uint64_t gradients() const { return client_->performer().traffic().gradients; }
  std::string failure() const {
    const auto failure = client_pool_.failure();
    return failure ? to_string(*failure) : "none";
  }
  SavedStates& saved() { return client_->saved(); }

 private:
  NoSnapshots snapshots_;
  ClientPool client_pool_{snapshots_, 4096, false};
  ThreadMemory memory_;
  std::unique_ptr<Learner<double>> learner_;
  const std::vector<std::uint32_t> samples_{1};
  std::unique_ptr<Client> client_;
};

}  // namespace

TEST_CASE(
    "a load step takes a client back to where it was when it was saved under this number, and what it has spent stays spent") {
  Alone client;
  client.compute(0, 5);
  client.perform(StepKind::save, 1);
  const auto at_one = client.model();
  client.compute(5, 5);
  client.perform(StepKind::save, 2);
  const auto at_two = client.model();
  client.compute(10, 5);
  CHECK(at_one != at_two);
  client.perform(StepKind::load, 1);
  CHECK(client.model() == at_one);
  CHECK(client.gradients() == 15);
  client.compute(5, 5);
  CHECK(client.model() == at_two);
  client.perform(StepKind::load, 2);
  CHECK(client.model() == at_two);
  CHECK(client.gradients() == 20);
  CHECK(client.failure() == "none");
}

TEST_CASE("two saved states are kept, and a load of any other is a failure that names them") {
  Alone client;
  client.perform(StepKind::load, 4);
  CHECK(client.failure() == "client 0 failed in load 4 at 0.000000 s: there is no saved state 4, nothing was saved");
  Alone other;
  for (const std::uint64_t number : {4, 5, 6}) other.perform(StepKind::save, number);
  other.perform(StepKind::load, 5);
  CHECK(other.failure() == "none");
  other.perform(StepKind::load, 4);
  CHECK(other.failure() == "client 0 failed in load 4 at 0.000000 s: there is no saved state 4, only 5 and 6");
}

TEST_CASE("a state that is saved again under the same number replaces the first, and the other stays") {
  SavedStates states;
  states.keep(1, {std::byte{1}});
  states.keep(2, {std::byte{2}});
  states.keep(2, {std::byte{3}});
  CHECK(states.at(1)[0] == std::byte{1});
  CHECK(states.at(2)[0] == std::byte{3});
  states.keep(1, {std::byte{4}});  // from an older checkpoint on: now the newest
  states.keep(7, {});
  CHECK(states.at(1)[0] == std::byte{4});
  CHECK_THROWS_AS(states.at(2), std::runtime_error);
}

TEST_CASE("a state that was given by the host can be loaded, and a damaged one is a failure") {
  Alone client, restarted;
  client.compute(0, 7);
  client.perform(StepKind::save, 3);
  const auto state = client.saved().at(3);
  restarted.saved().keep(3, {state.begin(), state.end()});
  restarted.perform(StepKind::load, 3);
  CHECK(restarted.model() == client.model());
  restarted.saved().keep(4, {state.begin(), state.end() - 1});
  restarted.perform(StepKind::load, 4);
  CHECK(restarted.failure() == "client 0 failed in load 4 at 0.000000 s: ends too early");
}

TEST_CASE("a reset step asks the algorithm: push-sum keeps its model") {
  Alone client("sgp");
  client.compute(0, 4);
  const auto before = client.model();
  client.perform(StepKind::reset, 1);
  CHECK(client.model() == before);
  CHECK(client.failure() == "none");
}
