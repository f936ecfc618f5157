// ResumingDispatcher: gives the payloads of a virtual run names that a second walk of its timing finds again, and
// passes over the steps that an earlier life of the run has performed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "actors/virtual/answers.hpp"
#include "actors/virtual/conductor_actor.hpp"

namespace rubato {

/// Stands before the step desk. A payload's name is the number of its publication: the first that opened a slot is 1.
class ResumingDispatcher final : public StepSink {
 public:
  /// Both outlive it. `passes_over`: steps are written down and their slots opened and closed; nothing is performed.
  ResumingDispatcher(StepDispatcher& dispatcher, ClientPool& client_pool, bool passes_over)
      : dispatcher_{dispatcher}, client_pool_{client_pool}, passes_over_{passes_over} {}

  SlotIndex open_slot(std::uint32_t receivers) override;
  void perform(const Step& step) override;
  void open_sample(const SampleHeader& header) override;
  void on_answer(bool yes) override { answers_.add(yes); }

  /// From now on steps are performed.
  void perform_from_here() { passes_over_ = false; }
  const Answers& answers() const { return answers_; }

  struct Named {
    std::uint64_t name;
    SlotIndex slot;
    auto operator<=>(const Named&) const = default;
  };
  /// The slots in use in the order of their names; only while nobody performs steps.
  std::vector<Named> payloads() const;

 private:
  StepDispatcher& dispatcher_;
  ClientPool& client_pool_;
  bool passes_over_;
  std::uint64_t publications_ = 0;
  std::vector<std::uint64_t> names_;  // by slot
  Answers answers_;
};

}  // namespace rubato
