// tree: points go down from the pivot, sums come up; a link upwards carries one message at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/protocols/client_protocol.hpp"

namespace rubato {

/// Watches the nodes of a tree as they decide, before their steps are performed; for traces and tests.
class TreeObserver {
 public:
  virtual ~TreeObserver() = default;
  virtual void on_point(Time, ClientId, std::uint64_t /*k*/) {}
  /// `count`: gradients in the node's own sum after it.
  virtual void on_gradient(Time, ClientId, std::uint64_t /*k*/, std::uint64_t /*count*/, bool /*used*/) {}
  virtual void on_vector(Time, ClientId, ClientId /*child*/, std::uint64_t /*k*/, std::uint64_t /*count*/, bool /*used*/) {}
  virtual void on_counter(Time, ClientId, ClientId /*child*/, std::uint64_t /*k*/, double /*value*/, bool /*used*/) {}
  virtual void on_collect(Time, ClientId, std::uint64_t /*k*/, std::uint64_t /*count*/) {}
  virtual void on_step(Time, ClientId, std::uint64_t /*k*/, std::uint64_t /*count*/) {}
};

/// Shared by the nodes of a run, in virtual time alone; must outlive them. All that changes is what links upwards carry.
struct TreeBoard {
  /// What a node has on its way to its parent.
  struct Uplink {
    bool is_busy = false;
    std::uint64_t number = 0;  ///< of the message, from 1
    std::uint64_t point = 0;
    std::uint64_t count = 0;  ///< gradients in a sum
    double counter = 0;       ///< of a message that is no sum
  };

  const ClientSettings* push = nullptr;  ///< graph, compute law, needs
  ClientId pivot{};
  std::vector<ClientId> parent;               ///< by node, towards the pivot, which has none
  std::vector<ClientId> point_parent;         ///< of the tree by which points go down
  std::vector<std::vector<Duration>> jobs{};  ///< as in ServerSettings
  TreeObserver* watch = nullptr;              ///< null: none
  std::vector<Uplink> up{};                   ///< by node

  /// Makes room for all nodes, after the trees are known.
  void open() { up.assign(parent.size(), {}); }
};

/// The tree of fewest links to the pivot, lowest parents first. Throws std::invalid_argument where a client cannot be reached
/// or a link has no reverse.
std::vector<ClientId> shortest_path_tree(const Graph& graph, ClientId pivot);

/// Steps: a node merges the point (in_tree::takes_point) and publishes it to its children at once (point_down), computes
/// gradients one after the other, merges the sums of its children (adds; the weight of a message is the number of its gradients)
/// and publishes its own upwards (sum_up). The pivot merges (moves) without a message. Sending upwards is the last thing of an
/// instant, but for minibatch. Counters of Amelie and the word to collect are control messages. Links must not lose messages.
class Tree final : public ClientProtocol {
 public:
  Tree(TreeBoard& board, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t job, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  void on_request(Time now, ClientId from, std::uint32_t tag, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  bool awaits_computations() const override { return true; }
  void archive(Archive& archive) override;

  /// Of the point that this node works at; the pivot's counts its steps.
  std::optional<std::uint64_t> point() const { return point_; }
  /// Messages upwards.
  std::uint64_t sent() const { return sent_; }

 private:
  const TreeRule& rule() const { return settings_.needs.tree; }
  bool is_pivot() const { return self_ == board_.pivot; }
  TreeBoard::Uplink& uplink() { return board_.up[self_.value]; }
  bool are_all_here() const;
  double counter() const;

  void take_point(std::uint64_t k, const Arrival* point, Time now, Effects& effects);
  void begin_gradient(Time now, Effects& effects);
  void on_gradient(Time now, Effects& effects);
  void on_vector(const Arrival& vector, Effects& effects);
  void on_more(Time now, Effects& effects);
  void collect(Time now, Effects& effects);
  void on_collected(Time now, Effects& effects);
  void move(std::uint64_t count, Time now, Effects& effects);
  void send_up(Time now, Effects& effects);
  void send_sum(std::uint64_t count, Time now, Effects& effects);
  void send_counter(Effects& effects);
  Step& merge_step(std::uint8_t phase, const Arrival* message, Time now, Effects& effects);

  TreeBoard& board_;
  std::vector<ClientId> children_;        // that send sums
  std::vector<ClientId> point_children_;  // that get points
  std::optional<std::uint64_t> point_;    // that is worked at
  std::optional<std::uint64_t> newest_;   // that this node has heard of
  std::uint64_t count_ = 0;               // gradients in its sum; of Amelie: its own at this point
  std::uint64_t sums_ = 0;                // of children, at this point
  bool has_computed_ = false;             // at this point
  bool is_frozen_ = false;                // collects
  std::vector<double> counters_;          // of children, heard last; infinity before
  double told_ = 0;                       // the counter that was sent last; 0: none
  std::uint32_t job_ = 0;                 // gradients begun; one with a lower number was dropped
  std::uint32_t jobs_drawn_ = 0;
  std::uint64_t sent_ = 0;
  std::vector<Arrival> taken_;
};

}  // namespace rubato
