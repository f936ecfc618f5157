// Message: a published message on its way in real time, and its form between hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/epoch.hpp"
#include "runtime/payload.hpp"
#include "runtime/step.hpp"
#include "transports/transport.hpp"

namespace rubato {

/// Immutable once it is sent; shared by its receivers in this process.
struct Message {
  MessageKind kind = MessageKind::update;
  ClientId sender{};
  std::uint32_t incarnation = 0;
  Sequence sequence = 0;
  std::uint32_t tag = 0;
  Epoch epoch;
  Time sent{};  ///< on the clock of this host
  Payload payload;
};

/// One receiver of a letter.
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

/// None: the parcel is no letter among so many clients. Nothing in it is trusted.
std::optional<ArrivedMessage> to_message(Parcel parcel, std::uint32_t clients);

/// A message between protocols: a request, or the acknowledgement of a message.
struct ControlMessage {
  MessageKind kind = MessageKind::request;
  ClientId from{};
  ClientId to{};
  std::uint32_t number = 0;  ///< the request's tag, the sequence that is acknowledged
  Duration delay{};
};

Parcel to_parcel(const ControlMessage& control);
std::optional<ControlMessage> to_control(const Parcel& parcel, std::uint32_t clients);

}  // namespace rubato
