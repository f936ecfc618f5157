// scripted: choices read from a record. The steps of an earlier run, one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/record.hpp"
#include "runtime/step_source.hpp"

namespace rubato {

class Scripted final : public StepSource {
 public:
  /// The record and the sink outlive this.
  Scripted(RecordReader& record, StepSink& sink);

  bool walk(std::uint64_t steps) override;
  void stop() override { is_over_ = true; }
  bool is_over() const override { return is_over_; }
  Time now() const override { return now_; }
  std::uint64_t events() const override { return steps_; }
  MessageCounts total_counts() const override { return {}; }
  std::uint64_t model_messages() const override { return 0; }
  const std::vector<StepHash>& hashes() const override { return hashes_; }

  std::uint64_t steps() const { return steps_; }
  /// Empty, or why the record could not be played to its end.
  const std::string& fault() const { return fault_; }

 private:
  struct UnderWay {
    SlotIndex slot;
    std::uint32_t receivers;
  };
  static std::uint64_t key_of(ClientId sender, MessageKind kind, Sequence sequence);
  bool place_payloads(const Step& step);
  void publish(const Step& step);
  bool receive(const Step& step);

  RecordReader& record_;
  StepSink& sink_;
  std::unordered_map<std::uint64_t, UnderWay> under_way_;
  std::vector<StepEntry> entries_;
  std::vector<StepHash> hashes_;
  Time now_{};
  std::uint64_t steps_ = 0;
  bool is_over_ = false;
  std::string fault_;
};

}  // namespace rubato
