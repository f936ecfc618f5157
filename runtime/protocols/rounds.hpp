// rounds: barriers. A round is the algorithm's list of phases; the slowest client and the slowest link set the pace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/protocols/round_client.hpp"

namespace rubato {

// What an iteration costs in expectation where computations and links happen by chance.

/// Of one computation that happened with this chance among so many clients: its part of the mean of 1 / chance.
inline double computing_delay(double chance, std::size_t clients) { return 1 / (chance * static_cast<double>(clients)); }

/// Of one message over a link that was up with this chance: 1 / chance as a share of all that the receiver hears, and
/// of all that the sender says.
struct LinkDelay {
  double in;
  double out;
};

inline LinkDelay link_delay(const Graph& graph, const Edge& ends, double chance) {
  const double part = chance * static_cast<double>(graph.clients());
  return {1 / (part * static_cast<double>(graph.in_degree(ends.target))),
          1 / (part * static_cast<double>(graph.out_degree(ends.source)))};
}

/// What the clients of a synchronous run share: the barrier, and the choices that are not drawn. Must outlive them.
struct RoundBoard : RoundSettings {
  std::uint64_t round = 0;
  bool is_opening = true;
  std::size_t stage = 0;         ///< of the phase list in force
  std::uint64_t turn = 0;        ///< exchanges so far
  std::size_t started = 0;       ///< clients that are there
  std::size_t computing = 0;     ///< clients that have not finished this phase
  std::size_t transmitting = 0;  ///< clients whose transmit tick of this exchange is still to come
  std::size_t under_way = 0;     ///< messages that have not arrived
  std::size_t combining = 0;     ///< clients that have not absorbed this exchange's messages
  double delay = 0;              ///< cumulated over the iterations: 1 / chance of what was computed and sent

  std::vector<RoundPace> paces;

  const PhaseList& list() const {
    const RoundProgram& program = settings->needs.program;
    return is_opening ? program.opening : program.round;
  }
  const Phase& phase() const { return list()[stage]; }
};

class Rounds final : public RoundClient {
 public:
  Rounds(RoundBoard& board, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  void on_deadline(Time now, Sequence detail, Effects& effects) override;
  std::optional<std::uint64_t> sends_at(const Wake& wake) const override;
  void on_departed(std::size_t under_way, Time now, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_window_close(Time now, Effects& effects) override;
  /// Of all clients, which one board holds together.
  Waiting waiting() const override { return {board_.computing, board_.under_way}; }

 private:
  void enter_phase(Time now, Effects& effects);
  void leave_phase(Time now, Effects& effects);
  bool finish_list(Time now, Effects& effects);
  void compute_all(Time now, Effects& effects);
  void combine_if_complete(Time now, Effects& effects);
  bool wake_every(std::uint64_t rounds, Priority what, Time now, Effects& effects) const;
  Exchange exchange() const { return {board_.turn, board_.round, board_.phase().number}; }
  void add_computing_delay(ClientId client);
  void add_link_delay(ClientId receiver, LinkIndex link);

  RoundBoard& board_;
  std::vector<Arrival> arrived_;  // of this exchange, before tokens are spent
};

}  // namespace rubato
