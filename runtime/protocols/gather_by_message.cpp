#include "runtime/protocols/gather_by_message.hpp"

#include <algorithm>
#include <iterator>

namespace rubato {

constexpr std::uint8_t to_leader = GatherSettings::to_leader, to_all = GatherSettings::to_all;
constexpr std::uint32_t furthest_turn = 1u << 29;  // no client can be lured to the end of the numbers
constexpr int leader_waits = 1;                    // deadlines, for models
constexpr int others_wait = 3;                     // for the leader, which may have begun later, and its answer

GatherByMessage::GatherByMessage(const GatherSettings& rules, ClientId self) : ClientProtocol(*rules.push, self), rules_{rules} {}

void GatherByMessage::on_leave(Time now, Effects& effects) {
  give_up(arrived_, now, effects);
  stage_ = RunControl::away;
}

void GatherByMessage::on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) {
  absent_.set(neighbour, is_here);
  if (is_here || stage_ != RunControl::waiting) return;
  // A client that has gone is not waited for.
  if (rules_.leader_of(turn_) == neighbour) return enter_next(now, later(now, slowest_job()), effects);
  if (leads() && has_all()) close(now, effects);
}

void GatherByMessage::archive(Archive& archive) {
  Protocol::archive(archive);
  archive(sequence_), archive(turn_);
}

void GatherByMessage::enter(std::uint32_t turn, Time now, Time others_work_until, Effects& effects) {
  turn_ = turn;
  for (std::uint32_t i = 0; i < clients() && !leads() && !is_here(rules_.leader_of(turn_)); ++i) ++turn_;
  effects.round_is_over(turn_);
  stage_ = RunControl::waiting;
  others_work_until_ = std::max(now, others_work_until);
  forget_older(now, effects);
  effects.wake({now, Priority::transmit, self_, turn_});
}

// The next turn, or the highest one that others have handed in to.
void GatherByMessage::enter_next(Time now, Time others_work_until, Effects& effects) {
  std::uint32_t next = turn_ + 1;
  for (const Arrival& arrival : arrived_) next = std::max(next, arrival.tag / 2);
  enter(next, now, others_work_until, effects);
}

void GatherByMessage::on_transmit(Time now, std::uint32_t turn, Effects& effects) {
  if (turn != turn_ || stage_ != RunControl::waiting) return;
  if (leads()) {
    await(to_leader, leader_waits, effects);
    if (has_all()) close(now, effects);
    return;
  }
  const ClientId leader = rules_.leader_of(turn_);
  publish(to_leader, {&leader, 1}, 2 * turn_ + to_leader, now, effects);
  await(to_all, others_wait, effects);
}

void GatherByMessage::await(std::uint8_t phase, int deadlines, Effects& effects) {
  if (!has_deadline()) return;
  Time until = others_work_until_;
  for (int i = 0; i < deadlines; ++i) until = later(until, settings_.limits.deadline);
  effects.wake({until, Priority::deadline, self_, 2 * turn_ + phase});
}

bool GatherByMessage::has_all() const {
  const auto handed_in = std::ranges::count_if(
      arrived_, [&](const Arrival& arrival) { return arrival.tag == 2 * turn_ + to_leader && is_here(arrival.id.sender); });
  return static_cast<std::size_t>(handed_in) + absent_.size() + 1 >= clients();
}

void GatherByMessage::close(Time now, Effects& effects) {
  stage_ = RunControl::closing;
  effects.close_window(now, self_);
}

void GatherByMessage::on_deadline(Time now, Sequence detail, Effects& effects) {
  if (stage_ != RunControl::waiting || detail / 2 != turn_) return;
  if (detail % 2 == to_leader) return close(now, effects);
  // Clients that have heard the leader work by now.
  enter_next(now, later(now, slowest_job()), effects);
}

Offer GatherByMessage::judge(const Arrival& arrival) const {
  const std::uint32_t turn = arrival.tag / 2;
  const ClientId leader = rules_.leader_of(turn);
  const bool is_answer = arrival.tag % 2 == to_all;
  if (leader != (is_answer ? arrival.id.sender : self_) || turn < turn_ || turn > furthest_turn) return Offer::late;
  if (is_too_old(arrival)) return Offer::late;
  const bool is_over = stage_ == RunControl::closing || stage_ == RunControl::working;
  if (turn == turn_ && is_over) return is_answer ? Offer::duplicate : Offer::late;
  for (const Arrival& other : arrived_) {
    if (other.id.sender != arrival.id.sender) continue;
    if (other.tag == arrival.tag) return Offer::duplicate;
    if (turn > turn_ && other.tag > arrival.tag) return Offer::late;
  }
  return Offer::kept;
}

Offer GatherByMessage::on_arrival(const Arrival& arrival, Effects& effects) {
  const Offer offer = judge(arrival);
  if (!admit(offer, arrival, effects)) return offer;
  // Of the models that one client has sent for later turns only the newest waits.
  const auto is_superseded = [&](const Arrival& one) {
    return one.id.sender == arrival.id.sender && one.tag / 2 > turn_ && one.tag < arrival.tag;
  };
  give_up_if(arrived_, is_superseded, arrival.arrived, effects);
  arrived_.push_back(arrival);
  if (arrival.tag % 2 == to_all) {
    turn_ = arrival.tag / 2;
    forget_older(arrival.arrived, effects);
    close(arrival.arrived, effects);
  } else if (arrival.tag / 2 == turn_ && stage_ == RunControl::waiting && has_all()) {
    close(arrival.arrived, effects);
  }
  return offer;
}

// What waits here of turns that are over.
void GatherByMessage::forget_older(Time now, Effects& effects) {
  give_up_if(
      arrived_, [this](const Arrival& arrival) { return arrival.tag / 2 < turn_; }, now, effects);
}

void GatherByMessage::on_window_close(Time now, Effects& effects) {
  if (stage_ != RunControl::closing) return;  // two answers at one instant
  merge_turn(leads() ? to_leader : to_all, now, effects);
  if (leads()) publish_to_all(now, effects);
  stage_ = RunControl::working;
  began_ = now;
  effects.wake({later(now, length_of_job(settings_, self_, turn_)), Priority::compute, self_, turn_});
}

void GatherByMessage::merge_turn(std::uint8_t phase, Time now, Effects& effects) {
  const auto is_due = [&](const Arrival& arrival) { return arrival.tag == 2 * turn_ + phase; };
  std::vector<Arrival> due;
  std::ranges::copy_if(arrived_, std::back_inserter(due), is_due);
  std::erase_if(arrived_, is_due);
  merge(due, phase, turn_, now, effects).index = turn_;
}

void GatherByMessage::publish_to_all(Time now, Effects& effects) {
  others_.clear();
  for (std::uint32_t i = 0; i < clients(); ++i)
    if (ClientId{i} != self_ && is_here({i})) others_.push_back({i});
  if (!others_.empty()) publish(to_all, others_, 2 * turn_ + to_all, now, effects);
}

Duration GatherByMessage::slowest_job() const {
  Duration slowest{};
  for (std::uint32_t i = 0; i < clients(); ++i)
    if (is_here({i})) slowest = std::max(slowest, length_of_job(settings_, {i}, turn_));
  return slowest;
}

void GatherByMessage::on_compute(Time now, std::uint32_t turn, Effects& effects) {
  if (stage_ != RunControl::working || turn != turn_) return;  // overtaken
  compute(now, effects);
  enter_next(now, later(began_, slowest_job()), effects);
}

}  // namespace rubato
