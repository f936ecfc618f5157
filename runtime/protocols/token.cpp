#include "runtime/protocols/token.hpp"

#include <algorithm>

#include "runtime/random.hpp"

namespace rubato {

namespace {

static_assert(PhaseList::most <= Token::most_streams);

std::uint32_t tag_of(std::uint32_t stream, std::uint32_t incarnation) { return incarnation * Token::most_streams + stream; }
std::uint32_t stream_of(const Arrival& arrival) { return arrival.tag % Token::most_streams; }
std::uint32_t incarnation_of(const Arrival& arrival) { return arrival.tag / Token::most_streams; }

}  // namespace

std::uint32_t Token::streams(const ClientSettings& settings) {
  const PhaseList& list = settings.needs.program.round;
  std::uint32_t exchanges = 0;
  for (std::size_t i = 0; i < list.size(); ++i) exchanges += list[i].kind == PhaseKind::exchange;
  return exchanges;
}

Token::Token(const ClientSettings& settings, ClientId self) : TickingProtocol(settings, self), known_(streams(settings)) {
  if (settings.may_duplicate) filters_.resize(settings.graph->in_degree(self));
}

void Token::start(Effects& effects) {
  wake_compute(effects);
  wake_transmit(effects);
  for (std::uint32_t stream = 0; stream < known_.size(); ++stream) {
    if (first_holder(stream) != self_) continue;
    held_.push_back({stream, 0, true});
    known_[stream].next = 1;
  }
}

// Whatever it held may be elsewhere by now: it waits for the tokens to come.
void Token::resume(Time now, Effects& effects) {
  skip_timers_to(now);
  may_be_gone_ = true;
  for (Known& known : known_) known.at = now, known.ticks = 0;
  wake_compute(effects);
  wake_transmit(effects);
}

void Token::on_leave(Time now, Effects& effects) {
  give_up(arrived_, now, effects);
  held_.clear();
  pending_.clear();
}

void Token::on_presence(ClientId neighbour, bool is_here, Time, Effects&) {
  may_be_gone_ = true;  // a neighbour that is here again has begun a new life
  absent_.set(neighbour, is_here);
}

void Token::on_new_life(ClientId sender) {
  if (!filters_.empty()) filters_[place_of(sender)] = {};
}

void Token::archive(Archive& archive) {
  Protocol::archive(archive);
  archive(sequence_);
  archive_timers(archive);
  for (Known& known : known_) archive(known.next);
}

void Token::on_compute(Time now, std::uint32_t, Effects& effects) {
  wake_compute(effects);
  compute(now, effects);
  const TimerLaw& law = transmit_law();
  if (law.kind == TimerLaw::Kind::coupled && counts_.computations % law.every == 0) effects.wake({now, Priority::transmit, self_});
}

void Token::on_transmit(Time now, std::uint32_t, Effects& effects) {
  wake_transmit(effects);
  recreate_silent(now);
  for (Held& held : held_) {
    if (held.is_fresh) effects.step(StepKind::merge, self_, now).phase = static_cast<std::uint8_t>(held.stream);
    held.is_fresh = false;
  }
  while (!held_.empty()) {
    const auto receiver = next_holder();
    if (!receiver) return;  // no neighbour is here to take it
    const Held first = held_.front();
    held_.erase(held_.begin());
    send(first.stream, first.incarnation, *receiver, now, effects);
  }
}

std::optional<std::uint64_t> Token::sends_at(const Wake& wake) const {
  const bool sends = wake.priority == Priority::transmit && !held_.empty() && next_holder();
  return sends ? std::optional<std::uint64_t>(sequence_) : std::nullopt;
}

std::optional<ClientId> Token::next_holder() const {
  const auto receivers = settings_.graph->receivers_of(self_);
  const auto here = static_cast<std::size_t>(std::ranges::count_if(receivers, [&](ClientId client) { return is_here(client); }));
  if (here == 0) return std::nullopt;
  Stream draws(settings_.seed, self_, Purpose::neighbours, sequence_ + 1);
  std::size_t place = draws.below(here);
  for (const ClientId receiver : receivers)
    if (is_here(receiver) && place-- == 0) return receiver;
  return std::nullopt;
}

void Token::send(std::uint32_t stream, std::uint32_t incarnation, ClientId receiver, Time now, Effects& effects) {
  if (has_deadline()) {
    pending_.push_back({sequence_, stream, incarnation});
    effects.wake({later(now, settings_.limits.deadline), Priority::deadline, self_, sequence_});
  }
  publish(static_cast<std::uint8_t>(stream), {&receiver, 1}, tag_of(stream, incarnation), now, effects);
}

void Token::on_request(Time, ClientId, std::uint32_t sequence, Effects&) {
  std::erase_if(pending_, [&](const Pending& pending) { return pending.sequence == sequence; });
}

// Of this client's own, above all that it has seen.
std::optional<std::uint32_t> Token::next_incarnation(std::uint32_t stream) const {
  const std::uint64_t above = std::max<std::uint64_t>(known_[stream].next, 1);
  const std::uint64_t turns = above > self_.value ? (above - self_.value + clients() - 1) / clients() : 0;
  const std::uint64_t next = turns * clients() + self_.value;
  return next < most_incarnations ? std::optional(static_cast<std::uint32_t>(next)) : std::nullopt;
}

void Token::on_deadline(Time now, Sequence sequence, Effects& effects) {
  const auto found = std::ranges::find(pending_, sequence, &Pending::sequence);
  if (found == pending_.end()) return;  // acknowledged
  const Pending lost = *found;
  pending_.erase(found);
  if (known_[lost.stream].next > lost.incarnation + 1) return;  // another client has created it again
  const auto incarnation = next_incarnation(lost.stream);
  if (!incarnation) return;
  see(lost.stream, *incarnation, now);
  if (const auto receiver = next_holder())
    send(lost.stream, *incarnation, *receiver, now, effects);
  else
    held_.push_back({lost.stream, *incarnation, false});
}

// Whether this client is the one that creates the stream again if no other can.
bool Token::watches(std::uint32_t stream) const {
  ClientId first = first_holder(stream);
  while (first != self_ && !is_here(first)) first.value = (first.value + 1) % clients();
  return first == self_;
}

void Token::recreate_silent(Time now) {
  const std::uint64_t most_ticks = std::uint64_t{most_silence} * clients();
  for (std::uint32_t stream = 0; stream < known_.size(); ++stream) {
    const bool is_held = std::ranges::find(held_, stream, &Held::stream) != held_.end();
    Known& known = known_[stream];
    if (is_held || ++known.ticks <= most_ticks || !may_be_gone_ || !has_deadline() || !watches(stream)) continue;
    if (to_seconds(now - known.at) <= static_cast<double>(most_ticks) * to_seconds(settings_.limits.deadline)) continue;
    const auto incarnation = next_incarnation(stream);
    if (!incarnation) continue;
    held_.push_back({stream, *incarnation, known.next == 0});
    see(stream, *incarnation, now);
  }
}

void Token::see(std::uint32_t stream, std::uint32_t incarnation, Time now) { known_[stream] = {incarnation + 1, now, 0}; }

Offer Token::judge(const Arrival& arrival) {
  const Sequence sequence = arrival.id.sequence;
  const bool is_fresh = filters_.empty() || filters_[place_of(arrival.id.sender)].add(sequence) == DuplicateFilter::Verdict::fresh;
  if (!is_fresh) return Offer::duplicate;
  if (is_too_old(arrival) || stream_of(arrival) >= known_.size()) return Offer::late;
  return incarnation_of(arrival) + 1 < known_[stream_of(arrival)].next ? Offer::superseded : Offer::kept;
}

Offer Token::on_arrival(const Arrival& arrival, Effects& effects) {
  const Offer offer = judge(arrival);
  // The bringer of an old incarnation may forget it as well.
  if (has_deadline() && offer != Offer::late && offer != Offer::duplicate)
    effects.request(self_, arrival.id.sender, arrival.id.sequence);
  if (!admit(offer, arrival, effects)) return offer;
  const std::uint32_t stream = stream_of(arrival);
  see(stream, incarnation_of(arrival), arrival.arrived);
  std::erase_if(held_, [&](const Held& held) { return held.stream == stream; });
  // What this client sent before lives on in this token, or in vain.
  std::erase_if(pending_, [&](const Pending& pending) { return pending.stream == stream; });
  held_.push_back({stream, incarnation_of(arrival), false});
  arrived_.push_back(arrival);
  effects.close_window(arrival.arrived, self_);
  return offer;
}

void Token::on_window_close(Time now, Effects& effects) {
  for (const Arrival& arrival : arrived_) {
    effects.step(StepKind::merge, self_, now).phase = static_cast<std::uint8_t>(stream_of(arrival));
    effects.entry(merge_entry(arrival, now, settings_.merge_weight(arrival.link)));
  }
  arrived_.clear();
}

}  // namespace rubato
