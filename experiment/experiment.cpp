#include "experiment/experiment.hpp"

namespace rubato::config {

namespace {

std::string in_lines(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) text += (text.empty() ? "" : "\n") + to_string(fault);
  return text;
}

}  // namespace

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

std::string to_string(const Fault& fault) {
  std::string text = fault.file;
  if (fault.line > 0) text += ':' + std::to_string(fault.line);
  text += ": ";
  if (!fault.key.empty()) text += fault.key + (fault.value.empty() ? ": " : " = " + fault.value + ": ");
  text += fault.allowed;
  return fault.suggestion.empty() ? text : text + "; did you mean " + fault.suggestion + '?';
}

BadExperiment::BadExperiment(std::vector<Fault> faults) : std::invalid_argument(in_lines(faults)), faults_{std::move(faults)} {}

}  // namespace rubato::config
