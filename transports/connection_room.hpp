// ConnectionRoom: which connection has to go when there are too many: one of the address that opened most of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/ids.hpp"

namespace rubato {

/// Decides and knows no sockets. A connection is known by a number of the caller's. One that has carried something of a
/// host is heard and is never crowded out; the others are shaking hands. One thread at a time.
class ConnectionRoom {
 public:
  struct Limits {
    std::size_t connections = 0;  ///< that may be open
    std::size_t reserved = 0;     ///< of these for sources of the roster alone
  };
  /// How many connections of one host are kept: the one in use, and one that has not noticed its end.
  static constexpr std::size_t most_of_a_host = 2;
  static constexpr std::size_t most_trusted = 10'000;

  /// Which of several goes follows from the seed, which others must not be able to guess.
  ConnectionRoom(const Limits& limits, std::uint64_t seed) : limits_{limits}, chance_{seed} {}

  /// A host of the roster comes from there: the reserve is open to it. Beyond most_trusted nothing is added.
  void trust(const std::string& source);
  /// `source`: the connections of one stranger, such as an address. The number is not in use.
  void open(int connection, const std::string& source);
  /// It carried something of this host. The oldest of more than most_of_a_host, if there is one, has to go.
  std::optional<int> hear(int connection, HostId host);
  /// Those that are open.
  std::size_t size() const { return connections_.size(); }
  /// It has ended, or was told to go. Unknown numbers are ignored.
  void close(int connection);

  /// How far a connection that shakes hands has come.
  using Progress = std::function<std::size_t(int connection)>;
  /// The one that has to go, if there are too many: of the source with the most that shake hands, at random; of each two
  /// that go one is the least advanced of some, so that connections which say nothing go first, while whatever takes
  /// part in the handshake has a chance against others that do. `less`: how many fewer than usual may be open now.
  std::optional<int> crowded(const Progress& progress, std::size_t less = 0);

 private:
  struct Source {
    bool is_of_roster = false;
    std::vector<int> shaking;  // in no order
    std::size_t heard = 0;
  };
  using Sources = std::map<std::string, Source>;
  struct Connection {
    Sources::iterator source;
    std::optional<HostId> host;  // once it was heard
  };

  std::optional<int> victim(bool may_be_of_roster, const Progress& progress);
  std::size_t below(std::size_t bound);

  Limits limits_;
  std::mt19937_64 chance_;
  Sources sources_;
  std::map<int, Connection> connections_;
  std::map<HostId, std::vector<int>> heard_;  // oldest first
  std::size_t outsiders_ = 0;                 // connections of sources that are not of the roster
  std::size_t trusted_ = 0;                   // sources of the roster
};

}  // namespace rubato
