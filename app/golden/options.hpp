// From the parameters of a golden case to the options of an algorithm.
#pragma once

#include "algos/options.hpp"
#include "app/golden/cases.hpp"

namespace rubato::golden {

/// A number, a flag, a word or a number for each client.
AlgorithmOptions::Value to_option(const Json& value);

/// A step size: a number, one for each client, or {delta, Gamma}. A step of 0, which experiments are refused, becomes
/// one that moves no number.
void set_step(const std::string& name, const Json& value, AlgorithmOptions& options);

/// The penalty h of the case, if it has one.
void set_penalty(const Json& parameters, AlgorithmOptions& options);
/// {type, lam, theta, a}
void set_penalty_of(const Json& penalty, AlgorithmOptions& options);

/// {type, k, unbiased, bits}.
void set_compressor(const Json& compressor, AlgorithmOptions& options);

/// Everything that is a number, a flag, a word, a step size, a penalty or a compressor, under its own name.
AlgorithmOptions to_options(const Json& parameters);

}  // namespace rubato::golden
