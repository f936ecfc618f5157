// WallActor: a client in real time as an actor. Its mailbox puts the events of several threads in a row; nothing else is
// added.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "actors/stage.hpp"
#include "actors/wall_client.hpp"

namespace rubato {

class WallActor final : public HandedActor {
 public:
  /// `on_handled` is called after every event.
  WallActor(caf::actor_config& config, Stage& stage, WallClient& client, std::function<void()> on_handled)
      : HandedActor(config), stage_{stage}, client_{client}, on_handled_{std::move(on_handled)} {}

  caf::behavior make_behavior() override {
    return {[this](const WallEvent& event) {
      const BusyWorker busy(stage_);
      if (stage_.is_closed.load()) return;
      Ensemble::Lease memory(stage_.ensemble);
      client_.handle(event, *memory);
      on_handled_();
    }};
  }

 private:
  Stage& stage_;
  WallClient& client_;
  std::function<void()> on_handled_;
};

}  // namespace rubato

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(rubato::WallEvent)
