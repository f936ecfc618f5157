// Beginning: when a run in real time began, as far as what other hosts say of it can be believed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/hosts/membership.hpp"

namespace rubato {

/// When the run begins on this machine's clock, and which run it is.
struct Beginning {
  Duration since{};
  std::uint64_t run = 0;
};

/// What one host says of it, and how far this machine may be mistaken about that host's clock.
struct BeginningClaim : Beginning {
  Duration error{};
};

/// For all hosts to hear when the run begins.
inline constexpr Duration head_start = std::chrono::milliseconds(300);

/// A run begins at most `head_start` from now and is at most `longest` old.
bool can_be(const BeginningClaim& claim, Duration now, Duration longest);

/// Of claims that can be true, the one in the middle: where more than half of them are honest it lies between two of
/// theirs. Of two in the middle the earlier.
std::optional<Beginning> believable(std::vector<BeginningClaim> claims, Duration now, Duration longest);

/// Of the others that are there; nothing if none of them has begun.
std::optional<Beginning> begun_by_others(Membership& membership, Duration longest);

/// How far a run that all have left has come: the furthest of the hosts that are there and have been in it, by what they say,
/// but not beyond its end.
Duration came_to(const Membership& membership, std::uint64_t run, Duration end);

/// How many lives a host has had: by its own record, or as many as others say if that can be. Throws std::invalid_argument
/// beyond the last that a record can number.
std::uint32_t next_life(std::uint32_t recorded, std::uint32_t claimed);

}  // namespace rubato
