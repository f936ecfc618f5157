#include "algos/answering.hpp"

namespace rubato {

void read_answer_options(const OptionReader& options, AnswerRule& rule) {
  rule.arriving = options.choice<Arriving>("arriving");
  rule.centre_works = options.flag("center_works");
  if (const double patience = options.number("patience"); patience > 0) rule.patience = from_seconds(patience);
}

}  // namespace rubato
