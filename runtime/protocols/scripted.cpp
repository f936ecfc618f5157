#include "runtime/protocols/scripted.hpp"

#include <algorithm>

namespace rubato {

Scripted::Scripted(RecordReader& record, StepSink& sink) : record_{record}, sink_{sink}, hashes_(record.clients()) {}

std::uint64_t Scripted::key_of(ClientId sender, MessageKind kind, Sequence sequence) {
  return static_cast<std::uint64_t>(sender.value) << 35 | static_cast<std::uint64_t>(kind) << 32 | sequence;
}

bool Scripted::walk(std::uint64_t steps) {
  const std::uint64_t last = steps_ + steps;
  while (!is_over_ && steps_ < last) {
    const Step* recorded = record_.next();
    if (!recorded) {
      is_over_ = true;
      if (record_.is_incomplete()) fault_ = "the record ends before the run did";
      break;
    }
    Step step = *recorded;
    entries_.assign(step.entries.begin(), step.entries.end());
    step.entries = entries_;
    if (!place_payloads(step)) {
      is_over_ = true;
      fault_ = "the record names a message that nobody sent";
      break;
    }
    now_ = step.at;
    hashes_[step.client.value].add(step);
    sink_.perform(step);
    ++steps_;
  }
  return !is_over_;
}

bool Scripted::place_payloads(const Step& step) {
  if (step.kind != StepKind::publish) return receive(step);
  publish(step);
  return true;
}

void Scripted::publish(const Step& step) {
  if (step.entries.empty()) return;
  std::uint32_t holders = step.keeps ? 1 : 0;  // the sender itself, if it keeps the message
  for (const StepEntry& entry : entries_) holders += entry.lost ? 0 : 1 + entry.copies;
  const SlotIndex slot = sink_.open_slot(holders);
  for (StepEntry& entry : entries_) entry.slot = slot;
  if (holders > 0) under_way_[key_of(step.client, step.message, entries_.front().sequence)] = {slot, holders};
}

bool Scripted::receive(const Step& step) {
  for (StepEntry& entry : entries_) {
    const auto found = under_way_.find(key_of(entry.peer, step.message, entry.sequence));
    if (found == under_way_.end()) return false;
    entry.slot = found->second.slot;
    if (--found->second.receivers == 0) under_way_.erase(found);
  }
  return true;
}

}  // namespace rubato
