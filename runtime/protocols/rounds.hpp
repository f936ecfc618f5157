// rounds: barriers. All compute, all exchange, all combine; the slowest client and the slowest link set the pace.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/protocols/protocol.hpp"
#include "runtime/protocols/push.hpp"
#include "runtime/renewal.hpp"

namespace rubato {

/// What the clients of a synchronous run share: the barrier, and the choices that are not drawn. Must outlive them.
struct RoundBoard {
  const PushSettings* settings = nullptr;  ///< graph, compute law, limits, needs, weights
  double send_probability = 1;             ///< of a client in a round
  std::vector<std::vector<bool>> sends;    ///< [round][client]; empty: drawn with send_probability
  std::uint64_t unify_every = 0;           ///< rounds between unifications; 0: never
  std::uint64_t refill_every = 0;          ///< rounds between refills of the reception cap; 0: never

  std::uint64_t round = 0;
  std::size_t computing = 0;     ///< clients that have not finished this round's computation
  std::size_t transmitting = 0;  ///< clients whose transmit tick of this round is still to come
  std::size_t under_way = 0;     ///< messages that have not arrived
  std::size_t combining = 0;     ///< clients that have not absorbed this round's messages
};

/// A round: every client computes for one interval of its compute law; when the last has finished all transmit; when the
/// last message has arrived every client absorbs what it got in one batch (ascending senders, while tokens last); the
/// next round begins at the same instant.
class Rounds final : public Protocol {
 public:
  Rounds(RoundBoard& board, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  void on_departed(std::size_t under_way, Time now, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_window_close(Time now, Effects& effects) override;
  void on_refill() override { mailbox_.refill(board_.settings->limits); }
  void on_unify(Time now, bool clears_mailbox, Effects& effects) override;
  const Mailbox& mailbox() const override { return mailbox_; }

 private:
  bool sends_now() const;
  void wake_everyone(Time at, Priority priority, Effects& effects) const;
  void combine_if_complete(Time now, Effects& effects);
  void wake_every(std::uint64_t rounds, Priority what, Time now, Effects& effects) const;
  void finish_round(Time now, Effects& effects);
  void absorb(std::vector<Arrival>& arrived, Time now, Effects& effects);

  RoundBoard& board_;
  ClientId self_;
  bool has_news_ = false;
  Sequence sequence_ = 0;
  Mailbox mailbox_;
  std::vector<Arrival> arrived_;  // of this round, before tokens are spent
};

}  // namespace rubato
