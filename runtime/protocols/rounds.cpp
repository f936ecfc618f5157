#include "runtime/protocols/rounds.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/protocols/round_delay.hpp"
#include "runtime/random.hpp"

namespace rubato {

namespace {

// What a wake-up at the priority of deadlines is about.
constexpr Sequence phase_begins = 0, phase_ends = 1;

std::uint32_t count_of(const RoundBoard& board) { return static_cast<std::uint32_t>(board.settings->graph->clients()); }

}  // namespace

Rounds::Rounds(RoundBoard& board, ClientId self)
    : board_{board}, self_{self}, mailbox_{board.settings->limits, board.settings->graph->in_degree(self)} {
  board_.paces.resize(board_.settings->graph->clients());
}

void Rounds::start(Effects& effects) {
  if (++board_.started == board_.paces.size()) enter_phase({}, effects);  // the last to come rings the bell
}

void Rounds::wake_everyone(Time at, Priority priority, Effects& effects) const {
  for (std::uint32_t i = 0; i < count_of(board_); ++i) effects.wake({at, priority, ClientId{i}});
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
      board_.transmitting = count_of(board_);
      return wake_everyone(now, Priority::transmit, effects);
    }
    if (phase.kind == PhaseKind::compute) {
      board_.computing = 0;
      for (std::uint32_t i = 0; i < count_of(board_); ++i) compute(ClientId{i}, now, effects);
      if (board_.jobs.is_in_force())
        effects.wake({later(now, board_.jobs.phase), Priority::deadline, self_, phase_ends});
      return;
    }
    for (std::uint32_t i = 0; i < count_of(board_); ++i) begin(ClientId{i}, now, effects);
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

void Rounds::begin(ClientId client, Time now, Effects& effects) const {
  effects.step(StepKind::begin, client, now).index = board_.paces[client.value].computations;
}

// Each computation has an address of its own, so a round may be computed again.
Duration Rounds::next_interval(ClientId client) {
  Timer timer;
  const PushSettings& settings = *board_.settings;
  const auto address = static_cast<std::uint32_t>(++board_.paces[client.value].computations);
  return timer.interval(settings.compute_law(client), settings.seed, client, Purpose::compute_timer, address);
}

void Rounds::compute(ClientId client, Time now, Effects& effects) {
  if (board_.jobs.is_in_force()) return work_on_job(client, now, effects);
  RoundBoard::Pace& pace = board_.paces[client.value];
  pace.left = board_.phase().repeat;
  const bool has_gradient = board_.settings->has_gradient(client, pace.computations);
  const Duration length = next_interval(client);
  effects.wake({has_gradient ? later(now, length) : now, Priority::compute, client});
  ++board_.computing;
}

void Rounds::work_on_job(ClientId client, Time now, Effects& effects) {
  Job& job = board_.paces[client.value].job;
  if (!job.is_begun()) {
    begin(client, now, effects);
    job.begin(next_interval(client));
  }
  if (const std::optional<Duration> done = board_.jobs.finishes.empty() ? job.work(board_.jobs.phase) : tabled(client)) {
    effects.wake({later(now, *done), Priority::compute, client});
    ++board_.computing;
  } else if (!board_.jobs.carries_on) {
    job.drop();
  }
}

std::optional<Duration> Rounds::tabled(ClientId client) {
  const JobRule& rule = board_.jobs;
  if (board_.round >= rule.finishes.size() || !rule.finishes[board_.round][client.value]) return std::nullopt;
  board_.paces[client.value].job.drop();
  return rule.phase;
}

void Rounds::on_compute(Time now, std::uint32_t, Effects& effects) {
  RoundBoard::Pace& pace = board_.paces[self_.value];
  Step& step = effects.step(StepKind::compute, self_, now);
  step.phase = board_.phase().number;
  step.with_gradient = board_.settings->has_gradient(self_, counts_.computations);
  step.index = counts_.computations++;
  has_news_ = true;
  if (step.with_gradient) add_computing_delay(self_);
  if (!board_.jobs.is_in_force() && --pace.left > 0) {
    const bool has_gradient = board_.settings->has_gradient(self_, pace.computations);
    const Duration length = next_interval(self_);
    return effects.wake({has_gradient ? later(now, length) : now, Priority::compute, self_});
  }
  --board_.computing;
  if (board_.computing == 0 && !board_.jobs.is_in_force()) leave_phase(now, effects);
}

bool Rounds::sends_now() const {
  const Needs& needs = board_.settings->needs;
  if (!needs.sends || (!has_news_ && needs.send_only_if_computed)) return false;
  if (board_.round < board_.sends.size()) return board_.sends[board_.round][self_.value];
  if (board_.send_probability >= 1) return true;
  return uniform01(draw(board_.settings->seed, self_, Purpose::indicator, board_.round).first) <
         board_.send_probability;
}

std::optional<std::uint64_t> Rounds::sends_at(const Wake& wake) const {
  if (wake.priority != Priority::transmit || !sends_now()) return std::nullopt;
  const PushSettings& settings = *board_.settings;
  const Graph& graph = *settings.graph;
  const auto hears = [&](std::uint32_t place) { return !settings.is_idle(graph.first_link(self_) + place, board_.round); };
  bool is_heard = false;
  if (settings.links.is_all())
    for (std::uint32_t place = 0; place < graph.out_degree(self_) && !is_heard; ++place) is_heard = hears(place);
  else
    for (const std::uint32_t place : settings.links.choose(graph, self_, board_.turn)) is_heard = is_heard || hears(place);
  return is_heard ? std::optional(board_.turn) : std::nullopt;
}

void Rounds::on_transmit(Time now, std::uint32_t, Effects& effects) {
  --board_.transmitting;
  if (!sends_now()) return combine_if_complete(now, effects);
  const PushSettings& settings = *board_.settings;
  const Graph& graph = *settings.graph;
  const auto receivers = graph.receivers_of(self_);
  const LinkIndex first_link = graph.first_link(self_);
  Step& step = effects.step(StepKind::publish, self_, now);
  step.index = sequence_;
  step.phase = board_.phase().number;
  effects.turn(board_.turn);
  const auto entry = [&](std::uint32_t place) {
    const LinkIndex link = first_link + place;
    if (settings.is_idle(link, board_.round)) return;
    effects.entry({.peer = receivers[place],
                   .sequence = sequence_,
                   .weight = settings.share_weight(link, board_.round),
                   .place = link});
    add_link_delay(receivers[place], link);
  };
  if (settings.links.is_all())
    for (std::uint32_t place = 0; place < receivers.size(); ++place) entry(place);
  else
    for (const std::uint32_t place : settings.links.choose(graph, self_, board_.turn)) entry(place);
  ++sequence_;
  ++counts_.publications;
  has_news_ = false;
}

void Rounds::on_departed(std::size_t under_way, Time now, Effects& effects) {
  board_.under_way += under_way;
  combine_if_complete(now, effects);
}

void Rounds::combine_if_complete(Time now, Effects& effects) {
  if (board_.transmitting > 0 || board_.under_way > 0) return;
  board_.combining = count_of(board_);
  for (std::uint32_t i = 0; i < count_of(board_); ++i) effects.close_window(now, ClientId{i});
}

Offer Rounds::on_arrival(const Arrival& arrival, Effects& effects) {
  --board_.under_way;
  const bool is_late = arrival.arrived - arrival.sent > board_.settings->limits.deadline;
  if (is_late) {
    ++counts_.late;
    discard(arrival, self_, arrival.arrived, effects);
  } else {
    ++counts_.kept;  // until the exchange is absorbed and tokens run out
    arrived_.push_back(arrival);
  }
  combine_if_complete(arrival.arrived, effects);
  return is_late ? Offer::late : Offer::kept;
}

void Rounds::absorb(Time now, Effects& effects) {
  std::sort(arrived_.begin(), arrived_.end(), [](const Arrival& a, const Arrival& b) { return a.id < b.id; });
  for (std::size_t i = 0; i < arrived_.size(); ++i) {
    const bool is_duplicate = i > 0 && arrived_[i].id == arrived_[i - 1].id;
    if (!is_duplicate && mailbox_.offer(arrived_[i], board_.settings->limits) == Offer::kept) continue;
    --counts_.kept;
    ++(is_duplicate ? counts_.duplicates : counts_.capped);
    discard(arrived_[i], self_, now, effects);
  }
  arrived_.clear();
}

void Rounds::on_window_close(Time now, Effects& effects) {
  absorb(now, effects);
  const auto batch = mailbox_.batch();
  const PushSettings& settings = *board_.settings;
  effects.step(StepKind::merge, self_, now).phase = board_.phase().number;
  const double equal_share = 1.0 / static_cast<double>(std::max<std::size_t>(batch.size(), 1));
  for (const Arrival& arrival : batch) {
    const double by_link = settings.merge_weight(arrival.link, board_.round);
    effects.entry(merge_entry(arrival, now, settings.needs.weights_by_batch ? equal_share : by_link));
  }
  mailbox_.clear();
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
  const std::vector<double>& chances = board_.settings->chances.computes;
  if (chances.empty() || board_.is_opening) return;
  board_.delay += computing_delay(chances[client.value], count_of(board_));
}

void Rounds::add_link_delay(ClientId receiver, LinkIndex link) {
  const std::vector<double>& chances = board_.settings->chances.links;
  if (chances.empty() || board_.is_opening) return;
  const LinkDelay delay = link_delay(*board_.settings->graph, {self_, receiver}, chances[link]);
  board_.delay += delay.in + delay.out;
}

}  // namespace rubato
