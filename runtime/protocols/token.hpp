// token: clients learn on their own while a few tokens walk from neighbour to neighbour; a lost one is created again.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/protocols/client_protocol.hpp"

namespace rubato {

/// Compute and transmit timers as under push. At its transmit tick a client sends on every token that it holds, each
/// to one neighbour, drawn among those that are here: a publish step whose phase is the stream. On arrival a merge step
/// with that phase absorbs the token. There is a stream for each exchange of the program's round; stream s starts at
/// client s mod m, which gets its merge step, without a message, right before it sends the token for the first time.
///
/// A receiver acknowledges by a request whose tag is the sequence number of the message. A holder that has none by the
/// deadline publishes its last copy of the stream again, in a new incarnation above all that it has seen; a client that has seen
/// an incarnation discards lower ones, and acknowledges them. Clients share nothing: each creates incarnations of its
/// own, k m + its number, so that no two tokens have the same, and of those that walk the highest is left. Messages
/// older than the deadline are late. Without a deadline nothing is sent again, and the links must retransmit.
///
/// A client that goes takes the tokens that it holds along. Where a client has gone, or begun a new life, the first
/// client behind the start of a stream that is here creates its token again, from its own copy, when it has not seen
/// it for very long. When the numbers of incarnations are used up no token is created any more.
class Token final : public TickingProtocol {
 public:
  static constexpr std::uint32_t most_streams = 64;
  static constexpr std::uint32_t most_incarnations = (std::uint64_t{1} << 32) / most_streams;
  /// Of a stream, in ticks and in deadlines for each client, before it is created again.
  static constexpr std::uint32_t most_silence = 4;

  /// The settings outlive it. Of the needs it is the program that counts.
  Token(const ClientSettings& settings, ClientId self);

  static std::uint32_t streams(const ClientSettings& settings);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  std::optional<std::uint64_t> sends_at(const Wake& wake) const override;
  void on_deadline(Time now, Sequence sequence, Effects& effects) override;
  void on_request(Time now, ClientId from, std::uint32_t sequence, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_window_close(Time now, Effects& effects) override;
  void on_stop() override { pending_.clear(); }
  void resume(Time now, Effects& effects) override;
  void on_leave(Time now, Effects& effects) override;
  void on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) override;
  void on_new_life(ClientId sender) override;
  void archive(Archive& archive) override;

 private:
  // A token that lies here until the next transmit tick.
  struct Held {
    std::uint32_t stream;
    std::uint32_t incarnation;
    bool is_fresh;  // no client has absorbed it: its first holder does before it sends it
  };
  // A token under way that is not acknowledged.
  struct Pending {
    Sequence sequence;
    std::uint32_t stream;
    std::uint32_t incarnation;
  };
  // What this client knows of a stream.
  struct Known {
    std::uint32_t next = 0;   // one above the highest incarnation that was here, or 0
    Time at{};                // when one was here last,
    std::uint64_t ticks = 0;  // and how many transmit ticks ago
  };

  ClientId first_holder(std::uint32_t stream) const { return {stream % clients()}; }
  bool is_here(ClientId client) const { return !absent_.has(client); }
  bool watches(std::uint32_t stream) const;
  std::optional<std::uint32_t> next_incarnation(std::uint32_t stream) const;
  void recreate_silent(Time now);
  std::optional<ClientId> next_holder() const;
  void see(std::uint32_t stream, std::uint32_t incarnation, Time now);
  void send(std::uint32_t stream, std::uint32_t incarnation, ClientId receiver, Time now, Effects& effects);
  Offer judge(const Arrival& arrival);

  std::vector<Known> known_;      // by stream
  std::vector<Held> held_;        // one of a stream, in order of arrival
  std::vector<Pending> pending_;  // by sequence
  std::vector<Arrival> arrived_;  // at this instant
  Absentees absent_;
  bool may_be_gone_ = false;              // a client has gone, and perhaps a token with it
  std::vector<DuplicateFilter> filters_;  // by sender, where links duplicate
};

}  // namespace rubato
