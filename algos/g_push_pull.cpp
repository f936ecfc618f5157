// G-Push-Pull as S3 compares with it: Spod-GT with sporadic links and a gradient in every round.
// Source: S3, its baseline G-Push-Pull; Project specification 6.4.
//
// The original gossip version, in which one client at a time pulls from one neighbour and pushes to one, is this in
// continuous time with transmissions on single links.
#include "algos/entries.hpp"
#include "algos/spodgt.hpp"

namespace rubato {

namespace {

Needs needs(const AlgorithmOptions&) { return spodgt_needs({.links = true}); }

}  // namespace

constinit const CatalogueEntry entries::g_push_pull{
    .name = "g_push_pull",
    .summary = "gradient tracking on digraphs with sporadic links: G-Push-Pull",
    .options = spodgt_step_options,
    .merge = Weights::row,
    .share = Weights::column,
    .needs = needs,
    .message_bytes = model_and_mass_bytes,
    .make_float = make_spodgt<float>,
    .make_double = make_spodgt<double>,
};

}  // namespace rubato
