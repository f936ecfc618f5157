#include "actors/play.hpp"

#include <numeric>
#include <utility>

#include "actors/client_actor.hpp"

namespace rubato {

namespace {

constexpr std::size_t small_model = 1024;     // numbers; below, asking for thread CPU time costs more than a step
constexpr std::size_t many_clients = 50'000;  // above, blocks for steps are kept small
constexpr std::size_t block_bytes = 960;
constexpr std::size_t small_block_bytes = 360;
constexpr std::size_t small_payload = 4096;  // bytes; room for one is made per client before the run

constexpr auto quiet = caf::hidden + caf::lazy_init;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Play::Play(const Task& task, const RunOptions& options, const Seating& seating, SnapshotSink* probe)
    : options_{options},
      evaluates_{probe == nullptr},
      ensemble_{probe ? *probe : sender_, seating.clients() > many_clients ? small_block_bytes : block_bytes,
                task.dimension() >= small_model},
      stage_{ensemble_, task.evaluation(), static_cast<int>(options.threads)} {
  make_clients(task, seating);
  if (task.dimension() * task.scalar_bytes() <= small_payload) make_room(task, seating.clients());
}

// A message for every client to come: afterwards the pool hardly grows, so a long run needs no more than a short one.
void Play::make_room(const Task& task, std::size_t clients) {
  std::vector<Tensor> room(clients);
  for (Tensor& tensor : room)
    tensor = task.scalar_bytes() == sizeof(float) ? ensemble_.pool.make<float>(task.dimension())
                                                  : ensemble_.pool.make<double>(task.dimension());
}

void Play::perform(StepSource& source, StepDesk& desk, const Credit& credit) {
  caf::actor_system_config config;
  config.set("scheduler.policy", caf::atom("sharing"));
  config.set("scheduler.max-threads", static_cast<std::size_t>(options_.threads));
  caf::actor_system system(config);  // its end waits for the last handler, before anything that handlers use ends
  sender_.use(stage_);
  spawn_all(system, source, desk, credit);
  const Clock::time_point start = Clock::now();
  caf::anon_send(stage_.conductor, GoOn{});
  wait(start);
  wall_seconds_ = seconds_since(start);
  let_go();
  if (thrown_) std::rethrow_exception(thrown_);
}

void Play::make_clients(const Task& task, const Seating& seating) {
  const std::size_t clients = seating.clients();
  std::vector<std::uint32_t> order(clients);
  std::iota(order.begin(), order.end(), 0u);
  std::vector<Tensor> between;
  Stream chance(options_.shuffle_memory, no_client, Purpose::evaluation);
  if (options_.shuffle_memory > 0)
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[chance.below(i)]);
  ensemble_.clients.resize(clients);
  for (const std::uint32_t i : order) {
    if (options_.shuffle_memory > 0) between.push_back(ensemble_.pool.make<float>(1 + chance.below(5000)));
    ensemble_.clients[i] = std::make_unique<Client>(ClientId{i}, task.make_performer(seating.seat(ClientId{i}, task.samples()), ensemble_.pool));
  }
}

void Play::spawn_all(caf::actor_system& system, StepSource& source, StepDesk& desk, const Credit& credit) {
  stage_.clients.reserve(ensemble_.clients.size());
  for (std::uint32_t i = 0; i < ensemble_.clients.size(); ++i)
    stage_.clients.push_back(system.spawn<ClientActor, caf::hidden>(std::ref(stage_), i));  // ready before the start
  if (evaluates_) spawn_evaluators(system);
  stage_.conductor = system.spawn<ConductorActor, quiet>(std::ref(stage_), std::ref(source), std::ref(desk), credit);
}

void Play::spawn_evaluators(caf::actor_system& system) {
  for (unsigned i = 0; i < options_.threads; ++i)
    stage_.evaluators.push_back(system.spawn<EvaluatorActor, quiet>(std::ref(stage_)));
  stage_.gatherer = system.spawn<GathererActor, quiet>(std::ref(stage_), [this](const Sample& sample) {
    const std::lock_guard lock(stage_.mutex);
    new_samples_.push_back(sample);
    stage_.changed.notify_all();
  });
}

void Play::wait(Clock::time_point start) {
  std::unique_lock lock(stage_.mutex);
  while (!stage_.is_done) {
    stage_.changed.wait_for(lock, std::chrono::milliseconds(100));
    if (options_.stop && options_.stop->load()) stage_.is_stopping.store(true);
    report(lock, start);
  }
  report(lock, start);
}

// Hands new samples and the progress to the caller, without the lock. If the caller throws, the run ends first.
void Play::report(std::unique_lock<std::mutex>& lock, Clock::time_point start) {
  std::vector<Sample> fresh;
  fresh.swap(new_samples_);
  lock.unlock();
  try {
    for (Sample& sample : fresh) keep(std::move(sample));
    if (options_.on_progress) options_.on_progress(progress(start));
  } catch (...) {
    if (!thrown_) thrown_ = std::current_exception();
    stage_.is_stopping.store(true);
  }
  lock.lock();
}

// Numbers per client are kept of the last sample only: memory must not grow with the length of a run.
void Play::keep(Sample sample) {
  if (!samples_.empty()) {
    samples_.back().accuracies = {};
    samples_.back().losses = {};
    if (!options_.keeps_samples) samples_.clear();
  }
  samples_.push_back(std::move(sample));
  if (options_.on_sample) options_.on_sample(samples_.back());
}

Progress Play::progress(Clock::time_point start) const {
  Progress progress{static_cast<double>(stage_.now_nanoseconds.load()) * 1e-9, seconds_since(start),
                    stage_.events.load(), std::nullopt};
  if (!samples_.empty() && samples_.back().is_classified) progress.accuracy = samples_.back().accuracy_mean;
  return progress;
}

// Actors must not outlive the run: an idle one ends when nobody knows it any more.
void Play::let_go() {
  stage_.clients.clear();
  stage_.evaluators.clear();
  stage_.gatherer = nullptr;
  stage_.conductor = nullptr;
}

}  // namespace rubato
