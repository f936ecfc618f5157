#include "actors/client_actor.hpp"

namespace rubato {

caf::behavior ClientActor::make_behavior() {
  return {
      [this](const StepsForYou& steps) {
        Client& client = *stage_.ensemble.clients[client_];
        client.take(*steps.first);
        if (!client.is_waiting()) perform();
      },
      [this](PayloadIsThere) {
        stage_.ensemble.clients[client_]->go_on();
        perform();
      },
  };
}

void ClientActor::perform() {
  std::int64_t performed = 0;
  {
    Ensemble::Lease memory(stage_.ensemble);
    performed = stage_.ensemble.clients[client_]->perform_all(stage_.ensemble, *memory, [this](Client& waiting) {
      caf::anon_send(stage_.clients[waiting.id().value], PayloadIsThere{});
    });
  }
  const std::int64_t left = stage_.ensemble.outstanding.fetch_sub(performed) - performed;
  if (stage_.conductor_sleeps.load() && left <= stage_.wake_at.load()) stage_.wake_conductor();
}

}  // namespace rubato
