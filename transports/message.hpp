// Message: a published message on its way in real time, and its form between hosts.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/allowance.hpp"
#include "runtime/archive.hpp"
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

/// Of epochs that are told: each has a next one.
inline constexpr std::uint32_t last_epoch = 0xFFFF'FFFE;

struct ArrivedMessage {
  std::shared_ptr<Message> message = std::make_shared<Message>();
  std::vector<Delivery> deliveries;

  /// Everything of the message, to these receivers.
  void archive(Archive& archive, std::uint32_t clients);
};

/// None: the parcel is no message among so many clients. Nothing in it is trusted.
std::optional<ArrivedMessage> to_message(Parcel parcel, std::uint32_t clients);

/// How much of one peer may wait here at a time, and how much may come. Any thread may use the places; those that are
/// taken may outlive the quota.
class InboundQuota {
 public:
  explicit InboundQuota(std::int64_t places, Allowance allowed = {1e12, 1e12}) : pace{allowed}, places_{places} {}
  InboundQuota(InboundQuota&&) = default;  // a copy would share its places

  Allowance pace;    ///< of deliveries; one thread at a time
  Duration heard{};  ///< when the newest message came; likewise

  /// A place, for as long as a copy of it lives; nothing if all are taken.
  std::shared_ptr<const void> enter() const {
    if (taken_->fetch_add(1, std::memory_order_relaxed) < places_)
      return {taken_.get(), [taken = taken_](const void*) { taken->fetch_sub(1, std::memory_order_relaxed); }};
    taken_->fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }

 private:
  std::int64_t places_;
  std::shared_ptr<std::atomic<std::int64_t>> taken_ = std::make_shared<std::atomic<std::int64_t>>(0);
};

}  // namespace rubato
