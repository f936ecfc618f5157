// Message: a published message on its way in real time, and its form between hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/message_head.hpp"
#include "runtime/payload.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// Immutable once it is sent; shared by its receivers in this process. It was sent on the clock of this host. A control
/// message has no payload: of a request the tag counts, of an acknowledgement the sequence that is acknowledged.
struct Message : MessageHead {
  Payload payload{};
};

/// One receiver of a message.
struct Delivery {
  ClientId receiver{};
  std::uint32_t place = 0;  ///< among the receivers of the publish step
  std::uint8_t copies = 0;  ///< how many more times it arrives
  Duration delay{};         ///< what the modelled link adds
  Duration copy_delay{};
};

/// The parcel for one host: the common tensors once, and the own tensors of these receivers.
Parcel to_parcel(const Message& message, const std::vector<Delivery>& deliveries, bool is_state);

struct ArrivedMessage {
  std::shared_ptr<Message> message;
  std::vector<Delivery> deliveries;
};

/// None: the parcel is no message among so many clients. Nothing in it is trusted.
std::optional<ArrivedMessage> to_message(Parcel parcel, std::uint32_t clients);

}  // namespace rubato
