// The fingerprint of an experiment: what runs of the same experiment have in common.
#pragma once

#include <string>

#include "experiment/experiment.hpp"

namespace rubato {

/// What all hosts of a run must have in common, as a fingerprint: the experiment without addresses, limits and folders;
/// of every key that is a file the content, of those of [data] and [model] name and size.
std::string fingerprint(const config::Experiment& experiment);

}  // namespace rubato
