#include "runtime/protocols/rounds.hpp"

#include <stdexcept>

namespace rubato {

// What a wake-up at the priority of deadlines is about.
constexpr Sequence phase_begins = 0, phase_ends = 1;

Rounds::Rounds(RoundBoard& board, ClientId self) : RoundClient(board, self), board_{board} { board_.paces.resize(clients()); }

void Rounds::start(Effects& effects) {
  if (++board_.started == board_.paces.size()) enter_phase({}, effects);  // the last to come rings the bell
}

void Rounds::enter_phase(Time now, Effects& effects) {
  std::uint64_t without_anything = 0;
  while (true) {
    if (board_.stage == board_.list().size()) {
      if (finish_list(now, effects)) return;  // goes on at the same instant, behind the unification
      if (++without_anything > 100'000) throw std::logic_error("the program of a round has no phase that ever happens");
    }
    if (board_.list().size() == 0 || !board_.phase().happens_in(board_.round)) {
      board_.stage += board_.list().size() > 0;
      continue;
    }
    const Phase& phase = board_.phase();
    if (phase.kind == PhaseKind::exchange) {
      board_.transmitting = clients();
      for (std::uint32_t i = 0; i < clients(); ++i) effects.wake({now, Priority::transmit, ClientId{i}});
      return;
    }
    if (phase.kind == PhaseKind::compute) return compute_all(now, effects);
    for (std::uint32_t i = 0; i < clients(); ++i) board_.paces[i].begin(ClientId{i}, now, effects);
    ++board_.stage;
  }
}

void Rounds::leave_phase(Time now, Effects& effects) {
  ++board_.stage;
  enter_phase(now, effects);
}

// True if something else happens at this instant before the next round can begin.
bool Rounds::finish_list(Time now, Effects& effects) {
  board_.stage = 0;
  if (board_.is_opening) {
    board_.is_opening = false;
    effects.round_is_over(0);
    return false;
  }
  ++board_.round;
  effects.round_is_over(board_.round);
  const bool refills = wake_every(board_.refill_every, Priority::period, now, effects);
  const bool unifies = wake_every(board_.unify_every, Priority::unify, now, effects);
  if (!refills && !unifies) return false;
  effects.wake({now, Priority::deadline, self_, phase_begins});
  return true;
}

void Rounds::on_deadline(Time now, Sequence detail, Effects& effects) {
  if (detail == phase_begins)
    enter_phase(now, effects);
  else
    leave_phase(now, effects);
}

void Rounds::compute_all(Time now, Effects& effects) {
  board_.computing = 0;
  const bool has_jobs = board_.jobs.is_in_force();
  for (std::uint32_t i = 0; i < clients(); ++i) {
    const ClientId client{i};
    RoundPace& pace = board_.paces[i];
    pace.left = board_.phase().repeat;
    const std::optional<Duration> length =
        has_jobs ? pace.work(board_, client, board_.round, now, effects) : std::optional(pace.next_length(settings_, client));
    if (!length) continue;  // a straggler
    effects.wake({later(now, *length), Priority::compute, client});
    ++board_.computing;
  }
  if (has_jobs) effects.wake({later(now, board_.jobs.phase), Priority::deadline, self_, phase_ends});
}

void Rounds::on_compute(Time now, std::uint32_t, Effects& effects) {
  if (compute(board_.phase().number, now, effects).with_gradient) add_computing_delay(self_);
  RoundPace& pace = board_.paces[self_.value];
  if (!board_.jobs.is_in_force() && --pace.left > 0)
    return effects.wake({later(now, pace.next_length(settings_, self_)), Priority::compute, self_});
  --board_.computing;
  if (board_.computing == 0 && !board_.jobs.is_in_force()) leave_phase(now, effects);
}

std::optional<std::uint64_t> Rounds::sends_at(const Wake& wake) const {
  if (wake.priority != Priority::transmit || !sends_in(board_.round)) return std::nullopt;
  bool is_heard = false;
  settings_.each_link_used(self_, board_.turn, board_.round, [&](std::uint32_t) { is_heard = true; });
  return is_heard ? std::optional(board_.turn) : std::nullopt;
}

void Rounds::on_transmit(Time now, std::uint32_t, Effects& effects) {
  --board_.transmitting;
  if (!sends_in(board_.round)) return combine_if_complete(now, effects);
  publish(exchange(), now, effects, [&](ClientId receiver, LinkIndex link) {
    if (!is_told(receiver, exchange())) return false;
    add_link_delay(receiver, link);
    return true;
  });
}

void Rounds::on_departed(std::size_t under_way, Time now, Effects& effects) {
  board_.under_way += under_way;
  combine_if_complete(now, effects);
}

void Rounds::combine_if_complete(Time now, Effects& effects) {
  if (board_.transmitting > 0 || board_.under_way > 0) return;
  board_.combining = clients();
  for (std::uint32_t i = 0; i < clients(); ++i) effects.close_window(now, ClientId{i});
}

Offer Rounds::on_arrival(const Arrival& arrival, Effects& effects) {
  --board_.under_way;
  const Offer offer = is_too_old(arrival) ? Offer::late : Offer::kept;  // until the exchange is absorbed and tokens run out
  if (admit(offer, arrival, effects)) arrived_.push_back(arrival);
  combine_if_complete(arrival.arrived, effects);
  return offer;
}

void Rounds::on_window_close(Time now, Effects& effects) {
  absorb(arrived_, exchange(), now, effects);
  if (--board_.combining > 0) return;
  ++board_.turn;
  leave_phase(now, effects);
}

bool Rounds::wake_every(std::uint64_t rounds, Priority what, Time now, Effects& effects) const {
  if (rounds == 0 || board_.round % rounds != 0) return false;
  effects.wake({now, what, ClientId{0}, static_cast<std::uint32_t>(board_.round / rounds)});
  return true;
}

void Rounds::add_computing_delay(ClientId client) {
  const std::vector<double>& chances = settings_.chances.computes;
  if (chances.empty() || board_.is_opening) return;
  board_.delay += computing_delay(chances[client.value], clients());
}

void Rounds::add_link_delay(ClientId receiver, LinkIndex link) {
  const std::vector<double>& chances = settings_.chances.links;
  if (chances.empty() || board_.is_opening) return;
  const LinkDelay delay = link_delay(*settings_.graph, {self_, receiver}, chances[link]);
  board_.delay += delay.in + delay.out;
}

}  // namespace rubato
