#include "actors/core/run_parts.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>

#include "actors/core/reporter.hpp"
#include "algos/arithmetic.hpp"
#include "results/run_description.hpp"
#include "runtime/world/spectrum.hpp"

namespace rubato {

namespace {

using config::Experiment;

// The lowest eigenvalue of the neighbour average: exact on undirected regular graphs, else its bound -1.
double lowest_eigenvalue(const Graph& graph) {
  constexpr std::size_t few = 2000;
  if (graph.is_directed() || graph.clients() > few || graph.clients() < 2) return -1;
  const std::size_t degree = graph.out_degree(ClientId{0});
  for (std::uint32_t i = 1; i < graph.clients(); ++i)
    if (graph.out_degree(ClientId{i}) != degree) return -1;
  return 1 - largest_laplacian_eigenvalue(graph) / static_cast<double>(degree);
}

std::string warning_of(const Experiment& experiment, const Timing& timing) {
  RunFacts facts;
  for (const TimerLaw& law : timing.settings.compute) facts.compute_rate += law.mean_rate(experiment.until);
  facts.compute_rate /= static_cast<double>(timing.settings.compute.size());
  facts.in_rounds = timing.protocol() == ProtocolKind::rounds;
  if (facts.in_rounds) facts.compute_rate = 1;  // a computation a round
  facts.unification_period = experiment.unification.period.value_or(0);
  facts.lowest_eigenvalue = lowest_eigenvalue(timing.graph);
  const CatalogueEntry& entry = catalogue_entry(experiment.algorithm.name);
  return entry.warning ? entry.warning(experiment.algorithm.options, facts) : "";
}

// A sample whose invariants are broken ends the run.
void check_sample(const Sample& sample, std::size_t scalar_bytes) {
  const Defect& defect = sample.defect;
  const bool is_rounded = defect.name.starts_with("mean of") && scalar_bytes < sizeof(double);
  const double tolerance = is_rounded ? 1e-4 : 1e-9;
  const std::string broken = fmt::format("broken invariant at {:g} s: ", to_seconds(sample.header.at));
  if (!sample.diverged.empty())
    throw RunFailed(broken + fmt::format("the model of client {} is not finite", sample.diverged.front().value));
  if (sample.different)
    throw RunFailed(broken +
                    fmt::format("client {} has another model than client 0 right after a unification", sample.different->value));
  if (defect.name.empty() || defect.size <= tolerance * std::max(1.0, defect.scale)) return;  // not a number is broken
  throw RunFailed(broken +
                  fmt::format("the sum of \"{}\" over all clients is off by {:g} at number {}; client {} has the largest part",
                              defect.name, defect.size, defect.place, defect.client.value));
}

// What must sum to zero is watched over all clients.
Experiment measuring(Experiment experiment, const RunOptions& options) {
  if (options.checks) experiment.metrics.clients = 0;
  return experiment;
}

// Throws std::invalid_argument if this build computes with other instructions than the experiment asks for.
void refuse_other_arithmetic(const Experiment& experiment) {
  if (experiment.isa == "auto" || experiment.isa == instruction_set()) return;
  throw std::invalid_argument(fmt::format("isa = \"{}\": this build computes with {}; build for the other, or write isa = \"auto\"",
                                          experiment.isa, instruction_set()));
}

}  // namespace

ResolvedExperiment resolve(const Experiment& experiment, const RunOptions& options) {
  return with_own_parts(experiment, options, [&](const auto& own) { return resolve(experiment, own); });
}

std::unique_ptr<Task> make_task(const Experiment& experiment, const RunOptions& options) {
  return with_own_parts(experiment, options,
                        [&](const auto& own) { return make_task(measuring(experiment, options), options.data_dir, own); });
}

Preparation::Preparation(ResolvedExperiment& given, const RunOptions& options)
    : resolved{given.algorithm}, timing{given.timing.get()}, stop_rule{given.experiment.metrics} {
  const Experiment& experiment = given.experiment;
  refuse_other_arithmetic(experiment);
  fix_eigen_blocking();
  result.arithmetic = arithmetic();
  result.threads = options.threads;
  if (options.checks && experiment.metrics.clients.value_or(0) > 0)
    throw std::invalid_argument("metrics.clients: what must sum to zero is watched over all clients; leave it out to check");
  result.graph = timing->graph;
  result.compute_chances = timing->settings.chances.computes;
  result.link_chances = timing->settings.chances.links;
  say(given.notes, options, result);
  timing->conductor.counts_links = options.counts_links;
  timing->conductor.samples_unifications = options.checks;
  timing->conductor.samples_rounds = options.checks && timing->misses_nothing();
  const bool brings_algorithm = options.own_float.algorithm || options.own_double.algorithm;
  if (const std::string warning = brings_algorithm ? "" : warning_of(experiment, *timing); !warning.empty())
    say({warning}, options, result);
}

void Preparation::read_data(const Experiment& experiment, const RunOptions& options) {
  task = make_task(experiment, options);
  result.dimension = task->dimension();
  result.scalar_bytes = task->scalar_bytes();
  timing->size_messages(experiment, resolved, result.dimension, result.scalar_bytes);
  result.samples_plan = plan_samples(measuring(experiment, options), *timing, task->size());
  timing->set_samples(result.samples_plan);
  std::vector<std::string> notes = task->notes();
  constexpr double little = 0.1;  // what is not named costs no more
  const bool has_limits = result.samples_plan.measured || result.samples_plan.is_thinned;
  if (has_limits || result.samples_plan.share > little)
    notes.push_back(sentence_about(result.samples_plan, timing->graph.clients()));
  say(notes, options, result);
  result.samples_by_client.assign(task->samples().begin(), task->samples().end());
  result.class_counts.assign(task->class_counts().begin(), task->class_counts().end());
  result.class_names = task->class_names();
}

std::unique_ptr<Recorder> make_recorder(const RunOptions& options, std::size_t clients) {
  if (options.record.empty()) return nullptr;
  return std::make_unique<Recorder>(options.record, static_cast<std::uint32_t>(clients), options.record_bytes);
}

void finish_record(Recorder* recorder, RunResult& result) {
  if (!recorder) return;
  recorder->flush();
  if (!recorder->error().empty()) throw RunFailed(recorder->error());
  result.record_was_cut = recorder->is_cut();
}

void say(const std::vector<std::string>& notes, const RunOptions& options, RunResult& result) {
  if (options.on_note) std::ranges::for_each(notes, options.on_note);
  result.notes.insert(result.notes.end(), notes.begin(), notes.end());
}

RunOptions checking(const RunOptions& options, std::size_t scalar_bytes) {
  RunOptions checked = options;
  checked.on_sample = [sees = options.on_sample, scalar_bytes](const Sample& sample) {
    check_sample(sample, scalar_bytes);
    if (sees) sees(sample);
  };
  return checked;
}

TimingCheck timing_check(const Preparation& parts) {
  const Timing& timing = *parts.timing;
  const bool has_windows = timing.protocol() == ProtocolKind::push && timing.settings.needs.absorb == AbsorbAt::window;
  return {timing.settings, has_windows, rows_sum_to_one(parts.resolved.merge)};
}

void describe_silence(const Timing& timing, const RunOptions& options, RunResult& result) {
  const std::string note = find_silence(timing, result);
  if (!note.empty()) say({note}, options, result);
}

void describe_stop(const Reporter& reporter, Time end, Time until, RunResult& result) {
  result.stopped_by = reporter.reason_to_stop(end, until);
  result.was_stopped = !result.stopped_by.empty();
  if (result.was_stopped && result.stopped_by != "stop") result.notes.push_back(sentence_about_stop(end, until, result.stopped_by));
}

void describe_work(double wall_seconds, ClientPool& client_pool, RunResult& result) {
  result.wall_seconds = wall_seconds;
  result.math_seconds = client_pool.math_seconds();
  result.message_seconds = client_pool.message_seconds();
  result.evaluation_seconds = client_pool.evaluation_seconds();
  result.peak_payload_bytes = static_cast<std::uint64_t>(client_pool.slots.peak()) * result.dimension * result.scalar_bytes;
  result.peak_rss_bytes = peak_rss_bytes();
}

void describe_trouble(const Divergences& sampled, const RunOptions& options, RunResult& result) {
  result.notes.insert(result.notes.end(), sampled.said().begin(), sampled.said().end());  // said when it was seen
  std::erase_if(result.diverged, [&](const Divergence& last) {
    return std::ranges::find(sampled.clients(), last.client, &Divergence::client) != sampled.clients().end();
  });
  std::vector<std::string> notes = sentences_about(result.diverged);
  result.diverged.insert(result.diverged.begin(), sampled.clients().begin(), sampled.clients().end());
  result.ran_away_at = sampled.ran_away_at();
  result.runs_away = sampled.runs_away();

  constexpr std::size_t most_said = 10;
  constexpr std::pair<std::uint64_t Screened::*, const char*> reasons[] = {
      {&Screened::not_finite, "held numbers that are not finite"},
      {&Screened::beyond_norm, "were longer than mailbox.norm_limit allows"},
      {&Screened::unauthorised, "were not its to send"},
      {&Screened::unasked, "asked for what the protocol does not give, or too often"}};
  for (const auto& [reason, what] : reasons) {
    std::map<ClientId, std::uint64_t> by_sender;
    for (const Screened& link : result.screened)
      if (link.*reason > 0) by_sender[link.sender] += link.*reason;
    std::size_t said = 0;
    for (const auto& [sender, messages] : by_sender)
      if (said++ < most_said)
        notes.push_back(fmt::format("{} messages of client {} {}, and were left out", messages, sender.value, what));
    if (said > most_said)
      notes.push_back(fmt::format("messages of {} more clients {}: links.csv counts them", said - most_said, what));
  }
  say(notes, options, result);
}

// Not the usage's where the kernel says it better: that of a program includes what the process that started it had.
std::uint64_t peak_rss_bytes() {
  const std::string name = "VmHWM:";  // in kB
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return 1024 * std::stoull(line.substr(name.size()));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

FinalModels::FinalModels(std::size_t clients, const RunOptions& options, RunResult& result)
    : clients_{clients}, options_{options}, result_{result} {
  const std::size_t bytes = clients * result.dimension * result.scalar_bytes;
  is_wanted_ = options.keeps_models || options.on_model;
  if (!is_wanted_ || bytes <= most_kept_bytes) return;
  is_wanted_ = false;
  result.notes.push_back(fmt::format("the final models are not kept: {} MB", bytes >> 20));
}

void FinalModels::add(ClientId client, std::span<const std::byte> model, bool is_there) {
  if (is_there) {
    sum_.add(model);
    const bool is_finite = are_finite(model, result_.scalar_bytes == sizeof(float) ? Scalar::float32 : Scalar::float64);
    finite_ += is_finite;
    if (!is_finite) result_.diverged.push_back({client, result_.virtual_seconds});
    result_.all_diverged = finite_ == 0;
  }
  const ClientId place{next_++};
  if (!is_wanted_) return;
  if (options_.keeps_models) result_.models.emplace_back(model.begin(), model.end());
  if (options_.on_model) options_.on_model({clients_, result_.dimension, result_.scalar_bytes, place, model});
}

}  // namespace rubato
