// Silence: what did not happen in a run.
#pragma once

#include <string>

#include "experiment/build/timing.hpp"
#include "results/run_result.hpp"

namespace rubato {

/// Fills in RunResult::silence, and says it in a sentence; likewise of clients that are there and send nothing. Empty: there is
/// nothing to say. The counts are known.
std::string find_silence(const Timing& timing, RunResult& result);

}  // namespace rubato
