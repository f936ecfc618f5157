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

PushPullSettings read(const AlgorithmOptions& options) {
  return {.eta = StepSize(options, "alpha", 0.05), .tracks_before_mixing = adapts_first(options, "y_mix", "atc")};
}

Needs needs(const AlgorithmOptions& options) { return pushpull_needs(read(options)); }

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return make_pushpull<Real>(read(options));
}

constexpr OptionSpec options[] = {
    {"alpha", OptionType::number, "0.05", "step size", 0, 1e9, true},
    {.name = "step",
     .type = OptionType::word,
     .fallback = "\"constant\"",
     .meaning = "diminishing: alpha / (k + step_offset)",
     .choices = "constant|diminishing"},
    {"step_offset", OptionType::number, "1", "of a diminishing step", 0, 1e9, true},
    {.name = "y_mix",
     .type = OptionType::word,
     .fallback = "\"atc\"",
     .meaning = "in rounds, trackers take the gradient before (atc) or after (cta) they are mixed",
     .choices = "cta|atc"},
};

}  // namespace

constinit const CatalogueEntry entries::dsgt{
    .name = "dsgt",
    .summary = "gradient tracking with doubly stochastic weights",
    .options = options,
    .graphs = Graphs::undirected,
    .merge = Weights::doubly,
    .share = Weights::doubly,
    .needs = needs,
    .message_bytes = model_and_mass_bytes,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
