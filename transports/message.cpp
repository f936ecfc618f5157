#include "transports/message.hpp"

#include <utility>

#include "transports/parcel_head.hpp"

namespace rubato {

// Nothing that is read is trusted.
void ArrivedMessage::archive(Archive& archive, std::uint32_t clients) {
  archive(message->kind, message->id, message->tag, message->epoch, message->sent, message->since);
  archive.require(message->kind <= MessageKind::resync && message->id.sender.value < clients);
  archive.require(message->id.incarnation <= last_life && message->epoch.number <= last_epoch);
  archive.require_moderate(message->sent.time_since_epoch());
  archive.require_moderate(message->since.time_since_epoch());
  std::vector<std::uint32_t> places;
  for (const Delivery& delivery : deliveries) places.push_back(delivery.place);
  archive.list(deliveries, [&](Archive& part, Delivery& delivery) {
    part(delivery.receiver, delivery.place, delivery.copies, delivery.delay, delivery.copy_delay);
    part.require(delivery.receiver.value < clients && delivery.place < clients);
    for (const Duration delay : {delivery.delay, delivery.copy_delay}) {
      part.require(delay >= Duration{});
      part.require_moderate(delay);
    }
    if (part.is_reading()) places.push_back(delivery.place);
  });
  archive.payload(message->payload, places);
}

Parcel to_parcel(const Message& message, const std::vector<Delivery>& deliveries, bool is_state) {
  const bool is_note = is_control(message.kind);
  const WhenFull when_full = is_note ? WhenFull::wait : is_state ? WhenFull::drop_oldest : WhenFull::refuse;
  Item item = item_of(ArrivedMessage{std::make_shared<Message>(message), deliveries}, 0u);
  return {is_note ? ParcelKind::control : ParcelKind::message, when_full, false, std::move(item.head), std::move(item.tensors)};
}

std::optional<ArrivedMessage> to_message(Parcel parcel, std::uint32_t clients) {
  return read_item<ArrivedMessage>(parcel.head, std::move(parcel.tensors), clients);
}

}  // namespace rubato
