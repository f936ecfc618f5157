// One client of a protocol by itself: what it is told, call by call, and what it answers.
#pragma once

#include <cstdint>

#include "runtime/protocols/protocol.hpp"

namespace rubato::test {

template <class P>
struct Lone {
  /// The settings outlive it.
  template <class Settings>
  Lone(const Settings& settings, std::uint32_t self) : protocol{settings, {self}} {}

  void starts() { answer().start(effects); }
  void transmits(Duration at, std::uint32_t detail = 0) { answer().on_transmit(Time{at}, detail, effects); }
  void computes(Duration at, std::uint32_t detail) { answer().on_compute(Time{at}, detail, effects); }
  void meets_deadline(Duration at, Sequence detail) { answer().on_deadline(Time{at}, detail, effects); }
  void closes_window(Duration at) { answer().on_window_close(Time{at}, effects); }
  void loses(std::uint32_t neighbour, Duration at) { answer().on_presence({neighbour}, false, Time{at}, effects); }
  void resumes(Duration at) { answer().resume(Time{at}, effects); }
  /// A message that took no time.
  Offer hears(std::uint32_t sender, Sequence sequence, std::uint32_t tag, Duration at) {
    return answer().on_arrival({{.id = {{sender}, 0, sequence}, .tag = tag, .sent = Time{at}}, no_slot, Time{at}}, effects);
  }

  P protocol;
  Effects effects;  ///< of the last call

 private:
  P& answer() {
    effects.clear();
    return protocol;
  }
};

}  // namespace rubato::test
