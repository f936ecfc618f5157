// Screened: what a client has refused of the messages of one sender, because of what they say.
#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/ids.hpp"

namespace rubato {

/// Messages that reached a client and were left out. Their timing is that of any other: protocols count them as kept.
struct Screened {
  ClientId sender{};               ///< of the messages
  ClientId receiver{};             ///< that left them out
  std::uint64_t not_finite = 0;    ///< with a number that is infinite or NaN
  std::uint64_t beyond_norm = 0;   ///< longer than mailbox.norm_limit allows
  std::uint64_t unauthorised = 0;  ///< real time: models and acknowledgements that were not the sender's to send
  std::uint64_t unasked = 0;       ///< real time: requests that the protocol has no need of, or too soon after another
  std::uint64_t compared = 0;      ///< messages that norm_limit was asked about
  double norms = 0;                ///< sum of their norms
  double cosines = 0;              ///< sum of their cosines to the receiver's own model

  /// All that were left out.
  std::uint64_t refused() const { return not_finite + beyond_norm + unauthorised + unasked; }
  /// Over the messages that were compared; NaN: none.
  double mean_norm() const { return compared > 0 ? norms / static_cast<double>(compared) : NAN; }
  /// Likewise.
  double mean_cosine() const { return compared > 0 ? cosines / static_cast<double>(compared) : NAN; }
};

}  // namespace rubato
