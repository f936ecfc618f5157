// The kernels that oneDNN chooses on this machine: a part of what decides whether two runs have equal bits.
#pragma once

#include <string>

namespace rubato {

/// Such as "oneDNN 2.6.3 avx512_core_vnni".
std::string kernels();

}  // namespace rubato
