// Paired: two settings under the same seeds, which share clocks, links, data and start, so that a difference is theirs.
#pragma once

#include <cstddef>

#include "results/comparison.hpp"

namespace rubato {

/// The 97.5 % quantile of Student's t, by degrees of freedom from 1; above 30 that of the normal, corrected.
double student_t(std::size_t freedom);

/// Of a measure at the ends of runs. `half`: half of the interval that has the mean of all such differences in 95 of 100 cases; NaN
/// for a single pair.
struct PairedDifference {
  Spread spread;    ///< over the seeds that both have
  double half = 0;  ///< of the interval around its mean
};

/// One less the other.
PairedDifference paired_difference(const ComparedOutcome& one, const ComparedOutcome& other, const SampleColumn& measure);

}  // namespace rubato
