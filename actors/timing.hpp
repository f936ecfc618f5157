// From the experiment file to the half of a run that knows when: graph, links, timers, mailboxes, unification.
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "actors/config.hpp"
#include "actors/seating.hpp"
#include "algos/catalogue.hpp"
#include "runtime/conductor.hpp"
#include "runtime/protocols/gather_first.hpp"
#include "runtime/protocols/local_rounds.hpp"
#include "runtime/protocols/pull.hpp"
#include "runtime/protocols/push.hpp"
#include "runtime/protocols/rounds.hpp"
#include "runtime/protocols/server.hpp"
#include "runtime/protocols/token.hpp"
#include "runtime/world/air.hpp"
#include "runtime/world/channel.hpp"
#include "runtime/world/churn.hpp"
#include "runtime/world/fading_links.hpp"
#include "runtime/world/graph.hpp"
#include "runtime/world/points.hpp"

namespace rubato {

/// The graphs of an experiment in their order, each as long as topology.change_every says; a single one if it stays. Throws
/// std::invalid_argument if they cannot be made.
std::vector<Graph> make_graphs(const config::Experiment& experiment);
/// All links that are there at some time.
Graph make_graph(const config::Experiment& experiment);

/// Where the clients of a wireless channel are at the start, in metres.
std::vector<Point> places_of(const config::Experiment& experiment);

/// A line of ascending seconds for each client. Throws std::invalid_argument.
std::vector<std::vector<Time>> read_trace(const std::string& file, std::size_t clients);

/// What an algorithm asks of the timing, and what it is called if it comes from the catalogue.
struct Manner {
  Needs needs;
  Weights merge = Weights::none;
  Weights share = Weights::none;
  Runs protocol = Runs::push;
  const CatalogueEntry* entry = nullptr;
};

/// The manner of the file's algorithm under the file's protocol. Throws std::invalid_argument where they do not fit.
Manner manner_of(const config::Experiment& experiment);

/// Lives as long as the protocols and the conductor made from it; stays where it is.
class Timing {
 public:
  Timing(const config::Experiment& experiment, const Manner& manner, std::ostream& notes);
  /// Graph and links as they are given; everything else is still to be filled in.
  Timing(Graph graph, std::unique_ptr<Channel> channel, Runs protocol);
  Timing(const Timing&) = delete;
  Timing& operator=(const Timing&) = delete;

  /// One automaton per client. May be called once. In real time they share nothing that changes.
  std::vector<std::unique_ptr<Protocol>> make_protocols(bool in_real_time = false);

  Runs protocol() const { return protocol_; }
  /// How long messages are, for models of so many numbers; before the first of them.
  void size_messages(const config::Experiment& experiment, const Manner& manner, std::size_t numbers, std::size_t scalar_bytes);
  /// In rounds: every message of an exchange arrives and counts.
  bool misses_nothing() const;
  Seating seating(bool keeps_balance) const {
    return {graph, centre, protocol_ == Runs::rounds, keeps_balance,
            settings.needs.sporadic.computes ? settings.chances.computes : std::vector<double>{}, air.get()};
  }

  Graph graph;
  std::unique_ptr<FadingLinks> fading;  ///< where mixing weights follow the links that are up
  std::unique_ptr<Air> air;
  std::unique_ptr<Channel> channel;
  PushSettings settings;
  RoundBoard board;
  ServerSettings server;
  GatherBoard gather;
  PullSettings pull;
  ConductorSettings conductor;
  ChurnPlan churn;
  ClientId centre{};

 private:
  Timing(std::span<const Graph> graphs, const config::Experiment& experiment, const Manner& manner, std::ostream& notes);
  void weigh(const config::Experiment& experiment, const Manner& manner);
  void weigh_changes(const config::Experiment& experiment, const Manner& manner, std::span<const Graph> graphs);
  std::vector<double> weights_of(const Graph& part, const config::Experiment& experiment, const Manner& manner, bool is_share) const;
  void give_chances(const config::Experiment& experiment);
  void leave_alone(const config::Experiment& experiment);
  void follow_fading(const config::Experiment& experiment, const Manner& manner);
  void go_on_air(const config::Experiment& experiment, const Manner& manner);
  std::unique_ptr<Protocol> make_protocol(ClientId client, bool in_real_time);
  void hold_together(const config::Experiment& experiment, const Manner& manner, std::ostream& notes);
  void come_and_go(const config::Experiment& experiment, const Manner& manner, std::ostream& notes);
  void require_intervals() const;

  Runs protocol_;
};

}  // namespace rubato
