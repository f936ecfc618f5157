// What theory says of the seconds until a gradient is small, as lines beside the measured ones.
#pragma once

#include "experiment/file/resolve.hpp"
#include "results/result_text.hpp"

namespace rubato::web {

/// Links of more clients are not looked at.
inline constexpr std::size_t most_bounded_clients = 200;

/// Lines with a gradient norm for each row of `samples` (columns and rows of metrics.csv), and a sentence about them: to which
/// norm a bound (runtime/world/bounds.hpp) lets a method come until then. Null where a constant of the losses is not known: it is
/// for data "tridiagonal", and for "quadratic" with metrics.smoothness, where metrics.gradient_norm is on.
ResultJson bounds_json(const ResolvedExperiment& resolved, const ResultJson& samples);

}  // namespace rubato::web
