// FmaPeak: how many floating-point operations one core can do in a second.
#pragma once

namespace rubato::bench {

/// Single-precision multiply-adds of the widest vectors that this processor has, in registers, each counted as two
/// operations: the best of several blocks of `seconds`, in operations a second.
double measure_fma_peak(double seconds);

}  // namespace rubato::bench
