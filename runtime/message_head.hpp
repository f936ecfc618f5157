// MessageHead: what a message says of itself, wherever it is: under way, at its receiver, between hosts.
#pragma once

#include <cstdint>

#include "runtime/epoch.hpp"
#include "runtime/ids.hpp"
#include "runtime/step.hpp"
#include "runtime/time.hpp"

namespace rubato {

struct MessageHead {
  MessageId id{};
  std::uint32_t tag = 0;  ///< what the sender's protocol sends along
  Epoch epoch{};          ///< of its sender; the first where there are none
  Time sent{};
  MessageKind kind = MessageKind::update;
};

}  // namespace rubato
