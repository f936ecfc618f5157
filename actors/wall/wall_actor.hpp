// WallActor: a client in real time as an actor. Its mailbox puts the events of several threads in a row; nothing else
// is added.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "actors/core/run_control.hpp"
#include "actors/wall/client.hpp"

namespace rubato {

class WallActor final : public HandedActor {
 public:
  /// `on_handled` is called after every event.
  WallActor(caf::actor_config& config, RunControl& control, WallClient& client, std::function<void()> on_handled)
      : HandedActor(config), control_{control}, client_{client}, on_handled_{std::move(on_handled)} {}

  caf::behavior make_behavior() override {
    return {[this](const WallEvent& event) {
      const BusyWorker busy(control_);
      if (control_.is_closed.load()) return;
      ClientPool::Lease memory(control_.client_pool);
      client_.handle(event, *memory);
      on_handled_();
    }};
  }

 private:
  RunControl& control_;
  WallClient& client_;
  std::function<void()> on_handled_;
};

}  // namespace rubato

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(rubato::WallEvent)
