// Numbers that name things, as types that do not mix.
#pragma once

#include <compare>
#include <cstdint>

namespace rubato {

/// A client, counted from 0.
struct ClientId {
  std::uint32_t value = 0;  ///< below the number of clients of the run
  constexpr auto operator<=>(const ClientId&) const = default;
};

/// Stands where no client is meant: draws that belong to the world and not to a client.
inline constexpr ClientId no_client{0xFFFF'FFFF};

/// A host of a run, counted from 0 in the order of the roster.
struct HostId {
  std::uint32_t value = 0;  ///< below the number of hosts of the run
  constexpr auto operator<=>(const HostId&) const = default;
};

/// Counts the transmit ticks of one client at which something was sent, from 0; shared by all receivers of a tick.
using Sequence = std::uint32_t;

/// One published message. The incarnation counts the restarts of its sender.
struct MessageId {
  ClientId sender;                ///< the client that published it
  std::uint32_t incarnation = 0;  ///< counts the lives of the sender, from 0
  Sequence sequence = 0;          ///< counts the messages of the sender, across its lives
  constexpr auto operator<=>(const MessageId&) const = default;
};

}  // namespace rubato
