// From the experiment to the laws of its timers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "runtime/renewal.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// One law for all clients where its numbers are the same for all, else a law each. `stream`: of what is drawn for each.
/// Throws std::invalid_argument.
std::vector<TimerLaw> to_timers(const config::TimerLaw& law, std::uint64_t seed, std::uint32_t stream, std::size_t clients);

/// A line of ascending seconds for each client. Throws std::invalid_argument.
std::vector<std::vector<Time>> read_trace(const std::string& file, std::size_t clients);

}  // namespace rubato
