#include "actors/virtual/client_actor.hpp"

namespace rubato {

caf::behavior ClientActor::make_behavior() {
  return {
      [this](StepsForYou) {
        if (me().enter()) run();  // else a neighbour runs it at this moment and will look again
      },
      [this](YourTurn) { run(); },
  };
}

Client& ClientActor::me() { return *control_.client_pool.clients[client_]; }

void ClientActor::run() {
  const BusyWorker busy(control_);
  ClientPool::Lease memory(control_.client_pool);
  const auto give_away = [this](Client& woken) {
    if (!control_.has_idle_worker()) return false;
    hand(control_.clients[woken.id().value], YourTurn{});
    return true;
  };
  run_with_neighbours(me(), control_.client_pool, *memory, give_away, [this](std::int64_t performed) {
    const std::int64_t left = control_.client_pool.outstanding.fetch_sub(performed) - performed;
    const bool is_awaited = left <= control_.wake_at.load() || control_.client_pool.answer.load() >= 0;
    if (control_.conductor_sleeps.load() && is_awaited) control_.wake_conductor();
  });
}

}  // namespace rubato
