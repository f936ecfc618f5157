#include "web/score_walk.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "experiment/digest.hpp"
#include "runtime/record.hpp"
#include "web/record_file.hpp"
#include "web/score_collector.hpp"

namespace rubato::web {

namespace fs = std::filesystem;

namespace {

// All of the run where its marks fit; else its start, the surroundings of the largest jump, and its end.
std::vector<std::pair<Time, Time>> parts_of(const ScoredRun& facts, const ScoreLimits& limits) {
  const Time end = Time{from_seconds(facts.seconds)};
  if (facts.marks <= limits.marks) return {{Time{}, end}};
  const double share = static_cast<double>(limits.marks) / static_cast<double>(facts.marks), length = facts.seconds * share / 3;
  const double middle = std::clamp(facts.largest_jump - length / 2, length, std::max(length, facts.seconds - 2 * length));
  const auto stretch = [&](double from) { return std::pair{Time{from_seconds(from)}, Time{from_seconds(from + length)}}; };
  return {stretch(0), stretch(middle), {Time{from_seconds(facts.seconds - length)}, end}};
}

ScoreCollector::Facts facts_for(const ScoredRun& facts, const ScoreLimits& limits, const ResolvedExperiment* resolved,
                                std::size_t clients, bool walks) {
  ScoreCollector::Facts made{.clients = clients, .end = Time{from_seconds(facts.seconds)}, .has_arrivals = walks};
  made.parts = parts_of(facts, limits);
  if (!resolved) return made;
  const ProtocolKind protocol = resolved->timing->protocol();
  made.waits = walks && (protocol == ProtocolKind::rounds || protocol == ProtocolKind::server || protocol == ProtocolKind::pull);
  made.asks = protocol == ProtocolKind::pull;
  made.in_step = walks && protocol == ProtocolKind::rounds;
  made.keeps_rounds = made.in_step && resolved->timing->settings.merge_weights.size() > 1;
  made.refuses_at_close = resolved->timing->conductor.refuses_at_close;
  if (resolved->experiment.mailbox.deadline) made.deadline = from_seconds(*resolved->experiment.mailbox.deadline);
  return made;
}

bool is_same(const Conductor& conductor, const ScoredRun& facts) {
  if (facts.stopped_early) return true;  // the walk ends at the same instant, perhaps amid its events
  const std::vector<ClientId> absent = conductor.attendance() ? conductor.attendance()->absent() : std::vector<ClientId>{};
  std::vector<StepHash> present;
  for (std::uint32_t i = 0; i < conductor.clients(); ++i)
    if (!std::ranges::binary_search(absent, ClientId{i})) present.push_back(conductor.hashes()[i]);
  return timeline_digest(present) == facts.timeline_digest;
}

// Nothing where the walk cannot be made, or leads elsewhere.
std::optional<RunScore> walked(ResolvedExperiment& resolved, const ScoredRun& facts, const ScoreLimits& limits) {
  Timing& timing = *resolved.timing;
  if (timing.settings.needs.asks_before_sending) return std::nullopt;
  const std::size_t scalar_bytes = resolved.experiment.precision == Scalar::float64 ? 8 : 4;
  timing.size_messages(resolved.experiment, resolved.algorithm, facts.dimension, scalar_bytes);
  timing.conductor.samples_last_state = timing.conductor.samples_first_state = false;
  timing.conductor.samples_before_unifications = false;
  timing.conductor.sample_every_events = 0;
  timing.conductor.sample_every = {};
  ScoreCollector collector(facts_for(facts, limits, &resolved, timing.graph.clients(), true), limits);
  Conductor conductor(timing.conductor, timing.make_protocols(), collector, &collector);
  collector.attend(conductor);
  if (facts.stopped_early) conductor.end_at(Time{from_seconds(facts.seconds)});
  constexpr std::uint64_t slice = 1 << 16;
  bool goes_on = true;
  while (goes_on && conductor.events() < limits.events) goes_on = conductor.walk(slice);
  if (!goes_on && !is_same(conductor, facts)) return std::nullopt;
  return collector.take(conductor.now(), goes_on);
}

RunScore recorded(const fs::path& record, const ResolvedExperiment* resolved, const ScoredRun& facts, const ScoreLimits& limits) {
  RecordReader reader = open_record(record);
  ScoreCollector collector(facts_for(facts, limits, resolved, reader.clients(), false), limits);
  Time last{};
  std::uint64_t steps = 0;
  const Step* step = nullptr;
  while (steps < limits.events && (step = reader.next())) {
    collector.perform(*step);
    last = std::max(last, step->at);
    ++steps;
  }
  return collector.take(std::max(last, Time{from_seconds(facts.seconds)}), step != nullptr || reader.is_incomplete());
}

}  // namespace

RunScore read_score(const fs::path& folder, const ScoredRun& facts, const ScoreLimits& limits) {
  open_record(folder / "timeline.rbt");  // a folder with a file that is none is damaged, whatever the walk would say
  std::optional<ResolvedExperiment> resolved;
  try {
    std::ostringstream notes;  // the run has said them already
    resolved = resolve(folder / "experiment.toml", {}, notes);
  } catch (const std::invalid_argument&) {
    // A program brought parts along that the file does not name.
  }
  if (resolved && facts.is_virtual)
    if (std::optional<RunScore> score = walked(*resolved, facts, limits)) return std::move(*score);
  return recorded(folder / "timeline.rbt", resolved ? &*resolved : nullptr, facts, limits);
}

}  // namespace rubato::web
