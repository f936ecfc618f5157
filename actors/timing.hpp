// From the experiment file to the half of a run that knows when: graph, links, timers, mailboxes, unification.
#pragma once

#include <memory>
#include <ostream>
#include <vector>

#include "actors/config.hpp"
#include "runtime/conductor.hpp"
#include "runtime/protocols/push.hpp"
#include "runtime/protocols/rounds.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// The graph of an experiment. Throws std::invalid_argument if it cannot be made or somebody cannot be reached.
Graph make_graph(const config::Experiment& experiment);

/// Lives as long as the protocols and the conductor made from it; stays where it is.
class Timing {
 public:
  Timing(const config::Experiment& experiment, const Needs& needs, std::ostream& notes);
  /// Graph and links as they are given; everything else is still to be filled in.
  Timing(Graph graph, std::unique_ptr<Channel> channel, bool in_rounds);
  Timing(const Timing&) = delete;
  Timing& operator=(const Timing&) = delete;

  /// One automaton per client. May be called once.
  std::vector<std::unique_ptr<Protocol>> make_protocols();

  Graph graph;
  std::unique_ptr<Channel> channel;
  PushSettings settings;
  RoundBoard board;
  ConductorSettings conductor;

 private:
  bool in_rounds_;
};


}  // namespace rubato
