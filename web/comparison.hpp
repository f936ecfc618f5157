// The report of a comparison: one page that needs nothing beside it, with the settings' curves and their bands.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "results/comparison.hpp"

namespace rubato::web {

/// Samples of a run; a curve on a screen has no more places.
inline constexpr std::size_t most_places = 120;

/// Writes the page: curves of all runs against what they spent, `axis` first, what it took to reach a target, paired differences
/// over common seeds, and the table. Throws RunFailed if the disk does not take it.
void write_comparison(const std::filesystem::path& file, const Comparison& comparison, std::span<const double> targets,
                      const SampleColumn& axis);

}  // namespace rubato::web
