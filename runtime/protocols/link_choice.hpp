// Which of a client's links one turn uses, where it is not simply all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/protocols/needs.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// [client][turn] -> receivers, ascending.
using ActiveLinks = std::vector<std::vector<std::vector<ClientId>>>;

/// The number that this share of them is, rounded up: at least one, at most all.
std::size_t share_of(double share, std::size_t all);

/// A table, or some of the neighbours, or every link with a chance of its own; the last two together mean both. Where
/// there are stars, turn 2 e is what they hear in exchange e, and turn 2 e + 1 what they tell. A pure function of
/// (seed, client, turn); any thread may ask.
class LinkChoice {
 public:
  LinkChoice() = default;
  /// Read from a table; a turn behind its end uses no link.
  explicit LinkChoice(ActiveLinks table) : table_{std::move(table)} {}
  /// `every`: receivers that choose do so in every k-th turn, by client; empty: 1. `chances` by directed link;
  /// empty: 1.
  LinkChoice(const Graph& graph, std::uint64_t seed, const Fanout& fanout, std::vector<std::uint32_t> every,
             std::vector<double> chances);

  bool is_all() const { return table_.empty() && !picks_ && chances_.empty(); }
  /// The places among the sender's receivers, ascending; valid until this thread's next call.
  const std::vector<std::uint32_t>& choose(const Graph& graph, ClientId sender, std::uint64_t turn) const;

 private:
  struct Memory;  // of a thread: its last answers

  Memory& memory(const Graph& graph) const;
  const std::vector<ClientId>& picked_by(const Graph& graph, ClientId client, std::uint64_t turn, Memory& memory) const;
  bool is_star(const Graph& graph, ClientId client, std::uint64_t turn) const;
  bool meet(ClientId a, ClientId b, std::uint64_t turn) const;
  bool is_up(ClientId sender, ClientId receiver, LinkIndex link, std::uint64_t turn) const;

  ActiveLinks table_;
  std::uint64_t seed_ = 0;
  Fanout fanout_;
  std::vector<double> chances_;
  std::vector<std::uint32_t> every_;  // by receiver, where receivers choose
  bool picks_ = false;
  std::uint64_t number_ = 0;  // tells one choice from another in a thread's memory
};

}  // namespace rubato
