// DFedSAM: local steps towards flat minima, then one or more rounds of gossip.
// Source: Shi and others, "Improving the Model Consistency of Decentralized Federated Learning", algorithm 1
// (docs/references.md#dfedsam).
//
// x: model   g: gradient   eta: step size   rho: how far ahead g is taken   K: local steps   Q: gossip steps
//
//   compute   z <- x;  K times: e = rho g(z; batch) / |g(z; batch)|  (0 if g is 0);  z <- z - eta g(z + e; same batch)
//             x <- z
//   publish   send x to every receiver
//   merge     x <- x + sum_j w_ij (x_j - x)
//
// A round is compute and Q exchanges; in continuous time Q transmissions follow a computation.
#include <utility>

#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

struct DfedsamSettings {
  StepSize eta;
  double rho;
  std::uint64_t local_steps;
};

template <class Real>
class Dfedsam final : public Gossip<Real> {
 public:
  Dfedsam(std::shared_ptr<const DfedsamSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
          TensorPool& pool)
      : Gossip<Real>(start, pool), settings_{std::move(settings)}, client_{client_view.client} {}

  void compute(Work<Real>& work, const Step& step) override {
    const auto eta = static_cast<Real>(settings_->eta.at(client_.value, step.index));
    this->displace(work, step, 1, [&](VectorRef<Real> z) {
      VectorRef<Real> g = work.scratch.vector(z.size()), ahead = work.scratch.vector(z.size());
      for (std::uint64_t s = 0; s < settings_->local_steps; ++s) {
        const typename Scratch<Real>::Frame frame(work.scratch);
        const Picks picks = work.batch(step.index * settings_->local_steps + s);
        look_ahead(work, picks, z, g, ahead);
        work.learner.gradient(read_only(ahead), picks, g, work.scratch);
        z -= eta * g;
      }
    });
  }

 private:
  // ahead <- z + rho g(z) / |g(z)|
  void look_ahead(Work<Real>& work, Picks picks, VectorRef<Real> z, VectorRef<Real> g, VectorRef<Real> ahead) const {
    ahead = z;
    if (settings_->rho == 0) return;
    work.learner.gradient(read_only(z), picks, g, work.scratch);
    const Real norm = g.norm();
    if (norm > 0) ahead += (static_cast<Real>(settings_->rho) / norm) * g;
  }

  std::shared_ptr<const DfedsamSettings> settings_;
  ClientId client_;
};

DfedsamSettings read(const AlgorithmOptions& options) {
  return {StepSize(options, "eta", 0.05), not_negative(options, "rho", 0.01), whole_from(options, "local_steps", 1, 1)};
}

constexpr std::uint32_t most_gossip_steps = PhaseList::most - 1;

std::uint32_t gossip_steps(const AlgorithmOptions& options) {
  const std::uint64_t steps = whole_from(options, "gossip_steps", 1, 1);
  if (steps > most_gossip_steps)
    refuse_option("gossip_steps", std::to_string(steps), "must be at most " + std::to_string(most_gossip_steps));
  return static_cast<std::uint32_t>(steps);
}

Needs needs(const AlgorithmOptions& options) {
  Needs needs{.send_times = gossip_steps(options), .keep = Keep::newest};
  needs.program.round = {Phase{PhaseKind::compute}};
  for (std::uint32_t q = 0; q < needs.send_times; ++q)
    needs.program.round.add({.kind = PhaseKind::exchange, .number = static_cast<std::uint8_t>(q)});
  return needs;
}

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  gossip_steps(options);
  return factory_of<Dfedsam, Real>(read(options));
}

constexpr OptionSpec options[] = {
    shared_option::eta,         shared_option::step,
    shared_option::step_offset, {"rho", OptionType::number, "0.01", "distance at which the gradient is looked for", 0, 1e9},
    shared_option::local_steps, {"gossip_steps", OptionType::whole, "1", "exchanges after one computation", 1, most_gossip_steps},
};

}  // namespace

constinit const CatalogueEntry entries::dfedsam{
    .name = "dfedsam",
    .summary = "local sharpness-aware steps, then gossip",
    .options = options,
    .merge = Weights::doubly,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
