#include "runtime/engine/scripted.hpp"

#include <algorithm>
#include <stdexcept>

namespace rubato {

Scripted::Scripted(const std::vector<std::filesystem::path>& files, RecordOf kind, std::uint32_t clients, StepSink& sink)
    : kind_{kind}, sink_{sink}, hashes_(clients) {
  for (const std::filesystem::path& file : files) {
    tracks_.push_back(std::make_unique<Track>(file));
    if (tracks_.back()->reader.clients() != clients)
      throw std::runtime_error(file.string() + " was made by " + std::to_string(tracks_.back()->reader.clients()) +
                               " clients, the experiment has " + std::to_string(clients));
    if (kind == RecordOf::real_time) count_receivers(file);
  }
  for (auto& track : tracks_) advance(*track);
}

Scripted::Message Scripted::message_of(ClientId sender, MessageKind kind, std::uint32_t life, Sequence sequence) {
  return {static_cast<std::uint64_t>(sender.value) << 8 | static_cast<std::uint64_t>(kind),
          static_cast<std::uint64_t>(life) << 32 | sequence};
}

void Scripted::count_receivers(const std::filesystem::path& file) {
  RecordReader reader(file);
  while (const Step* step = reader.next()) {
    if (step->kind == StepKind::publish) continue;
    for (const StepEntry& entry : step->entries)
      ++receivers_[message_of(entry.peer, step->message, entry.incarnation, entry.sequence)];
  }
}

void Scripted::advance(Track& track) {
  const Step* recorded = track.reader.next();
  if (!recorded) {
    track.is_over = true;
    if (track.reader.is_incomplete() && kind_ == RecordOf::virtual_time) fault_ = "the record ends before the run did";
    return;
  }
  track.step = *recorded;
  track.entries.assign(recorded->entries.begin(), recorded->entries.end());
  track.step.entries = track.entries;
}

bool Scripted::can_be_performed(const Track& track) const {
  if (track.step.kind == StepKind::publish) return true;
  return std::all_of(track.entries.begin(), track.entries.end(), [&](const StepEntry& entry) {
    return under_way_.contains(message_of(entry.peer, track.step.message, entry.incarnation, entry.sequence));
  });
}

// The earliest step whose messages were all sent. Clocks of hosts differ a little: what counts is who waits for whom.
Scripted::Track* Scripted::next_track() {
  Track* next = nullptr;
  for (const auto& track : tracks_)
    if (!track->is_over && (!next || track->step.at < next->step.at) && can_be_performed(*track)) next = track.get();
  return next;
}

bool Scripted::walk(std::uint64_t steps) {
  const std::uint64_t last = steps_ + steps;
  while (!is_over_ && steps_ < last) {
    Track* track = next_track();
    if (!track) {
      is_over_ = true;
      const bool is_stuck = std::any_of(tracks_.begin(), tracks_.end(), [](const auto& each) { return !each->is_over; });
      if (is_stuck) fault_ = "the record names a message that nobody sent";
      if (is_stuck && kind_ == RecordOf::real_time) fault_ += ": are the records of all hosts there?";
      break;
    }
    if (track->step.kind == StepKind::publish) {
      publish(*track);
    } else if (!receive(*track)) {
      is_over_ = true;
      fault_ = "the record names a message more often than it was sent";
      break;
    }
    now_ = std::max(now_, track->step.at);
    hashes_[track->step.client.value].add(track->step);
    sink_.perform(track->step);
    ++steps_;
    advance(*track);
  }
  return !is_over_;
}

std::uint32_t Scripted::receivers_of(const Track& track, const Message& message) const {
  if (kind_ == RecordOf::real_time) {
    const auto found = receivers_.find(message);
    return found == receivers_.end() ? 0 : found->second;
  }
  std::uint32_t receivers = track.step.keeps ? 1 : 0;  // the sender itself, if it keeps the message
  for (const StepEntry& entry : track.entries) receivers += entry.lost ? 0 : 1 + entry.copies;
  return receivers;
}

void Scripted::publish(Track& track) {
  if (track.entries.empty()) return;
  const std::uint32_t life = track.entries.front().incarnation;
  const Message message = message_of(track.step.client, track.step.message, life, track.entries.front().sequence);
  const std::uint32_t receivers = receivers_of(track, message);
  const SlotIndex slot = sink_.open_slot(receivers);
  for (StepEntry& entry : track.entries) entry.slot = slot;
  if (receivers > 0) under_way_[message] = {slot, receivers};
}

bool Scripted::receive(Track& track) {
  for (StepEntry& entry : track.entries) {
    const auto found = under_way_.find(message_of(entry.peer, track.step.message, entry.incarnation, entry.sequence));
    if (found == under_way_.end()) return false;  // an entry before it was the last receiver's
    entry.slot = found->second.slot;
    if (--found->second.receivers == 0) under_way_.erase(found);
  }
  return true;
}

}  // namespace rubato
