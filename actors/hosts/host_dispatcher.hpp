// HostDispatcher: the step desk of one host among several: performs the steps of its own clients, and sees to it that
// what they need of others is fetched, and what others need of them is kept.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "actors/hosts/host_progress.hpp"
#include "actors/virtual/conductor_actor.hpp"

namespace rubato {

/// Slots stand for all messages on their way, those between two other hosts included, because the conductor names
/// messages by slots. A slot of another host's message is filled when a client of this host is to merge or adopt it,
/// and from the network; if none does it closes empty.
class HostDispatcher final : public StepSink {
 public:
  HostDispatcher(StepDispatcher& dispatcher, RunControl& control, HostProgress& run, ItemExchange& items, ModelShape shape);

  SlotIndex open_slot(std::uint32_t receivers) override { return dispatcher_.open_slot(receivers); }
  void perform(const Step& step) override;
  void open_sample(const SampleHeader& header) override;

 private:
  /// Another host with receivers of a message.
  struct Abroad {
    HostId host;
    std::uint32_t left = 0;  // messages whose end is not known yet
    bool is_needed = false;  // one of them was merged
  };
  /// The message in a slot.
  struct Message {
    std::uint64_t number = 0;  // counts the publications of the run
    HostId owner{};
    bool is_wanted = false;  // of another host: asked for
    std::uint32_t left = 0;  // of another host: receivers whose end is not known yet
    bool is_model = false;
    std::vector<Abroad> remote;  // of this host
  };
  struct Published {
    std::uint64_t number;
    std::vector<HostId> by_place;  // the receivers' hosts
  };

  Message& message(SlotIndex slot);
  void publish(const Step& step);
  void publish_own(const Step& step, Message& message);
  void on_published(const Step& step, const Payload& payload);
  void end_of_message(const Step& step, const StepEntry& entry);
  void fetch(const StepEntry& entry, Message& message);
  void pass(Message& message, SlotIndex slot);
  void note_abroad(Message& message, HostId host, bool is_needed);
  void ask(const Step& step);
  void measure(const Step& step);
  void fetch_snapshot(const Step& step, ItemName name);

  StepDispatcher& dispatcher_;
  RunControl& control_;
  HostProgress& run_;
  ItemExchange& items_;
  const ModelShape shape_;
  std::vector<Message> messages_;  // by slot
  std::uint64_t publications_ = 0;
  std::uint64_t questions_ = 0;
  std::mutex mutex_;
  std::unordered_map<SlotIndex, Published> to_come_;  // guarded: promised to others, not yet performed
};

/// Copies the model of a measure step and keeps it for the host that evaluates.
class SnapshotKeeper final : public SnapshotSink {
 public:
  SnapshotKeeper(ItemExchange& items, const Evaluation& evaluation, std::size_t clients)
      : items_{items}, evaluation_{evaluation}, clients_{clients} {}
  void on_measure(const Step& step, const Performer& performer, ThreadMemory& memory) override;
  /// Where the tensors that it sends come from.
  void use(TensorPool& pool) { pool_ = &pool; }

 private:
  ItemExchange& items_;
  const Evaluation& evaluation_;
  std::size_t clients_;
  TensorPool* pool_ = nullptr;
};

}  // namespace rubato
