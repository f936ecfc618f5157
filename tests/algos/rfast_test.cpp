// R-FAST: what its step size means.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "algos/catalogue.hpp"
#include "runtime/world/topology.hpp"

using namespace rubato;

namespace {

// A slope that never ends.
class Slope final : public Learner<double> {
 public:
  Index dimension() const override { return 1; }
  std::uint32_t samples() const override { return 1; }
  double gradient(ConstVectorRef<double>, Picks, VectorRef<double> g, Scratch<double>&) const override {
    g.setConstant(1);
    return 0;
  }
};

// How far a model comes in one computation, where all clients of the graph compute, send and hear in step, and keep the share
// `own` of models and trackers.
double pace(const Graph& graph, double own, double gamma) {
  const auto m = static_cast<std::uint32_t>(graph.clients());
  AlgorithmOptions options;
  options.set("gamma", gamma);
  const auto factory = make_algorithm<double>(catalogue_entry("rfast"), options);
  const std::vector<std::uint32_t> samples(m, 1);
  const double others = (1 - own) / static_cast<double>(graph.out_degree({0}));
  const std::vector<double> weights(graph.out_degree({0}), others);
  const Vector<double> start = Vector<double>::Zero(1);
  const Slope slope;
  TensorPool pool;
  Scratch<double> scratch;
  std::vector<std::unique_ptr<Algorithm<double>>> clients;
  for (std::uint32_t i = 0; i < m; ++i)
    clients.push_back(factory(ClientView{.client = {i},
                                         .senders = graph.senders_to({i}),
                                         .receivers = graph.receivers_of({i}),
                                         .samples = samples,
                                         .sender_weights = weights},
                              view(start), pool));
  double before = 0;
  constexpr Sequence ticks = 400;
  for (Sequence k = 0; k < ticks; ++k) {
    before = clients[0]->model()[0];
    std::vector<Payload> sent;
    for (std::uint32_t i = 0; i < m; ++i) {
      const BatchPlan plan{1, {i}, 0, nullptr};
      Work<double> work(slope, plan, scratch, pool);
      clients[i]->compute(work, {.kind = StepKind::compute, .client = {i}, .index = k});
      std::vector<StepEntry> entries;
      for (const ClientId to : graph.receivers_of({i})) entries.push_back({.peer = to, .sequence = k, .weight = others});
      sent.push_back(clients[i]->publish(work, {.kind = StepKind::publish, .client = {i}, .index = k, .entries = entries}));
    }
    for (std::uint32_t i = 0; i < m; ++i) {
      const BatchPlan plan{1, {i}, 0, nullptr};
      Work<double> work(slope, plan, scratch, pool);
      std::vector<Received<double>> window;
      for (const ClientId from : graph.senders_to({i}))
        window.push_back(
            {from, k, others, {}, sent[from.value], static_cast<std::uint32_t>(place_of(graph.receivers_of(from), {i}))});
      clients[i]->merge(work, {.kind = StepKind::merge, .client = {i}}, window);
    }
  }
  return before - clients[0]->model()[0];
}

}  // namespace

TEST_CASE("in step a computation of R-FAST descends by gamma a / (2 - w): a fifth of gamma on a ring with uniform weights") {
  CHECK(pace(topologies::ring(6), 1.0 / 3, 0.5) == doctest::Approx(0.5 / 5).epsilon(1e-9));
  CHECK(pace(topologies::ring(6), 0.5, 0.3) == doctest::Approx(0.3 * 0.5 / 1.5).epsilon(1e-9));
  CHECK(pace(topologies::complete(4), 0.25, 0.2) == doctest::Approx(0.2 * 0.25 / 1.75).epsilon(1e-9));
}
