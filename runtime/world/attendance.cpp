#include "runtime/world/attendance.hpp"

namespace rubato {

Attendance::Attendance(const ChurnPlan& plan) : plan_{plan}, all_(plan.clients()) {
  for (std::uint32_t i = 0; i < all_.size(); ++i) {
    all_[i].is_here = plan.begins_here({i});
    all_[i].is_missed = !all_[i].is_here;
    here_ += all_[i].is_here;
  }
  in_highest_ = here_;
}

const ChurnEvent& Attendance::take() {
  const ChurnEvent& event = plan_.events()[next_++];
  note(event);
  return event;
}

void Attendance::note(const ChurnEvent& event) {
  using Kind = ChurnEvent::Kind;
  One& one = all_[event.client.value];  // the first one where it is of the links
  switch (event.kind) {
    case Kind::save:
      return;
    case Kind::heal:
      is_cut_ = false;
      return;
    case Kind::partition:
      is_cut_ = true;
      ++counts_.partitions;
      for (std::uint32_t i = 0; i < all_.size(); ++i) all_[i].group = plan_.group(event.number, {i});
      return;
    case Kind::leave:
      ++counts_.leaves;
      one.is_missed = true;
      return go(one);
    case Kind::crash:
      ++counts_.crashes;
      one.has_crashed = true;
      return go(one);
    case Kind::notice:
      one.is_missed = true;
      return;
    case Kind::pause:
      ++counts_.pauses;
      one.is_paused = true;
      return;
    case Kind::go_on:
      one.is_paused = false;
      return;
    case Kind::come:
      return come(one, event);
  }
}

void Attendance::go(One& one) {
  one.is_here = one.is_paused = false;
  --here_;
  if (one.epoch != highest_) return;
  --in_highest_;
  has_lost_mass_ = true;
}

void Attendance::come(One& one, const ChurnEvent& event) {
  ++(one.has_crashed ? counts_.restarts : counts_.joins);
  one.life = event.life;
  one.is_here = true;
  one.is_missed = false;
  one.has_crashed = false;
  one.since = event.at;
  ++here_;
  in_highest_ += one.epoch == highest_;
}

void Attendance::enter(ClientId client, Epoch epoch) {
  One& one = all_[client.value];
  one.epoch = epoch;
  if (epoch > highest_) {
    ++counts_.epochs;
    highest_ = epoch;
    in_highest_ = 0;
    has_lost_mass_ = false;
  }
  in_highest_ += epoch == highest_ && one.is_here;
}

std::vector<ClientId> Attendance::absent() const {
  std::vector<ClientId> absent;
  for (std::uint32_t i = 0; i < all_.size(); ++i)
    if (!all_[i].is_here) absent.push_back({i});
  return absent;
}

ClientId Attendance::first_beside(ClientId about) const {
  for (std::uint32_t i = 0; i < all_.size(); ++i)
    if (all_[i].is_here && ClientId{i} != about) return {i};
  return is_here(about) ? about : no_client;
}

ClientId Attendance::giver_of(const ChurnEvent& come, std::span<const ClientId> senders) const {
  if (come.kind != ChurnEvent::Kind::come || come.from != Origin::neighbour) return no_client;
  for (const ClientId sender : senders)
    if (is_here(sender) && !are_apart(sender, come.client)) return sender;
  return no_client;
}

Epoch Attendance::epoch_after(const ChurnEvent& event) const {
  const ClientId first = first_beside(event.client);
  return first == no_client ? Epoch{} : Epoch{event.epoch, first.value + 1};
}

}  // namespace rubato
