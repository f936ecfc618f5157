#include "actors/hosts/remote_payloads.hpp"

#include <algorithm>
#include <utility>

namespace rubato {

namespace {

struct PlacedPayload {
  Payload payload;
  std::vector<std::uint32_t> places;  // of its own tensors

  void archive(Archive& archive, std::size_t clients) {
    archive(places);
    archive.require(std::all_of(places.begin(), places.end(), [&](auto place) { return place < clients; }));
    archive.payload(payload, places);
  }
};

}  // namespace

Item packed_payload(const Payload& payload, std::span<const std::uint32_t> places) {
  PlacedPayload placed{payload, {}};
  if (!payload.own.empty()) placed.places.assign(places.begin(), places.end());
  return item_of(std::move(placed), std::size_t{0});
}

std::optional<Payload> payload_of(Item item, std::size_t places) {
  auto placed = read_item<PlacedPayload>(item.head, std::move(item.tensors), places);
  if (!placed) return std::nullopt;
  return std::move(placed->payload);
}

}  // namespace rubato
