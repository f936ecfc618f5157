// Gradient tracking with one matrix that pulls models and one that pushes trackers: Push-Pull, AB, DSGT.
#pragma once

#include "algos/catalogue.hpp"

namespace rubato {

struct PushPullSettings {
  StepSize eta;
  bool steps_before_mixing = true;    ///< x+ = A (x - eta y), else A x - eta y
  bool tracks_before_mixing = false;  ///< y+ = B (y + g+ - g), else B y + g+ - g
  bool starts_mixed = false;          ///< y = B g at the start, else g
};

/// The exchanges of a round, in the order that these settings ask for.
Needs pushpull_needs(const PushPullSettings& settings);

template <class Real>
AlgorithmFactory<Real> make_pushpull(PushPullSettings settings);

}  // namespace rubato
