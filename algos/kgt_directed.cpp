// K-GT on directed graphs as Spod-GT compares with it: Spod-GT with a gradient in every round and links only in every
// K-th.
// Source: baseline (c) in section 5 of Zehtabi and others, "Sporadic Gradient Tracking" (docs/references.md#spod-gt).
//
//   x <- Ak x - eta Bk y;   y <- Bk y + g+ - g;   Ak, Bk: A, B in the rounds k with (k + 1) mod K = 0, else I
//
// K-GT itself needs doubly stochastic weights (kgt.cpp); the paper runs it on digraphs without saying how, so this is
// our reading (SP-12, docs/references.md#spod-gt-decisions).
#include "algos/entries.hpp"
#include "algos/spodgt.hpp"

namespace rubato {

namespace {

constexpr OptionSpec kgt_directed_own[] = {
    {.name = "local_steps",
     .type = OptionType::whole,
     .fallback = "5",
     .meaning = "K: rounds, or computations, from one exchange to the next; mean_inverse_p: as many as 1 / p is in the mean of all "
                "clients, rounded up, p by protocol.compute_chance",
     .low = 1,
     .high = 1e6,
     .choices = "mean_inverse_p"},
};
constexpr auto kgt_directed_table = combined(spodgt_step_options, kgt_directed_own);

Needs kgt_directed_needs(const AlgorithmOptions& given) {
  const auto k = static_cast<std::uint32_t>(OptionReader(given, kgt_directed_table).whole("local_steps"));
  Needs needs = spodgt_needs({});
  needs.send_every = k;
  needs.may_pause = false;  // local_steps says it
  needs.program.round = {Phase{.kind = PhaseKind::exchange, .every = k, .offset = k - 1}, Phase{PhaseKind::compute}};
  return needs;
}

template <class Real>
AlgorithmFactory<Real> make_kgt_directed(const AlgorithmOptions& given) {
  kgt_directed_needs(given);  // refuses what it cannot be
  return make_spodgt<Real>(given);
}

}  // namespace

constinit const CatalogueEntry entries::kgt_directed{
    .name = "kgt_directed",
    .summary = "gradient tracking on digraphs that exchanges after every K computations",
    .options = kgt_directed_table,
    .merge = Weights::row,
    .share = Weights::column,
    .tracks = "y",
    .needs = kgt_directed_needs,
    .message_bytes = model_and_mass_bytes,
    .make = {make_kgt_directed<float>, make_kgt_directed<double>},
};

}  // namespace rubato
