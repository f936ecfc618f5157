// rounds: barriers. A round is the algorithm's list of phases; the slowest client and the slowest link set the pace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/protocols/job.hpp"
#include "runtime/protocols/protocol.hpp"
#include "runtime/protocols/push.hpp"
#include "runtime/renewal.hpp"

namespace rubato {

/// Computation phases of one fixed length (chapter 2 of the thesis): who has not finished by their end is a straggler.
struct JobRule {
  Duration phase{};         ///< length of a computation phase; 0: everybody is waited for
  bool carries_on = true;   ///< a straggler goes on in the next round; false: its work is thrown away
  /// [round][client] where it is given who finishes; empty: drawn from the compute law.
  std::vector<std::vector<bool>> finishes;

  bool is_in_force() const { return phase > Duration::zero(); }
};

/// What the clients of a synchronous run share: the barrier, and the choices that are not drawn. Must outlive them.
struct RoundBoard {
  const PushSettings* settings = nullptr;  ///< graph, compute law, limits, needs with the program, weights, links
  JobRule jobs;
  double send_probability = 1;             ///< of a client in a round
  std::vector<std::vector<bool>> sends;    ///< [round][client]; empty: drawn with send_probability
  std::uint64_t unify_every = 0;           ///< rounds between unifications; 0: never
  std::uint64_t refill_every = 0;          ///< rounds between refills of the reception cap; 0: never

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

  /// How far a client is.
  struct Pace {
    std::uint32_t left = 0;          // computations of this phase
    Job job;
    std::uint64_t computations = 0;  // begun
  };
  std::vector<Pace> paces;

  const PhaseList& list() const {
    const RoundProgram& program = settings->needs.program;
    return is_opening ? program.opening : program.round;
  }
  const Phase& phase() const { return list()[stage]; }
};

class Rounds final : public Protocol {
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
  void on_refill() override { mailbox_.refill(board_.settings->limits); }
  void on_unify(Time, bool, Effects&) override {}
  const Mailbox& mailbox() const override { return mailbox_; }

 private:
  bool sends_now() const;
  void enter_phase(Time now, Effects& effects);
  void leave_phase(Time now, Effects& effects);
  bool finish_list(Time now, Effects& effects);
  void begin(ClientId client, Time now, Effects& effects) const;
  void compute(ClientId client, Time now, Effects& effects);
  void work_on_job(ClientId client, Time now, Effects& effects);
  /// Where a table says who is done in this round.
  std::optional<Duration> tabled(ClientId client);
  Duration next_interval(ClientId client);
  void wake_everyone(Time at, Priority priority, Effects& effects) const;
  void combine_if_complete(Time now, Effects& effects);
  bool wake_every(std::uint64_t rounds, Priority what, Time now, Effects& effects) const;
  void absorb(Time now, Effects& effects);
  void add_computing_delay(ClientId client);
  void add_link_delay(ClientId receiver, LinkIndex link);

  RoundBoard& board_;
  ClientId self_;
  bool has_news_ = false;
  Sequence sequence_ = 0;
  Mailbox mailbox_;
  std::vector<Arrival> arrived_;  // of this exchange, before tokens are spent
};

}  // namespace rubato
