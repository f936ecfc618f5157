// FedAvg and FedAvg+ in the exchange slots of KD-PDFL, by hand (docs/references.md#kd-pdfl; decision BA-3,
// docs/references.md#baseline-decisions).
#include <doctest/doctest.h>

#include "algos/exchange_slots.hpp"
#include "learning/models/problems.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/seated_run.hpp"
#include "tests/support/values.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// One number with the loss 1/2 (x - 1)^2.
class ToOne final : public Learner<double> {
 public:
  Index dimension() const override { return 1; }
  std::uint32_t samples() const override { return 1; }
  double gradient(ConstVectorRef<double> x, Picks, VectorRef<double> g, Scratch<double>&) const override {
    g[0] = x[0] - 1;
    return 0.5 * g[0] * g[0];
  }
};

// Clients with these models, of which each hears all.
struct Circle {
  Circle(const char* name, const std::vector<double>& models, const AlgorithmOptions& options, bool in_rounds = true)
      : graph(topologies::complete(models.size())), samples(models.size(), 1) {
    for (std::uint32_t i = 0; i < models.size(); ++i) {
      const Vector<double> start = Vector<double>::Constant(1, models[i]);
      const ClientView client_view{.client = {i},
                                   .senders = graph.senders_to({i}),
                                   .receivers = graph.receivers_of({i}),
                                   .samples = samples,
                                   .in_rounds = in_rounds};
      clients.push_back(make_algorithm<double>(catalogue_entry(name), options)(client_view, view(start), pool));
    }
  }
  void hear(std::uint32_t client, const std::vector<std::uint32_t>& peers, std::uint8_t phase) {
    Work<double> work(learner, plan, scratch, pool);
    std::vector<Payload> payloads;
    for (const std::uint32_t peer : peers) payloads.push_back(clients[peer]->publish(work, {.kind = StepKind::publish}));
    std::vector<Received<double>> window;
    for (std::size_t k = 0; k < peers.size(); ++k) window.push_back({{peers[k]}, 0, 1, Duration{}, payloads[k], 0});
    clients[client]->merge(work, {.kind = StepKind::merge, .phase = phase}, window);
  }
  void compute(std::uint32_t client, std::uint64_t number) {
    Work<double> work(learner, plan, scratch, pool);
    clients[client]->compute(work, {.kind = StepKind::compute, .index = number});
  }
  double model(std::uint32_t client) const { return clients[client]->model()[0]; }
  double scored(std::uint32_t client) {
    Work<double> work(learner, plan, scratch, pool);
    const Tensor snapshot = clients[client]->snapshot(work);
    return numbers_of<double>(snapshot)[0];
  }

  TensorPool pool;
  Scratch<double> scratch;
  BatchPlan plan;
  Graph graph;
  std::vector<std::uint32_t> samples;
  ToOne learner;
  std::vector<std::unique_ptr<Algorithm<double>>> clients;
};

}  // namespace

TEST_CASE("a star takes the mean of the models that came and its own, and no other client changes") {
  Circle circle("decentralised_fedavg", {0.5, 2, 8, 100}, {});
  circle.hear(0, {1, 2}, ExchangeSlots::answers);
  CHECK(circle.model(0) == doctest::Approx(3.5).epsilon(1e-15));
  circle.hear(1, {0}, ExchangeSlots::news);
  CHECK(circle.model(1) == 2);
  circle.hear(3, {}, ExchangeSlots::answers);
  CHECK(circle.model(3) == 100);
}

TEST_CASE("peers adopt what the star has become where they are to, and never what they were asked for") {
  Circle circle("decentralised_fedavg", {0, 2}, options_of({{"peers", std::string("adopt")}}));
  circle.hear(0, {1}, ExchangeSlots::answers);
  circle.hear(1, {0}, ExchangeSlots::news);
  CHECK(circle.model(0) == 1);
  CHECK(circle.model(1) == 1);
}

TEST_CASE("from the switch on an exchange goes a part of the way, and models are scored after steps of their own") {
  // T_ex = 4: rounds 1 2 3 compute, 4 exchange, 5 news, 6 7 compute, 8 exchange.
  const AlgorithmOptions options = options_of({{"T_ex", std::int64_t{4}},
                                               {"switch", std::int64_t{8}},
                                               {"eta", 0.5},
                                               {"epsilon", 0.25},
                                               {"ft_lr", 0.1},
                                               {"ft_steps", std::int64_t{2}}});
  Circle circle("decentralised_fedavg_plus", {1, 5}, options);
  for (std::uint64_t k = 0; k < 3; ++k) circle.compute(0, k);  // at its optimum: it stays
  circle.hear(0, {1}, ExchangeSlots::answers);
  CHECK(circle.model(0) == 3);
  CHECK(circle.scored(0) == 3);
  circle.compute(0, 3);
  circle.compute(0, 4);
  CHECK(circle.model(0) == 1.5);
  circle.hear(0, {1}, ExchangeSlots::answers);
  CHECK(circle.model(0) == 1.5 + 0.25 * (3.25 - 1.5));
  CHECK(circle.scored(0) == doctest::Approx(1 + (circle.model(0) - 1) * 0.81).epsilon(1e-14));
}

TEST_CASE("the fine-tuning steps by eta where nothing else is said, also where the default is spelled out") {
  for (const bool is_spelled_out : {false, true}) {
    AlgorithmOptions options = options_of({{"switch", std::int64_t{0}}, {"eta", 0.5}, {"ft_steps", std::int64_t{3}}});
    if (is_spelled_out) options.set("ft_lr", 0.0);
    Circle circle("decentralised_fedavg_plus", {3, 3}, options);
    CHECK(circle.scored(0) == 1.25);
  }
}

TEST_CASE("under pull the switch counts computations") {
  Circle circle("decentralised_fedavg_plus", {3, 3}, options_of({{"switch", std::int64_t{2}}, {"ft_lr", 0.5}}), false);
  circle.compute(0, 0);
  CHECK(circle.scored(0) == circle.model(0));
  circle.compute(0, 1);
  CHECK(circle.scored(0) < circle.model(0));
}

TEST_CASE("the round of the coming exchange follows from the computations before it") {
  for (std::int64_t every = 3; every <= 12; ++every) {
    const AlgorithmOptions options = options_of({{"T_ex", every}});
    const ExchangeSlots slots({options, slot_options});
    const PhaseList phases = slots.needs().program.round;
    std::vector<std::uint64_t> waiting;  // numbers of computations since the last exchange
    std::uint64_t computations = 0;
    for (std::uint64_t r = 0; r < 100; ++r)
      for (std::size_t p = 0; p < phases.size(); ++p) {
        if (!phases[p].happens_in(r)) continue;
        if (phases[p].kind == PhaseKind::compute) waiting.push_back(++computations);
        if (phases[p].kind != PhaseKind::exchange || phases[p].number != ExchangeSlots::answers) continue;
        for (const std::uint64_t done : waiting) REQUIRE(slots.round_of_exchange(done) == r + 1);
        waiting.clear();
      }
  }
}

TEST_CASE("the three methods of the slots ask for the same of their protocol") {
  const AlgorithmOptions options = options_of({{"T_ex", std::int64_t{7}}, {"ask_share", 0.25}, {"stars", std::string("all")}});
  const Needs of_kdpdfl = catalogue_entry("kdpdfl").needs(options);
  for (const char* name : {"decentralised_fedavg", "decentralised_fedavg_plus"}) {
    const Needs needs = catalogue_entry(name).needs(options);
    CHECK(needs.send_every == of_kdpdfl.send_every);
    CHECK(needs.fanout.share == of_kdpdfl.fanout.share);
    CHECK(needs.fanout.stars == of_kdpdfl.fanout.stars);
    CHECK(needs.program.round.size() == of_kdpdfl.program.round.size());
  }
}
