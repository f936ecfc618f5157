// A score as the page wants it: marks packed, sums as columns.
#pragma once

#include <cstddef>

#include "results/result_text.hpp"
#include "web/score.hpp"

namespace rubato::web {

/// `marks` of the run decide how exact times are: to a microsecond, or to a tenth of a millisecond where there are many.
ResultJson score_json(const RunScore& score, std::size_t clients, std::uint64_t marks, const ScoreLimits& limits = {});
/// Messages by the time of their departure and by outcome.
ResultJson course_json(const RunScore& score);
/// Ages by the time of the merge; `window` in seconds, 0: none.
ResultJson ages_json(const RunScore& score, double window);
/// Who waited for whom; null where no client ever waits by the rules, or it is not known.
ResultJson waits_json(const RunScore& score);

}  // namespace rubato::web
