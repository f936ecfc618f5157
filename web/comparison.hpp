// The report of a comparison: one page that needs nothing beside it, with the settings' curves and their bands.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "results/comparison.hpp"

namespace rubato::web {

/// Places of a band; a curve on a screen has no more.
inline constexpr std::size_t most_places = 200;

/// Writes the page: accuracy, loss and consensus against the time of the experiment, bits, gradients and cumulated delay, mean and
/// deviation over seeds, `axis` first, and the table. Throws RunFailed if the disk does not take it.
void write_comparison(const std::filesystem::path& file, const Comparison& comparison, std::span<const double> targets,
                      const SampleColumn& axis);

}  // namespace rubato::web
