#include "actors/virtual/virtual_run.hpp"

#include <numeric>
#include <utility>

#include "actors/core/caf.hpp"

namespace rubato {

namespace {

constexpr std::size_t many_clients = 50'000;  // above, blocks for steps are kept small
constexpr std::size_t block_bytes = 960;
constexpr std::size_t small_block_bytes = 360;
constexpr std::size_t small_payload = 4096;  // bytes; room for one is made per client before the run

/// One client as an actor: performs its steps in order, waits for payloads, never for anything else. A neighbour that
/// publishes what it waits for runs it on the spot, unless another thread is free: a message saved, and its memory is
/// still warm.
class ClientActor final : public HandedActor {
 public:
  ClientActor(caf::actor_config& config, RunControl& control, std::uint32_t client)
      : HandedActor(config), control_{control}, me_{*control.client_pool.clients[client]} {}

  caf::behavior make_behavior() override {
    return {
        [this](StepsForYou) {
          if (me_.enter()) run();  // else a neighbour runs it at this moment and will look again
        },
        [this](YourTurn) { run(); },
    };
  }

 private:
  void run() {
    const BusyWorker busy(control_);
    const auto memory = control_.client_pool.lend();
    const auto give_away = [this](Client& woken) {
      if (!control_.has_idle_worker()) return false;
      hand(control_.clients[woken.id().value], YourTurn{});
      return true;
    };
    run_with_neighbours(me_, control_.client_pool, *memory, give_away, [this](std::int64_t performed) {
      const std::int64_t left = control_.client_pool.outstanding.fetch_sub(performed) - performed;
      const bool is_awaited = left <= control_.wake_at.load() || control_.client_pool.answer.load() >= 0;
      if (control_.conductor_sleeps.load() && is_awaited) control_.wake_conductor();
    });
  }

  RunControl& control_;
  Client& me_;
};

}  // namespace

VirtualRun::VirtualRun(const Task& task, const RunOptions& options, const ClientViews& views, SnapshotSink* probe,
                       const std::vector<bool>& cast)
    : options_{options},
      evaluates_{probe == nullptr},
      client_pool_{probe ? *probe : sender_, views.clients() > many_clients ? small_block_bytes : block_bytes,
                   task.dimension() >= small_model},
      control_{client_pool_, task.evaluation(), static_cast<int>(options.threads)} {
  make_clients(task, views, cast);
  if (task.dimension() * task.scalar_bytes() > small_payload) return;
  // A message for every client to come: afterwards the pool hardly grows, so a long run needs no more than a short one.
  std::vector<Tensor> room(views.clients());
  const Scalar scalar = task.scalar_bytes() == sizeof(float) ? Scalar::float32 : Scalar::float64;
  for (Tensor& tensor : room) tensor = client_pool_.pool.make(scalar, task.dimension());
}

void VirtualRun::perform(StepSource& source, StepDispatcher& dispatcher, const Credit& credit, Peers* peers,
                         const std::function<void()>& on_pause) {
  ActorSystem system(options_.threads);  // its end waits for the last handler, before anything that handlers use ends
  reporter_ = std::make_unique<Reporter>(options_, control_);
  reporter_->go_on_from(std::move(earlier_));
  sender_.use(control_);
  struct End {  // before the actors' threads go, also where an actor could not be made
    VirtualRun& virtual_run;
    Peers* peers;
    ~End() {
      if (peers) peers->detach();
      virtual_run.control_.let_go();
    }
  } end{*this, peers};
  spawn_all(*system, source, dispatcher, credit, peers);
  hand(control_.conductor, GoOn{});
  reporter_->wait({}, on_pause);
  wall_seconds_ = reporter_->wall_seconds();
  reporter_->rethrow();
}

void VirtualRun::make_clients(const Task& task, const ClientViews& views, const std::vector<bool>& cast) {
  const std::size_t clients = views.clients();
  std::vector<std::uint32_t> order(clients);
  std::iota(order.begin(), order.end(), 0u);
  std::vector<Tensor> between;
  Stream chance(options_.shuffle_memory, no_client, Purpose::evaluation);
  if (options_.shuffle_memory > 0)
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[chance.below(i)]);
  client_pool_.clients.resize(clients);
  for (const std::uint32_t i : order) {
    if (!cast.empty() && !cast[i]) continue;
    if (options_.shuffle_memory > 0) between.push_back(client_pool_.pool.make<float>(1 + chance.below(5000)));
    std::unique_ptr<Performer> performer = task.make_performer(views.of(ClientId{i}, task.samples()), client_pool_.pool);
    if (views.air) performer->set_air(*views.air, ClientId{i});
    client_pool_.clients[i] = std::make_unique<Client>(ClientId{i}, std::move(performer));
  }
}

void VirtualRun::spawn_all(caf::actor_system& system, StepSource& source, StepDispatcher& dispatcher, const Credit& credit,
                           Peers* peers) {
  control_.clients.resize(client_pool_.clients.size());
  for (std::uint32_t i = 0; i < client_pool_.clients.size(); ++i)  // ready before the start
    if (client_pool_.clients[i]) control_.clients[i] = system.spawn<ClientActor, caf::hidden>(std::ref(control_), i);
  if (evaluates_) spawn_evaluators(system, control_, [this](const Sample& sample) { reporter_->take(sample); });
  control_.conductor = system.spawn<ConductorActor, caf::hidden + caf::lazy_init>(std::ref(control_), std::ref(source),
                                                                                  std::ref(dispatcher), credit, peers);
}

}  // namespace rubato
