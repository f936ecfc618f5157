// token: clients learn on their own while a few tokens walk from neighbour to neighbour; a lost one is created again.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/protocols/protocol.hpp"
#include "runtime/protocols/push.hpp"

namespace rubato {

/// What the clients of a run with tokens share. Must outlive them.
struct TokenBoard {
  static constexpr std::uint32_t most_streams = 256;  // a step names its stream by its phase

  const PushSettings* settings = nullptr;  ///< graph, timers, deadline, merge weights; needs with the program
  /// [stream] -> the clients it visits, the first holder included; behind the end, and where the next one is
  /// no neighbour of the holder, a neighbour is drawn. Without it stream s starts at client s mod m.
  std::vector<std::vector<ClientId>> visits;

  std::vector<std::uint32_t> incarnations;  ///< by stream: the highest so far
  std::vector<std::size_t> hops;            ///< by stream: visits after the first, of whatever incarnation

  /// One for each exchange of the program's round.
  std::uint32_t streams() const;
  ClientId first_holder(std::uint32_t stream) const;
};

/// Compute and transmit timers as under push. At its transmit tick a client sends on every token that it holds, each
/// to one neighbour: a publish step whose phase is the stream. On arrival a merge step with that phase absorbs the
/// token. The first holder of a stream gets its merge step, without a message, right before it sends the token for
/// the first time.
///
/// A receiver acknowledges by a request whose tag is the sequence number of the message. A holder that has none by the
/// deadline publishes its last copy of the stream again, in a new incarnation above all others; who has seen an
/// incarnation discards lower ones. So a stream has one token in the end, whatever was lost. Messages older than the
/// deadline are late. Without a deadline nothing is sent again, and the links must retransmit.
class Token final : public Protocol {
 public:
  Token(TokenBoard& board, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  std::optional<std::uint64_t> sends_at(const Wake& wake) const override;
  void on_deadline(Time now, Sequence sequence, Effects& effects) override;
  void on_departed(std::size_t, Time, Effects&) override {}
  void on_request(Time now, ClientId from, std::uint32_t sequence, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_window_close(Time now, Effects& effects) override;
  void on_refill() override {}
  void on_unify(Time, bool, Effects&) override {}
  const Mailbox& mailbox() const override { return mailbox_; }

 private:
  // A token that lies here until the next transmit tick.
  struct Held {
    std::uint32_t stream;
    std::uint32_t incarnation;
    bool is_fresh;  // nobody has absorbed it: its first holder does before it sends it
  };
  // A token under way that nobody has acknowledged.
  struct Pending {
    Sequence sequence;
    std::uint32_t stream;
    std::uint32_t incarnation;
  };

  static std::uint32_t tag_of(std::uint32_t stream, std::uint32_t incarnation) {
    return incarnation * TokenBoard::most_streams + stream;
  }
  bool has_deadline() const { return board_.settings->limits.deadline != Duration::max(); }
  void send(std::uint32_t stream, std::uint32_t incarnation, Time now, Effects& effects);
  ClientId next_holder(std::uint32_t stream) const;
  void hold(std::uint32_t stream, std::uint32_t incarnation);
  bool is_duplicate(const Arrival& arrival);
  Offer judge(const Arrival& arrival);

  TokenBoard& board_;
  ClientId self_;
  Timer compute_timer_;
  Timer transmit_timer_;
  Sequence sequence_ = 0;
  std::vector<std::uint32_t> seen_;  // by stream: one above the highest incarnation that was here, or 0
  std::vector<Held> held_;           // one of a stream, in order of arrival
  std::vector<Pending> pending_;     // by sequence
  std::vector<Arrival> arrived_;     // at this instant
  std::vector<DuplicateFilter> filters_;  // by sender, where links duplicate
  Mailbox mailbox_;
};

}  // namespace rubato
