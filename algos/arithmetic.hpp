// Under which conditions two runs have equal bits: compiler, flags and instruction set of the numerical code.
#pragma once

#include <string>

namespace rubato {

/// Such as "g++ 12.2.0 -O native avx512, oneDNN 2.6.3 avx512_core_vnni".
std::string arithmetic();

/// The instruction set alone: "avx512", "avx2" or "sse2"; "generic" elsewhere.
std::string instruction_set();

/// Empty if this processor can run the code as it was built; else a sentence.
std::string missing_instructions();

}  // namespace rubato
