// Rennala SGD. Workers compute one gradient after the other at the same model; the first B of them, whosever they are, make a step.
//
//   centre    x <- x - gamma (1/B) sum of the first B gradients at x
//
// Optimal in seconds where all workers have the same data. Source: A. Tyurin, P. Richtarik, "Optimal time complexities of parallel
// stochastic optimization methods under a fixed computation model", algorithm 1 of its restatement (docs/references.md#rennala).
#include "algos/entries.hpp"
#include "algos/mean_of_answers.hpp"

namespace rubato {

namespace {

constexpr OptionSpec rennala_own[] = {
    gamma_option(),
    {"B", OptionType::whole, "1", "gradients of a step", 1, 1e9},
};
constexpr auto rennala_table = combined(rennala_own, answer_options());

Needs rennala_needs(const OptionReader& options) {
  return needs_of_answers(options, {.gather = Gather::count,
                                    .count = static_cast<std::uint32_t>(options.whole("B")),
                                    .greatest_delay = 0,
                                    .hand_out = HandOut::all,
                                    .keeps_going = true});
}

}  // namespace

constinit const CatalogueEntry entries::rennala{
    .name = "rennala",
    .summary = "the first B gradients at a model make a step, whosever they are; equal data",
    .options = rennala_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .needs = needs_by<rennala_needs, rennala_table>,
    .make = made_by<MeanOfAnswers, read_centre_step, rennala_table>,
};

}  // namespace rubato
