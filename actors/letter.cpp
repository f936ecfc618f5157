#include "actors/letter.hpp"

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
void archive_head(Archive& archive, Letter& letter, std::uint8_t& common, std::vector<Delivery>& deliveries) {
  archive(letter.kind), archive(letter.sender.value), archive(letter.incarnation), archive(letter.sequence);
  archive(letter.tag), archive(letter.epoch.number), archive(letter.epoch.initiator);
  std::int64_t sent = letter.sent.time_since_epoch().count();
  archive(sent);
  letter.sent = Time{Duration{sent}};
  archive(letter.payload.paper_bits), archive(letter.payload.own_each), archive(common);
  archive.list(deliveries, archive_delivery);
}

bool is_delay(Duration delay) { return delay >= Duration{} && delay <= longest; }

bool is_sound(const Letter& letter, const std::vector<Delivery>& deliveries, std::uint32_t clients) {
  const bool is_letter = letter.kind == MessageKind::update || letter.kind == MessageKind::model ||
                         letter.kind == MessageKind::resync;
  const Duration sent = letter.sent.time_since_epoch();
  return is_letter && letter.sender.value < clients && sent >= -longest && sent <= longest &&
         letter.payload.own_each <= Payload::most_tensors &&
         std::all_of(deliveries.begin(), deliveries.end(), [&](const Delivery& delivery) {
           return delivery.receiver.value < clients && delivery.place < clients && is_delay(delivery.delay) &&
                  is_delay(delivery.copy_delay);
         });
}

}  // namespace

Parcel to_parcel(const Letter& letter, const std::vector<Delivery>& deliveries, bool is_state) {
  Parcel parcel;
  parcel.kind = ParcelKind::letter;
  parcel.when_full = is_state ? WhenFull::drop_oldest : WhenFull::refuse;
  std::uint8_t common = 0;
  for (std::size_t i = 0; i < Payload::most_tensors; ++i) {
    if (!letter.payload.common[i]) continue;
    common = static_cast<std::uint8_t>(common | 1u << i);
    parcel.tensors.push_back(letter.payload.common[i]);
  }
  const std::size_t each = letter.payload.own.empty() ? 0 : letter.payload.own_each;
  for (const Delivery& delivery : deliveries)
    for (std::size_t i = 0; i < each; ++i) parcel.tensors.push_back(letter.payload.own[delivery.place * each + i]);
  Letter head;  // without tensors
  head.kind = letter.kind, head.sender = letter.sender, head.incarnation = letter.incarnation;
  head.sequence = letter.sequence, head.tag = letter.tag, head.epoch = letter.epoch, head.sent = letter.sent;
  head.payload.paper_bits = letter.payload.paper_bits;
  head.payload.own_each = static_cast<std::uint8_t>(each);
  std::vector<Delivery> listed = deliveries;
  Archive archive;
  archive_head(archive, head, common, listed);
  parcel.head = archive.take();
  return parcel;
}

std::optional<ArrivedLetter> to_letter(Parcel parcel, std::uint32_t clients) try {
  TensorPool none;
  Archive archive(parcel.head, none);
  ArrivedLetter arrived{std::make_shared<Letter>(), {}};
  Letter& letter = *arrived.letter;
  std::uint8_t common = 0;
  archive_head(archive, letter, common, arrived.deliveries);
  if (archive.bytes_left() > 0 || !is_sound(letter, arrived.deliveries, clients)) return std::nullopt;
  std::size_t next = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    if (!(common & 1u << i)) continue;
    if (i >= Payload::most_tensors || next >= parcel.tensors.size()) return std::nullopt;
    letter.payload.common[i] = std::move(parcel.tensors[next++]);
  }
  const std::size_t each = letter.payload.own_each;
  if (parcel.tensors.size() - next != each * arrived.deliveries.size()) return std::nullopt;
  std::size_t places = 0;
  for (const Delivery& delivery : arrived.deliveries) places = std::max<std::size_t>(places, delivery.place + 1u);
  if (each > 0) letter.payload.own.resize(places * each);
  for (const Delivery& delivery : arrived.deliveries)
    for (std::size_t i = 0; i < each; ++i)
      letter.payload.own[delivery.place * each + i] = std::move(parcel.tensors[next++]);
  return arrived;
} catch (const BadArchive&) {
  return std::nullopt;
}

namespace {

void archive_note(Archive& archive, Note& note) {
  archive(note.kind), archive(note.from.value), archive(note.to.value), archive(note.number);
  std::int64_t delay = note.delay.count();
  archive(delay);
  note.delay = Duration{delay};
}

}  // namespace

Parcel to_parcel(const Note& note) {
  Note copy = note;
  Archive archive;
  archive_note(archive, copy);
  Parcel parcel;
  parcel.kind = ParcelKind::control;
  parcel.head = archive.take();
  return parcel;
}

std::optional<Note> to_note(const Parcel& parcel, std::uint32_t clients) try {
  TensorPool none;
  Archive archive(parcel.head, none);
  Note note;
  archive_note(archive, note);
  const bool is_sound = archive.bytes_left() == 0 && is_control(note.kind) && note.from.value < clients &&
                        note.to.value < clients && is_delay(note.delay);
  return is_sound ? std::optional(note) : std::nullopt;
} catch (const BadArchive&) {
  return std::nullopt;
}

}  // namespace rubato
