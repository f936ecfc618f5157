// scripted: choices read from records. The steps of an earlier run, in an order in which they can be performed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/engine/step_source.hpp"
#include "runtime/record.hpp"

namespace rubato {

/// What the records of a run leave open.
enum class RecordOf : std::uint8_t {
  virtual_time,  ///< one record; each message that is not lost arrives, or was under way at the end
  real_time,     ///< one of each host; what arrived is known from the receivers alone, and a record may end torn
};

class Scripted final : public StepSource {
 public:
  /// The sink outlives this. Throws std::runtime_error if a file cannot be read, is no record, or not of so many
  /// clients.
  Scripted(const std::vector<std::filesystem::path>& files, RecordOf kind, std::uint32_t clients, StepSink& sink);

  bool walk(std::uint64_t steps) override;
  void stop() override { is_over_ = true; }
  bool is_over() const override { return is_over_; }
  Time now() const override { return now_; }
  std::uint64_t events() const override { return steps_; }
  const std::vector<StepHash>& hashes() const override { return hashes_; }

  std::uint64_t steps() const { return steps_; }
  /// Empty, or why the records could not be played to their end.
  const std::string& fault() const { return fault_; }

 private:
  using Message = std::pair<std::uint64_t, std::uint64_t>;  // sender and kind, life and sequence
  struct HashMessage {
    std::size_t operator()(const Message& message) const {
      return static_cast<std::size_t>((message.first * 0x9E37'79B9'7F4A'7C15 ^ message.second) * 0xD6E8'FEB8'6659'FD93);
    }
  };
  struct UnderWay {
    SlotIndex slot;
    std::uint32_t receivers;
  };
  // A record with the step that comes next.
  struct Track {
    RecordReader reader;
    Step step{};
    std::vector<StepEntry> entries{};
    bool is_over = false;
    explicit Track(const std::filesystem::path& file) : reader(file) {}
  };

  static Message message_of(ClientId sender, MessageKind kind, std::uint32_t life, Sequence sequence);
  void count_receivers(const std::filesystem::path& file);
  void advance(Track& track);
  Track* next_track();
  bool can_be_performed(const Track& track) const;
  std::uint32_t receivers_of(const Track& track, const Message& message) const;
  void publish(Track& track);
  bool receive(Track& track);

  RecordOf kind_;
  StepSink& sink_;
  std::vector<std::unique_ptr<Track>> tracks_;
  std::unordered_map<Message, std::uint32_t, HashMessage> receivers_;  // real time: of each message that anybody names
  std::unordered_map<Message, UnderWay, HashMessage> under_way_;
  std::vector<StepHash> hashes_;
  Time now_{};
  std::uint64_t steps_ = 0;
  bool is_over_ = false;
  std::string fault_;
};

}  // namespace rubato
