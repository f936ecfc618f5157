// RoundClient: what a client does in a round: how long it computes, which clients it sends to, what it
// absorbs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/elementary.hpp"
#include "runtime/protocols/client_protocol.hpp"
#include "runtime/world/unification.hpp"

namespace rubato {

/// A computation that goes on only during phases of one length, and may need several of them.
class Job {
 public:
  bool is_begun() const { return is_begun_; }
  void begin(Duration length) {
    is_begun_ = true;
    left_ = length;
  }
  /// One more phase of work; how far into it the job is done, or nothing for a straggler.
  std::optional<Duration> work(Duration phase) {
    if (left_ <= phase) {
      is_begun_ = false;
      return left_;
    }
    left_ -= phase;
    return std::nullopt;
  }
  /// What was not done in time is thrown away.
  void drop() { is_begun_ = false; }

  void archive(Archive& archive) { archive(is_begun_, left_); }

 private:
  bool is_begun_ = false;
  Duration left_{};
};

/// The chance that a fresh job of minimum + Exp(rate) seconds takes longer than a phase.
inline double straggler_chance(double phase, double minimum, double rate) {
  return phase <= minimum ? 1 : elementary::exp(-(phase - minimum) * rate);
}

/// Computation phases of one fixed length (docs/references.md#asynchronous-dsgd): a client that has not finished by the
/// end of a phase is a straggler.
struct JobRule {
  Duration phase{};        ///< length of a computation phase; 0: all clients are waited for
  bool carries_on = true;  ///< a straggler goes on in the next round; false: its work is thrown away
  /// [round][client] where it is given which clients finish; empty: drawn from the compute law.
  std::vector<std::vector<bool>> finishes;

  bool is_in_force() const { return phase > Duration::zero(); }
};

/// What is stated about a synchronous run. Must outlive its clients.
struct RoundSettings {
  const ClientSettings* settings = nullptr;  ///< graph, compute law, limits, needs with the program, weights, links
  JobRule jobs;
  double send_probability = 1;           ///< of a client in a round
  std::vector<double> participation;     ///< of each client, the chance to send in a round behind first_exchange; empty: 1
  std::uint64_t first_exchange = 0;      ///< the first round with an exchange
  std::vector<std::vector<bool>> sends;  ///< [round][client]; empty: drawn with send_probability
  std::uint64_t unify_every = 0;         ///< rounds between unifications; 0: never
  std::uint64_t refill_every = 0;        ///< rounds between refills of the reception cap; 0: never
  // In real time.
  const UnificationPlan* unification = nullptr;  ///< whose model is taken; null: none is
  Duration patience = Duration::max();           ///< how long a client waits for messages that do not come
  Duration ask_after = std::chrono::seconds(1);  ///< and after which time it asks for them; then after twice as long, and so on

  /// Whether the client sends in a round's exchanges what it has to say.
  bool sends_in(ClientId client, std::uint64_t round) const;
};

/// How far a client is with the computations of a phase.
struct RoundPace {
  std::uint32_t left = 0;
  Job job;
  std::uint64_t computations = 0;  // begun

  /// Begins a computation: how long it takes. Each has an address of its own, so a round may be computed again.
  Duration next_interval(const ClientSettings& settings, ClientId client);
  /// The same, but one without a gradient takes no time.
  Duration next_length(const ClientSettings& settings, ClientId client);
  /// In a phase of the job rule's length: begins a job if there is none. How far into the phase it is done; nothing for
  /// a straggler.
  std::optional<Duration> work(const RoundSettings& rules, ClientId client, std::uint64_t round, Time now, Effects& effects);
  void begin(ClientId client, Time now, Effects& effects) const { effects.step(StepKind::begin, client, now).index = computations; }
};

/// One exchange of a run.
struct Exchange {
  std::uint64_t turn = 0;  ///< exchanges before it
  std::uint64_t round = 0;
  std::uint8_t phase = 0;  ///< what the algorithm calls it
};

class RoundClient : public ClientProtocol {
 public:
  RoundClient(const RoundSettings& rules, ClientId self);

  void on_refill() override { mailbox_.refill(settings_.limits); }
  const Mailbox& mailbox() const override { return mailbox_; }

 protected:
  bool has_something_to_say() const { return has_news_ || !settings_.needs.send_only_if_computed; }
  bool sends_in(std::uint64_t round) const {
    return settings_.needs.sends && has_something_to_say() && rules_.sends_in(self_, round);
  }
  Step& compute(std::uint8_t phase, Time now, Effects& effects);
  /// To the receivers for which is_sent(receiver, link) answers yes, once for every link that the exchange uses.
  template <class IsSent>
  void publish(const Exchange& exchange, Time now, Effects& effects, IsSent is_sent) {
    const auto receivers = settings_.graph->receivers_of(self_);
    const LinkIndex first = settings_.graph->first_link(self_);
    Step& step = effects.step(StepKind::publish, self_, now);
    step.index = sequence_;
    step.phase = exchange.phase;
    effects.turn(exchange.turn);
    effects.round(exchange.round);
    settings_.each_link_used(self_, exchange.turn, exchange.round, [&](std::uint32_t place) {
      if (is_sent(receivers[place], first + place)) send_to(receivers[place], first + place, exchange.round, effects);
    });
    ++sequence_;
    ++counts_.publications;
    has_news_ = false;
  }
  /// In an exchange in which stars tell, the receivers that this client has heard in the one before it.
  bool is_told(ClientId receiver, const Exchange& exchange) const {
    return settings_.needs.fanout.stars == Stars::none || exchange.turn % 2 == 0 || std::ranges::binary_search(peers_, receiver);
  }
  /// Merges what has arrived, senders ascending; what comes twice, and what no token is left for, is discarded.
  void absorb(std::vector<Arrival>& arrived, const Exchange& exchange, Time now, Effects& effects);

  const RoundSettings& rules_;
  bool has_news_ = false;        // computed since the last message
  std::vector<ClientId> peers_;  // of the last exchange in which stars heard, ascending
  Mailbox mailbox_;
};

}  // namespace rubato
