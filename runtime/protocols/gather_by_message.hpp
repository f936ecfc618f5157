// gather by message: the rounds of GatherFirst in real time, where a client knows of the others only what they have said.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/protocols/gather_first.hpp"

namespace rubato {

/// A client that has computed hands in (phase 0) to the leader of the next turn and waits for its answer (phase 1), which it
/// merges, and computes again. A leader merges when all that are here have handed in, or at the deadline after the
/// slowest computation of the turn before must be over, as the laws say. Then it publishes to all that are here and
/// computes itself.
///
/// Turns take the place of rounds: merge steps carry theirs as their index. Every message says its turn. An answer of a
/// higher turn is taken over at once, and work on an older one is dropped; models for a higher turn wait until their
/// leader comes to it. A client without an answer for two deadlines more than a leader waits takes that leader for failed, and
/// hands in to the next one. A client that is known not to be here is not waited for, and as a leader passed over. Messages of a
/// turn that is over, or older than the deadline, are late. Without a deadline no message may be lost.
class GatherByMessage final : public ClientProtocol {
 public:
  /// The rules outlive it.
  GatherByMessage(const GatherSettings& rules, ClientId self);

  void start(Effects& effects) override { enter(0, {}, {}, effects); }
  void on_compute(Time now, std::uint32_t turn, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t turn, Effects& effects) override;
  void on_deadline(Time now, Sequence detail, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_window_close(Time now, Effects& effects) override;
  bool awaits_computations() const override { return true; }
  void resume(Time now, Effects& effects) override { enter(turn_, now, now, effects); }
  void on_leave(Time now, Effects& effects) override;
  void on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) override;
  void archive(Archive& archive) override;

 private:
  // Of the client in its turn.
  enum class RunControl : std::uint8_t {
    away,     ///< not here, or not yet
    waiting,  ///< for the leader's answer, or, as the leader, for the others
    closing,  ///< it merges at this instant
    working,
  };

  bool is_here(ClientId client) const { return !absent_.has(client); }
  bool leads() const { return rules_.leader_of(turn_) == self_; }

  void enter(std::uint32_t turn, Time now, Time others_work_until, Effects& effects);
  void enter_next(Time now, Time others_work_until, Effects& effects);
  Duration slowest_job() const;
  bool has_all() const;
  void await(std::uint8_t phase, int deadlines, Effects& effects);
  void close(Time now, Effects& effects);
  void publish_to_all(Time now, Effects& effects);
  void merge_turn(std::uint8_t phase, Time now, Effects& effects);
  void forget_older(Time now, Effects& effects);
  Offer judge(const Arrival& arrival) const;

  const GatherSettings& rules_;
  std::uint32_t turn_ = 0;
  RunControl stage_ = RunControl::away;
  Time began_{};                  // when the work of this turn began
  Time others_work_until_{};      // at the latest, on the turn before
  std::vector<Arrival> arrived_;  // of this turn, and models for later ones that this client leads
  std::vector<ClientId> others_;  // receivers of a publish step; kept for its memory
  Absentees absent_;
};

}  // namespace rubato
