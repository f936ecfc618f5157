#include "runtime/engine/scripted.hpp"

#include <algorithm>
#include <stdexcept>

namespace rubato {

Scripted::Scripted(const std::vector<std::filesystem::path>& files, RecordOf kind, const Graph& graph, StepSink& sink)
    : kind_{kind}, graph_{graph}, sink_{sink}, hashes_(graph.clients()), is_cut_(graph.clients()) {
  for (const std::filesystem::path& file : files) {
    tracks_.push_back(std::make_unique<Track>(file));
    if (tracks_.back()->reader.clients() != graph.clients())
      throw std::runtime_error(file.string() + " was made by " + std::to_string(tracks_.back()->reader.clients()) +
                               " clients, the experiment has " + std::to_string(graph.clients()));
    if (kind == RecordOf::real_time) read_names(file);
  }
  for (auto& track : tracks_) advance(*track);
}

Scripted::Message Scripted::message_of(ClientId sender, MessageKind kind, std::uint32_t life, Sequence sequence) {
  return {static_cast<std::uint64_t>(sender.value) << 8 | static_cast<std::uint64_t>(kind),
          static_cast<std::uint64_t>(life) << 32 | sequence};
}

Scripted::Message Scripted::name_of_sent(const Step& step) {
  const StepEntry& first = step.entries.front();
  return message_of(step.client, step.message, first.incarnation, first.sequence);
}

void Scripted::read_names(const std::filesystem::path& file) {
  RecordReader reader(file);
  while (const Step* step = reader.next()) {
    if (step->kind == StepKind::publish) {
      if (!step->entries.empty()) names_[name_of_sent(*step)].is_sent = true;
      continue;
    }
    for (const StepEntry& entry : step->entries) {
      Named& named = names_[message_of(entry.peer, step->message, entry.incarnation, entry.sequence)];
      ++named.receivers;
      named.first = std::min(named.first, step->at);
    }
  }
}

void Scripted::leave_out(const std::vector<ClientId>& clients) {
  leaves_out_ = true;
  for (const ClientId client : clients) is_cut_.at(client.value) = true;
}

std::map<ClientId, LackingMessages> Scripted::lacking() const {
  std::map<ClientId, LackingMessages> lacking;
  for (const auto& [message, named] : names_) {
    if (named.is_sent) continue;
    LackingMessages& of_sender = lacking[ClientId{static_cast<std::uint32_t>(message.first >> 8)}];
    ++of_sender.count;
    of_sender.first = std::min(of_sender.first, named.first);
  }
  return lacking;
}

// It will never be under way.
bool Scripted::is_lost(const Message& message) const { return leaves_out_ && !names_.at(message).is_sent; }

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

// What every protocol keeps to: receivers ascend, and algorithms exchange with neighbours alone.
bool Scripted::is_possible(const Step& step) const {
  const bool is_sent = step.kind == StepKind::publish;
  if (!is_sent && step.kind != StepKind::merge) return true;
  const bool is_by_link = step.message != MessageKind::model;
  const auto neighbours = is_sent ? graph_.receivers_of(step.client) : graph_.senders_to(step.client);
  return std::ranges::all_of(
             step.entries,
             [&](const StepEntry& entry) { return !is_by_link || std::ranges::binary_search(neighbours, entry.peer); }) &&
         (!is_sent ||
          std::ranges::adjacent_find(step.entries, std::ranges::greater_equal{}, &StepEntry::peer) == step.entries.end());
}

bool Scripted::can_be_performed(const Track& track) const {
  if (track.step.kind == StepKind::publish) return true;
  return std::all_of(track.entries.begin(), track.entries.end(), [&](const StepEntry& entry) {
    const Message message = message_of(entry.peer, track.step.message, entry.incarnation, entry.sequence);
    return under_way_.contains(message) || is_lost(message);
  });
}

// The earliest step whose messages were all sent. Clocks of hosts differ a little: what counts is which step waits for which.
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
      if (is_stuck) fault_ = "the record names a message that no client sent";
      if (is_stuck && kind_ == RecordOf::real_time) fault_ += ": are the records of all hosts there?";
      break;
    }
    if (!is_possible(track->step)) {
      fault_ =
          "the record has client " + std::to_string(track->step.client.value) + " exchange with clients that it has no links to";
      is_over_ = true;
      break;
    }
    now_ = std::max(now_, track->step.at);
    hashes_[track->step.client.value].add(track->step);
    perform(*track);
    ++steps_;
    advance(*track);
  }
  return !is_over_;
}

void Scripted::perform(Track& track) {
  Step& step = track.step;
  const bool is_sent = step.kind == StepKind::publish;
  if (!is_sent) receive(track);
  const bool lacks = !is_sent && track.entries.size() < step.entries.size();
  if (lacks && !leaves_out_) {
    fault_ = "the record names a message more often than it arrived";
    is_over_ = true;
    return;
  }
  if (lacks && step.kind != StepKind::discard && !is_cut_[step.client.value]) {
    is_cut_[step.client.value] = true;
    first_cut_ = std::min(first_cut_, step.at);
  }
  step.entries = track.entries;
  if (is_cut_[step.client.value]) return pass_over(track);
  if (is_sent) publish(track);
  sink_.perform(step);
}

// What it has received is let go of, and what it sends does not leave.
void Scripted::pass_over(Track& track) {
  ++passed_over_;
  const bool is_sent = track.step.kind == StepKind::publish;
  if (track.entries.empty()) return;
  if (is_sent) {
    names_.at(name_of_sent(track.step)).is_sent = false;
    return;
  }
  track.step.kind = StepKind::discard;
  sink_.perform(track.step);
}

std::uint32_t Scripted::receivers_of(const Track& track, const Message& message) const {
  if (kind_ == RecordOf::real_time) {
    return names_.at(message).receivers;
  }
  std::uint32_t receivers = track.step.keeps ? 1 : 0;  // the sender itself, if it keeps the message
  for (const StepEntry& entry : track.entries) receivers += entry.lost ? 0 : 1 + entry.copies;
  return receivers;
}

void Scripted::publish(Track& track) {
  if (track.entries.empty()) return;
  const Message message = name_of_sent(track.step);
  const std::uint32_t receivers = receivers_of(track, message);
  const SlotIndex slot = sink_.open_slot(receivers);
  for (StepEntry& entry : track.entries) entry.slot = slot;
  if (receivers > 0) under_way_[message] = {slot, receivers};
}

// Entries whose messages are lost are taken out.
void Scripted::receive(Track& track) {
  std::erase_if(track.entries, [&](StepEntry& entry) {
    const auto found = under_way_.find(message_of(entry.peer, track.step.message, entry.incarnation, entry.sequence));
    if (found == under_way_.end()) return true;
    entry.slot = found->second.slot;
    if (--found->second.receivers == 0) under_way_.erase(found);
    return false;
  });
}

}  // namespace rubato
