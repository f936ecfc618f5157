// The event table of a golden case in continuous time as timers, links and hubs of an ordinary run.
#pragma once

#include <memory>

#include "app/golden/cases.hpp"
#include "experiment/build/timing.hpp"

namespace rubato::golden {

/// The events of a case by time, equal ones as they stand.
std::vector<Json> sorted_events(const Json& golden_case);

/// Everything but weights and needs.
std::unique_ptr<Timing> make_timing(const Json& golden_case);

/// DRACO's: Q, or what q_norm says.
void set_weights(const Json& config, Timing& timing);
/// PaME's kappa, by client.
std::vector<std::uint32_t> absorb_periods(const Json& config, std::size_t clients);
/// The hubs of unifications, from the first on.
void set_hubs(const Json& hubs, Timing& timing);

}  // namespace rubato::golden
