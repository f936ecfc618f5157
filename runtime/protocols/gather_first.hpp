// gather first: all clients hand in to the leader of the turn, the leader combines and hands out, all clients work. In
// virtual time, where all know when all have worked.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/protocols/server.hpp"

namespace rubato {

/// The leaders of the turns of a run. Must outlive its clients.
struct GatherSettings {
  const ClientSettings* push = nullptr;  ///< graph, compute law, deadline, needs with the program, merge weights
  ClientId first_leader{};
  bool draws_leaders = false;     ///< any client, with equal chances; else the first, the client behind it, ...
  std::vector<ClientId> leaders;  ///< by turn; behind its end the law goes on

  static constexpr std::uint8_t to_leader = 0, to_all = 1;  ///< the phases of steps

  ClientId leader_of(std::uint32_t turn) const;
};

/// What the clients of a virtual run share: how far the round is. Must outlive them.
struct GatherBoard {
  GatherSettings settings;

  enum class RunControl : std::uint8_t { gathering, scattering, working };
  std::uint64_t round = 0;  ///< rounds that are over
  std::uint32_t turn = 0;   ///< rounds begun before this one, with those that were repeated
  ClientId leader{};
  RunControl stage = RunControl::gathering;
  std::vector<bool> is_awaited;  ///< by client: its message to the leader has not arrived
  std::size_t missing = 0;       ///< messages of this stage that are still waited for
  std::size_t computing = 0;     ///< clients that work on the leader's answer
  std::size_t started = 0;       ///< clients that are there
};

/// Steps of a round. All others publish (phase 0) to the leader, which merges (phase 0) when it has them all or at the
/// deadline, and publishes (phase 1); receivers merge (phase 1) and compute for one interval of their law, the leader
/// computes as well. When all have computed the round is over. Where no client has the answer by the deadline after its
/// departure, the round is repeated with the leader of the next turn; a client that missed it sits the round out.
///
/// Merge steps carry the number of the round as their index. Messages of a stage that is over are late. Without a
/// deadline the links must retransmit. There is no reception cap.
class GatherFirst final : public ClientProtocol {
 public:
  GatherFirst(GatherBoard& board, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  std::optional<std::uint64_t> sends_at(const Wake& wake) const override;
  void on_deadline(Time now, Sequence detail, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_window_close(Time now, Effects& effects) override;

 private:
  bool is_leader() const { return self_ == board_.leader; }
  std::uint32_t tag_of(std::uint8_t phase) const { return 2 * board_.turn + phase; }

  void enter_turn(Time now, Effects& effects);
  void hand_out(Time now, Effects& effects);
  void begin_job(Time now, Effects& effects);
  void await_until_deadline(std::uint8_t phase, Time now, Effects& effects);
  void end_round(Time now, Effects& effects);

  Offer judge(const Arrival& arrival, std::uint8_t phase) const;
  void accept(const Arrival& arrival, std::uint8_t phase, Effects& effects);

  GatherBoard& board_;
  std::optional<std::uint32_t> job_;    // the turn that this client works for
  std::optional<std::uint32_t> heard_;  // the turn of the newest message of a leader
  std::vector<Arrival> arrived_;        // of this stage
  std::vector<ClientId> others_;        // receivers of a publish step; kept for its memory
};

}  // namespace rubato
