// Architectures of an experiment: which models its device classes ask for, and which client has which.
#pragma once

#include <cstdint>
#include <vector>

#include "experiment/experiment.hpp"
#include "experiment/faults.hpp"

namespace rubato {

/// The different models of a run.
struct ExperimentModels {
  std::vector<ModelOptions> options;     ///< by architecture, that of [model] first, whether or not a client has it
  std::vector<std::uint32_t> of_client;  ///< empty: all clients have that of [model]
};

/// As the device classes say.
ExperimentModels models_of(const config::Experiment& experiment);

/// What cannot be where clients have unlike models: whatever mixes or hands over whole ones.
void judge_architectures(const config::Experiment& experiment, config::Faults& faults);

}  // namespace rubato
