// From the parameters of a golden case to the options of an algorithm.
#pragma once

#include <span>

#include "algos/catalogue.hpp"
#include "app/golden/cases.hpp"

namespace rubato::golden {

/// The options among the parameters. A number may be {delta, Gamma}, a step size that diminishes; one of 0 that
/// experiments are refused becomes one that moves nothing. A penalty is {type, lam, theta, a}, a compressor
/// {type, k, unbiased, bits}.
AlgorithmOptions to_options(const Json& parameters, std::span<const OptionSpec> known);

}  // namespace rubato::golden
