// What hosts tell each other, as bytes and the tensors beside them, by the archive() of each thing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/archive.hpp"
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

}  // namespace rubato
