// From the experiment file to the plan of who comes and goes.
#pragma once

#include "experiment/experiment.hpp"
#include "runtime/world/churn.hpp"

namespace rubato {

/// Throws std::invalid_argument where the script contradicts itself or a trace cannot be read.
ChurnPlan make_churn_plan(const config::Experiment& experiment);

}  // namespace rubato
