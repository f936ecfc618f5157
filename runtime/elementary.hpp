// Our own logarithm, exponential and normal quantile: + - x / and sqrt only, so that timing is the same on every
// machine.
#pragma once

namespace rubato::elementary {

/// Natural logarithm of a positive finite number; relative error below 1e-15.
double log(double x);

/// log(1 + x) for x > -1, accurate for small x.
double log1p(double x);

/// e^x; 0 below -745, infinity above 709.78.
double exp(double x);

/// The x with P(N(0,1) <= x) = p, for 0 < p < 1; relative error below 1e-15.
/// Wichura's AS 241 (docs/references.md#chance).
double normal_quantile(double p);

}  // namespace rubato::elementary
