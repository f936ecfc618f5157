// Attendance: which clients are here at this instant of a plan, in which life and epoch, and which can hear each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/counts.hpp"
#include "runtime/ids.hpp"
#include "runtime/message_head.hpp"
#include "runtime/time.hpp"
#include "runtime/world/churn.hpp"

namespace rubato {

class Attendance {
 public:
  /// As it is at the start. The plan outlives this.
  explicit Attendance(const ChurnPlan& plan);

  /// When the next event of the plan happens; never if there is none.
  Time next() const { return next_ < plan_.events().size() ? plan_.events()[next_].at : never; }
  /// Notes the next event and hands it out.
  const ChurnEvent& take();

  std::size_t clients() const { return all_.size(); }
  std::uint32_t here() const { return here_; }  ///< how many
  bool is_here(ClientId client) const { return all_[client.value].is_here; }
  /// The others know that it is away.
  bool is_missed(ClientId client) const { return all_[client.value].is_missed; }
  bool is_paused(ClientId client) const { return all_[client.value].is_paused; }
  /// Counts its lives, from 0.
  std::uint32_t life(ClientId client) const { return all_[client.value].life; }
  /// When its present life began.
  Time since(ClientId client) const { return all_[client.value].since; }
  /// A partition is between them.
  bool are_apart(ClientId a, ClientId b) const { return is_cut_ && all_[a.value].group != all_[b.value].group; }
  bool is_cut() const { return is_cut_; }
  std::vector<ClientId> absent() const;

  /// The client that hands its model to the one that comes, if it begins with a neighbour's: the first of these that is here and
  /// can be heard; no_client if there is none.
  ClientId giver_of(const ChurnEvent& come, std::span<const ClientId> senders) const;

  /// The epoch that an announced event begins where mass is passed on: the first client beside it is the initiator, and
  /// those hear of it at once that hear this one; others hear of it from their messages. {}: no client is there.
  Epoch epoch_after(const ChurnEvent& event) const;
  bool hears_of(Epoch begun, ClientId client) const {
    return begun.initiator > 0 && is_here(client) && !are_apart({begun.initiator - 1}, client);
  }

  Epoch epoch(ClientId client) const { return all_[client.value].epoch; }
  /// The client resets its sums and belongs to this epoch from now on.
  void enter(ClientId client, Epoch epoch);
  /// What is passed on sums to what it should: all clients that are here belong to one epoch, and none has left it.
  bool mass_is_whole() const { return !has_lost_mass_ && in_highest_ == here_; }

  ChurnCounts& counts() { return counts_; }
  const ChurnCounts& counts() const { return counts_; }

 private:
  struct One {
    bool is_here = true;
    bool is_missed = false;
    bool is_paused = false;
    bool has_crashed = false;
    std::uint32_t life = 0;
    std::uint32_t group = 0;
    Time since{};
    Epoch epoch;
  };

  // Of the clients that are here, `about` only if there is no other; no_client if there is none.
  ClientId first_beside(ClientId about) const;
  void note(const ChurnEvent& event);
  void go(One& one);
  void come(One& one, const ChurnEvent& event);

  const ChurnPlan& plan_;
  std::size_t next_ = 0;
  std::vector<One> all_;
  std::uint32_t here_ = 0;
  bool is_cut_ = false;
  Epoch highest_;
  std::uint32_t in_highest_ = 0;  // of the clients that are here
  bool has_lost_mass_ = false;    // a client has left the highest epoch since it began
  ChurnCounts counts_;
};

}  // namespace rubato
