// One client as an actor: performs its steps in order, waits for payloads, never for anybody else. A neighbour that
// publishes what it waits for runs it on the spot, unless another thread is free: a message saved, and its memory is
// still warm.
#pragma once

#include "actors/stage.hpp"

namespace rubato {

class ClientActor final : public HandedActor {
 public:
  ClientActor(caf::actor_config& config, Stage& stage, std::uint32_t client)
      : HandedActor(config), stage_{stage}, client_{client} {}

  caf::behavior make_behavior() override;

 private:
  Client& me();
  void run();

  Stage& stage_;
  std::uint32_t client_;
};

}  // namespace rubato
