// What hosts tell each other, as bytes and the tensors beside them, by the archive() of each thing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/archive.hpp"
#include "runtime/payload.hpp"
#include "transports/transport.hpp"

namespace rubato {

struct Item {
  std::vector<std::byte> head;
  std::vector<Tensor> tensors;
};

/// `with`: what the thing's archive() needs besides, if anything.
template <class Thing, class... With>
Item item_of(Thing thing, With... with) {
  Archive archive(Archive::Beside{});
  thing.archive(archive, with...);
  return {archive.take(), archive.take_tensors()};
}

/// The thing that these bytes are, with all the tensors beside them; nothing if they are no such thing.
template <class Thing, class... With>
std::optional<Thing> read_item(std::span<const std::byte> head, std::vector<Tensor> tensors = {}, With... with) try {
  Archive archive(head, std::move(tensors));
  Thing thing;
  thing.archive(archive, with...);
  archive.expect_end();
  return thing;
} catch (const BadArchive&) {
  return std::nullopt;
}

template <class Thing>
Parcel parcel_of(ParcelKind kind, Thing thing, WhenFull when_full = WhenFull::wait) {
  return {kind, when_full, false, item_of(std::move(thing)).head, {}};
}

/// What a model looks like: nothing else is taken for one.
struct ModelShape {
  Scalar scalar = Scalar::float32;
  std::size_t count = 0;

  bool fits(const Tensor& tensor) const { return tensor && tensor.scalar() == scalar && tensor.count() == count; }
};

/// A payload on its way to another host.
struct PlacedPayload {
  Payload payload;
  std::vector<std::uint32_t> places;  ///< of its own tensors

  void archive(Archive& archive, std::size_t clients) {
    archive(places);
    archive.require(places.size() <= clients && std::ranges::all_of(places, [&](auto place) { return place < clients; }));
    archive.payload(payload, places);
  }
};

/// The common tensors, and the own tensors of the receivers at these places of the publish step.
inline Item packed_payload(const Payload& payload, std::vector<std::uint32_t> places) {
  if (payload.own.empty()) places.clear();
  return item_of(PlacedPayload{payload, std::move(places)}, std::size_t{0});
}

/// With every own tensor at its place; places of other hosts are empty. Nothing if it is no payload, or has a place
/// that is not below `places`.
inline std::optional<Payload> payload_of(Item item, std::size_t places) {
  auto placed = read_item<PlacedPayload>(item.head, std::move(item.tensors), places);
  return placed ? std::optional(std::move(placed->payload)) : std::nullopt;
}

}  // namespace rubato
