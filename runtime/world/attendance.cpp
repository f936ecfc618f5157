#include "runtime/world/attendance.hpp"

namespace rubato {

ChurnCounts& ChurnCounts::operator+=(const ChurnCounts& other) {
  joins += other.joins, leaves += other.leaves, crashes += other.crashes, restarts += other.restarts;
  pauses += other.pauses, partitions += other.partitions, epochs += other.epochs, lost += other.lost;
  return *this;
}

Attendance::Attendance(const ChurnPlan& plan) : plan_{plan}, all_(plan.clients()) {
  for (std::uint32_t i = 0; i < all_.size(); ++i) {
    all_[i].is_here = all_[i].has_been_here = plan.begins_here({i});
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
  switch (event.kind) {
    case Kind::heal:
      is_cut_ = false;
      return;
    case Kind::partition:
      is_cut_ = true;
      ++counts_.partitions;
      for (std::uint32_t i = 0; i < all_.size(); ++i) all_[i].group = plan_.group(event.number, {i});
      return;
    default:
      break;
  }
  One& one = all_[event.client.value];
  switch (event.kind) {
    case Kind::leave:
      ++counts_.leaves;
      return go(one);
    case Kind::crash:
      ++counts_.crashes;
      one.has_crashed = true;
      return go(one);
    case Kind::come:
      return come(one, event.at);
    case Kind::pause:
      ++counts_.pauses;
      one.is_paused = true;
      return;
    case Kind::go_on:
      one.is_paused = false;
      return;
    default:
      return;
  }
}

void Attendance::go(One& one) {
  one.is_here = one.is_paused = false;
  --here_;
  if (one.epoch != highest_) return;
  --in_highest_;
  has_lost_mass_ = true;
}

void Attendance::come(One& one, Time at) {
  ++(one.has_crashed ? counts_.restarts : counts_.joins);
  one.life += one.has_been_here;
  one.is_here = one.has_been_here = true;
  one.has_crashed = false;
  one.since = at;
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

void Attendance::archive(Archive& archive) {
  std::uint64_t next = next_;
  archive(next);
  if (next > plan_.events().size()) throw BadArchive("there are more events of churn than the plan has");
  next_ = static_cast<std::size_t>(next);
  for (One& one : all_) {
    archive(one.is_here), archive(one.is_paused), archive(one.has_crashed), archive(one.has_been_here);
    archive(one.life), archive(one.group), archive(one.epoch.number), archive(one.epoch.initiator);
    std::int64_t since = one.since.time_since_epoch().count();
    archive(since);
    one.since = Time{Duration{since}};
  }
  archive(here_), archive(is_cut_), archive(highest_.number), archive(highest_.initiator);
  archive(in_highest_), archive(has_lost_mass_);
  for (std::uint64_t* count : {&counts_.joins, &counts_.leaves, &counts_.crashes, &counts_.restarts, &counts_.pauses,
                               &counts_.partitions, &counts_.epochs, &counts_.lost})
    archive(*count);
}

}  // namespace rubato
