#include "runtime/protocols/push.hpp"

#include <algorithm>

namespace rubato {

StepEntry merge_entry(const Arrival& arrival, Time now, double weight) {
  return {.peer = arrival.id.sender,
          .sequence = arrival.id.sequence,
          .slot = arrival.slot,
          .incarnation = static_cast<std::uint16_t>(arrival.id.incarnation),
          .weight = weight,
          .age = now - arrival.sent,
          .place = arrival.place};
}

void discard(const Arrival& arrival, ClientId self, Time now, Effects& effects) {
  effects.step(StepKind::discard, self, now);
  effects.entry(merge_entry(arrival, now, 0));
}

Push::Push(const PushSettings& settings, ClientId self)
    : settings_{settings}, self_{self}, mailbox_{settings.limits, settings.graph->in_degree(self)} {
  if (settings.transmit_per_link) link_timers_.resize(settings.graph->out_degree(self));
}

void Push::start(Effects& effects) {
  effects.wake({compute_timer_.next(settings_.compute_law(self_), settings_.seed, self_, Purpose::compute_timer),
                Priority::compute, self_});
  const TimerLaw& law = settings_.transmit_law(self_);
  if (!law.ticks_by_itself()) return begin({}, effects);
  if (!settings_.transmit_per_link)
    effects.wake({transmit_timer_.next(law, settings_.seed, self_, Purpose::transmit_timer), Priority::transmit, self_});
  for (std::uint32_t link = 0; link < link_timers_.size(); ++link)
    effects.wake({link_timers_[link].next(law, settings_.seed, self_, Purpose::transmit_timer, link + 1),
                  Priority::transmit, self_, link});
  begin({}, effects);
}

void Push::begin(Time now, Effects& effects) {
  if (settings_.needs.fixes_model_at_start) effects.step(StepKind::begin, self_, now).index = counts_.computations;
}

void Push::on_compute(Time now, std::uint32_t, Effects& effects) {
  effects.wake({compute_timer_.next(settings_.compute_law(self_), settings_.seed, self_, Purpose::compute_timer),
                Priority::compute, self_});
  effects.step(StepKind::compute, self_, now).index = counts_.computations++;
  has_news_ = true;
  wake_coupled(now, effects);
  begin(now, effects);
}

void Push::wake_coupled(Time now, Effects& effects) {
  const TimerLaw& law = settings_.transmit_law(self_);
  if (law.kind != TimerLaw::Kind::coupled || counts_.computations % law.every != 0) return;
  for (std::uint32_t i = 0; i < law.repeat; ++i) effects.wake({now, Priority::transmit, self_, i});
}

void Push::on_transmit(Time now, std::uint32_t detail, Effects& effects) {
  const TimerLaw& law = settings_.transmit_law(self_);
  if (law.ticks_by_itself()) {
    Timer& timer = settings_.transmit_per_link ? link_timers_[detail] : transmit_timer_;
    const std::uint32_t stream = settings_.transmit_per_link ? detail + 1 : 0;
    effects.wake({timer.next(law, settings_.seed, self_, Purpose::transmit_timer, stream), Priority::transmit, self_,
                  detail});
  }
  if (has_news_ || !settings_.needs.send_only_if_computed) publish(now, detail, effects);
  ++turns_;
}

void Push::publish(Time now, std::uint32_t detail, Effects& effects) {
  const Graph& graph = *settings_.graph;
  const auto receivers = graph.receivers_of(self_);
  const std::uint32_t first_link = graph.first_link(self_);
  const auto entry = [&](std::uint32_t place) {
    const double share = settings_.share_weights.empty() ? 1 : settings_.share_weights[first_link + place];
    effects.entry({.peer = receivers[place], .sequence = sequence_, .weight = share, .place = first_link + place});
  };
  Step& step = effects.step(StepKind::publish, self_, now);
  step.index = sequence_;
  step.phase = settings_.needs.acknowledgements;
  effects.turn(turns_);
  if (settings_.needs.acknowledgements)
    effects.wake({later(now, settings_.limits.deadline), Priority::deadline, self_, sequence_});
  if (settings_.transmit_per_link) {
    entry(detail);
  } else if (settings_.active.empty()) {
    for (std::uint32_t place = 0; place < receivers.size(); ++place) entry(place);
  } else {
    for (ClientId receiver : settings_.active[self_.value][turns_])
      entry(*graph.find_link(self_, receiver) - first_link);
  }
  ++sequence_;
  ++counts_.publications;
  has_news_ = false;
}

void Push::on_acknowledged(Sequence sequence) {
  for (Retained& retained : retained_)
    if (retained.sequence == sequence) retained.is_acknowledged = true;
}

void Push::on_deadline(Time now, Sequence, Effects& effects) {
  if (retained_.empty()) return;
  const Retained oldest = retained_.front();  // deadlines come in the order of departures
  retained_.erase(retained_.begin());
  effects.step(oldest.is_acknowledged ? StepKind::discard : StepKind::reclaim, self_, now);
  effects.entry({.peer = self_, .sequence = oldest.sequence, .slot = oldest.slot});
  if (!oldest.is_acknowledged) has_news_ = true;  // what came back is to be sent again
}

Offer Push::on_arrival(const Arrival& arrival, Effects& effects) {
  const bool opens = mailbox_.batch().empty();
  const Offer offer = mailbox_.offer(arrival, settings_.limits);
  switch (offer) {
    case Offer::kept:
      ++counts_.kept;
      if (opens) effects.close_window(mailbox_.open_until(), self_);
      return offer;
    case Offer::late:
      ++counts_.late;
      break;
    case Offer::capped:
      ++counts_.capped;
      break;
  }
  discard(arrival, self_, arrival.arrived, effects);
  return offer;
}

void Push::on_window_close(Time now, Effects& effects) {
  if (mailbox_.open_until() != now) return;  // a unification has emptied the window that closes here
  if (settings_.needs.keep_newest_only)
    merge_newest(now, effects);
  else
    merge_all(now, effects);
  mailbox_.clear();
}

void Push::merge_all(Time now, Effects& effects) {
  const auto batch = mailbox_.batch();
  effects.step(StepKind::merge, self_, now);
  const double equal_share = 1.0 / static_cast<double>(batch.size());
  for (const Arrival& arrival : batch) {
    double weight = settings_.merge_weights.empty() ? 1 : settings_.merge_weights[arrival.link];
    if (settings_.needs.weights_by_batch) weight = equal_share;
    effects.entry(merge_entry(arrival, now, weight));
  }
}

void Push::merge_newest(Time now, Effects& effects) {
  sorted_.assign(mailbox_.batch().begin(), mailbox_.batch().end());
  std::sort(sorted_.begin(), sorted_.end(), [](const Arrival& a, const Arrival& b) { return a.id < b.id; });
  const auto is_superseded = [&](std::size_t i) {
    return i + 1 < sorted_.size() && sorted_[i].id.sender == sorted_[i + 1].id.sender;
  };
  effects.step(StepKind::merge, self_, now);
  for (std::size_t i = 0; i < sorted_.size(); ++i)
    if (!is_superseded(i))
      effects.entry(merge_entry(sorted_[i], now,
                                settings_.merge_weights.empty() ? 1 : settings_.merge_weights[sorted_[i].link]));
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    if (!is_superseded(i)) continue;
    discard(sorted_[i], self_, now, effects);
    ++counts_.superseded;
  }
}

void Push::on_unify(Time now, bool clears_mailbox, Effects& effects) {
  if (!clears_mailbox) return;
  for (const Arrival& arrival : mailbox_.batch()) discard(arrival, self_, now, effects);
  counts_.superseded += mailbox_.batch().size();
  mailbox_.clear();
}

}  // namespace rubato
