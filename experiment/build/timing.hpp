// From the experiment file to the half of a run that knows when: graph, links, timers, mailboxes, unification.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <vector>

#include "algos/catalogue.hpp"
#include "experiment/build/client_views.hpp"
#include "experiment/build/resolved_algorithm.hpp"
#include "experiment/build/sampling.hpp"
#include "experiment/build/world.hpp"
#include "experiment/faults.hpp"
#include "runtime/engine/conductor.hpp"
#include "runtime/protocols/gather_first.hpp"
#include "runtime/protocols/local_rounds.hpp"
#include "runtime/protocols/pair.hpp"
#include "runtime/protocols/pull.hpp"
#include "runtime/protocols/push.hpp"
#include "runtime/protocols/rounds.hpp"
#include "runtime/protocols/server.hpp"
#include "runtime/protocols/token.hpp"
#include "runtime/protocols/tree.hpp"
#include "runtime/world/air.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/churn.hpp"
#include "runtime/world/fading_links.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// Lives as long as the protocols and the conductor made from it; stays where it is.
class Timing {
 public:
  /// What is wrong with the experiment is added to the faults, all of it; with any the timing is of no use.
  Timing(const config::Experiment& experiment, const ResolvedAlgorithm& resolved, config::Faults& faults, std::ostream& notes);
  /// Throws BadExperiment with all that is wrong.
  Timing(const config::Experiment& experiment, const ResolvedAlgorithm& resolved, std::ostream& notes);
  /// Graph and links as they are given; everything else is still to be filled in.
  Timing(Graph graph, std::unique_ptr<Channel> channel, ProtocolKind protocol);
  Timing(const Timing&) = delete;
  Timing& operator=(const Timing&) = delete;

  /// One automaton per client. May be called once. In real time they share nothing that changes.
  std::vector<std::unique_ptr<Protocol>> make_protocols(bool in_real_time = false);

  ProtocolKind protocol() const { return protocol_; }
  /// How long messages are, for models of so many numbers; before the first of them.
  void size_messages(const config::Experiment& experiment, const ResolvedAlgorithm& resolved, std::size_t numbers,
                     std::size_t scalar_bytes);
  /// When what is measured; before the first sample.
  void set_samples(const SamplePlan& plan);
  /// In rounds: every message of an exchange arrives and counts.
  bool misses_nothing() const;
  /// The same, and every client merges all that arrives.
  bool merges_everything() const { return merges_what_arrives && misses_nothing(); }
  ClientViews views(bool keeps_balance) const;

  Graph graph;
  std::unique_ptr<FadingLinks> fading;  ///< where mixing weights follow the links that are up
  std::unique_ptr<Air> air;
  std::unique_ptr<Channel> channel;
  ClientSettings settings;
  RoundBoard board;
  ServerSettings server;
  GatherBoard gather;
  PullSettings pull;
  TreeBoard tree;  ///< without parents: the tree of fewest links around the centre
  PairSettings pair;
  ConductorSettings conductor;
  ChurnPlan churn;
  ClientId centre{};
  MessageSizes sizes;               ///< payloads as the algorithm makes them
  bool merges_what_arrives = true;  ///< false: in real time, or where messages may be refused for what they say
  /// Where the reception cap goes by chance: what the protocols that are made next will receive, for messages of these sizes.
  std::function<ReceptionCensus(const MessageSizes&)> counts_receptions;
  ReceptionCensus receptions;

 private:
  std::unique_ptr<Protocol> make_protocol(ClientId client, bool in_real_time);

  ProtocolKind protocol_;
  MessageSizes carried_;  // as the channel takes them
};

}  // namespace rubato
