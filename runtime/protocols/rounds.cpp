#include "runtime/protocols/rounds.hpp"

#include <algorithm>

namespace rubato {

Rounds::Rounds(RoundBoard& board, ClientId self)
    : board_{board}, self_{self}, mailbox_{board.settings->limits, board.settings->graph->in_degree(self)} {
  ++board_.computing;
}

void Rounds::start(Effects& effects) {
  Timer timer;  // each round has an address of its own, so a round may be computed again
  const Duration length = timer.interval(board_.settings->compute_law(self_), board_.settings->seed, self_,
                                         Purpose::compute_timer, static_cast<std::uint32_t>(board_.round + 1));
  effects.wake({later(Time{}, length), Priority::compute, self_});
}

void Rounds::wake_everyone(Time at, Priority priority, Effects& effects) const {
  for (std::uint32_t i = 0; i < board_.settings->graph->clients(); ++i) effects.wake({at, priority, ClientId{i}});
}

void Rounds::on_compute(Time now, std::uint32_t, Effects& effects) {
  effects.step(StepKind::compute, self_, now).index = counts_.computations++;
  has_news_ = true;
  if (--board_.computing > 0) return;
  board_.transmitting = board_.settings->graph->clients();
  wake_everyone(now, Priority::transmit, effects);
}

bool Rounds::sends_now() const {
  if (!has_news_ && board_.settings->needs.send_only_if_computed) return false;
  if (board_.round < board_.sends.size()) return board_.sends[board_.round][self_.value];
  if (board_.send_probability >= 1) return true;
  return uniform01(draw(board_.settings->seed, self_, Purpose::indicator, board_.round).first) <
         board_.send_probability;
}

void Rounds::on_transmit(Time now, std::uint32_t, Effects& effects) {
  --board_.transmitting;
  if (!sends_now()) return combine_if_complete(now, effects);
  const Graph& graph = *board_.settings->graph;
  effects.step(StepKind::publish, self_, now).index = sequence_;
  effects.turn(board_.round);
  const auto receivers = graph.receivers_of(self_);
  for (std::uint32_t place = 0; place < receivers.size(); ++place)
    effects.entry({.peer = receivers[place], .sequence = sequence_, .place = graph.first_link(self_) + place});
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
  board_.combining = board_.settings->graph->clients();
  for (std::uint32_t i = 0; i < board_.combining; ++i) effects.close_window(now, ClientId{i});
}

Offer Rounds::on_arrival(const Arrival& arrival, Effects& effects) {
  --board_.under_way;
  const bool is_late = arrival.arrived - arrival.sent > board_.settings->limits.deadline;
  if (is_late) {
    ++counts_.late;
    discard(arrival, self_, arrival.arrived, effects);
  } else {
    ++counts_.kept;  // until the round is absorbed and tokens run out
    arrived_.push_back(arrival);
  }
  combine_if_complete(arrival.arrived, effects);
  return is_late ? Offer::late : Offer::kept;
}

void Rounds::absorb(std::vector<Arrival>& arrived, Time now, Effects& effects) {
  std::sort(arrived.begin(), arrived.end(), [](const Arrival& a, const Arrival& b) { return a.id < b.id; });
  for (const Arrival& arrival : arrived) {
    if (mailbox_.offer(arrival, board_.settings->limits) == Offer::kept) continue;
    --counts_.kept;
    ++counts_.capped;
    discard(arrival, self_, now, effects);
  }
  arrived.clear();
}

void Rounds::on_window_close(Time now, Effects& effects) {
  absorb(arrived_, now, effects);
  const auto batch = mailbox_.batch();
  if (!batch.empty()) {
    effects.step(StepKind::merge, self_, now);
    const auto& weights = board_.settings->merge_weights;
    const double equal_share = 1.0 / static_cast<double>(batch.size());
    for (const Arrival& arrival : batch) {
      const double by_link = weights.empty() ? 1 : weights[arrival.link];
      effects.entry(merge_entry(arrival, now, board_.settings->needs.weights_by_batch ? equal_share : by_link));
    }
    mailbox_.clear();
  }
  if (--board_.combining == 0) finish_round(now, effects);
}

void Rounds::wake_every(std::uint64_t rounds, Priority what, Time now, Effects& effects) const {
  if (rounds > 0 && board_.round % rounds == 0)
    effects.wake({now, what, ClientId{0}, static_cast<std::uint32_t>(board_.round / rounds)});
}

void Rounds::finish_round(Time now, Effects& effects) {
  ++board_.round;
  wake_every(board_.refill_every, Priority::period, now, effects);
  wake_every(board_.unify_every, Priority::unify, now, effects);
  const auto& settings = *board_.settings;
  board_.computing = settings.graph->clients();
  for (std::uint32_t i = 0; i < board_.computing; ++i) {
    Timer timer;
    const Duration length = timer.interval(settings.compute_law(ClientId{i}), settings.seed, ClientId{i},
                                           Purpose::compute_timer, static_cast<std::uint32_t>(board_.round + 1));
    effects.wake({later(now, length), Priority::compute, ClientId{i}});
  }
}

void Rounds::on_unify(Time, bool, Effects&) {}

}  // namespace rubato
