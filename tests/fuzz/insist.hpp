// insist(): a claim of a fuzzed program.
#pragma once

namespace rubato::fuzz {

/// Ends the program where the fuzzer notices it.
inline void insist(bool claim) {
  if (!claim) __builtin_trap();
}

}  // namespace rubato::fuzz
