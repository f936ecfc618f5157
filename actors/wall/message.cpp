#include "actors/wall/message.hpp"

#include <algorithm>
#include <utility>

#include "runtime/archive.hpp"

namespace rubato {

namespace {

constexpr Duration longest = Duration::max() / 8;  // so that sums of a few do not overflow

void archive_delivery(Archive& archive, Delivery& delivery) {
  archive(delivery.receiver), archive(delivery.place), archive(delivery.copies);
  archive(delivery.delay), archive(delivery.copy_delay);
}

// Everything of a message but its tensors; `common` has a bit for each common tensor that there is.
void archive_head(Archive& archive, Message& message, std::uint8_t& common, std::vector<Delivery>& deliveries) {
  archive(message.kind), archive(message.id), archive(message.tag), archive(message.epoch), archive(message.sent);
  archive(message.payload.paper_bits), archive(message.payload.own_each), archive(common);
  archive.list(deliveries, archive_delivery);
}

bool is_delay(Duration delay) { return delay >= Duration{} && delay <= longest; }

bool is_sound(const Message& message, const std::vector<Delivery>& deliveries, std::uint32_t clients) {
  const Duration sent = message.sent.time_since_epoch();
  return message.kind <= MessageKind::resync && message.id.sender.value < clients && sent >= -longest && sent <= longest &&
         message.payload.own_each <= Payload::most_tensors &&
         std::all_of(deliveries.begin(), deliveries.end(), [&](const Delivery& delivery) {
           return delivery.receiver.value < clients && delivery.place < clients && is_delay(delivery.delay) &&
                  is_delay(delivery.copy_delay);
         });
}

}  // namespace

Parcel to_parcel(const Message& message, const std::vector<Delivery>& deliveries, bool is_state) {
  Parcel parcel;
  parcel.kind = is_control(message.kind) ? ParcelKind::control : ParcelKind::message;
  if (parcel.kind == ParcelKind::message) parcel.when_full = is_state ? WhenFull::drop_oldest : WhenFull::refuse;
  std::uint8_t common = 0;
  for (std::size_t i = 0; i < Payload::most_tensors; ++i) {
    if (!message.payload.common[i]) continue;
    common = static_cast<std::uint8_t>(common | 1u << i);
    parcel.tensors.push_back(message.payload.common[i]);
  }
  const std::size_t each = message.payload.own.empty() ? 0 : message.payload.own_each;
  for (const Delivery& delivery : deliveries)
    for (std::size_t i = 0; i < each; ++i) parcel.tensors.push_back(message.payload.own[delivery.place * each + i]);
  Message head{static_cast<const MessageHead&>(message)};  // without tensors
  head.payload.paper_bits = message.payload.paper_bits;
  head.payload.own_each = static_cast<std::uint8_t>(each);
  std::vector<Delivery> listed = deliveries;
  Archive archive;
  archive_head(archive, head, common, listed);
  parcel.head = archive.take();
  return parcel;
}

std::optional<ArrivedMessage> to_message(Parcel parcel, std::uint32_t clients) try {
  Archive archive(parcel.head);
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

}  // namespace rubato
