#include "actors/experiment.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "actors/conductor_actor.hpp"
#include "actors/digest.hpp"
#include "actors/play.hpp"
#include "actors/timing.hpp"
#include "actors/timing_check.hpp"
#include "algos/arithmetic.hpp"
#include "runtime/protocols/scripted.hpp"
#include "runtime/record.hpp"
#include "runtime/world/spectrum.hpp"

namespace rubato {

namespace {

using config::Experiment;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_kept_bytes = std::size_t{1} << 29;  // of final models, in the result and in models.npy

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void refuse_other_arithmetic(const Experiment& experiment) {
  if (experiment.isa == "auto" || experiment.isa == instruction_set()) return;
  throw std::invalid_argument("isa = \"" + experiment.isa + "\": this build computes with " + instruction_set() +
                              "; build for the other, or write isa = \"auto\"");
}

std::unique_ptr<Task> make_task(const Experiment& experiment, const RunOptions& options) {
  if (experiment.precision == config::Precision::float64)
    return make_task<double>(experiment, options.data_dir, options.own_double);
  return make_task<float>(experiment, options.data_dir, options.own_float);
}

template <class Real>
Manner manner_of_own(const OwnParts<Real>& own, const Experiment& experiment) {
  const bool in_rounds = experiment.protocol.kind == config::ProtocolKind::rounds;
  return {own.needs, own.merge, own.share, in_rounds ? Runs::rounds : Runs::push, nullptr};
}

// What the algorithm asks of its protocol: the program's own word, or the catalogue's.
Manner manner_of_run(const Experiment& experiment, const RunOptions& options) {
  const bool is_double = experiment.precision == config::Precision::float64;
  if (is_double && options.own_double.algorithm) return manner_of_own(options.own_double, experiment);
  if (!is_double && options.own_float.algorithm) return manner_of_own(options.own_float, experiment);
  return manner_of(experiment);
}

std::string model_digest(const Ensemble& ensemble) {
  Sha256 sum;
  for (const auto& client : ensemble.clients) sum.add(client->performer().model_bytes());
  return sum.hex();
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

void describe_timing(const Timing& timing, const Conductor& conductor, RunResult& result) {
  result.digests.timeline = timeline_digest(conductor.hashes());
  result.clients = conductor.clients();
  result.virtual_seconds = to_seconds(conductor.now());
  result.events = conductor.events();
  result.steps = conductor.steps();
  result.messages = conductor.total_counts();
  result.cumulated_delay = timing.board.delay;
  result.model_messages = conductor.model_messages();
  result.unifications = conductor.unifications();
  result.under_way = conductor.under_way();
  result.staleness_mean = conductor.staleness().mean_seconds();
  result.staleness_p95 = conductor.staleness().quantile_seconds(0.95);
  result.by_link = conductor.link_counts();
  for (std::uint32_t i = 0; i < conductor.clients(); ++i)
    result.by_client.push_back(conductor.protocol(ClientId{i}).counts());
}

void describe_models(const Play& play, Ensemble& ensemble, RunResult& result) {
  result.digests.model = model_digest(ensemble);
  for (const auto& client : ensemble.clients) result.traffic += client->performer().traffic();
  result.wall_seconds = play.wall_seconds();
  result.math_seconds = ensemble.math_seconds();
  result.evaluation_seconds = ensemble.evaluation_seconds();
  result.peak_payload_bytes =
      static_cast<std::uint64_t>(ensemble.slots.peak()) * result.dimension * result.scalar_bytes;
  result.peak_rss_bytes = peak_rss_bytes();
}

// Steps go nowhere but into the record.
class RecordOnly final : public StepSink {
 public:
  explicit RecordOnly(Recorder* recorder) : recorder_{recorder} {}
  SlotIndex open_slot(std::uint32_t) override { return no_slot; }
  void perform(const Step& step) override {
    if (recorder_ && step.kind != StepKind::measure) recorder_->add(step);
  }

 private:
  Recorder* recorder_;
};

// The lowest eigenvalue of the neighbour average: exact on undirected regular graphs, else its bound -1.
double lowest_eigenvalue(const Graph& graph) {
  constexpr std::size_t few = 2000;
  if (graph.is_directed() || graph.clients() > few || graph.clients() < 2) return -1;
  const std::size_t degree = graph.out_degree(ClientId{0});
  for (std::uint32_t i = 1; i < graph.clients(); ++i)
    if (graph.out_degree(ClientId{i}) != degree) return -1;
  return 1 - largest_laplacian_eigenvalue(graph) / static_cast<double>(degree);
}

std::size_t forecast_dimension(const Experiment& experiment, const RunOptions& options) {
  const bool is_double = experiment.precision == config::Precision::float64;
  if (is_double && options.own_double.learner)
    return static_cast<std::size_t>(options.own_double.learner(ClientId{0})->dimension());
  if (!is_double && options.own_float.learner)
    return static_cast<std::size_t>(options.own_float.learner(ClientId{0})->dimension());
  return dimension_of(experiment, options.data_dir);
}

std::string warning_of(const Experiment& experiment, const Timing& timing) {
  RunFacts facts;
  for (const TimerLaw& law : timing.settings.compute) facts.compute_rate += law.mean_rate(experiment.until);
  facts.compute_rate /= static_cast<double>(timing.settings.compute.size());
  if (timing.seating(false).in_rounds) facts.compute_rate = 1;  // a computation a round
  facts.unification_period = experiment.unification.period.value_or(0);
  facts.lowest_eigenvalue = lowest_eigenvalue(timing.graph);
  const CatalogueEntry& entry = catalogue_entry(experiment.algorithm.name);
  return entry.warning ? entry.warning(experiment.algorithm.options, facts) : "";
}

RunResult walk_timing(Timing& timing, const RunOptions& options, RunResult result) {
  if (timing.settings.needs.asks_before_sending)
    throw std::invalid_argument("a dry run has no models, and the schedule of this algorithm depends on them");
  const auto recorder = make_recorder(options, timing.graph.clients());
  RecordOnly sink(recorder.get());
  Conductor conductor(timing.conductor, timing.make_protocols(), sink);
  const Clock::time_point start = Clock::now();
  constexpr std::uint64_t slice = 1 << 18;
  while (conductor.walk(slice)) {
    if (options.stop && options.stop->load()) conductor.stop();
    if (options.on_progress)
      options.on_progress({to_seconds(conductor.now()), seconds_since(start), conductor.events(), std::nullopt});
  }
  result.wall_seconds = seconds_since(start);
  finish_record(recorder.get(), result);
  describe_timing(timing, conductor, result);
  result.peak_rss_bytes = peak_rss_bytes();
  result.was_stopped = options.stop && options.stop->load();
  return result;
}

void hand_out_models(const Ensemble& ensemble, const Task& task, const RunOptions& options, RunResult& result) {
  if (!options.keeps_models && !options.on_model) return;
  const std::size_t bytes = ensemble.clients.size() * task.dimension() * task.scalar_bytes();
  if (bytes > most_kept_bytes) {
    result.notes.push_back("the final models are not kept: " + std::to_string(bytes >> 20) + " MB");
    return;
  }
  for (const auto& client : ensemble.clients) {
    const auto model = client->performer().model_bytes();
    if (options.keeps_models) result.models.emplace_back(model.begin(), model.end());
    if (options.on_model)
      options.on_model({ensemble.clients.size(), task.dimension(), task.scalar_bytes(), client->id(), model});
  }
}

// A sample whose invariants are broken ends the run.
void check_sample(const Sample& sample, std::size_t scalar_bytes) {
  const Defect& defect = sample.defect;
  const bool is_rounded = defect.name.starts_with("mean of") && scalar_bytes < sizeof(double);
  const double tolerance = is_rounded ? 1e-4 : 1e-9;
  std::ostringstream text;
  text << "broken invariant at " << to_seconds(sample.header.at) << " s: ";
  if (sample.different) {
    text << "client " << sample.different->value << " has another model than client 0 right after a unification";
    throw RunFailed(text.str());
  }
  if (defect.name.empty() || defect.size <= tolerance * std::max(1.0, defect.scale)) return;  // not a number is broken
  text << "the sum of \"" << defect.name << "\" over all clients is off by " << defect.size << " at number "
       << defect.place << "; client " << defect.client.value << " has the largest part";
  throw RunFailed(text.str());
}

RunOptions checking(const RunOptions& options, std::size_t scalar_bytes) {
  RunOptions checked = options;
  checked.on_sample = [sees = options.on_sample, scalar_bytes](const Sample& sample) {
    check_sample(sample, scalar_bytes);
    if (sees) sees(sample);
  };
  return checked;
}

bool rows_sum_to_one(Weights weights) {
  return weights == Weights::row || weights == Weights::doubly || weights == Weights::averaging;
}

RunResult perform_timing(Timing& timing, const Task& task, const Experiment& experiment, const RunOptions& options,
                         RunResult result) {
  const std::size_t clients = timing.graph.clients();
  const auto recorder = make_recorder(options, clients);
  Play play(task, options, timing.seating(options.checks));
  const Credit credit =
      Credit::automatic(clients, task.dimension() * task.scalar_bytes(), experiment.limits.outstanding_steps,
                        experiment.limits.payload_bytes);
  const StepSource* source = nullptr;
  StepDesk desk(play.stage(), source, recorder.get());
  const bool has_windows = timing.protocol() == Runs::push && timing.settings.needs.absorb == AbsorbAt::window;
  const Weights merge = manner_of_run(experiment, options).merge;
  TimingCheck check(timing.settings, has_windows, rows_sum_to_one(merge));
  timing.conductor.samples_unifications = options.checks;
  timing.conductor.samples_rounds = options.checks && timing.misses_nothing();
  Conductor conductor(timing.conductor, timing.make_protocols(), desk, options.checks ? &check : nullptr);
  source = &conductor;
  play.perform(conductor, desk, credit);
  if (const auto failure = play.ensemble().failure()) throw RunFailed(to_string(*failure));
  finish_record(recorder.get(), result);
  describe_timing(timing, conductor, result);
  describe_models(play, play.ensemble(), result);
  result.samples = std::move(play.samples());
  for (std::uint32_t i = 0; i < clients; ++i) result.samples_by_client.push_back(task.samples()[i]);
  result.class_counts = task.class_counts();
  hand_out_models(play.ensemble(), task, options, result);
  result.was_stopped = options.stop && options.stop->load();
  return result;
}

void say(const std::vector<std::string>& notes, const RunOptions& options) {
  if (options.on_note)
    for (const std::string& note : notes) options.on_note(note);
}

void split_notes(const std::ostringstream& notes, std::vector<std::string>& lines) {
  std::istringstream text(notes.str());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
}

}  // namespace

double RunResult::efficiency() const {
  const double available = threads * wall_seconds - evaluation_seconds;
  return available > 0 ? math_seconds / available : 0;
}

RunResult run(const Experiment& experiment, const RunOptions& options) {
  if (options.threads == 0) throw std::invalid_argument("threads must be at least 1");
  refuse_other_arithmetic(experiment);
  fix_eigen_blocking();
  RunResult result;
  result.arithmetic = arithmetic();
  result.threads = options.threads;
  std::ostringstream notes;
  if (options.checks && experiment.metrics.clients > 0)
    throw std::invalid_argument("metrics.clients: what must sum to zero is watched over all clients; leave it out to check");
  Timing timing(experiment, manner_of_run(experiment, options), notes);
  timing.conductor.counts_links = options.counts_links;
  split_notes(notes, result.notes);
  const bool brings_algorithm = options.own_float.algorithm || options.own_double.algorithm;
  if (const std::string warning = brings_algorithm ? "" : warning_of(experiment, timing); !warning.empty())
    result.notes.push_back(warning);
  say(result.notes, options);
  if (options.dry_run) {
    result.dimension = forecast_dimension(experiment, options);
    result.scalar_bytes = experiment.precision == config::Precision::float64 ? 8 : 4;
    return walk_timing(timing, options, std::move(result));
  }
  const std::unique_ptr<Task> task = make_task(experiment, options);
  result.dimension = task->dimension();
  result.scalar_bytes = task->scalar_bytes();
  say(task->notes(), options);
  result.notes.insert(result.notes.end(), task->notes().begin(), task->notes().end());
  return perform_timing(timing, *task, experiment, options.checks ? checking(options, task->scalar_bytes()) : options, std::move(result));
}

RunResult replay(const Experiment& experiment, const std::filesystem::path& file, const RunOptions& options) {
  fix_eigen_blocking();
  RecordReader record(file);
  if (record.clients() != static_cast<std::uint32_t>(experiment.clients.count))
    throw RunFailed(file.string() + " was made by " + std::to_string(record.clients()) + " clients, the experiment has " +
                    std::to_string(experiment.clients.count));
  const std::unique_ptr<Task> task = make_task(experiment, options);
  std::ostringstream notes;
  const Timing timing(experiment, manner_of_run(experiment, options), notes);
  Play play(*task, options, timing.seating(false));
  const StepSource* source = nullptr;
  StepDesk desk(play.stage(), source, nullptr);
  Scripted script(record, desk);
  source = &script;
  play.perform(script, desk,
               Credit::automatic(record.clients(), task->dimension() * task->scalar_bytes(),
                                 experiment.limits.outstanding_steps, experiment.limits.payload_bytes));
  if (const auto failure = play.ensemble().failure()) throw RunFailed(to_string(*failure));
  if (!script.fault().empty()) throw RunFailed(file.string() + ": " + script.fault());
  RunResult result;
  result.arithmetic = arithmetic();
  result.threads = options.threads;
  result.clients = record.clients();
  result.dimension = task->dimension();
  result.steps = script.steps();
  result.virtual_seconds = to_seconds(script.now());
  result.digests.timeline = timeline_digest(script.hashes());
  describe_models(play, play.ensemble(), result);
  return result;
}

}  // namespace rubato
