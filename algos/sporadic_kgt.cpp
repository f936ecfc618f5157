// Sporadic K-GT as S3 compares with it: Spod-GT with every link in every round and sporadic gradients.
// Source: S3, its baseline (d); Project specification 6.6.
#include "algos/entries.hpp"
#include "algos/spodgt.hpp"

namespace rubato {

namespace {

Needs needs(const AlgorithmOptions&) { return spodgt_needs({.computes = true}); }

}  // namespace

constinit const CatalogueEntry entries::sporadic_kgt{
    .name = "sporadic_kgt",
    .summary = "gradient tracking on digraphs with sporadic gradients, all links in every round",
    .options = spodgt_step_options,
    .merge = Weights::row,
    .share = Weights::column,
    .needs = needs,
    .message_bytes = model_and_mass_bytes,
    .make_float = make_spodgt<float>,
    .make_double = make_spodgt<double>,
};

}  // namespace rubato
