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

/// A table, or some of the neighbours, or every link with a chance of its own; the last two together mean both. A pure
/// function of (seed, client, turn), but for what it remembers of its last answer: one thread.
class LinkChoice {
 public:
  LinkChoice() = default;
  /// Read from a table; a turn behind its end uses no link.
  explicit LinkChoice(ActiveLinks table) : table_{std::move(table)} {}
  /// `every`: receivers that choose do so in every k-th turn, by client; empty: 1. `chances` by directed link; empty: 1.
  LinkChoice(const Graph& graph, std::uint64_t seed, const Fanout& fanout, std::vector<std::uint32_t> every,
             std::vector<double> chances);

  bool is_all() const { return table_.empty() && !draws_; }
  /// The places among the sender's receivers, ascending; valid until the next call.
  const std::vector<std::uint32_t>& choose(const Graph& graph, ClientId sender, std::uint64_t turn) const;

 private:
  struct Picked {
    std::uint64_t turn = ~std::uint64_t{0};
    std::vector<ClientId> neighbours;  // ascending
  };

  const std::vector<ClientId>& picked_by(const Graph& graph, ClientId client, std::uint64_t turn) const;
  bool is_up(ClientId sender, ClientId receiver, LinkIndex link, std::uint64_t turn) const;

  ActiveLinks table_;
  bool draws_ = false;
  std::uint64_t seed_ = 0;
  Fanout fanout_;
  std::vector<double> chances_;
  std::vector<std::uint32_t> every_;  // by receiver, where receivers choose
  mutable std::vector<Picked> picked_;
  mutable std::vector<std::uint32_t> places_;
};

}  // namespace rubato
