#include "algos/answering.hpp"

namespace rubato {

Needs needs_of_answers(const OptionReader& options, AnswerRule rule) {
  rule.arriving = options.choice<Arriving>("arriving");
  rule.centre_works = options.flag("center_works");
  if (const double patience = options.number("patience"); patience > 0) rule.patience = from_seconds(patience);
  return {.answers = rule};
}

std::size_t workers_of(const OptionReader& options, const Graph& graph) {
  return graph.clients() - (options.flag("center_works") ? 0 : 1);
}

}  // namespace rubato
