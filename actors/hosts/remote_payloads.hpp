// Payloads in the form in which they go from host to host.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "actors/hosts/item_exchange.hpp"
#include "runtime/payload.hpp"

namespace rubato {

/// The common tensors, and the own tensors of the receivers at these places of the publish step.
Item packed_payload(const Payload& payload, std::span<const std::uint32_t> places);
/// With every own tensor at its place; places of other hosts are empty. Nothing if it is no payload, or has a place
/// that is not below `places`.
std::optional<Payload> payload_of(Item item, std::size_t places);

}  // namespace rubato
