// ClassCount: how the rows of a class were dealt.
#pragma once

#include <cstdint>

#include "learning/types.hpp"
#include "runtime/ids.hpp"

namespace rubato {

/// How many training rows of a class a client has.
struct ClassCount {
  ClientId client;         ///< whose rows
  Label label;             ///< of this class
  std::uint32_t rows = 0;  ///< of this client
};

}  // namespace rubato
