// Exchange slots: every so many rounds a star hears some of its neighbours, and in the round behind it tells those what it has
// become; in all other rounds every client computes. KD-PDFL and what it is compared with have them in common
// (docs/references.md#kd-pdfl).
#pragma once

#include <array>
#include <cstdint>

#include "algos/option_table.hpp"
#include "runtime/protocols/needs.hpp"

namespace rubato {

/// What ExchangeSlots reads.
inline constexpr std::array slot_options{
    OptionSpec{"T_ex", OptionType::whole, "20",
               "rounds, or computations with a coupled transmit timer, from one exchange to the next", 2, 1e6},
    word_option("stars", "one", "in rounds: one client, drawn anew, has an exchange, or all of them have", "one|all"),
    OptionSpec{"ask_share", OptionType::number, "1", "share of the neighbours that an exchange asks", 0, 1, true},
};

/// When a client computes, asks and tells.
class ExchangeSlots {
 public:
  /// The phases of merge steps: what was asked for, and what a star tells.
  static constexpr std::uint8_t answers = 0, news = 1;

  /// Reads slot_options.
  explicit ExchangeSlots(const OptionReader& options)
      : every_{static_cast<std::uint32_t>(options.whole("T_ex"))},
        stars_{options.is("stars", "one") ? Stars::one : Stars::all},
        asked_share_{options.number("ask_share")} {}

  /// What the protocol is asked for.
  Needs needs() const {
    Needs needs;
    needs.send_every = every_;
    needs.fanout = {.share = asked_share_, .chosen_by_receiver = true, .stars = stars_};
    needs.program = program();
    return needs;
  }

  /// The round r = 1, 2, ... of an exchange before which a client has computed so often; the first exchange is in round T_ex.
  std::uint64_t round_of_exchange(std::uint64_t computations) const {
    if (every_ == 2 || computations < every_) return every_;  // with T_ex = 2 nothing is computed after the first exchange
    return every_ * (1 + (computations - (every_ - 1) + every_ - 3) / (every_ - 2));
  }

 private:
  // Rounds r = 1, 2, ...: an exchange where T_ex divides r; the star tells in the round behind it; else all clients compute.
  // Rounds count from 0 in a program.
  RoundProgram program() const {
    RoundProgram program;
    program.round = Phase{.kind = PhaseKind::compute, .every = 0xFFFF'FFFF};  // r = 1: nothing to tell yet
    program.round.add({.kind = PhaseKind::compute, .every = every_, .offset = 1, .span = every_ - 2});
    program.round.add({.kind = PhaseKind::exchange, .number = answers, .every = every_, .offset = every_ - 1});
    program.round.add({.kind = PhaseKind::exchange, .number = news, .every = every_, .first = every_});
    return program;
  }

  std::uint32_t every_;
  Stars stars_;
  double asked_share_;
};

inline Needs slot_needs(const OptionReader& options) { return ExchangeSlots(options).needs(); }

}  // namespace rubato
