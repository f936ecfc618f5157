// pair: two clients change both their models as if at one instant, or neither does.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/choices.hpp"
#include "runtime/counts.hpp"
#include "runtime/protocols/client_protocol.hpp"
#include "runtime/world/channel.hpp"

namespace rubato {

/// One thing that happens in an exchange, or to a computation beside it, for traces and tests.
struct PairRecord {
  enum class Kind : std::uint8_t { compute, exchange, request, serve, reply, over, alone };
  enum class Outcome : std::uint8_t { none, met, queued, refused, empty, late, asking, working };

  Kind kind = Kind::compute;
  Time at{};
  ClientId client{};                        ///< to whom it happens
  ClientId peer = no_client;                ///< the other one
  std::optional<std::uint32_t> exchange{};  ///< its number, if it has one
  std::uint32_t attempt = 0;                ///< of the exchange
  Outcome outcome = Outcome::none;          ///< exchange: none if it has begun, else why not; compute: working is at rest
  bool ends = false;                        ///< reply: it ends what its client was asking
  std::uint32_t steps = 0;                  ///< compute: those of the batch, 0 after its last
};

/// Hears of all of it as it is decided, before its steps are issued, and may add measure steps behind them.
class PairWatch {
 public:
  virtual ~PairWatch() = default;
  virtual void see(const PairRecord& record, Effects& effects) = 0;
};

/// Whom a client asks at one of its ticks, where that is given.
struct GivenPartner {
  ClientId partner{};
  std::uint32_t attempts = 1;  ///< that may be made
};

/// Shared by the clients of a run; must outlive them.
struct PairSettings {
  const ClientSettings* push = nullptr;  ///< graph, timers, deadline of a whole attempt, needs
  Busy busy = Busy::wait;
  Commit commit = Commit::known;
  std::uint32_t retries = 0;  ///< below ExchangeTag::most_attempts
  Duration retry_after{};
  std::vector<bool> asks{};                           ///< by client: whether it has ticks; empty: all have
  std::vector<double> partner_weights{};              ///< by directed link from the asker; empty: all partners are alike
  std::vector<std::vector<GivenPartner>> partners{};  ///< [client][tick]; behind its end there are none. Empty: drawn
  std::vector<std::vector<std::uint32_t>> batches{};  ///< [client][batch]: computations; its last holds on. Empty: by the needs
  Foresight foresight{};                              ///< for Commit::known
  PairWatch* watch = nullptr;
};

/// At an exchange tick a client asks a neighbour: a publish step (phase pair_request, or pair_request_again) to it alone. The
/// partner handles the request when it arrives, or later if it has to wait: a merge step (pair_request) and at once a publish step
/// (pair_reply) to the asker, which merges that (pair_reply). So the meeting is at the instant of the partner's step, and the
/// asker goes on computing until it hears of it. A client asks one partner at a time.
///
/// A request waits at a client that asks only if it is older, by the instant at which its exchange began and then by client: so no
/// clients ever wait for each other in a circle. It ends as late if it is beyond the deadline when it is handled. With a deadline
/// every attempt ends then, for its asker; a refused or ended one may be made again, at the same partner and as old as the first.
///
/// Commit::known, in virtual time: where the reply would be lost, or come beyond the deadline, nothing happens at either. Of what
/// is met the asker hears exactly once. Commit::counted: the partner's half happens in any case, and a reply beyond the deadline is
/// merged all the same; algorithms count what they have decided, so each reply makes up for those that were lost.
///
/// Exchange ticks are those of the transmit timer: of the client, or of each of its links, or coupled to computations. With
/// pairing.in_batches they follow the last computation of each batch instead, whose step has phase 1. With pairing.blocks a client
/// then rests, leaves out compute ticks, and serves what waits for it, until it has met a client or has tried in vain; with
/// pairing.acts_alone it then has a merge step (pair_alone) without messages.
///
/// A client that leaves refuses what waits for it; one that crashes says nothing. There is no window and no reception cap.
class Pair final : public TickingProtocol {
 public:
  Pair(const PairSettings& rules, ClientId self);

  void start(Effects& effects) override;
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  void on_deadline(Time now, Sequence sequence, Effects& effects) override;
  void on_request(Time now, ClientId from, std::uint32_t tag, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  std::uint8_t phase_of(std::uint32_t tag) const override {
    return ExchangeTag::unpacked(tag).is_reply ? pair_reply : pair_request;
  }
  void on_stop() override;
  void resume(Time now, Effects& effects) override;
  void on_leave(Time now, Effects& effects) override;
  void on_crash(Time now, Effects& effects) override;
  void on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) override;
  void on_new_life(ClientId sender) override;
  void archive(Archive& archive) override;

  const PairCounts& exchanges() const { return exchanges_; }
  /// What it did in a life that it does not know of.
  void add_earlier(const PairCounts& exchanges) { exchanges_ += exchanges; }
  /// With what goes on now.
  PairTotals totals() const { return {exchanges_, asking_.has_value(), queue_.size()}; }
  /// The partner that the client asks now, and the number of the exchange.
  std::optional<std::pair<ClientId, std::uint32_t>> asked() const;
  /// Requests that wait for this client, in order of arrival.
  std::vector<std::pair<ClientId, std::uint32_t>> waiting_requests() const;

 private:
  using Outcome = PairRecord::Outcome;
  // What a client tries to do with a partner.
  struct Attempt {
    ClientId partner{};
    ExchangeTag tag{};
    std::uint32_t last = 0;    // of the attempts that may be made
    Time born{};               // when the exchange began
    Sequence sequence = 0;     // of the request
    Time begun{};              // of this attempt
    std::uint32_t detail = 0;  // of the tick at which it is to be made again
  };

  const Pairing& pairing() const { return settings_.needs.pairing; }
  bool is_at_work() const { return pairing().blocks && !is_at_rest_; }
  bool may_ask() const { return rules_.asks.empty() || rules_.asks[self_.value]; }
  void wake_ticks(Effects& effects);
  void wake_link(std::uint32_t place, Effects& effects);
  void begin(Time now, Effects& effects);
  std::uint32_t batch_length();
  void end_batch(Time now, Effects& effects);
  bool has_partners_left() const;
  std::optional<Attempt> new_attempt(std::uint32_t detail);
  std::optional<ClientId> draw_partner();
  void ask(Attempt attempt, Time now, Effects& effects);
  Outcome handle(const Arrival& request, Effects& effects);
  Outcome serve(const Arrival& request, Time now, Effects& effects);
  void serve_oldest(Time now, Effects& effects);
  void serve_waiting(Time now, Effects& effects);
  bool is_asked(ClientId by, ExchangeTag tag) const;
  void end_attempt(Time now);
  void take_reply(const Arrival& arrival, Effects& effects);
  void hear(ClientId partner, ExchangeTag tag, Outcome outcome, Time now, Effects& effects);
  void be_free(bool has_met, Time now, Effects& effects);
  bool try_again(Time now, Effects& effects);
  void work_alone(std::optional<std::uint32_t> exchange, Time now, Effects& effects);
  bool is_fresh(const Arrival& arrival);
  void count(Outcome outcome);
  void see(PairRecord record, Effects& effects) const {
    record.client = self_;
    if (rules_.watch) rules_.watch->see(record, effects);
  }

  const PairSettings& rules_;
  std::optional<Attempt> asking_;
  Attempt ended_{};             // the last one; kept for what follows from its end
  std::vector<Arrival> queue_;  // requests that wait, in order of arrival
  std::vector<Attempt> again_;  // those that will be made once more
  std::uint32_t exchanges_begun_ = 0;
  std::uint32_t retries_ = 0;  // ticks of attempts to be made again, so far
  std::uint32_t ticks_ = 0;    // so far, of given or drawn partners
  std::uint32_t done_ = 0;     // computations of the batch
  std::uint32_t batch_ = 0;
  bool is_at_rest_ = false;
  bool is_stopped_ = false;
  PairCounts exchanges_;
  std::vector<Timer> link_timers_;
  std::vector<DuplicateFilter> filters_;  // by sender, where links duplicate
  Absentees absent_;
};

}  // namespace rubato
