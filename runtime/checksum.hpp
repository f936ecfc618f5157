// Checksum: 64 bits over bytes, at about the speed of copying them; the same on every machine, not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rubato {

/// As docs/wire-format.md defines it.
std::uint64_t checksum(std::span<const std::byte> bytes);

/// Copies the bytes on the way: one pass over memory instead of two. `target` has room for them and does not overlap.
std::uint64_t copy_with_checksum(std::byte* target, std::span<const std::byte> bytes);

/// Of stretches one after the other: that of the first ones, and the next one's. Begins with 0.
std::uint64_t joined_checksum(std::uint64_t before, std::uint64_t next);

}  // namespace rubato
