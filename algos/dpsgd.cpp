// D-PSGD: gradient steps and averages with the neighbours.
// Source: Lian and others, "Can Decentralized Algorithms Outperform Centralized Algorithms?", algorithm 1
// (docs/references.md#d-psgd). Its form in continuous time is our own: a merge whenever a window closes.
//
// x: model   g: gradient   eta: step size   w_ij: weight of neighbour j in client i; W symmetric, rows sum to one
// xi: consensus step, 1 in the original
//
//   compute   x <- x - eta g(x; batch)
//   publish   send x to every receiver
//   merge     x <- x + xi sum_j w_ij (x_j - x)
//
// With xi = 1 a round of variant atc (adapt, then combine) is compute, exchange: X+ = W (X - eta G(X)).
// A round of variant cta (combine, then adapt; the original) is begin, exchange, compute: X+ = W X - eta G(X).
#include <utility>

#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

struct DpsgdSettings {
  StepSize eta;
  double xi;
};

template <class Real>
class Dpsgd final : public Gossip<Real> {
 public:
  Dpsgd(std::shared_ptr<const DpsgdSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start, TensorPool& pool)
      : Gossip<Real>(start, pool, settings->xi), settings_{std::move(settings)}, client_{client_view.client} {}

  void compute(Work<Real>& work, const Step& step) override {
    this->descend(work, step, settings_->eta.at(client_.value, step.index));
  }

 private:
  std::shared_ptr<const DpsgdSettings> settings_;
  ClientId client_;
};

bool combines_first(const AlgorithmOptions& options) {
  const std::string variant = options.word("variant", "atc");
  if (variant != "atc" && variant != "cta") refuse_option("variant", '"' + variant + '"', "must be \"atc\" or \"cta\"");
  return variant == "cta";
}

Needs needs(const AlgorithmOptions& options) {
  Needs needs{.keep = Keep::newest};
  if (combines_first(options)) needs.program = combine_then_adapt;
  return needs;
}

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  combines_first(options);
  return factory_of<Dpsgd, Real>(DpsgdSettings{StepSize(options, "eta", 0.05), proper_share(options, "xi", 1)});
}

constexpr OptionSpec options[] = {
    shared_option::eta,
    shared_option::step,
    shared_option::step_offset,
    {"xi", OptionType::number, "1", "consensus step", 0, 1, true},
    {.name = "variant",
     .type = OptionType::word,
     .fallback = "\"atc\"",
     .meaning = "of a round: adapt then combine, or combine then adapt",
     .choices = "atc|cta"},
};

}  // namespace

constinit const CatalogueEntry entries::dpsgd{
    .name = "dpsgd",
    .summary = "gradient steps and averages with the neighbours",
    .options = options,
    .merge = Weights::doubly,
    .may_be_unified = true,
    .may_begin = true,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
