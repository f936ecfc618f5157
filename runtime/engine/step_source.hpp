// Where steps come from: the conductor, or a record that is played again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/engine/glance.hpp"
#include "runtime/engine/sample_header.hpp"
#include "runtime/hash.hpp"
#include "runtime/step.hpp"

namespace rubato {

/// The phase of a measure step between two rounds.
inline constexpr std::uint8_t after_round = 1;
/// That of a measure step for a client that is not scored: what it has spent counts all the same.
inline constexpr std::uint8_t traffic_only = 2;

/// Performs the steps. Called on the step source's thread only.
class StepSink {
 public:
  virtual ~StepSink() = default;
  /// A place for the payload of the publish step that comes next; `receivers` messages of it will be merged, adopted or
  /// discarded, unless the run ends before.
  virtual SlotIndex open_slot(std::uint32_t receivers) = 0;
  virtual void perform(const Step& step) = 0;
  /// The measure steps that come next belong to this sample.
  virtual void open_sample(const SampleHeader&) {}
  /// The question that was handed out last has this answer.
  virtual void on_answer(bool /*yes*/) {}
};

/// Takes steps and does nothing: the timing alone.
class NoSteps final : public StepSink {
 public:
  SlotIndex open_slot(std::uint32_t) override { return no_slot; }
  void perform(const Step&) override {}
};

class StepSource {
 public:
  virtual ~StepSource() = default;

  /// Goes on until about `steps` more steps were handed out, or about as many events went by without any, or a sample
  /// was opened; false once it is over.
  virtual bool walk(std::uint64_t steps) = 0;
  /// The run ends now, with what it has: walk on until it is over.
  virtual void stop() = 0;
  virtual bool is_over() const = 0;
  /// walk() goes no further until it is told to: everything up to an agreed instant was handed out.
  virtual bool is_paused() const { return false; }
  /// The last step handed out was a question (decide): walk() goes no further before its answer.
  virtual bool awaits_answer() const { return false; }
  virtual void answer(bool /*yes*/) {}
  /// The next so many steps measure clients, one each.
  virtual std::uint64_t to_measure() const { return 0; }
  /// Steps of the newest sample are still to be handed out.
  virtual bool is_sampling() const { return false; }
  virtual Time now() const = 0;
  /// Timer ticks and deliveries, kept or refused.
  virtual std::uint64_t events() const = 0;
  /// Of a run in rounds: how many are over, and what the next one waits for.
  virtual std::optional<RoundsSoFar> rounds_so_far() const { return std::nullopt; }
  /// What was counted so far, where that is known. Looks at every client.
  virtual std::optional<Glance> glance() const { return std::nullopt; }
  /// Of the steps of each client so far, samples left out, in client order.
  virtual const std::vector<StepHash>& hashes() const = 0;
};

}  // namespace rubato
