#include "actors/play.hpp"

#include <numeric>
#include <utility>

#include "actors/actor_system.hpp"
#include "actors/client_actor.hpp"

namespace rubato {

namespace {

constexpr std::size_t many_clients = 50'000;  // above, blocks for steps are kept small
constexpr std::size_t block_bytes = 960;
constexpr std::size_t small_block_bytes = 360;
constexpr std::size_t small_payload = 4096;  // bytes; room for one is made per client before the run

constexpr auto quiet = caf::hidden + caf::lazy_init;

}  // namespace

Play::Play(const Task& task, const RunOptions& options, const Seating& seating, SnapshotSink* probe,
           const std::vector<bool>& cast)
    : options_{options},
      evaluates_{probe == nullptr},
      ensemble_{probe ? *probe : sender_, seating.clients() > many_clients ? small_block_bytes : block_bytes,
                task.dimension() >= small_model},
      stage_{ensemble_, task.evaluation(), static_cast<int>(options.threads)} {
  make_clients(task, seating, cast);
  if (task.dimension() * task.scalar_bytes() <= small_payload) make_room(task, seating.clients());
}

// A message for every client to come: afterwards the pool hardly grows, so a long run needs no more than a short one.
void Play::make_room(const Task& task, std::size_t clients) {
  std::vector<Tensor> room(clients);
  for (Tensor& tensor : room)
    tensor = task.scalar_bytes() == sizeof(float) ? ensemble_.pool.make<float>(task.dimension())
                                                  : ensemble_.pool.make<double>(task.dimension());
}

void Play::perform(StepSource& source, StepDesk& desk, const Credit& credit, Company* company,
                   const std::function<void()>& on_pause) {
  ActorSystem system(options_.threads);  // its end waits for the last handler, before anything that handlers use ends
  reporter_ = std::make_unique<Reporter>(options_, stage_);
  sender_.use(stage_);
  spawn_all(*system, source, desk, credit, company);
  hand(stage_.conductor, GoOn{});
  reporter_->wait({}, on_pause);
  wall_seconds_ = reporter_->wall_seconds();
  if (company) company->leave();
  let_go();
  reporter_->rethrow();
}

void Play::make_clients(const Task& task, const Seating& seating, const std::vector<bool>& cast) {
  const std::size_t clients = seating.clients();
  std::vector<std::uint32_t> order(clients);
  std::iota(order.begin(), order.end(), 0u);
  std::vector<Tensor> between;
  Stream chance(options_.shuffle_memory, no_client, Purpose::evaluation);
  if (options_.shuffle_memory > 0)
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[chance.below(i)]);
  ensemble_.clients.resize(clients);
  for (const std::uint32_t i : order) {
    if (!cast.empty() && !cast[i]) continue;
    if (options_.shuffle_memory > 0) between.push_back(ensemble_.pool.make<float>(1 + chance.below(5000)));
    std::unique_ptr<Performer> performer = task.make_performer(seating.seat(ClientId{i}, task.samples()), ensemble_.pool);
    if (!cast.empty()) performer->distrust();  // other hosts play with it
    if (seating.air) performer->hear_through(*seating.air, ClientId{i});
    ensemble_.clients[i] = std::make_unique<Client>(ClientId{i}, std::move(performer));
  }
}

void Play::spawn_all(caf::actor_system& system, StepSource& source, StepDesk& desk, const Credit& credit,
                     Company* company) {
  stage_.clients.reserve(ensemble_.clients.size());
  for (std::uint32_t i = 0; i < ensemble_.clients.size(); ++i)
    stage_.clients.push_back(ensemble_.clients[i] ? spawn_client(system, i) : caf::actor{});
  if (evaluates_) spawn_evaluators(system);
  stage_.conductor = system.spawn<ConductorActor, quiet>(std::ref(stage_), std::ref(source), std::ref(desk), credit,
                                                         company);
}

// Ready before the start.
caf::actor Play::spawn_client(caf::actor_system& system, std::uint32_t client) {
  return system.spawn<ClientActor, caf::hidden>(std::ref(stage_), client);
}

void Play::spawn_evaluators(caf::actor_system& system) {
  for (unsigned i = 0; i < options_.threads; ++i)
    stage_.evaluators.push_back(system.spawn<EvaluatorActor, quiet>(std::ref(stage_)));
  stage_.gatherer = system.spawn<GathererActor, quiet>(std::ref(stage_),
                                                       [this](const Sample& sample) { reporter_->take(sample); });
}

// Actors must not outlive the run: an idle one ends when nobody knows it any more.
void Play::let_go() {
  stage_.clients.clear();
  stage_.evaluators.clear();
  stage_.gatherer = nullptr;
  stage_.conductor = nullptr;
}

}  // namespace rubato
