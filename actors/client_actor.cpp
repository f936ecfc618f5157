#include "actors/client_actor.hpp"

namespace rubato {

caf::behavior ClientActor::make_behavior() {
  return {[this](StepsForYou) {
    Client& client = *stage_.ensemble.clients[client_];
    if (!client.enter()) return;  // a neighbour runs it at this moment and will look again
    Ensemble::Lease memory(stage_.ensemble);
    run_with_neighbours(client, stage_.ensemble, *memory, [this](std::int64_t performed) {
      const std::int64_t left = stage_.ensemble.outstanding.fetch_sub(performed) - performed;
      if (stage_.conductor_sleeps.load() && left <= stage_.wake_at.load()) stage_.wake_conductor();
    });
  }};
}

}  // namespace rubato
