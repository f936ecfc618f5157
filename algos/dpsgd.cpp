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
#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

struct DpsgdSettings {
  StepSize eta;
  double xi;
};

template <class Real>
class Dpsgd final : public Gossip<Real, DpsgdSettings> {
 public:
  explicit Dpsgd(const Setup<Real, DpsgdSettings>& setup) : Gossip<Real, DpsgdSettings>(setup, setup.settings->xi) {}
};

constexpr OptionSpec dpsgd_own[] = {
    {"xi", OptionType::number, "1", "consensus step", 0, 1, true},
    word_option("variant", "atc", "of a round: adapt then combine, or combine then adapt", "atc|cta"),
};
constexpr auto dpsgd_table = combined(step_options(), dpsgd_own);

DpsgdSettings read_dpsgd(const OptionReader& options) {
  options.word("variant");
  return {StepSize(options), options.number("xi")};
}

Needs dpsgd_needs(const AlgorithmOptions& given) {
  Needs needs{.keep = Keep::newest, .may_pause = true, .partial = Partial::receivers};
  if (OptionReader(given, dpsgd_table).is("variant", "cta")) needs.program = combine_then_adapt;
  return needs;
}

}  // namespace

constinit const CatalogueEntry entries::dpsgd{
    .name = "dpsgd",
    .summary = "gradient steps and averages with the neighbours",
    .options = dpsgd_table,
    .merge = Weights::doubly,
    .may_be_unified = true,
    .may_begin = true,
    .needs = dpsgd_needs,
    .make = made_by<Dpsgd, read_dpsgd, dpsgd_table>,
};

}  // namespace rubato
