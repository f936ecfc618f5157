#include "actors/wall/message.hpp"

#include <utility>

#include "runtime/archive.hpp"

namespace rubato {

namespace {

// Everything of a message, to these receivers; nothing that is read is trusted.
void archive_message(Archive& archive, Message& message, std::vector<Delivery>& deliveries, std::uint32_t clients) {
  archive(message.kind, message.id, message.tag, message.epoch, message.sent);
  archive.require(message.kind <= MessageKind::resync && message.id.sender.value < clients);
  archive.require_moderate(message.sent.time_since_epoch());
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
  archive.payload(message.payload, places);
}

}  // namespace

Parcel to_parcel(const Message& message, const std::vector<Delivery>& deliveries, bool is_state) {
  Parcel parcel;
  parcel.kind = is_control(message.kind) ? ParcelKind::control : ParcelKind::message;
  if (parcel.kind == ParcelKind::message) parcel.when_full = is_state ? WhenFull::drop_oldest : WhenFull::refuse;
  Message copy = message;
  std::vector<Delivery> listed = deliveries;
  Archive archive(Archive::Beside{});
  archive_message(archive, copy, listed, 0);
  parcel.head = archive.take();
  parcel.tensors = archive.take_tensors();
  return parcel;
}

std::optional<ArrivedMessage> to_message(Parcel parcel, std::uint32_t clients) try {
  Archive archive(parcel.head, std::move(parcel.tensors));
  ArrivedMessage arrived{std::make_shared<Message>(), {}};
  archive_message(archive, *arrived.message, arrived.deliveries, clients);
  archive.expect_end();
  return arrived;
} catch (const BadArchive&) {
  return std::nullopt;
}

}  // namespace rubato
