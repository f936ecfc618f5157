// One client as an actor: performs its steps in order, waits for payloads, never for anybody else. A neighbour that
// publishes what it waits for runs it on the spot, unless another thread is free: a message saved, and its memory is
// still warm.
#pragma once

#include "actors/core/run_control.hpp"

namespace rubato {

class ClientActor final : public HandedActor {
 public:
  ClientActor(caf::actor_config& config, RunControl& control, std::uint32_t client)
      : HandedActor(config), control_{control}, client_{client} {}

  caf::behavior make_behavior() override;

 private:
  Client& me();
  void run();

  RunControl& control_;
  std::uint32_t client_;
};

}  // namespace rubato
