// local rounds: rounds for real time. It is not known when all have finished, so a client waits for its neighbours only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/protocols/round_client.hpp"

namespace rubato {

/// The phases of a run in rounds, counted through from the first of the opening, so that one number says how far a client is.
class CountedPhases {
 public:
  /// The program outlives it. Throws std::logic_error if no phase of a round ever happens.
  explicit CountedPhases(const RoundProgram& program) : program_{program} {
    for (std::size_t i = 0; i < each(); ++i)
      if (program.round[i].offset < program.round[i].every) return;
    throw std::logic_error("the program of a round has no phase that ever happens");
  }

  bool is_opening(std::uint64_t number) const { return number < opening(); }
  std::uint64_t round_of(std::uint64_t number) const { return is_opening(number) ? 0 : (number - opening()) / each(); }
  std::uint64_t first_of(std::uint64_t round) const { return opening() + round * each(); }
  const Phase& phase(std::uint64_t number) const {
    return is_opening(number) ? program_.opening[number] : program_.round[(number - opening()) % each()];
  }
  bool happens(std::uint64_t number) const { return phase(number).happens_in(round_of(number)); }
  bool is_exchange(std::uint64_t number) const { return phase(number).kind == PhaseKind::exchange && happens(number); }

  /// Exchanges before this phase.
  std::uint64_t exchanges_before(std::uint64_t number) const {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(number, opening()); ++i) count += is_exchange(i);
    if (is_opening(number)) return count;
    const std::uint64_t round = round_of(number);
    for (std::size_t i = 0; i < each(); ++i)
      if (program_.round[i].kind == PhaseKind::exchange)
        count += rounds_with(program_.round[i], round + (first_of(round) + i < number));
    return count;
  }

 private:
  std::size_t opening() const { return program_.opening.size(); }
  std::size_t each() const { return program_.round.size(); }

  // In how many of the rounds before this one the phase happens.
  static std::uint64_t rounds_with(const Phase& phase, std::uint64_t rounds) {
    if (phase.offset >= phase.every || rounds <= phase.first) return 0;
    const std::uint64_t span = std::min<std::uint64_t>(phase.span, phase.every - phase.offset);
    const auto before = [&](std::uint64_t round) {
      const std::uint64_t rest = round % phase.every;
      return round / phase.every * span + (rest > phase.offset ? std::min(rest - phase.offset, span) : 0);
    };
    return before(rounds) - before(phase.first);
  }

  const RoundProgram& program_;
};

/// Every client walks through the phases by itself. In an exchange it publishes, and waits for the messages of that
/// exchange from those neighbours that send to it: which do is drawn from seed and round, so that it knows without
/// being told. What comes early is kept. Where nothing is missing each client takes the steps it takes under Rounds.
///
/// Messages carry the number of their phase. A client whose patience has a limit goes on when it has waited so long,
/// and what comes later is late. Any other asks for what does not come, and is sent the same message again, or is told
/// that there is none: because a modelled link has lost it, its sender had nothing to say, or is far past it. After asking
/// it waits twice as long before it asks again.
///
/// A neighbour that is gone is not waited for. A client that has been away, or is so slow that others do not wait for it, jumps
/// to the round that it hears of; an opening is computed all the same.
///
/// At a unification all clients wait for the hub's model as for a message. The hub is the next one that is here.
class LocalRounds final : public RoundClient {
 public:
  LocalRounds(const RoundSettings& rules, ClientId self);

  void start(Effects& effects) override { walk({}, effects); }
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override;
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override;
  void on_lost(ClientId receiver, MessageKind kind, Effects& effects) override;
  void on_request(Time now, ClientId from, std::uint32_t tag, Effects& effects) override;
  Offer on_arrival(const Arrival& arrival, Effects& effects) override;
  void on_outdated(const Arrival& arrival, Effects& effects) override;
  std::uint8_t phase_of(std::uint32_t tag) const override { return phases_.phase(tag).number; }
  bool on_model(const Arrival& arrival, Effects& effects) override;
  bool awaits_computations() const override { return true; }
  void resume(Time now, Effects& effects) override;
  void on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) override;
  void on_new_life(ClientId sender) override;
  void archive(Archive& archive) override;
  void on_unify(Time now, bool clears_mailbox, Effects& effects) override;

  std::uint64_t round() const { return phases_.round_of(here_); }
  Waiting waiting() const override {
    return {doing_ == Doing::computing, doing_ == Doing::waiting ? awaited_.size() : std::size_t{doing_ == Doing::unifying}};
  }
  /// Messages that are kept for later exchanges, and for this one.
  std::size_t held() const { return heard_.size(); }

 private:
  using Number = std::uint32_t;  // of a phase, as messages carry it

  enum class Doing : std::uint8_t { nothing, computing, about_to_exchange, waiting, unifying };

  // What was sent in an exchange, for clients that ask.
  struct Sent {
    Number number = 0;
    Sequence sequence = 0;
    std::vector<ClientId> receivers{};
  };

  const Phase& phase() const { return phases_.phase(here_); }
  Exchange exchange() const { return {phases_.exchanges_before(here_), round(), phase().number}; }
  void walk(Time now, Effects& effects);
  bool jump(Time now, Effects& effects);
  void go_to(Number number, Effects& effects);
  void begin_to_compute(Time now, Effects& effects);
  void begin_to_exchange(Time now, Effects& effects);
  void send(const Exchange& exchange, Time now, Effects& effects);
  bool will_send(ClientId neighbour, LinkIndex link, const Exchange& exchange) const;
  bool has_said(ClientId neighbour) const;
  bool has_said_nothing(ClientId neighbour, Number number) const;
  void look_again(Time now, Effects& effects);
  void go_on_if_complete(Time now, Effects& effects);
  void finish_exchange(Time now, Effects& effects);
  void wait(Time now, Effects& effects);
  void set_alarm(Time now, Effects& effects);
  bool is_to_unify() const;
  ClientId hub() const;
  void pass_unification(std::uint64_t number, Time now, Effects& effects);
  void unify(Time now, Effects& effects);
  void take_model(Time now, Effects& effects);
  void publish_model(Time now, Effects& effects);
  void answer(ClientId asker, Number number, Time now, Effects& effects);
  void answer_about_model(ClientId asker, Number number, Time now, Effects& effects);
  void hear_nothing(ClientId from, Number number);
  std::uint64_t own_exchange() const;
  bool is_far_ahead(Number number) const;
  Offer judge(const Arrival& arrival);
  void follow(Number number, std::uint64_t reach, Time now, Effects& effects);
  DuplicateFilter* filter(ClientId sender);

  CountedPhases phases_;
  std::uint64_t reach_;  // exchanges that a neighbour may be ahead of a client that is waited for
  Number here_ = 0;      // the phase that it has come to
  Number followed_ = 0;  // nothing before this phase is of use
  Doing doing_ = Doing::nothing;
  RoundPace pace_;
  bool is_working_ = false;  // on a job that will be done in this phase
  bool was_away_ = false;    // until the next exchange is complete
  bool was_anybody_away_ = false;
  Time since_{};                   // when it began to wait
  Time due_{};                     // when waiting ends, or the computation phase
  Time alarm_{};                   // that is set for the next look at what it waits for
  Duration pause_{};               // before it asks again
  std::vector<ClientId> awaited_;  // in this exchange
  std::vector<Arrival> heard_;
  std::vector<Arrival> arrived_;                     // in the exchange that is absorbed; kept for its memory
  std::vector<std::pair<ClientId, Number>> unsaid_;  // senders that have said that there will be no message, or no model
  std::deque<Sent> sent_;                            // in the last exchanges, the newest last
  std::uint64_t unified_ = 0;                        // the newest unification that it has come to
  Sent sent_model_;                                  // of the newest unification whose hub it was
  std::vector<Arrival> models_;                      // of unifications that it has not come to
  std::vector<DuplicateFilter> filters_;             // by sender
  Absentees absent_;
};

}  // namespace rubato
