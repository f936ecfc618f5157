// CountedPhases: the phases of a run in rounds, counted through from the first of the opening, so that one number says
// how far a client is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "runtime/protocols/needs.hpp"

namespace rubato {

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

}  // namespace rubato
