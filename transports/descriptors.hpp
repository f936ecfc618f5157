// Descriptors: how many files and connections this process may have open.
#pragma once

#include <cstddef>

namespace rubato {

/// Descriptors that this process may have (the soft limit of RLIMIT_NOFILE).
std::size_t descriptor_limit();

/// Raises the soft limit to the hard one, but not beyond what any run needs. Returns what the limit is now.
std::size_t raise_descriptor_limit();

/// Those that are open.
std::size_t open_descriptors();

}  // namespace rubato
