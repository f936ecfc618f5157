// m-synchronous SGD. A step waits for the gradients of the M fastest workers; the others are stopped and begin at the new model.
//
//   centre    x <- x - gamma (1/M) sum of the first M gradients at x
//
// M = n is minibatch SGD, M = 1 the fastest worker alone. Sources: docs/references.md#m-sync, docs/references.md#rennala (RE-3).
#include "algos/entries.hpp"
#include "algos/mean_of_answers.hpp"

namespace rubato {

namespace {

constexpr OptionSpec m_sync_own[] = {
    gamma_option(),
    {"M", OptionType::whole, "1", "workers that a step waits for; at most all of them", 1, 1e9},
};
constexpr auto m_sync_table = combined(m_sync_own, answer_options());

Needs m_sync_needs(const OptionReader& options) {
  return needs_of_answers(options, {.gather = Gather::count,
                                    .count = static_cast<std::uint32_t>(options.whole("M")),
                                    .greatest_delay = 0,
                                    .hand_out = HandOut::all});
}

void check_m_sync(const AlgorithmOptions& given, const Graph& graph) {
  const OptionReader options(given, m_sync_table);
  if (options.whole("M") > workers_of(options, graph))
    refuse_option("M", static_cast<double>(options.whole("M")), "is more than there are workers: no step would ever be made");
}

}  // namespace

constinit const CatalogueEntry entries::m_sync{
    .name = "m_sync",
    .summary = "m-synchronous SGD: a step waits for the M fastest workers",
    .options = m_sync_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .needs = needs_by<m_sync_needs, m_sync_table>,
    .make = made_by<MeanOfAnswers, read_centre_step, m_sync_table>,
    .check = check_m_sync,
};

}  // namespace rubato
