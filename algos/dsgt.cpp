// DSGT: distributed stochastic gradient tracking, with one symmetric doubly stochastic matrix W.
// Source: Pu and Nedić, "Distributed stochastic gradient tracking methods" (docs/references.md#dsgt).
//
//   x+ = W (x - alpha y);   y+ = W (y + g+ - g) with y_mix = atc, W y + g+ - g with cta;   y = g at the start
//
// It is Push-Pull with A = B = W. Continuous time: a computation steps, x <- x - alpha y, and tracks, y <- y + g+ - g;
// a message carries x and the tracker's counter, a window mixes both: DEPOSITUM without penalty and momentum, beta = 1.
#include "algos/entries.hpp"
#include "algos/pushpull.hpp"

namespace rubato {

namespace {

constexpr OptionSpec dsgt_own[] = {
    word_option("y_mix", "atc", "in rounds, trackers take the gradient before (atc) or after (cta) they are mixed", "cta|atc"),
};
constexpr auto dsgt_table =
    combined(step_options("alpha", "0.05", "step size", "diminishing: alpha / (k + step_offset)"), dsgt_own);

PushPullSettings read_dsgt(const OptionReader& options) {
  return {.eta = StepSize(options, "alpha"), .tracks_before_mixing = options.is("y_mix", "atc")};
}
Needs dsgt_needs(const OptionReader& options) { return pushpull_needs(read_dsgt(options)); }

template <class Real>
AlgorithmFactory<Real> make_dsgt(const AlgorithmOptions& given) {
  return make_pushpull<Real>(read_dsgt({given, dsgt_table}));
}

}  // namespace

constinit const CatalogueEntry entries::dsgt{
    .name = "dsgt",
    .summary = "gradient tracking with doubly stochastic weights",
    .options = dsgt_table,
    .graphs = Graphs::undirected,
    .merge = Weights::doubly,
    .share = Weights::doubly,
    .tracks = "y",
    .needs = needs_by<dsgt_needs, dsgt_table>,
    .message_bytes = model_and_mass_bytes,
    .make = {make_dsgt<float>, make_dsgt<double>},
};

}  // namespace rubato
