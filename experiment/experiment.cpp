#include "experiment/experiment.hpp"

namespace rubato::config {

Law Law::constant(double value) {
  Law law;
  law.value = value;
  return law;
}

TimerLaw TimerLaw::poisson(double rate_per_second) {
  TimerLaw timer;
  timer.rate = Law::constant(rate_per_second);
  return timer;
}

TimerLaw TimerLaw::coupled() {
  TimerLaw timer;
  timer.law = TimerKind::coupled;
  return timer;
}

}  // namespace rubato::config
