// Chance: the address of the random numbers of one gradient, such as those of dropout.
#pragma once

#include <cstdint>

#include "runtime/random.hpp"

namespace rubato {

/// The `number`-th gradient of a client. Equal addresses give equal numbers, wherever and whenever they are drawn.
struct Chance {
  std::uint64_t seed = 0;    ///< of the run
  ClientId client{};         ///< whose gradient it is
  std::uint64_t number = 0;  ///< of the gradient, counted by its client
  /// Where many samples are taken block by block: which block this is.
  std::uint32_t block = 0;

  /// The numbers that layer `layer` (below 2^16) of a model draws; up to 2^32 of them.
  Stream stream(std::uint32_t layer) const {
    Stream numbers(seed, client, Purpose::dropout, layer | block << 16);
    numbers.seek(number << 32);
    return numbers;
  }
};

}  // namespace rubato
