// How long gradients and links take in an experiment, as bounds in seconds want to know it (runtime/world/bounds.hpp).
#pragma once

#include <optional>
#include <vector>

#include "experiment/build/timing.hpp"

namespace rubato {

/// Seconds of a gradient, by client: means of the laws; infinity for a client that never computes.
std::vector<double> gradient_seconds(const Timing& timing);

/// Seconds of a message, by directed link: what is lost is sent again. Means over the first messages that a link would carry, as
/// the seed draws them. Nothing where messages disturb each other or share capacities: a link has no time of its own there.
std::optional<std::vector<double>> link_seconds(const Timing& timing);

}  // namespace rubato
