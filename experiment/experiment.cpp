#include "experiment/experiment.hpp"

#include <algorithm>

namespace rubato {

namespace {

std::vector<const OwnTimerLaw*>& known() {
  static std::vector<const OwnTimerLaw*> laws;
  return laws;
}

// The laws that there are, those of the program behind the others.
std::string& timer_words() {
  static std::string words = "poisson|fixed|shifted_exp|gamma|lognormal|trace|table|coupled|off";
  return words;
}

std::size_t words() { return 1 + static_cast<std::size_t>(std::ranges::count(timer_words(), '|')); }

// Its place among the words; how many there are if it is none.
std::size_t place_of(std::string_view name) {
  std::size_t place = 0;
  while (place < words() && word_at(timer_words(), place) != name) ++place;
  return place;
}

}  // namespace

void extend_timer_laws(std::span<const OwnTimerLaw* const> own) {
  for (const OwnTimerLaw* law : own) {
    const std::string name = "the law of timers \"" + std::string(law->name) + "\"";
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (law->name.empty() || law->name.find_first_not_of(letters) != law->name.npos)
      throw std::invalid_argument(name + " has a name that is no word of letters, digits and _");
    if (place_of(law->name) < words()) throw std::invalid_argument(name + " is there already");
    if (!law->interval || !law->mean_rate) throw std::invalid_argument(name + " has no interval or no mean rate");
    known().push_back(law);
    timer_words() += "|" + std::string(law->name);
  }
}

std::span<const OwnTimerLaw* const> own_timer_laws() { return known(); }

}  // namespace rubato

namespace rubato::config {

std::string_view word_list(TimerKind) { return timer_words(); }

Law Law::constant(double value) { return {.value = value, .values = {}}; }

TimerLaw TimerLaw::poisson(double rate_per_second) {
  TimerLaw timer;
  timer.rate = Law::constant(rate_per_second);
  return timer;
}

TimerLaw TimerLaw::own(std::string_view name, std::vector<double> numbers) {
  const std::size_t place = place_of(name);
  if (place >= words() || place <= static_cast<std::size_t>(TimerKind::off))
    throw std::invalid_argument("there is no law of timers of the program's own named \"" + std::string(name) + "\"");
  TimerLaw timer;
  timer.law = static_cast<TimerKind>(place);
  timer.numbers = std::move(numbers);
  return timer;
}

TimerLaw TimerLaw::coupled() {
  TimerLaw timer;
  timer.law = TimerKind::coupled;
  return timer;
}

}  // namespace rubato::config
