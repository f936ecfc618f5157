// The conductor as an actor: walks the timing in slices inside the scheduler, hands out steps, and holds the credit.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/stage.hpp"
#include "runtime/record.hpp"

namespace rubato {

/// How far the timing may run ahead of the arithmetic.
struct Credit {
  std::int64_t outstanding_steps = 0;
  std::int64_t payload_bytes = 0;
  std::int64_t bytes_per_payload = 0;
  std::uint64_t slice = 0;  ///< steps between two hand-overs

  /// Generous enough to keep all threads busy, small enough to stay in the caches. 0 asks for the automatic value.
  static Credit automatic(std::size_t clients, std::size_t model_bytes, std::int64_t outstanding_steps,
                          std::int64_t payload_bytes);
};

/// Sorts the conductor's steps by client and hands each client its own in one message.
class StepDesk final : public StepSink {
 public:
  /// `recorder` may be null.
  StepDesk(Stage& stage, const StepSource*& source, Recorder* recorder);

  SlotIndex open_slot(std::uint32_t receivers) override { return stage_.ensemble.slots.open(receivers); }
  void perform(const Step& step) override;
  void open_sample(std::uint64_t number, Time at, std::uint32_t clients) override;
  void hand_over();

 private:
  struct Staged {
    StepBatch* first = nullptr;
    StepBatch* last = nullptr;
  };

  Stage& stage_;
  const StepSource*& source_;
  Recorder* recorder_;
  std::vector<Staged> staged_;
  std::vector<std::uint32_t> touched_;
  std::int64_t count_ = 0;
};

class ConductorActor final : public caf::event_based_actor {
 public:
  ConductorActor(caf::actor_config& config, Stage& stage, StepSource& source, StepDesk& desk, const Credit& credit)
      : caf::event_based_actor(config), stage_{stage}, source_{source}, desk_{desk}, credit_{credit} {}
  caf::behavior make_behavior() override;

 private:
  void go_on();
  /// False: the client will wake us when it has answered.
  bool hand_in_answer();
  bool has_credit() const;
  bool is_quiet() const;
  void finish_when_quiet();
  std::uint64_t slice() const;
  template <class Act>
  void guarded(Act act);
  void walk_a_slice();
  bool measures_in_portions() const;
  std::int64_t portion() const;
  std::int64_t outstanding_to_wait_for() const;
  /// True: a client will wake us. False: there is no reason to sleep any more.
  bool sleep_until(std::int64_t outstanding);

  Stage& stage_;
  StepSource& source_;
  StepDesk& desk_;
  Credit credit_;
  bool is_measuring_ = false;  // the last slice was a portion of a sample, and there are more
};

}  // namespace rubato
