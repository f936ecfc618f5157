// Local training: no client sends anything; the baseline that every exchange has to beat.
// Source: plain gradient descent, a baseline of DeceFL and KD-PDFL
// (docs/references.md#centralised-and-local-training).
//
// x: model   g: gradient   eta: step size
//
//   compute   x <- x - eta g(x; batch)
#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

template <class Real>
class LocalOnly final : public Gossip<Real, OnlyStepSize> {
 public:
  using Gossip<Real, OnlyStepSize>::Gossip;

  void merge(Work<Real>&, const Step&, std::span<const Received<Real>>) override {}
};

}  // namespace

constinit const CatalogueEntry entries::local_only{
    .name = "local_only",
    .summary = "every client trains alone",
    .options = only_step_options,
    .may_differ = true,
    .needs = [](const AlgorithmOptions&) { return Needs{.sends = false, .program = {.round = {Phase{PhaseKind::compute}}}}; },
    .make = made_by<LocalOnly, read_step_size, only_step_options>,
};

}  // namespace rubato
