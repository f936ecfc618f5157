// Final models as a NumPy file: one row per client.
#pragma once

#include <string>

#include "actors/experiment.hpp"

namespace rubato {

/// The bytes of an .npy file of clients x dimension numbers; result.models must be there.
std::string models_npy(const RunResult& result);

}  // namespace rubato
