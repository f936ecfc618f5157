#include "actors/wall/message.hpp"

#include <algorithm>
#include <utility>

#include "runtime/archive.hpp"

namespace rubato {

namespace {

constexpr Duration longest = Duration::max() / 8;  // so that sums of a few do not overflow

void archive_delivery(Archive& archive, Delivery& delivery) {
  archive(delivery.receiver.value), archive(delivery.place), archive(delivery.copies);
  std::int64_t delay = delivery.delay.count(), copy_delay = delivery.copy_delay.count();
  archive(delay), archive(copy_delay);
  delivery.delay = Duration{delay};
  delivery.copy_delay = Duration{copy_delay};
}

// Everything of a letter but its tensors; `common` has a bit for each common tensor that there is.
void archive_head(Archive& archive, Message& message, std::uint8_t& common, std::vector<Delivery>& deliveries) {
  archive(message.kind), archive(message.sender.value), archive(message.incarnation), archive(message.sequence);
  archive(message.tag), archive(message.epoch.number), archive(message.epoch.initiator);
  std::int64_t sent = message.sent.time_since_epoch().count();
  archive(sent);
  message.sent = Time{Duration{sent}};
  archive(message.payload.paper_bits), archive(message.payload.own_each), archive(common);
  archive.list(deliveries, archive_delivery);
}

bool is_delay(Duration delay) { return delay >= Duration{} && delay <= longest; }

bool is_sound(const Message& message, const std::vector<Delivery>& deliveries, std::uint32_t clients) {
  const bool is_letter =
      message.kind == MessageKind::update || message.kind == MessageKind::model || message.kind == MessageKind::resync;
  const Duration sent = message.sent.time_since_epoch();
  return is_letter && message.sender.value < clients && sent >= -longest && sent <= longest &&
         message.payload.own_each <= Payload::most_tensors &&
         std::all_of(deliveries.begin(), deliveries.end(), [&](const Delivery& delivery) {
           return delivery.receiver.value < clients && delivery.place < clients && is_delay(delivery.delay) &&
                  is_delay(delivery.copy_delay);
         });
}

}  // namespace

Parcel to_parcel(const Message& message, const std::vector<Delivery>& deliveries, bool is_state) {
  Parcel parcel;
  parcel.kind = ParcelKind::message;
  parcel.when_full = is_state ? WhenFull::drop_oldest : WhenFull::refuse;
  std::uint8_t common = 0;
  for (std::size_t i = 0; i < Payload::most_tensors; ++i) {
    if (!message.payload.common[i]) continue;
    common = static_cast<std::uint8_t>(common | 1u << i);
    parcel.tensors.push_back(message.payload.common[i]);
  }
  const std::size_t each = message.payload.own.empty() ? 0 : message.payload.own_each;
  for (const Delivery& delivery : deliveries)
    for (std::size_t i = 0; i < each; ++i) parcel.tensors.push_back(message.payload.own[delivery.place * each + i]);
  Message head;  // without tensors
  head.kind = message.kind, head.sender = message.sender, head.incarnation = message.incarnation;
  head.sequence = message.sequence, head.tag = message.tag, head.epoch = message.epoch, head.sent = message.sent;
  head.payload.paper_bits = message.payload.paper_bits;
  head.payload.own_each = static_cast<std::uint8_t>(each);
  std::vector<Delivery> listed = deliveries;
  Archive archive;
  archive_head(archive, head, common, listed);
  parcel.head = archive.take();
  return parcel;
}

std::optional<ArrivedMessage> to_message(Parcel parcel, std::uint32_t clients) try {
  TensorPool none;
  Archive archive(parcel.head, none);
  ArrivedMessage arrived{std::make_shared<Message>(), {}};
  Message& message = *arrived.message;
  std::uint8_t common = 0;
  archive_head(archive, message, common, arrived.deliveries);
  if (archive.bytes_left() > 0 || !is_sound(message, arrived.deliveries, clients)) return std::nullopt;
  std::size_t next = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    if (!(common & 1u << i)) continue;
    if (i >= Payload::most_tensors || next >= parcel.tensors.size()) return std::nullopt;
    message.payload.common[i] = std::move(parcel.tensors[next++]);
  }
  const std::size_t each = message.payload.own_each;
  if (parcel.tensors.size() - next != each * arrived.deliveries.size()) return std::nullopt;
  std::size_t places = 0;
  for (const Delivery& delivery : arrived.deliveries) places = std::max<std::size_t>(places, delivery.place + 1u);
  if (each > 0) message.payload.own.resize(places * each);
  for (const Delivery& delivery : arrived.deliveries)
    for (std::size_t i = 0; i < each; ++i) message.payload.own[delivery.place * each + i] = std::move(parcel.tensors[next++]);
  return arrived;
} catch (const BadArchive&) {
  return std::nullopt;
}

namespace {

void archive_control(Archive& archive, ControlMessage& control) {
  archive(control.kind), archive(control.from.value), archive(control.to.value), archive(control.number);
  std::int64_t delay = control.delay.count();
  archive(delay);
  control.delay = Duration{delay};
}

}  // namespace

Parcel to_parcel(const ControlMessage& control) {
  ControlMessage copy = control;
  Archive archive;
  archive_control(archive, copy);
  Parcel parcel;
  parcel.kind = ParcelKind::control;
  parcel.head = archive.take();
  return parcel;
}

std::optional<ControlMessage> to_control(const Parcel& parcel, std::uint32_t clients) try {
  TensorPool none;
  Archive archive(parcel.head, none);
  ControlMessage control;
  archive_control(archive, control);
  const bool is_sound = archive.bytes_left() == 0 && is_control(control.kind) && control.from.value < clients &&
                        control.to.value < clients && is_delay(control.delay);
  return is_sound ? std::optional(control) : std::nullopt;
} catch (const BadArchive&) {
  return std::nullopt;
}

}  // namespace rubato
