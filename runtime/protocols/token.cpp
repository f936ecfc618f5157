#include "runtime/protocols/token.hpp"

#include <algorithm>

#include "runtime/random.hpp"

namespace rubato {

std::uint32_t TokenBoard::streams() const {
  const PhaseList& list = settings->needs.program.round;
  std::uint32_t exchanges = 0;
  for (std::size_t i = 0; i < list.size(); ++i) exchanges += list[i].kind == PhaseKind::exchange;
  return exchanges;
}

ClientId TokenBoard::first_holder(std::uint32_t stream) const {
  if (stream < visits.size() && !visits[stream].empty()) return visits[stream].front();
  return {stream % static_cast<std::uint32_t>(settings->graph->clients())};
}

Token::Token(TokenBoard& board, ClientId self)
    : board_{board}, self_{self}, seen_(board.streams()), mailbox_{board.settings->limits, 0} {
  board_.incarnations.resize(board_.streams());
  board_.hops.resize(board_.streams());
  if (board_.settings->may_duplicate) filters_.resize(board_.settings->graph->in_degree(self));
}

void Token::start(Effects& effects) {
  const PushSettings& settings = *board_.settings;
  effects.wake({compute_timer_.next(settings.compute_law(self_), settings.seed, self_, Purpose::compute_timer),
                Priority::compute, self_});
  const TimerLaw& law = settings.transmit_law(self_);
  if (law.ticks_by_itself())
    effects.wake({transmit_timer_.next(law, settings.seed, self_, Purpose::transmit_timer), Priority::transmit, self_});
  for (std::uint32_t stream = 0; stream < board_.streams(); ++stream) {
    if (board_.first_holder(stream) != self_) continue;
    held_.push_back({stream, 0, true});
    seen_[stream] = 1;
  }
}

void Token::on_compute(Time now, std::uint32_t, Effects& effects) {
  const PushSettings& settings = *board_.settings;
  effects.wake({compute_timer_.next(settings.compute_law(self_), settings.seed, self_, Purpose::compute_timer),
                Priority::compute, self_});
  effects.step(StepKind::compute, self_, now).index = counts_.computations++;
  const TimerLaw& law = settings.transmit_law(self_);
  if (law.kind == TimerLaw::Kind::coupled && counts_.computations % law.every == 0)
    effects.wake({now, Priority::transmit, self_});
}

void Token::on_transmit(Time now, std::uint32_t, Effects& effects) {
  const PushSettings& settings = *board_.settings;
  const TimerLaw& law = settings.transmit_law(self_);
  if (law.ticks_by_itself())
    effects.wake({transmit_timer_.next(law, settings.seed, self_, Purpose::transmit_timer), Priority::transmit, self_});
  for (Held& held : held_) {
    if (held.is_fresh) effects.step(StepKind::merge, self_, now).phase = static_cast<std::uint8_t>(held.stream);
    held.is_fresh = false;
  }
  if (settings.graph->out_degree(self_) == 0) return;  // nobody to give it to
  for (const Held& held : held_) send(held.stream, held.incarnation, now, effects);
  held_.clear();
}

std::optional<std::uint64_t> Token::sends_at(const Wake& wake) const {
  const bool sends = wake.priority == Priority::transmit && !held_.empty() && board_.settings->graph->out_degree(self_) > 0;
  return sends ? std::optional<std::uint64_t>(sequence_) : std::nullopt;
}

ClientId Token::next_holder(std::uint32_t stream) const {
  const Graph& graph = *board_.settings->graph;
  if (stream < board_.visits.size()) {
    const std::vector<ClientId>& visits = board_.visits[stream];
    const std::size_t next = board_.hops[stream] + 1;
    if (next < visits.size() && graph.find_link(self_, visits[next])) return visits[next];
  }
  const auto receivers = graph.receivers_of(self_);
  Stream draws(board_.settings->seed, self_, Purpose::neighbours, sequence_ + 1);
  return receivers[draws.below(receivers.size())];
}

void Token::send(std::uint32_t stream, std::uint32_t incarnation, Time now, Effects& effects) {
  const ClientId receiver = next_holder(stream);
  Step& step = effects.step(StepKind::publish, self_, now);
  step.index = sequence_;
  step.phase = static_cast<std::uint8_t>(stream);
  effects.turn(sequence_);
  effects.tag(tag_of(stream, incarnation));
  const LinkIndex link = *board_.settings->graph->find_link(self_, receiver);
  effects.entry({.peer = receiver, .sequence = sequence_, .place = link});
  if (has_deadline()) {
    pending_.push_back({sequence_, stream, incarnation});
    effects.wake({later(now, board_.settings->limits.deadline), Priority::deadline, self_, sequence_});
  }
  ++sequence_;
  ++counts_.publications;
}

void Token::on_request(Time, ClientId, std::uint32_t sequence, Effects&) {
  std::erase_if(pending_, [&](const Pending& pending) { return pending.sequence == sequence; });
}

void Token::on_deadline(Time now, Sequence sequence, Effects& effects) {
  const auto found = std::ranges::find(pending_, sequence, &Pending::sequence);
  if (found == pending_.end()) return;  // acknowledged
  const Pending lost = *found;
  pending_.erase(found);
  if (seen_[lost.stream] > lost.incarnation + 1) return;  // somebody else has created it again
  const std::uint32_t incarnation = ++board_.incarnations[lost.stream];
  seen_[lost.stream] = incarnation + 1;
  send(lost.stream, incarnation, now, effects);
}

bool Token::is_duplicate(const Arrival& arrival) {
  if (filters_.empty()) return false;
  const auto senders = board_.settings->graph->senders_to(self_);
  const auto place = std::ranges::lower_bound(senders, arrival.id.sender) - senders.begin();
  return filters_[static_cast<std::size_t>(place)].add(arrival.id.sequence) != DuplicateFilter::Verdict::fresh;
}

Offer Token::judge(const Arrival& arrival) {
  if (is_duplicate(arrival)) return Offer::duplicate;
  if (arrival.arrived - arrival.sent > board_.settings->limits.deadline) return Offer::late;
  const bool is_old = arrival.tag / TokenBoard::most_streams + 1 < seen_[arrival.tag % TokenBoard::most_streams];
  return is_old ? Offer::superseded : Offer::kept;
}

void Token::hold(std::uint32_t stream, std::uint32_t incarnation) {
  seen_[stream] = incarnation + 1;
  std::erase_if(held_, [&](const Held& held) { return held.stream == stream; });
  // What this client sent before lives on in this token, or in vain.
  std::erase_if(pending_, [&](const Pending& pending) { return pending.stream == stream; });
  held_.push_back({stream, incarnation, false});
}

Offer Token::on_arrival(const Arrival& arrival, Effects& effects) {
  const Offer offer = judge(arrival);
  // Who brings an old incarnation may forget it as well.
  if (has_deadline() && offer != Offer::late && offer != Offer::duplicate)
    effects.request(self_, arrival.id.sender, arrival.id.sequence);
  if (offer == Offer::kept) {
    ++counts_.kept;
    const std::uint32_t stream = arrival.tag % TokenBoard::most_streams;
    hold(stream, arrival.tag / TokenBoard::most_streams);
    ++board_.hops[stream];
    arrived_.push_back(arrival);
    effects.close_window(arrival.arrived, self_);
    return offer;
  }
  ++(offer == Offer::late ? counts_.late : offer == Offer::duplicate ? counts_.duplicates : counts_.superseded);
  discard(arrival, self_, arrival.arrived, effects);
  return offer;
}

void Token::on_window_close(Time now, Effects& effects) {
  for (const Arrival& arrival : arrived_) {
    effects.step(StepKind::merge, self_, now).phase = static_cast<std::uint8_t>(arrival.tag % TokenBoard::most_streams);
    effects.entry(merge_entry(arrival, now, board_.settings->merge_weight(arrival.link)));
  }
  arrived_.clear();
}

}  // namespace rubato
