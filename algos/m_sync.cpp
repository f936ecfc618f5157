// m-synchronous SGD. A step waits for the gradients of the M fastest workers; the others are stopped and begin at the new model.
//
//   centre    x <- x - gamma (1/M) sum of the first M gradients at x
//
// M = n is minibatch SGD, M = 1 the fastest worker alone. Sources: docs/references.md#m-sync, docs/references.md#rennala (RE-3).
#include "algos/answering.hpp"
#include "algos/entries.hpp"

namespace rubato {

namespace {

struct MeanStep {
  double gamma;
};

template <class Real>
class MSynchronous final : public AnsweringMeans<Real, MeanStep> {
 public:
  using AnsweringMeans<Real, MeanStep>::AnsweringMeans;
};

constexpr OptionSpec own[] = {
    gamma_option(),
    {"M", OptionType::whole, "1", "workers that a step waits for; at most all of them", 1, 1e9},
};
constexpr auto table = combined(own, answer_options());

MeanStep read(const OptionReader& options) { return {options.number("gamma")}; }

Needs needs(const AlgorithmOptions& given) {
  const OptionReader options(given, table);
  AnswerRule rule{.gather = Gather::count,
                  .count = static_cast<std::uint32_t>(options.whole("M")),
                  .greatest_delay = 0,
                  .hand_out = HandOut::all};
  read_answer_options(options, rule);
  return {.answers = rule};
}

void check(const AlgorithmOptions& given, const Graph& graph) {
  const OptionReader options(given, table);
  const std::size_t workers = graph.clients() - (options.flag("center_works") ? 0 : 1);
  if (options.whole("M") > workers)
    refuse_option("M", static_cast<double>(options.whole("M")), "is more than there are workers: no step would ever be made");
}

}  // namespace

constinit const CatalogueEntry entries::m_sync{
    .name = "m_sync",
    .summary = "m-synchronous SGD: a step waits for the M fastest workers",
    .options = table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .needs = needs,
    .make = made_by<MSynchronous, read, table>,
    .check = check,
};

}  // namespace rubato
