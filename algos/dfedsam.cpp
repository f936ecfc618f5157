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
#include "algos/entries.hpp"
#include "algos/gossip.hpp"
#include "algos/local_training.hpp"

namespace rubato {

namespace {

struct DfedsamSettings {
  StepSize eta;
  double rho;
  LocalTraining training;
};

template <class Real>
class Dfedsam final : public Gossip<Real, DfedsamSettings> {
 public:
  using Gossip<Real, DfedsamSettings>::Gossip;

  void compute(Work<Real>& work, const Step& step) override {
    const double eta = this->settings().eta.at(this->client(), step.index);
    this->displace(work, step, 1, [&](VectorRef<Real> z) {
      VectorRef<Real> g = work.scratch.vector(z.size()), ahead = work.scratch.vector(z.size());
      this->settings().training.each_step(work, this->client(), step.index, eta, [&](std::uint64_t batch, double step_size) {
        const typename Scratch<Real>::Frame frame(work.scratch);
        const Picks picks = work.batch(batch);
        look_ahead(work, picks, z, g, ahead);
        work.learner.gradient(read_only(ahead), picks, g, work.scratch);
        z -= static_cast<Real>(step_size) * g;
      });
    });
  }

 private:
  // ahead <- z + rho g(z) / |g(z)|
  void look_ahead(Work<Real>& work, Picks picks, VectorRef<Real> z, VectorRef<Real> g, VectorRef<Real> ahead) const {
    const double rho = this->settings().rho;
    ahead = z;
    if (rho == 0) return;
    work.learner.gradient(read_only(z), picks, g, work.scratch);
    const Real norm = g.norm();
    if (norm > 0) ahead += (static_cast<Real>(rho) / norm) * g;
  }
};

constexpr OptionSpec dfedsam_own[] = {
    {"rho", OptionType::number, "0.01", "distance at which the gradient is looked for", 0, 1e9},
    {"gossip_steps", OptionType::whole, "1", "exchanges after one computation", 1, PhaseList::most - 1},
};
constexpr auto dfedsam_table = combined(step_options(), dfedsam_own, local_training_options());

DfedsamSettings read_dfedsam(const OptionReader& options) {
  options.whole("gossip_steps");
  return {StepSize(options), options.number("rho"), LocalTraining(options)};
}

Needs dfedsam_needs(const AlgorithmOptions& given) {
  const auto steps = static_cast<std::uint32_t>(OptionReader(given, dfedsam_table).whole("gossip_steps"));
  Needs needs{.send_times = steps, .keep = Keep::newest, .may_pause = true, .partial = Partial::receivers};
  needs.program.round = {Phase{PhaseKind::compute}};
  for (std::uint32_t q = 0; q < steps; ++q)
    needs.program.round.add({.kind = PhaseKind::exchange, .number = static_cast<std::uint8_t>(q)});
  return needs;
}

}  // namespace

constinit const CatalogueEntry entries::dfedsam{
    .name = "dfedsam",
    .summary = "local sharpness-aware steps, then gossip",
    .options = dfedsam_table,
    .merge = Weights::doubly,
    .needs = dfedsam_needs,
    .make = made_by<Dfedsam, read_dfedsam, dfedsam_table>,
};

}  // namespace rubato
