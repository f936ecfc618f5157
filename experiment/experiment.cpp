#include "experiment/experiment.hpp"

#include "experiment/words.hpp"

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

std::string_view name_of(ClockKind choice) { return word_of(choice); }
std::string_view name_of(Precision choice) { return word_of(choice); }
std::string_view name_of(LawKind choice) { return word_of(choice); }
std::string_view name_of(TimerKind choice) { return word_of(choice); }
std::string_view name_of(TopologyKind choice) { return word_of(choice); }
std::string_view name_of(Symmetrise choice) { return word_of(choice); }
std::string_view name_of(ChannelKind choice) { return word_of(choice); }
std::string_view name_of(HubKind choice) { return word_of(choice); }
std::string_view name_of(UnifyVia choice) { return word_of(choice); }
std::string_view name_of(ProtocolKind choice) { return word_of(choice); }
std::string_view name_of(MissingRule choice) { return word_of(choice); }
std::string_view name_of(LateWork choice) { return word_of(choice); }
std::string_view name_of(MixingKind choice) { return word_of(choice); }
std::string_view name_of(WeightKind choice) { return word_of(choice); }
std::string_view name_of(SnapshotAt choice) { return word_of(choice); }
std::string_view name_of(ChurnKind choice) { return word_of(choice); }
std::string_view name_of(PartitionKind choice) { return word_of(choice); }
std::string_view name_of(InitKind choice) { return word_of(choice); }
std::string_view name_of(ActivationKind choice) { return word_of(choice); }
std::string_view name_of(HingeKind choice) { return word_of(choice); }
std::string_view name_of(NormalisationKind choice) { return word_of(choice); }

}  // namespace rubato::config
