#include "actors/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "actors/core/run_parts.hpp"
#include "actors/host_run.hpp"
#include "actors/hosts/membership.hpp"
#include "actors/hosts/virtual_host.hpp"
#include "actors/virtual/checkpointer.hpp"
#include "actors/virtual/conductor_actor.hpp"
#include "actors/virtual/virtual_run.hpp"
#include "actors/wall/run.hpp"
#include "algos/arithmetic.hpp"
#include "experiment/digest.hpp"
#include "experiment/file/fingerprint.hpp"
#include "experiment/roster.hpp"
#include "results/summary.hpp"
#include "runtime/engine/scripted.hpp"
#include "runtime/engine/timing_check.hpp"

namespace rubato {

namespace {

using config::Experiment;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Steps go nowhere but into the record. What they would spend is counted.
class RecordOnly final : public StepSink {
 public:
  RecordOnly(Recorder* recorder, const MessageSizes& sizes, std::size_t scalar_bytes)
      : recorder_{recorder}, sizes_{sizes}, scalar_bytes_{static_cast<double>(scalar_bytes)} {}
  SlotIndex open_slot(std::uint32_t) override { return no_slot; }
  void perform(const Step& step) override {
    if (recorder_ && step.kind != StepKind::measure) recorder_->add(step);
    spent_.gradients += step.kind == StepKind::compute && step.with_gradient;
    if (step.kind != StepKind::publish) return;
    const auto messages = static_cast<double>(step.entries.size());
    spent_.messages += step.entries.size();
    spent_.bytes += static_cast<std::uint64_t>(messages * sizes_.of(step.message));
    spent_.paper_bits += messages * sizes_.of(step.message) / scalar_bytes_ * 64;
  }
  const Traffic& spent() const { return spent_; }

 private:
  Recorder* recorder_;
  MessageSizes sizes_;
  double scalar_bytes_;
  Traffic spent_;
};

RunResult walk_timing(Timing& timing, const RunOptions& options, RunResult result) {
  if (timing.settings.needs.asks_before_sending)
    throw std::invalid_argument("a dry run has no models, and the schedule of this algorithm depends on them");
  const auto recorder = make_recorder(options, timing.graph.clients());
  RecordOnly sink(recorder.get(), timing.sizes, result.scalar_bytes);
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
  result.forecast = sink.spent();
  result.peak_rss_bytes = peak_rss_bytes();
  describe_silence(timing, options, result);
  result.was_stopped = options.stop && options.stop->load();
  if (result.was_stopped) result.stopped_by = "stop";
  return result;
}

// What an algorithm refuses it refuses for every client.
void make_one_client(const Task& task, const Timing& timing) {
  TensorPool pool;
  const auto client = task.make_performer(timing.views(false).of(ClientId{0}, task.samples()), pool);
}

void describe_models(const ClientPool& client_pool, const RunOptions& options, RunResult& result) {
  FinalModels models(client_pool.clients.size(), options, result);
  for (const auto& client : client_pool.clients) {
    const Performer& performer = client->performer();
    models.add(client->id(), performer.model_bytes(), !std::ranges::binary_search(result.absent, client->id()));
    describe_client(client->id(), performer.traffic(), performer.screening().by_sender(), performer.collaboration(), result);
  }
  result.digests.model = models.digest();
}

RunResult perform_timing(Preparation& parts, const Experiment& experiment, const RunOptions& options) {
  Timing& timing = *parts.timing;
  const Task& task = *parts.task;
  RunResult result = std::move(parts.result);
  const std::size_t clients = timing.graph.clients();
  Checkpointer::judge(experiment, options, task);  // before the record of the earlier life is written anew
  const auto recorder = make_recorder(options, clients);
  VirtualRun virtual_run(task, options, timing.views(options.checks));
  const Credit credit = Credit::automatic(clients, task.dimension() * task.scalar_bytes(), experiment.limits);
  virtual_run.control().stops_on_nan = experiment.metrics.stop_on_nan;
  if (parts.stop_rule.is_there()) virtual_run.control().stop_rule = &parts.stop_rule;
  virtual_run.control().may_end_at_samples = experiment.metrics.stop_on_nan || options.stop_when || parts.stop_rule.is_there();
  StepDispatcher dispatcher(virtual_run.control(), recorder.get());
  TimingCheck check = timing_check(parts);
  std::optional<Checkpointer> checkpointer;
  if (Checkpointer::is_asked_for(experiment, options)) checkpointer.emplace(experiment, options, task, virtual_run, dispatcher);
  StepSink& sink = checkpointer ? checkpointer->sink() : dispatcher;
  Conductor conductor(timing.conductor, timing.make_protocols(), sink, options.checks ? &check : options.observer);
  if (checkpointer) checkpointer->begin(conductor);
  virtual_run.perform(conductor, dispatcher, credit, nullptr, [&] { checkpointer->on_pause(); });
  if (const auto failure = virtual_run.client_pool().failure()) throw RunFailed(to_string(*failure));
  finish_record(recorder.get(), result);
  describe_timing(timing, conductor, result);
  describe_work(virtual_run.wall_seconds(), virtual_run.client_pool(), result);
  describe_models(virtual_run.client_pool(), options, result);
  describe_trouble(virtual_run.reporter().divergences(), options, result);
  describe_silence(timing, options, result);
  result.samples = std::move(virtual_run.samples());
  if (checkpointer) checkpointer->complete(result);
  describe_stop(virtual_run.reporter(), conductor.now(), timing.conductor.until, result);
  return result;
}

// Empty if the records lack nothing.
std::string sentence_about(const std::map<ClientId, LackingMessages>& lacking, const Experiment& experiment) {
  if (lacking.empty()) return {};
  constexpr int most = 8;
  std::string text = "; the records lack";
  const auto hosts = experiment.roster.empty() ? std::vector<HostId>{} : hosts_of_clients(experiment);
  int told = 0;
  for (const auto& [sender, messages] : lacking) {
    if (told++ == most) return text + fmt::format(" and those of {} more clients", lacking.size() - most);
    text += fmt::format("{} {} messages of client {}", told > 1 ? "," : "", messages.count, sender.value);
    if (!hosts.empty()) text += fmt::format(" of host {}", experiment.roster[hosts[sender.value].value].name);
    text += fmt::format(" (the first named at {:.3f} s)", to_seconds(messages.first));
  }
  return text;
}

std::string sentence_about(const Scripted& script, std::size_t whole) {
  std::string text =
      fmt::format("{} of {} recorded steps did not depend on what is left out: those of {} of {} clients to their end",
                  script.steps() - script.steps_passed_over(), script.steps(), whole, script.hashes().size());
  return script.first_cut() == never ? text : text + fmt::format(", and all before {:.3f} s", to_seconds(script.first_cut()));
}

// A host that watches the invariants takes more samples: all do or none.
Fingerprint shared_run(const Experiment& experiment, const RunOptions& options) {
  Fingerprint own = fingerprint_of(experiment, options.data_dir);
  if (!options.checks) return own;
  own.sum = sha256_of(own.sum + " checked");
  if (own.parts.size() == most_fingerprint_parts) own.parts.clear();
  if (!own.parts.empty()) own.parts.push_back({"checks", "true"});
  return own;
}

}  // namespace

RunResult run(const Experiment& given, const RunOptions& options) {
  ResolvedExperiment resolved = resolve(given, options);
  return run(resolved, options);
}

RunResult run(ResolvedExperiment& given, const RunOptions& options) {
  if (options.threads == 0) throw std::invalid_argument("threads must be at least 1");
  const Experiment& experiment = given.experiment;
  Preparation parts(given, options);
  parts.read_data(experiment, options);
  if (options.dry_run) {
    make_one_client(*parts.task, *parts.timing);
    parts.task.reset();
    return walk_timing(*parts.timing, options, std::move(parts.result));
  }
  const RunOptions watched = options.checks ? checking(options, parts.result.scalar_bytes) : options;
  if (experiment.clock == config::ClockKind::wall_time) return perform_wall(parts, experiment, watched);
  return perform_timing(parts, experiment, watched);
}

RunResult replay(const Experiment& given, const std::vector<std::filesystem::path>& records, const std::vector<ClientId>& absent,
                 const RunOptions& options, const std::vector<ClientId>& without) {
  const ResolvedExperiment resolved = resolve(given, options);
  const Experiment& experiment = resolved.experiment;
  fix_eigen_blocking();
  const bool is_virtual = experiment.clock == config::ClockKind::virtual_time;
  if (is_virtual && records.size() != 1)
    throw std::invalid_argument("a virtual run has one record, of all its clients: name one folder");
  if (is_virtual && !without.empty())
    throw std::invalid_argument("a virtual run has one record, of all its clients: none can be left out");
  const auto clients = static_cast<std::uint32_t>(experiment.clients.count);
  const std::unique_ptr<Task> task = make_task(experiment, options);
  VirtualRun virtual_run(*task, options, resolved.timing->views(!is_virtual));
  virtual_run.validate_payloads();
  StepDispatcher dispatcher(virtual_run.control(), nullptr);
  std::unique_ptr<Scripted> script;
  try {
    script = std::make_unique<Scripted>(records, is_virtual ? RecordOf::virtual_time : RecordOf::real_time, resolved.timing->graph,
                                        dispatcher);
  } catch (const std::runtime_error& error) {
    throw RunFailed(error.what());
  }
  const std::string lacking = sentence_about(script->lacking(), experiment);
  if (!without.empty()) script->leave_out(without);
  virtual_run.perform(*script, dispatcher, Credit::automatic(clients, task->dimension() * task->scalar_bytes(), experiment.limits));
  if (const auto failure = virtual_run.client_pool().failure()) throw RunFailed(to_string(*failure));
  if (!script->fault().empty()) throw RunFailed(records.front().string() + ": " + script->fault() + lacking);
  RunResult result;
  result.arithmetic = arithmetic();
  result.threads = options.threads;
  result.clients = clients;
  result.dimension = task->dimension();
  result.steps = script->steps();
  result.virtual_seconds = to_seconds(script->now());
  result.scalar_bytes = task->scalar_bytes();
  describe_work(virtual_run.wall_seconds(), virtual_run.client_pool(), result);
  Sha256 models;
  for (std::uint32_t i = 0; i < clients; ++i) {
    const auto model = virtual_run.client_pool().clients[i]->performer().model_bytes();
    if (!std::ranges::binary_search(absent, ClientId{i})) models.add(model);
    if (options.keeps_models) result.models.emplace_back(model.begin(), model.end());
    if (script->is_cut({i})) result.absent.push_back({i});
  }
  if (!without.empty()) result.notes.push_back(sentence_about(*script, clients - result.absent.size()));
  result.digests = {models.hex(), timeline_of(script->hashes(), absent)};
  return result;
}

RunResult run_host(const Experiment& given, const RunOptions& options, const HostOptions& host, Transport& transport) {
  ResolvedExperiment resolved = resolve(given, options);
  return run_host(resolved, options, host, transport);
}

RunResult run_host(ResolvedExperiment& given, const RunOptions& options, const HostOptions& host, Transport& transport) {
  if (options.threads == 0) throw std::invalid_argument("threads must be at least 1");
  const Experiment& experiment = given.experiment;
  if (options.dry_run) throw std::invalid_argument("a dry run needs no other hosts: use rubato run --dry-run");
  if (options.stop_when)
    throw std::invalid_argument(
        "stop_when: over several hosts no sample ends a run, because each host sees its own clients; use run()");
  if (experiment.clock == config::ClockKind::virtual_time && experiment.checkpoint_every > 0)
    throw std::invalid_argument(
        "checkpoint_every: a virtual run over several hosts writes no checkpoints; leave it out, "
        "or use rubato run");
  Preparation parts(given, options);
  const bool is_virtual = experiment.clock == config::ClockKind::virtual_time;
  Fingerprint shared = shared_run(experiment, options);
  HostInfo self{shared.sum, arithmetic(), version(), host.life, is_virtual, std::nullopt};
  self.parts = std::move(shared.parts);
  Membership membership(transport, {.names = host_names(experiment),
                                    .self = self,
                                    .lost_after = from_seconds(experiment.hosts.lost_after),
                                    .on_event = host.on_event});
  if (is_virtual) return perform_virtual_host(experiment, std::move(parts), options, membership, transport);
  parts.read_data(experiment, options);
  return perform_wall_host(parts, experiment, options, membership, transport, host);
}

}  // namespace rubato
