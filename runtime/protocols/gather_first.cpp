#include "runtime/protocols/gather_first.hpp"

#include "runtime/random.hpp"

namespace rubato {

ClientId GatherSettings::leader_of(std::uint32_t turn) const {
  if (turn < leaders.size()) return leaders[turn];
  const auto clients = static_cast<std::uint32_t>(push->graph->clients());
  if (!draws_leaders) return {static_cast<std::uint32_t>((std::uint64_t{first_leader.value} + turn) % clients)};
  Stream stream(push->seed, no_client, Purpose::hub, turn + 1);
  return {static_cast<std::uint32_t>(stream.below(clients))};
}

GatherFirst::GatherFirst(GatherBoard& board, ClientId self) : ClientProtocol(*board.settings.push, self), board_{board} {}

void GatherFirst::start(Effects& effects) {
  if (++board_.started < clients()) return;  // the last to come rings the bell
  effects.round_is_over(0);
  enter_turn({}, effects);
}

void GatherFirst::enter_turn(Time now, Effects& effects) {
  board_.leader = board_.settings.leader_of(board_.turn);
  board_.stage = GatherBoard::RunControl::gathering;
  board_.missing = clients() - 1;
  board_.computing = 0;
  board_.is_awaited.assign(clients(), true);
  for (std::uint32_t i = 0; i < clients(); ++i) effects.wake({now, Priority::transmit, ClientId{i}, board_.turn});
}

void GatherFirst::on_transmit(Time now, std::uint32_t, Effects& effects) {
  if (!is_leader()) return publish(GatherSettings::to_leader, {&board_.leader, 1}, tag_of(GatherSettings::to_leader), now, effects);
  if (board_.missing == 0) return effects.close_window(now, self_);
  await_until_deadline(GatherSettings::to_leader, now, effects);
}

std::optional<std::uint64_t> GatherFirst::sends_at(const Wake& wake) const {
  const bool hands_in = wake.priority == Priority::transmit && !is_leader();
  return hands_in ? std::optional<std::uint64_t>(sequence_) : std::nullopt;
}

void GatherFirst::hand_out(Time now, Effects& effects) {
  board_.stage = GatherBoard::RunControl::scattering;
  board_.missing = clients() - 1;
  board_.computing = 1;
  others_.clear();
  for (std::uint32_t i = 0; i < clients(); ++i)
    if (ClientId{i} != self_) others_.push_back(ClientId{i});
  begin_job(now, effects);
  if (others_.empty()) {
    board_.stage = GatherBoard::RunControl::working;
    return;
  }
  publish(GatherSettings::to_all, others_, tag_of(GatherSettings::to_all), now, effects);
  await_until_deadline(GatherSettings::to_all, now, effects);
}

void GatherFirst::await_until_deadline(std::uint8_t phase, Time now, Effects& effects) {
  if (has_deadline()) effects.wake({later(now, settings_.limits.deadline), Priority::deadline, self_, tag_of(phase)});
}

void GatherFirst::begin_job(Time now, Effects& effects) {
  job_ = board_.turn;
  effects.wake({later(now, length_of_job(settings_, self_, board_.turn)), Priority::compute, self_, board_.turn});
}

void GatherFirst::on_compute(Time now, std::uint32_t detail, Effects& effects) {
  if (job_ != detail) return;  // the turn is over
  compute(now, effects);
  job_.reset();
  --board_.computing;
  if (board_.computing == 0 && board_.stage == GatherBoard::RunControl::working) end_round(now, effects);
}

Offer GatherFirst::judge(const Arrival& arrival, std::uint8_t phase) const {
  const auto stage = phase == GatherSettings::to_leader ? GatherBoard::RunControl::gathering : GatherBoard::RunControl::scattering;
  if (arrival.tag != tag_of(phase) || board_.stage != stage) return Offer::late;
  if (phase == GatherSettings::to_leader) return board_.is_awaited[arrival.id.sender.value] ? Offer::kept : Offer::duplicate;
  return heard_ == board_.turn ? Offer::duplicate : Offer::kept;
}

void GatherFirst::accept(const Arrival& arrival, std::uint8_t phase, Effects& effects) {
  arrived_.push_back(arrival);
  if (phase == GatherSettings::to_leader) {
    board_.is_awaited[arrival.id.sender.value] = false;
    if (--board_.missing > 0) return;
  } else {
    heard_ = board_.turn;
    ++board_.computing;
    if (--board_.missing == 0) board_.stage = GatherBoard::RunControl::working;
  }
  effects.close_window(arrival.arrived, self_);
}

Offer GatherFirst::on_arrival(const Arrival& arrival, Effects& effects) {
  const auto phase = static_cast<std::uint8_t>(arrival.tag % 2);
  const Offer offer = judge(arrival, phase);
  if (admit(offer, arrival, effects)) accept(arrival, phase, effects);
  return offer;
}

void GatherFirst::on_window_close(Time now, Effects& effects) {
  const std::uint8_t phase = is_leader() ? GatherSettings::to_leader : GatherSettings::to_all;
  merge(arrived_, phase, board_.round, now, effects).index = board_.round;
  is_leader() ? hand_out(now, effects) : begin_job(now, effects);
}

void GatherFirst::on_deadline(Time now, Sequence detail, Effects& effects) {
  using RunControl = GatherBoard::RunControl;
  if (detail == tag_of(GatherSettings::to_leader) && board_.stage == RunControl::gathering) return effects.close_window(now, self_);
  if (detail != tag_of(GatherSettings::to_all) || board_.stage != RunControl::scattering) return;
  if (board_.missing < clients() - 1) {
    board_.stage = RunControl::working;
    if (board_.computing == 0) end_round(now, effects);
    return;
  }
  job_.reset();
  ++board_.turn;
  enter_turn(now, effects);
}

void GatherFirst::end_round(Time now, Effects& effects) {
  effects.round_is_over(++board_.round);
  ++board_.turn;
  enter_turn(now, effects);
}

}  // namespace rubato
