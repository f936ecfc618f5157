// Between the checked tree and the plain structs: one list of fields for both directions.
#pragma once

#include "experiment/experiment.hpp"
#include "experiment/file/value.hpp"

namespace rubato::config {

/// From a tree without faults, defaults filled in.
Experiment experiment_of(const Table& root);

/// All fields, those of other choices included; what is absent is "none".
Table tree_of(Experiment experiment);

}  // namespace rubato::config
