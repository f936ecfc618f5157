// The conductor as an actor: walks the timing in slices inside the scheduler, hands out steps, and holds the credit.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/core/run_control.hpp"
#include "runtime/record.hpp"

namespace rubato {

/// How far the timing may run ahead of the arithmetic.
struct Credit {
  std::int64_t outstanding_steps = 0;
  std::int64_t payload_bytes = 0;
  std::int64_t bytes_per_payload = 0;
  std::uint64_t slice = 0;  ///< steps between two hand-overs

  /// Generous enough to keep all threads busy, small enough to stay in the caches. 0 asks for the automatic value.
  static Credit automatic(std::size_t clients, std::size_t model_bytes, const config::Limits& limits);
};

/// What the conductor waits for and what waits for it: the other hosts of a run. On the conductor's thread.
class Peers {
 public:
  virtual ~Peers() = default;
  /// The program of this host wants the run to end with what it has.
  virtual void on_stop_wanted() = 0;
  /// False: not yet; the conductor is woken when that may have changed.
  virtual bool may_advance() = 0;
  /// Steps were walked and handed over.
  virtual void on_walked() = 0;
  /// A client of this host has answered its question.
  virtual void on_answer(bool yes) = 0;
  /// Slots that are open and will hold no payload, as far as is known.
  virtual std::int64_t empty_slots() const = 0;
  /// The stage is about to be cleared; it is not touched any more.
  virtual void detach() = 0;
};

/// Sorts the conductor's steps by client and hands each client its own in one message.
class StepDispatcher final : public StepSink {
 public:
  /// `recorder` may be null.
  StepDispatcher(RunControl& control, Recorder* recorder);

  SlotIndex open_slot(std::uint32_t receivers) override { return control_.client_pool.slots.open(receivers); }
  void perform(const Step& step) override;
  /// Writes the step down without performing it.
  void record(const Step& step);
  void open_sample(const SampleHeader& header) override;
  void hand_over();
  /// Steps that hand_over() would hand over.
  std::uint64_t staged() const { return static_cast<std::uint64_t>(count_); }

 private:
  struct Staged {
    StepBatch* first = nullptr;
    StepBatch* last = nullptr;
  };

  RunControl& control_;
  Recorder* recorder_;
  std::vector<Staged> staged_;
  std::vector<std::uint32_t> touched_;
  std::int64_t count_ = 0;
};

class ConductorActor final : public HandedActor {
 public:
  /// `company` may be null.
  ConductorActor(caf::actor_config& config, RunControl& control, StepSource& source, StepDispatcher& dispatcher,
                 const Credit& credit, Peers* peers)
      : HandedActor(config), control_{control}, source_{source}, dispatcher_{dispatcher}, credit_{credit}, peers_{peers} {}
  caf::behavior make_behavior() override;

 private:
  void go_on();
  /// False: the client will wake us when it has answered.
  bool hand_in_answer();
  /// False: the peers wake the conductor when the others have gone on.
  bool has_company();
  bool has_credit() const;
  int most_open_samples() const;
  void stop_if_wanted();
  std::int64_t payloads() const;
  bool is_quiet() const;
  void when_quiet(void (RunControl::*act)());
  std::uint64_t slice() const;
  template <class Act>
  void guarded(Act act);
  void walk_a_slice();
  bool walks_through_samples() const;
  bool measures_in_portions() const;
  std::int64_t portion() const;
  std::int64_t outstanding_to_wait_for() const;
  template <class Condition>
  bool falls_asleep(std::int64_t wake_at, Condition is_reached);
  /// True: a client will wake us. False: there is no reason to sleep any more.
  bool sleep_until(std::int64_t outstanding);

  RunControl& control_;
  StepSource& source_;
  StepDispatcher& dispatcher_;
  Credit credit_;
  Peers* peers_;
  bool is_measuring_ = false;  // the last slice was a portion of a sample, and there are more
};

}  // namespace rubato
