// scripted: choices read from records. The steps of an earlier run, in an order in which they can be performed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/engine/step_source.hpp"
#include "runtime/record.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// What the records of a run leave open.
enum class RecordOf : std::uint8_t {
  virtual_time,  ///< one record; each message that is not lost arrives, or was under way at the end
  real_time,     ///< one of each host; what arrived is known from the receivers alone, and a record may end torn
};

/// Messages that steps name and no record has sent.
struct LackingMessages {
  std::uint64_t count = 0;
  Time first = never;  ///< when the first of them is named
};

class Scripted final : public StepSource {
 public:
  /// The sink outlives this. Throws std::runtime_error if a file cannot be read, is no record, or not of as many clients
  /// as the graph.
  Scripted(const std::vector<std::filesystem::path>& files, RecordOf kind, const Graph& graph, StepSink& sink);

  /// Before the first walk(), in real time: these clients are left out, and each other client is cut off where a step
  /// needs a message of one that is left out or cut off, or that no record has sent. Nothing of it is performed from there on.
  void leave_out(const std::vector<ClientId>& clients);

  bool walk(std::uint64_t steps) override;
  void stop() override { is_over_ = true; }
  bool is_over() const override { return is_over_; }
  Time now() const override { return now_; }
  std::uint64_t events() const override { return steps_; }
  const std::vector<StepHash>& hashes() const override { return hashes_; }

  std::uint64_t steps() const { return steps_; }
  /// Of these, those of clients that were left out or cut off.
  std::uint64_t steps_passed_over() const { return passed_over_; }
  /// When the first client was cut off; `never` if none was.
  Time first_cut() const { return first_cut_; }
  /// Whether the client was left out or cut off.
  bool is_cut(ClientId client) const { return is_cut_[client.value]; }
  /// By sender, in real time.
  std::map<ClientId, LackingMessages> lacking() const;
  /// Empty, or why the records could not be played to their end.
  const std::string& fault() const { return fault_; }

 private:
  using Message = std::pair<std::uint64_t, std::uint64_t>;  // sender and kind, life and sequence
  struct HashMessage {
    std::size_t operator()(const Message& message) const {
      return static_cast<std::size_t>((message.first * 0x9E37'79B9'7F4A'7C15 ^ message.second) * 0xD6E8'FEB8'6659'FD93);
    }
  };
  // What all records together say of a message in real time.
  struct Named {
    std::uint32_t receivers = 0;
    bool is_sent = false;
    Time first = never;
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

  static Message name_of_sent(const Step& step);
  static Message message_of(ClientId sender, MessageKind kind, std::uint32_t life, Sequence sequence);
  void read_names(const std::filesystem::path& file);
  void advance(Track& track);
  Track* next_track();
  bool can_be_performed(const Track& track) const;
  bool is_possible(const Step& step) const;
  bool is_lost(const Message& message) const;
  void pass_over(Track& track);
  void perform(Track& track);
  std::uint32_t receivers_of(const Track& track, const Message& message) const;
  void publish(Track& track);
  void receive(Track& track);

  RecordOf kind_;
  Graph graph_;
  StepSink& sink_;
  std::vector<std::unique_ptr<Track>> tracks_;
  std::unordered_map<Message, Named, HashMessage> names_;  // real time: of each message that is sent or named
  std::unordered_map<Message, UnderWay, HashMessage> under_way_;
  std::vector<StepHash> hashes_;
  std::vector<bool> is_cut_;
  bool leaves_out_ = false;
  Time first_cut_ = never;
  Time now_{};
  std::uint64_t steps_ = 0;
  std::uint64_t passed_over_ = 0;
  bool is_over_ = false;
  std::string fault_;
};

}  // namespace rubato
