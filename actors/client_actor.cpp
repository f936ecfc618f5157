#include "actors/client_actor.hpp"

namespace rubato {

caf::behavior ClientActor::make_behavior() {
  return {
      [this](StepsForYou) {
        if (me().enter()) run();  // else a neighbour runs it at this moment and will look again
      },
      [this](YourTurn) { run(); },
  };
}

Client& ClientActor::me() { return *stage_.ensemble.clients[client_]; }

void ClientActor::run() {
  const BusyWorker busy(stage_);
  Ensemble::Lease memory(stage_.ensemble);
  const auto give_away = [this](Client& woken) {
    if (!stage_.has_idle_worker()) return false;
    hand(stage_.clients[woken.id().value], YourTurn{});
    return true;
  };
  run_with_neighbours(me(), stage_.ensemble, *memory, give_away, [this](std::int64_t performed) {
    const std::int64_t left = stage_.ensemble.outstanding.fetch_sub(performed) - performed;
    const bool is_awaited = left <= stage_.wake_at.load() || stage_.ensemble.answer.load() >= 0;
    if (stage_.conductor_sleeps.load() && is_awaited) stage_.wake_conductor();
  });
}

}  // namespace rubato
