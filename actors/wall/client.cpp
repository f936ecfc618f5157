#include "actors/wall/client.hpp"

#include <algorithm>
#include <utility>

#include "runtime/protocols/pair.hpp"
#include "runtime/protocols/push.hpp"

namespace rubato {

void WallClient::handle(const WallEvent& event, ThreadMemory& memory) {
  if (world_.client_pool.has_failed()) return;
  world_.client_pool.guard(performed_, [&] {
    performed_.at = now_ = std::max(now_, event.at);  // of two threads that stamp events the slower one may come second
    close_windows_before(now_, memory);
    answer(event, memory);
    take_over(memory);
  });
}

void WallClient::answer(const WallEvent& event, ThreadMemory& memory) {
  using Kind = WallEvent::Kind;
  switch (event.kind) {
    case Kind::start:
      if (!has_started_) tally_.first = now_;
      if (event.number == 0) return protocol_->start(effects_);
      if (!is_paused_) protocol_->resume(now_, effects_);
      return;
    case Kind::tick:
      return tick(event);
    case Kind::close:
      if (protocol_->mailbox().open_until() == event.at) protocol_->on_window_close(event.at, effects_);
      return;
    case Kind::deadline:
      return protocol_->on_deadline(now_, event.wake.detail, effects_);
    case Kind::message:
      return is_control(event.message->kind) ? take_control(*event.message) : receive(event, memory);
    case Kind::unify:
      return unify(event, memory);
    case Kind::refill:
      return protocol_->on_refill();
    case Kind::presence:
      return protocol_->on_presence(event.client, event.number == 1, now_, effects_);
    case Kind::reset:
      return enter_epoch(Epoch::unpacked(event.number), memory);
    case Kind::churn:
      return churn(event, memory);
    case Kind::hand:
      if (is_here_ && !is_stopped_) hand_model(event.client, event.number);
      return;
    case Kind::measure:
      world_.network.measured(self_, event.number, counts());
      return world_.client_pool.snapshots().on_measure(step_of(StepKind::measure, event.number, event.phase), *performer_, memory);
    case Kind::count:
      return world_.network.counted(*this);
    case Kind::save:
      return save(event.number, memory);
    case Kind::stop:
      return stop(event.at);
  }
}

// What was stamped after the end of a window does not belong to it, even if the alarm comes later.
void WallClient::close_windows_before(Time now, ThreadMemory& memory) {
  while (protocol_->mailbox().open_until() < now) {
    protocol_->on_window_close(protocol_->mailbox().open_until(), effects_);
    take_over(memory);
  }
}

void WallClient::tick(const WallEvent& event) {
  if (is_stopped_ || !is_here_ || is_paused_ || event.number != timers_) return;
  ++world_.events;
  if (event.wake.priority == Priority::transmit) return protocol_->on_transmit(now_, event.wake.detail, effects_);
  if (event.at < computed_ && may_skip()) return skip();
  protocol_->on_compute(now_, event.wake.detail, effects_);
}

void WallClient::skip() {
  ++tally_.skipped;
  protocol_->skip_compute(effects_);
}

// A tick that is past already needs no alarm.
bool WallClient::is_missed(const Wake& wake) const {
  return wake.priority == Priority::compute && may_skip() && wake.at < std::min(is_stopped_ ? stopped_at_ : computed_, world_.end);
}

// On a busy machine ticks that were due may not have been handed over yet.
void WallClient::stop(Time at) {
  const bool is_ticking = !is_stopped_ && is_here_ && !is_paused_;
  is_stopped_ = true;
  stopped_at_ = at;
  protocol_->on_stop();
  if (is_ticking && is_missed(next_computation_)) skip();
}

// Of two lives of a sender the older one is dead.
bool WallClient::knows_life_of(const Message& message) {
  const auto senders = world_.graph.senders_to(self_);
  const auto at = std::lower_bound(senders.begin(), senders.end(), message.id.sender);
  if (at == senders.end() || *at != message.id.sender) return message.kind == MessageKind::model;
  lives_.resize(senders.size());
  std::uint32_t& known = lives_[static_cast<std::size_t>(at - senders.begin())];
  if (message.id.incarnation > known) {
    known = message.id.incarnation;
    protocol_->on_new_life(message.id.sender);
  }
  return message.id.incarnation == known;
}

// What clients of this host send is what it should be.
bool WallClient::fits(const WallEvent& event) const {
  if (!event.place) return true;
  const Message& message = *event.message;
  Step step{.kind = StepKind::merge, .message = message.kind};
  if (message.kind == MessageKind::update) step.phase = protocol_->phase_of(message.tag);
  return performer_->fits(message.payload, step, event.delivery.place);
}

void WallClient::receive(const WallEvent& event, ThreadMemory& memory) {
  const Message& message = *event.message;
  if (is_unheard(event)) return;
  ++world_.events;
  const auto link = world_.graph.find_link(message.id.sender, self_);
  if (!fits(event)) {
    world_.network.refused(message.id.sender, Misdeed::misshapen);
    return count(message, link, [](auto& counts) { ++counts.misshapen; });
  }
  const bool is_alive = knows_life_of(message);
  if (is_alive && world_.passes_mass_on && message.epoch > epoch_) enter_epoch(message.epoch, memory);
  const bool is_current = is_alive && (!world_.passes_mass_on || message.epoch == epoch_ || message.kind == MessageKind::model);
  Arrival arrival{message, put(event.message), now_, link.value_or(outside_graph), event.delivery.place};
  if (protocol_->awaits_computations()) arrival.arrived = std::min(event.at, now_);
  arrival.sent = std::min(arrival.sent, arrival.arrived);  // the clocks of hosts differ: no age is below zero
  if (!is_current || (!link && message.kind != MessageKind::model)) {
    count(message, link, [](auto& counts) { ++counts.stale; });
    effects_.step(StepKind::discard, self_, now_).message = message.kind;
    effects_.entry(merge_entry(arrival, now_, 1));
    if (is_alive && link && message.kind == MessageKind::update) protocol_->on_outdated(arrival, effects_);
    return;
  }
  if (message.kind == MessageKind::model) {
    const bool is_fetched = message.id.sequence >= first_fetched_model;
    const bool is_its = is_fetched ? message.id.sender == giver_ : world_.network.is_hub(message.id.sender, message.id.sequence);
    if (!is_its) performer_->screening().refuse(message.id.sender, &Screened::unauthorised);
    if (is_its && !is_fetched && protocol_->on_model(arrival, effects_)) return;
    const bool is_news = is_its && (is_fetched ? message.id.sequence == fetched_ : is_due(message));
    if (is_news) (is_fetched ? fetched_ : adopted_) = is_fetched ? 0 : message.id.sequence;
    return take_model(arrival, is_news, self_, now_, effects_);
  }
  const Offer offer = protocol_->on_arrival(arrival, effects_);
  world_.record.arrived(arrival, self_, offer);
  count_offer(offer, protocol_->counts(), world_.link_counts, *link);
  if (world_.acknowledges && offer == Offer::kept)
    send_control({{self_, 0, message.id.sequence}, 0, {}, world_.clock.now(), MessageKind::acknowledgement}, message.id.sender, {});
}

// What has become of a message that the protocol does not hear of.
template <class Count>
void WallClient::count(const Message& message, std::optional<LinkIndex> link, Count count) {
  if (message.kind == MessageKind::model) return void(++world_.models_lost);
  count(protocol_->counts());
  if (link && !world_.link_counts.empty()) count(world_.link_counts[*link]);
}

// Of a unification that is due, or nearly, because hosts' clocks differ.
bool WallClient::is_due(const Message& message) const {
  const Duration period = world_.unification_period;
  return period > Duration{} && message.id.sequence > adopted_ &&
         message.id.sequence <= static_cast<std::uint64_t>((now_ - Time{}) / period) + 2;
}

void WallClient::take_control(const Message& message) {
  if (!is_here_ || is_apart(message.id.sender)) return;
  const ClientId sender = message.id.sender;
  if (message.kind == MessageKind::acknowledgement) {
    if (!protocol_->on_acknowledged(message.id.sequence, sender)) performer_->screening().refuse(sender, &Screened::unauthorised);
  } else if (!is_stopped_ && answers(sender)) {
    protocol_->on_request(now_, sender, message.tag, effects_);
  }
}

// A whole state is much for a small question: only where gaps matter, and once a round trip.
bool WallClient::answers(ClientId asker) {
  if (!world_.pushes) return true;
  const auto [answered, is_first] = answered_at_.try_emplace(asker, now_);
  const bool is_early = !is_first && now_ < answered->second + world_.network.round_trip(asker);
  if (!world_.is_in_order || is_early) return performer_->screening().refuse(asker, &Screened::unasked);
  answered->second = now_;
  return true;
}

void WallClient::unify(const WallEvent& event, ThreadMemory& memory) {
  protocol_->on_unify(now_, event.wake.detail != 0, effects_);
  if (event.client != self_ || event.number <= adopted_ || is_stopped_) return;
  take_over(memory);
  adopted_ = event.number;
  effects_.publish_model(self_, event.number, now_);
  for (std::uint32_t i = 0; i < world_.graph.clients(); ++i)
    if (ClientId{i} != self_)
      effects_.entry({.peer = ClientId{i}, .sequence = static_cast<Sequence>(event.number), .place = outside_graph});
}

void WallClient::enter_epoch(Epoch epoch, ThreadMemory& memory) {
  if (epoch <= epoch_ || !is_here_) return;
  take_over(memory);
  epoch_ = epoch;
  std::uint64_t highest = world_.epoch.load();
  while (highest < epoch.packed() && !world_.epoch.compare_exchange_weak(highest, epoch.packed())) {
  }
  protocol_->on_unify(now_, true, effects_);  // whatever waits in the mailbox is of an older epoch
  sent_.clear();
  effects_.step(StepKind::reset, self_, now_).index = epoch.packed();
  take_over(memory);
}

void WallClient::save(std::uint64_t number, ThreadMemory& memory) {
  take_over(memory);
  control(step_of(StepKind::save, number));
  Archive state;
  archive(state);
  world_.network.saved(self_, number, state.take());
}

// What a later life of its host goes on with.
void WallClient::archive(Archive& archive) {
  std::uint64_t epoch = epoch_.packed();
  Traffic traffic = performer_->traffic();
  archive(epoch, adopted_, traffic, tally_.first, tally_.skipped, tally_.unheard, tally_.earlier);
  epoch_ = Epoch::unpacked(epoch);
  performer_->recall(traffic);
  performer_->screening().archive(archive);
  protocol_->archive(archive);
  performer_->archive(archive);
}

void WallClient::churn(const WallEvent& what, ThreadMemory& memory) {
  using Kind = ChurnEvent::Kind;
  const ChurnEvent& event = what.churn;
  switch (event.kind) {
    case Kind::save:
      if (is_here_) perform(step_of(StepKind::save, event.number), memory);
      return;
    case Kind::leave:
    case Kind::crash:
      return leave(event.kind == Kind::crash);
    case Kind::come:
      return come(event, what.client, memory);
    case Kind::pause:
      is_paused_ = true;
      ++timers_;
      return;
    case Kind::go_on:
      is_paused_ = false;
      if (!is_stopped_) protocol_->resume(now_, effects_);
      return;
    case Kind::partition:
    case Kind::heal:
      partition_ = event.kind == Kind::heal ? all_links : event.number;
      return;
    case Kind::notice:
      return;
  }
}

void WallClient::leave(bool has_crashed) {
  is_here_ = is_paused_ = false;
  fetched_ = 0;
  ++timers_;
  has_crashed ? protocol_->on_crash(now_, effects_) : protocol_->on_leave(now_, effects_);
}

void WallClient::come(const ChurnEvent& event, ClientId giver, ThreadMemory& memory) {
  is_here_ = true;
  since_ = now_;
  life_ = event.life;
  if (life_ == 0 && !has_started_) tally_.first = now_;
  if (life_ > 0) {
    const std::uint64_t number = saved_.has(event.number) ? event.number : 0;  // a host that starts again has forgotten others
    perform(step_of(StepKind::load, number), memory);
  }
  giver_ = giver;
  if (event.from == Origin::neighbour && world_.may_adopt) fetched_ = fetched_model(event);
  if (is_stopped_) return;
  protocol_->resume(now_, effects_);
  take_over(memory);
  const auto early = std::exchange(early_, {});
  if (const auto given = early.find(giver_); given != early.end()) receive(given->second, memory);
}

// To a client that begins a life.
void WallClient::hand_model(ClientId joiner, std::uint64_t number) {
  ++world_.hand_overs;
  effects_.publish_model(self_, number, now_);
  effects_.entry({.peer = joiner, .sequence = static_cast<Sequence>(number), .place = outside_graph});
}

// No client is there, or one that does not know what the message is about. A model for the life that is about to begin
// may come first, because hosts' clocks differ.
bool WallClient::is_unheard(const WallEvent& event) {
  const Message& message = *event.message;
  const bool is_for_a_life = message.kind == MessageKind::model && message.id.sequence >= first_fetched_model;
  if (!is_here_ && is_for_a_life) {
    early_.insert_or_assign(message.id.sender, event);
    return true;
  }
  const bool is_unheard = !is_here_ || is_apart(message.id.sender) || (!is_for_a_life && message.sent < since_);
  if (!is_unheard) return false;
  ++tally_.unheard;
  const bool is_group = is_here_ && is_apart(message.id.sender);
  count(message, world_.graph.find_link(message.id.sender, self_),
        [&](auto& counts) { ++(is_group ? counts.apart : counts.absent); });
  return true;
}

void WallClient::mark_first_state(bool is_earlier_life) {
  Step step = step_of(is_earlier_life ? StepKind::load : StepKind::save, 0);
  step.at = std::max(world_.clock.now(), Time{});
  control(step);
}

void WallClient::keep_first_state() {
  ThreadMemory none;
  rubato::perform(*performer_, saved_, {.kind = StepKind::save, .index = 0}, {}, none, world_.client_pool.pool);
}

void WallClient::load(std::span<const std::byte> state, std::uint64_t number) {
  Archive given(state, world_.client_pool.pool);
  archive(given);
  has_started_ = true;
  if (given.bytes_left() > 0) throw BadArchive("is longer than a client's state");
  now_ = world_.clock.now();
  control(step_of(StepKind::load, number));
}

// The record has no sizes: messages are as large as those before them, or as a model.
void WallClient::add_earlier(const MessageCounts& counts, const PairCounts& exchanges, Traffic traffic) {
  tally_.earlier += counts;
  if (auto* const pair = dynamic_cast<Pair*>(protocol_.get())) pair->add_earlier(exchanges);
  const Traffic& known = performer_->traffic();
  const auto messages = static_cast<double>(traffic.messages);
  const auto of_known = static_cast<double>(std::max<std::uint64_t>(known.messages, 1));
  const std::size_t model = performer_->model_bytes().size();
  traffic.bytes = known.messages > 0 ? static_cast<std::uint64_t>(static_cast<double>(known.bytes) / of_known * messages)
                                     : traffic.messages * model;
  traffic.paper_bits = known.messages > 0 ? known.paper_bits / of_known * messages : 8 * static_cast<double>(traffic.bytes);
  performer_->recall(traffic += known);
}

void WallClient::take_over(ThreadMemory& memory) {
  while (true) {
    if (const auto finished = effects_.finished_round()) round_ = *finished;
    schedule();
    // A publication, or an answer, may make the protocol say more: then there is more to take over.
    for (std::size_t i = 0; i < effects_.drafts().size(); ++i) {
      Effects::Draft draft = effects_.drafts()[i];
      const auto first = effects_.entries().begin() + static_cast<std::ptrdiff_t>(draft.first_entry);
      entries_.assign(first, first + static_cast<std::ptrdiff_t>(draft.entries));
      perform(draft, entries_, memory);
      schedule();
    }
    send_requests();
    send_again();
    effects_.clear();
    scheduled_wakes_ = scheduled_closings_ = 0;
    if (!closing_.empty()) {
      const Time end = closing_.front();
      closing_.erase(closing_.begin());
      protocol_->on_window_close(end, effects_);
      continue;
    }
    if (due_.empty()) return;
    const Wake wake = due_.front();
    due_.erase(due_.begin());
    tick({.at = wake.at, .wake = wake, .number = timers_});
  }
}

void WallClient::schedule() {
  while (scheduled_wakes_ < effects_.wakes().size()) {
    const Wake wake = effects_.wakes()[scheduled_wakes_++];
    if (wake.priority == Priority::compute) next_computation_ = wake;
    if (is_missed(wake)) {
      skip();
      continue;
    }
    const bool is_deadline = wake.priority == Priority::deadline;
    WallEvent event{
        .kind = is_deadline ? WallEvent::Kind::deadline : WallEvent::Kind::tick, .at = wake.at, .wake = wake, .number = timers_};
    if (wake.at == never || (is_stopped_ && !is_deadline)) continue;
    if (wake.at <= now_ && wake.priority == Priority::transmit) {
      due_.push_back(wake);  // right after what it is coupled to
      continue;
    }
    if (world_.saturates && wake.priority == Priority::compute) event.at = std::min(wake.at, now_);
    world_.network.later(event.at, self_, std::move(event), is_deadline);
  }
  while (scheduled_closings_ < effects_.closings().size()) {
    const Wake closing = effects_.closings()[scheduled_closings_++];
    if (closing.at <= now_) {
      closing_.push_back(closing.at);
      continue;
    }
    world_.network.later(closing.at, self_, {.kind = WallEvent::Kind::close, .at = closing.at}, true);
  }
}

void WallClient::control(const Step& step) {
  hash_.add(step);
  ++tally_.steps;
  world_.record.add(step);
}

void WallClient::perform(Effects::Draft& draft, std::span<StepEntry> entries, ThreadMemory& memory) {
  Step& step = draft.step;
  step.at = std::max(step.at, now_);
  step.incarnation = incarnation();
  step.entries = entries;
  performed_ = step;
  for (StepEntry& entry : entries)
    if (entry.peer == self_) entry.incarnation = static_cast<std::uint16_t>(incarnation());  // kept by its sender
  const std::int64_t since = world_.client_pool.math_clock();
  if (step.kind == StepKind::publish)
    publish(draft, entries, memory);
  else
    perform(step, memory);
  memory.math_nanoseconds += world_.client_pool.math_clock() - since;
  if (step.kind == StepKind::publish) return;
  for (const StepEntry& entry : entries) let_go(entry.slot);
}

// Recorded first.
StepResult WallClient::perform(const Step& step, ThreadMemory& memory) {
  control(step);
  memory.payloads.clear();
  if (needs_payloads(step.kind))
    for (const StepEntry& entry : step.entries) memory.payloads.push_back(&slots_[entry.slot]->payload);
  if (step.kind == StepKind::merge)
    for (const StepEntry& entry : step.entries) tally_.staleness.add(entry.age);
  StepResult result = rubato::perform(*performer_, saved_, step, memory.payloads, memory, world_.client_pool.pool);
  if (step.kind == StepKind::compute) {
    computed_ = world_.clock.now();
    if (protocol_->awaits_computations()) now_ = std::max(now_, computed_);
  }
  if (step.kind == StepKind::decide) protocol_->on_answer(now_, result.is_yes, effects_);
  return result;
}

// Recorded, and in the hands of the kernel, before the payload leaves.
void WallClient::publish(Effects::Draft& draft, std::span<StepEntry> entries, ThreadMemory& memory) {
  Step& step = draft.step;
  const bool is_exchanged = step.message != MessageKind::model;
  std::vector<Delivery> deliveries;
  depart(
      step, entries, protocol_->counts(), world_.link_counts,
      [&](StepEntry& entry) {
        entry.incarnation = static_cast<std::uint16_t>(incarnation());
        return fate_of({self_, entry.peer, entry.place, step.message, draft.turn, 0, now_, draft.round.value_or(round_)});
      },
      [&](std::uint32_t place, const Fate& fate) {
        if (!fate.lost)
          deliveries.push_back({entries[place].peer, place, fate.copies, fate.delay, fate.copy_delay});
        else
          protocol_->on_lost(entries[place].peer, step.message, effects_);
        world_.models_lost += fate.lost && !is_exchanged;
      });
  if (!is_exchanged) world_.model_messages += entries.size();
  auto message = std::make_shared<Message>();
  message->payload = perform(step, memory).published;
  if (world_.record.has_failed()) deliveries.clear();
  const Sequence sequence = entries.empty() ? static_cast<Sequence>(step.index) : entries.front().sequence;
  static_cast<MessageHead&>(*message) = {
      {self_, incarnation(), sequence}, draft.tag, epoch_, world_.clock.now(), step.message, draft.since};
  if (step.keeps && !entries.empty()) protocol_->on_retained(static_cast<Sequence>(step.index), put(message));
  if (draft.kept_among > 0) keep(message, deliveries, draft.kept_among);
  const std::size_t under_way = deliveries.size();
  if (under_way > 0) world_.network.send(std::move(message), std::move(deliveries));
  if (is_exchanged) protocol_->on_departed(under_way, now_, effects_);
}

// Of clients that are apart nothing is heard, however often it is sent.
Fate WallClient::fate_of(const LinkUse& use) const {
  Fate fate;
  if (world_.channel) fate = world_.channel->carry(use);
  if (is_apart(use.receiver))
    fate.lost = fate.apart = true;
  else if (world_.retransmits && world_.channel)
    fate = retransmitted(fate, *world_.channel, use, world_.attempts);
  return fate;
}

void WallClient::keep(std::shared_ptr<const Message> message, std::vector<Delivery> deliveries, std::size_t among) {
  const auto is_alike = [&](const Sent& sent) { return sent.message->kind == message->kind; };
  if (static_cast<std::size_t>(std::ranges::count_if(sent_, is_alike)) >= among) sent_.erase(std::ranges::find_if(sent_, is_alike));
  sent_.push_back({std::move(message), std::move(deliveries)});
}

// The real links have lost it, or none has: receivers know what they have. On the modelled link it may still be under
// way.
void WallClient::send_again() {
  const Time now = world_.clock.now();
  for (const Effects::Repetition& again : effects_.repetitions())
    for (const Sent& sent : sent_) {
      if (sent.message->kind != again.kind || sent.message->id.sequence != again.sequence) continue;
      for (const Delivery& delivery : sent.deliveries)
        if (delivery.receiver == again.to && now >= sent.message->sent + delivery.delay) {
          const auto link = world_.graph.find_link(self_, again.to);
          const auto copies = 1u + delivery.copies;
          if (sent.message->kind != MessageKind::model) protocol_->counts().copies += copies;
          if (link && !world_.link_counts.empty()) world_.link_counts[*link].copies += copies;
          world_.network.send(sent.message, {delivery});
        }
    }
}

void WallClient::send_requests() {
  for (const Effects::Request& request : effects_.requests()) {
    Fate fate;
    if (request.is_modelled) fate = fate_of({self_, request.to, outside_graph, MessageKind::request, requests_++, 0, now_, round_});
    if (!fate.lost && !is_apart(request.to))
      send_control({{self_}, request.tag, {}, world_.clock.now(), MessageKind::request}, request.to, fate.delay);
  }
}

void WallClient::send_control(const MessageHead& head, ClientId to, Duration delay) {
  world_.network.send(std::make_shared<Message>(Message{head}), {{.receiver = to, .delay = delay}});
}

SlotIndex WallClient::put(std::shared_ptr<const Message> message) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<SlotIndex>(slots_.size()));
    slots_.emplace_back();
  }
  const SlotIndex slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot] = std::move(message);
  return slot;
}

void WallClient::let_go(SlotIndex slot) {
  slots_[slot] = nullptr;
  free_slots_.push_back(slot);
}

}  // namespace rubato
