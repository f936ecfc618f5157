#include "runtime/engine/conductor.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/protocols/push.hpp"

namespace rubato {

Conductor::Conductor(const ConductorSettings& settings, std::vector<std::unique_ptr<Protocol>> protocols, StepSink& sink,
                     EventObserver* observer)
    : settings_{settings},
      protocols_{std::move(protocols)},
      sink_{sink},
      observer_{observer},
      queue_{2 * protocols_.size(), settings.channel->keeps_order(), settings.goes_by_exchange},
      transfers_{settings.channel->transfers()},
      hashes_(protocols_.size()),
      requests_(protocols_.size()) {
  if (settings_.foresight)
    settings_.foresight->fate_of = [this](LinkUse use) {
      use.now = now_, use.round = round_;
      return fate_of(use);
    };
  if (settings_.counts_links) link_counts_.resize(settings_.graph->links());
  if (settings_.unification.via_transport) adopted_.resize(protocols_.size());
  if (settings_.churn && !settings_.churn->is_empty()) open_doors();
  for (std::uint32_t i = 0; i < protocols_.size(); ++i) {
    if (attendance_ && !attendance_->is_here({i})) continue;
    protocols_[i]->start(effects_);
    take_over();
  }
  repeat({{}, Priority::period}, settings_.cap_period);
  repeat({{}, Priority::unify}, settings_.unification.period);
  repeat({{}, Priority::evaluate}, settings_.sample_every);
}

bool Conductor::walk(std::uint64_t steps) {
  if (std::exchange(is_beginning_, false) && settings_.samples_first_state) {
    sample();
    return true;
  }
  const std::uint64_t last_step = handed_out_ + steps;
  const std::uint64_t last_event = events_ + steps;
  while (!is_over_ && !is_paused() && !awaits_answer_ && handed_out_ < last_step && events_ < last_event) {
    if (next_adoption_ < adopting_.size()) {
      adopt_next();
      if (to_measure() > 0) break;
    } else if (next_measured_ < last_measured_) {
      measure_next();
      if (to_measure() == 0 && next_counted_ >= last_counted_) break;  // so that a run may end at a sample
    } else if (next_counted_ < last_counted_) {
      count_next();
      if (next_counted_ >= last_counted_) break;
    } else if (is_ending_) {
      is_over_ = true;
    } else {
      const EventQueue::Kind kind = queue_.first();
      next_event_ = std::min(kind == EventQueue::Kind::none ? never : queue_.first_time(), next_churn_);
      if (next_event_ == never || next_event_ > settings_.until) {
        now_ = settings_.until;
        stop();
      } else if (next_event_ > pause_after_)
        is_paused_ = true;
      else if (next_event_ == next_churn_)
        churn();
      else
        handle(kind);
      if (to_measure() > 0) break;
    }
  }
  return !is_over_;
}

void Conductor::handle(EventQueue::Kind kind) {
  now_ = queue_.first_time();
  if (kind == EventQueue::Kind::wake) return handle_wake();
  if (kind == EventQueue::Kind::flight) return handle_flight();
  handle_closing();
}

void Conductor::repeat(const Wake& wake, Duration period) {
  if (period > Duration::zero()) queue_.push(Wake{later(wake.at, period), wake.priority, wake.client, wake.detail + 1});
}

void Conductor::handle_wake() {
  const Wake wake = queue_.first_wake();
  if (wake.priority == Priority::compute || wake.priority == Priority::transmit) return tick(wake);
  if (wake.priority == Priority::unify && settings_.samples_before_unifications && !is_sampled_before_) {
    is_sampled_before_ = true;
    return sample();  // its steps come first; the unification stays due
  }
  queue_.pop_wake();
  if (wake.priority == Priority::arrival) return transfers_ ? handle_transfers() : attempt_again(wake.detail);
  switch (wake.priority) {
    case Priority::period:
      repeat(wake, settings_.cap_period);
      for (auto& protocol : protocols_) protocol->on_refill();
      if (observer_) observer_->on_period(now_, wake.detail);
      break;
    case Priority::unify:
      is_sampled_before_ = false;
      repeat(wake, settings_.unification.period);
      unify(wake.detail);
      break;
    case Priority::deadline:
      protocols_[wake.client.value]->on_deadline(now_, wake.detail, effects_);
      take_over();
      break;
    case Priority::evaluate:
      if (wake.client == ClientId{0}) repeat(wake, settings_.sample_every);
      sample();
      break;
    default:
      break;
  }
}

void Conductor::tick(const Wake& wake) {
  Protocol& protocol = *protocols_[wake.client.value];
  if (wake.priority == Priority::compute)
    protocol.on_compute(now_, wake.detail, effects_);
  else
    protocol.on_transmit(now_, wake.detail, effects_);
  // A timer's answer starts with its next tick: it takes the place of this one.
  const auto& wakes = effects_.wakes();
  const bool goes_on =
      !wakes.empty() && wakes.front().priority == wake.priority && wakes.front().client == wake.client && wakes.front().at > now_;
  if (goes_on)
    queue_.replace_wake(wakes.front());
  else
    queue_.pop_wake();
  count_event();
  const bool published = !effects_.drafts().empty() && effects_.drafts().front().step.kind == StepKind::publish;
  take_over(goes_on);
  if (!observer_) return;
  if (wake.priority == Priority::compute) return observer_->on_compute(now_, wake.client);
  if (!published) observer_->on_transmit(now_, wake.client, nullptr);
}

void Conductor::take_over(std::size_t first_wake) {
  for (std::size_t i = first_wake; i < effects_.wakes().size(); ++i) queue_.push(effects_.wakes()[i]);
  for (const Wake& closing : effects_.closings()) queue_.push_closing(closing);
  issue_drafts();
  for (const auto& [from, to, tag, is_modelled] : effects_.requests())
    send_control(MessageKind::request, from, to, requests_[from.value]++, tag, 0);
  const std::optional<std::uint64_t> round = effects_.finished_round();
  effects_.clear();
  if (round) round_ = *round;
  if (round && observer_) observer_->on_round(now_, *round);
  if (!round || *round == 0 || !settings_.samples_rounds) return;
  sample();
  sample_phase_ = after_round;
}

void Conductor::send_control(MessageKind kind, ClientId from, ClientId to, std::uint64_t turn, std::uint32_t tag,
                             Sequence sequence) {
  const Fate fate = fate_of({from, to, outside_graph, kind, turn, 0, now_, round_});
  protocols_[from.value]->counts().airtime += fate.airtime;
  if (fate.lost) return;
  Flight flight{{{{from, 0, sequence}, tag, {}, now_, kind}}, to};
  flight.arrived = later(now_, fate.delay);
  queue_.push(flight);
}

void Conductor::answer(bool yes) {
  awaits_answer_ = false;
  sink_.on_answer(yes);
  protocols_[asked_.value]->on_answer(now_, yes, effects_);
  const bool published = !effects_.drafts().empty();
  take_over();
  if (!published && observer_) observer_->on_transmit(now_, asked_, nullptr);
}

void Conductor::issue_drafts() {
  for (Effects::Draft& draft : effects_.drafts()) {
    const std::span<StepEntry> entries{effects_.entries().data() + draft.first_entry, draft.entries};
    draft.step.entries = entries;
    if (attendance_) sign(draft, entries);
    if (draft.step.kind == StepKind::publish)
      depart(draft, entries);
    else
      issue(draft.step);
    if (draft.step.kind == StepKind::merge && observer_ && !closes_window_) observer_->on_merge(now_, draft.step.client, entries);
    if (draft.step.kind != StepKind::decide) continue;
    awaits_answer_ = true;
    asked_ = draft.step.client;
  }
}

Fate Conductor::fate_of(LinkUse use) const {
  Fate fate = settings_.channel->carry(use);
  if (attendance_ && attendance_->are_apart(use.sender, use.receiver)) {
    fate.lost = fate.apart = true;
    return fate;
  }
  if (settings_.loses_both_ways && !fate.lost) {
    std::swap(use.sender, use.receiver);
    fate.lost = settings_.channel->carry(use).lost;
    return fate;
  }
  if (!settings_.retransmits) return fate;
  const bool is_event = settings_.channel->is_shared() && !is_control(use.kind);
  if (!is_event) return retransmitted(fate, *settings_.channel, use, settings_.attempts);
  fate = settings_.attempts.judged(fate);
  fate.is_repeated = std::exchange(fate.lost, false);
  return fate;
}

// The clients that begin to transmit at this instant: the others before their ticks, as far as they are known.
void Conductor::announce(const Transmission& transmission) {
  Channel& channel = *settings_.channel;
  if (announced_at_ != now_) {
    queue_.see_wakes_at(now_, [&](const Wake& wake) {
      if (wake.priority == Priority::arrival && !transfers_) {
        const Repetition& other = repetitions_[wake.detail];
        return channel.announce({other.head.id.sender, other.head.kind, other.turn, now_});
      }
      if (wake.priority != Priority::compute && wake.priority != Priority::transmit) return;
      if (const auto next = protocols_[wake.client.value]->sends_at(wake))
        channel.announce({wake.client, MessageKind::update, *next, now_});
    });
    announced_at_ = now_;
  }
  channel.announce(transmission);
}

void Conductor::depart(Effects::Draft& draft, std::span<StepEntry> entries) {
  const Step& step = draft.step;
  const bool exchanged = step.message != MessageKind::model;
  departing_.clear();
  missing_.clear();
  Duration failed_after{};
  MessageHead head{{step.client, step.incarnation}, draft.tag, {}, now_, step.message};
  head.since = draft.since;
  if (attendance_) head.epoch = attendance_->epoch(step.client);
  const bool is_shared = settings_.channel->is_shared() && !entries.empty();
  if (is_shared) announce({step.client, step.message, draft.turn, now_});
  const Duration airtime = rubato::depart(
      step, entries, protocols_[step.client.value]->counts(), link_counts_,
      [&](const StepEntry& entry) {
        return fate_of({step.client, entry.peer, entry.place, step.message, draft.turn, 0, now_, round_});
      },
      [&](std::uint32_t place, const Fate& fate) {
        models_lost_ += fate.lost && !exchanged;
        if (fate.lost) return;
        const StepEntry& entry = entries[place];
        head.id.sequence = entry.sequence;
        if (fate.is_repeated) {
          missing_.push_back({{head, no_slot, {}, entry.place, place}, entry.peer});
          failed_after = std::max(failed_after, fate.delay);
          return;
        }
        departing_.push_back({{head, no_slot, later(now_, fate.delay), entry.place, place}, entry.peer});
        departing_.back().sent = later(now_, fate.waited);
        for (unsigned copy = 0; copy < fate.copies; ++copy) {
          departing_.push_back(departing_.back());
          departing_.back().arrived = later(now_, fate.copy_delay);
        }
      });
  if (is_shared) settings_.channel->occupy(step.client, later(now_, airtime));
  const std::size_t under_way = departing_.size() + missing_.size();
  const SlotIndex slot =
      entries.empty() ? no_slot : sink_.open_slot(static_cast<std::uint32_t>(under_way) + (step.keeps ? 1u : 0u));
  for (StepEntry& entry : entries) entry.slot = slot;
  issue(step);
  for (Flight& flight : departing_) {
    flight.slot = slot;
    push(flight);
  }
  if (!missing_.empty()) begin_repeating(head, draft.turn, slot, failed_after);
  if (observer_ && exchanged) observer_->on_transmit(now_, step.client, &step);
  if (!exchanged) return;
  under_way_ += under_way;
  if (step.keeps && !entries.empty()) protocols_[step.client.value]->on_retained(static_cast<Sequence>(step.index), slot);
  // The answer to a departure may add wake-ups to the effects that are being taken over: they are pushed here.
  const std::size_t wakes = effects_.wakes().size();
  const std::size_t closings = effects_.closings().size();
  protocols_[step.client.value]->on_departed(under_way, now_, effects_);
  for (std::size_t i = wakes; i < effects_.wakes().size(); ++i) queue_.push(effects_.wakes()[i]);
  for (std::size_t i = closings; i < effects_.closings().size(); ++i) queue_.push_closing(effects_.closings()[i]);
}

void Conductor::begin_repeating(const MessageHead& head, std::uint64_t turn, SlotIndex slot, Duration failed_after) {
  std::uint32_t number = static_cast<std::uint32_t>(repetitions_.size());
  if (free_repetitions_.empty()) {
    repetitions_.emplace_back();
  } else {
    number = free_repetitions_.back();
    free_repetitions_.pop_back();
  }
  Repetition& again = repetitions_[number];
  again.head = head, again.turn = turn, again.slot = slot, again.attempt = 1;
  again.missing.assign(missing_.begin(), missing_.end());
  awaiting_attempts_ += missing_.size();
  schedule_attempt(number, failed_after);
}

void Conductor::schedule_attempt(std::uint32_t number, Duration failed_after) {
  const Repetition& again = repetitions_[number];
  const LinkUse use{.sender = again.head.id.sender, .kind = again.head.kind, .turn = again.turn, .attempt = again.attempt};
  const Time next = later(later(now_, failed_after), settings_.attempts.pause(use));
  queue_.push(Wake{next, Priority::arrival, again.head.id.sender, number});
}

// To all receivers that have not got it, at once: the sender is on the air until the slowest of them has it, or it gives up.
void Conductor::attempt_again(std::uint32_t number) {
  Repetition& again = repetitions_[number];
  const ClientId sender = again.head.id.sender;
  MessageCounts& counts = protocols_[sender.value]->counts();
  announce({sender, again.head.kind, again.turn, now_});
  Duration airtime{}, failed_after{};
  const std::size_t before = again.missing.size();
  std::erase_if(again.missing, [&](Flight& flight) {
    const LinkUse use{.sender = sender,
                      .receiver = flight.receiver,
                      .link = flight.link,
                      .kind = flight.kind,
                      .turn = again.turn,
                      .attempt = again.attempt,
                      .now = now_,
                      .round = round_};
    const Fate fate = settings_.attempts.judged(settings_.channel->carry(use));
    airtime = std::max(airtime, fate.airtime);
    counts.repeated += flight.kind != MessageKind::model;
    if (fate.lost) {
      failed_after = std::max(failed_after, fate.delay);
      return false;
    }
    flight.slot = again.slot;
    flight.sent = now_;
    flight.arrived = later(now_, fate.delay);
    queue_.push(flight);
    return true;
  });
  awaiting_attempts_ -= before - again.missing.size();
  counts.airtime += airtime;
  settings_.channel->occupy(sender, later(now_, airtime));
  if (again.missing.empty()) return free_repetitions_.push_back(number);
  again.attempt = again.attempt % most_attempts + 1;  // each has its own draws
  schedule_attempt(number, failed_after);
}

// What shares capacities arrives when it is through; until then its instant stands for what comes on top.
void Conductor::push(const Flight& flight) {
  if (!transfers_) return queue_.push(flight);
  std::uint32_t number = static_cast<std::uint32_t>(transferring_.size());
  if (free_transfers_.empty()) {
    transferring_.push_back(flight);
  } else {
    number = free_transfers_.back();
    free_transfers_.pop_back();
    transferring_[number] = flight;
  }
  transfers_->begin(
      number, {.sender = flight.id.sender, .receiver = flight.receiver, .link = flight.link, .kind = flight.kind, .now = now_});
  wake_at_next_transfer();
}

void Conductor::wake_at_next_transfer() {
  const Time next = transfers_->next();
  if (next >= transfers_wake_) return;
  queue_.push(Wake{next, Priority::arrival, ClientId{0}});
  transfers_wake_ = next;
}

void Conductor::handle_transfers() {
  if (transfers_wake_ <= now_) transfers_wake_ = never;  // an overtaken wake finds nothing to do
  while (transfers_->next() <= now_) {
    const Transfers::Done done = transfers_->finish();
    Flight flight = transferring_[done.number];
    free_transfers_.push_back(done.number);
    protocols_[flight.id.sender.value]->counts().airtime += done.airtime;
    flight.arrived = later(now_, flight.arrived - flight.sent);
    queue_.push(flight);
  }
  wake_at_next_transfer();
}

void Conductor::handle_flight() {
  const Flight flight = queue_.first_flight();
  queue_.pop_flight();
  if (attendance_ && !reaches(flight)) return;
  if (flight.kind == MessageKind::acknowledgement)  // a control message: no event of the experiment
    return void(protocols_[flight.receiver.value]->on_acknowledged(flight.id.sequence, flight.id.sender));
  if (flight.kind == MessageKind::request) {
    protocols_[flight.receiver.value]->on_request(now_, flight.id.sender, flight.tag, effects_);
    return take_over();
  }
  count_event();
  if (flight.kind == MessageKind::model) return handle_model(flight);
  --under_way_;
  Protocol& protocol = *protocols_[flight.receiver.value];
  const Offer offer = protocol.on_arrival(flight, effects_);
  count_offer(offer, protocol.counts(), link_counts_, flight.link);
  if (settings_.acknowledges && offer == Offer::kept) {
    const Sequence sequence = flight.id.sequence;
    send_control(MessageKind::acknowledgement, flight.receiver, flight.id.sender, sequence, 0, sequence);
  }
  if (observer_) observer_->on_arrival(flight, flight.receiver, offer, protocol.mailbox().tokens());
  add_staleness();
  take_over();
}

// Of what a protocol without a window merges at once.
void Conductor::add_staleness() {
  for (const Effects::Draft& draft : effects_.drafts())
    for (std::size_t i = 0; draft.step.kind == StepKind::merge && i < draft.entries; ++i)
      staleness_.add(effects_.entries()[draft.first_entry + i].age);
}

void Conductor::handle_model(const Flight& flight) {
  const bool is_news = flight.id.sequence > adopted_[flight.receiver.value];
  if (is_news) adopted_[flight.receiver.value] = flight.id.sequence;
  take_model(flight, is_news, flight.receiver, now_, effects_);
  take_over();
}

void Conductor::handle_closing() {
  const Wake closing = queue_.first_closing();
  queue_.pop_closing();
  Protocol& protocol = *protocols_[closing.client.value];
  if (observer_) closed_.assign(protocol.mailbox().batch().begin(), protocol.mailbox().batch().end());
  protocol.on_window_close(now_, effects_);
  if (!protocol.mailbox().batch().empty()) closed_.clear();  // another window than the one that was to close here
  std::vector<StepEntry> used;
  for (const Effects::Draft& draft : effects_.drafts()) {
    if (draft.step.kind == StepKind::discard && settings_.refuses_at_close) refuse(draft);
    if (draft.step.kind != StepKind::merge) continue;
    for (std::size_t i = 0; i < draft.entries; ++i) {
      const StepEntry& entry = effects_.entries()[draft.first_entry + i];
      staleness_.add(entry.age);
      if (observer_) used.push_back(entry);
    }
  }
  closes_window_ = true;
  take_over();
  closes_window_ = false;
  if (observer_) observer_->on_window_close(now_, closing.client, closed_, used);
}

// A message that was kept until the close: it is there twice, or no token is left for it.
void Conductor::refuse(const Effects::Draft& discarded) {
  if (link_counts_.empty()) return;
  const StepEntry& refused = effects_.entries()[discarded.first_entry];
  const auto is_same = [&](const StepEntry& other) { return other.peer == refused.peer && other.sequence == refused.sequence; };
  bool is_twin = false;
  for (const Effects::Draft& draft : effects_.drafts()) {
    if (draft.step.kind == StepKind::discard && draft.first_entry >= discarded.first_entry) continue;
    const auto first = effects_.entries().begin() + static_cast<std::ptrdiff_t>(draft.first_entry);
    is_twin = is_twin || std::any_of(first, first + static_cast<std::ptrdiff_t>(draft.entries), is_same);
  }
  LinkCounts& counts = link_counts_[*settings_.graph->find_link(refused.peer, discarded.step.client)];
  --counts.kept;
  ++(is_twin ? counts.duplicates : counts.capped);
}

ClientId Conductor::hub_of(std::uint64_t unification) const {
  if (settings_.unification.policy == HubPolicy::best_channel)
    if (const auto best = settings_.channel->best_sender(*settings_.graph, now_)) return *best;
  return settings_.unification.hub(unification, *settings_.graph, settings_.seed);
}

void Conductor::unify(std::uint64_t index) {
  ++unifications_;
  const ClientId hub = hub_beside_absent(hub_of(index));
  for (auto& protocol : protocols_) protocol->on_unify(now_, settings_.unification.clears_mailbox, effects_);
  take_over();
  if (hub == no_client) return;
  if (!settings_.unification.via_transport) return unify_at_once(hub, index);
  unify_by_transport(hub, index);
  if (observer_) observer_->on_unify(now_, index, hub);
}

void Conductor::unify_at_once(ClientId hub, std::uint64_t index) {
  adopting_.clear();
  next_adoption_ = 0;
  const auto incarnation = static_cast<std::uint16_t>(life(hub));
  for (std::uint32_t i = 0; i < protocols_.size(); ++i)
    if (ClientId{i} != hub && is_within_reach(hub, {i}))
      adopting_.push_back(
          {.peer = ClientId{i}, .sequence = static_cast<Sequence>(index), .incarnation = incarnation, .place = outside_graph});
  if (adopting_.empty()) {
    if (observer_) observer_->on_unify(now_, index, hub);
    return;
  }
  model_messages_ += adopting_.size();
  const SlotIndex slot = sink_.open_slot(static_cast<std::uint32_t>(adopting_.size()));
  for (StepEntry& receiver : adopting_) receiver.slot = slot;
  issue(StepKind::publish, hub, index, adopting_);
  adopting_hub_ = hub;
}

void Conductor::adopt_next() {
  const StepEntry& receiver = adopting_[next_adoption_];
  const StepEntry entry{.peer = adopting_hub_,
                        .sequence = receiver.sequence,
                        .slot = receiver.slot,
                        .incarnation = receiver.incarnation,
                        .place = static_cast<std::uint32_t>(next_adoption_)};
  issue(StepKind::adopt, receiver.peer, receiver.sequence, {&entry, 1});
  if (++next_adoption_ < adopting_.size()) return;
  if (observer_) observer_->on_unify(now_, receiver.sequence, adopting_hub_);
  if (!settings_.samples_unifications || is_ending_ || (attendance_ && attendance_->is_cut())) return;
  sample(true);
}

void Conductor::unify_by_transport(ClientId hub, std::uint64_t index) {
  adopted_[hub.value] = index;
  effects_.publish_model(hub, index, now_);
  for (std::uint32_t i = 0; i < protocols_.size(); ++i) {
    if (ClientId{i} == hub || !is_within_reach(hub, {i})) continue;
    effects_.entry({.peer = ClientId{i}, .sequence = static_cast<Sequence>(index), .place = outside_graph});
    ++model_messages_;
  }
  take_over();
}

void Conductor::sample(bool after_unification) {
  if (samples_ > 0 && sampled_at_ == now_ && sampled_after_ == steps_) return;  // nothing has changed since
  sampled_at_ = now_;
  sampled_after_ = steps_;
  sample_phase_ = 0;
  const auto all = static_cast<std::uint32_t>(protocols_.size());
  next_measured_ = 0;
  measured_ = settings_.measured;
  if (attendance_) choose_measured();
  last_measured_ = measured_ ? static_cast<std::uint32_t>(measured_->size()) : all;
  next_counted_ = last_counted_ = 0;
  if (last_measured_ == 0) return;
  if (last_measured_ < all && steps_ > 0) last_counted_ = all;  // before the first step none has spent anything
  SampleHeader header{.number = samples_++,
                      .at = now_,
                      .clients = last_measured_,
                      .others = last_counted_ > 0 ? all - last_measured_ : 0,
                      .events = events_};
  for (std::uint32_t i = 0; i < protocols_.size(); ++i)
    header.add(protocols_[i]->counts(), settings_.energy.of({i}, protocols_[i]->counts()));
  header.model_messages = model_messages_;
  if (settings_.cumulated_delay) header.cumulated_delay = *settings_.cumulated_delay;
  header.after_unification = after_unification;
  header.measured = measured_;
  header.covers_all = attendance_ && measured_->size() == attendance_->here();
  header.mass_is_whole = !attendance_ || attendance_->mass_is_whole();
  sink_.open_sample(header);
}

void Conductor::measure_next() {
  ++handed_out_;
  sink_.perform({.kind = StepKind::measure,
                 .phase = sample_phase_,
                 .client = measured_ ? (*measured_)[next_measured_++] : ClientId{next_measured_++},
                 .index = samples_ - 1,
                 .at = now_,
                 .entries = {}});
}

bool Conductor::is_measured(ClientId client) const { return !measured_ || std::ranges::binary_search(*measured_, client); }

// Absent clients have spent what they have spent, and so have those that are not scored.
void Conductor::count_next() {
  const ClientId client{next_counted_++};
  if (is_measured(client)) return;
  ++handed_out_;
  sink_.perform(
      {.kind = StepKind::measure, .phase = traffic_only, .client = client, .index = samples_ - 1, .at = now_, .entries = {}});
}

void Conductor::stop() {
  if (is_ending_) return;
  is_ending_ = true;
  if (!is_sampling() && settings_.samples_last_state) sample();
}

void Conductor::issue(StepKind kind, ClientId client, std::uint64_t index, std::span<const StepEntry> model) {
  issue({.kind = kind,
         .message = model.empty() ? MessageKind::update : MessageKind::model,
         .client = client,
         .incarnation = life(client),
         .index = index,
         .at = now_,
         .entries = model});
}

void Conductor::issue(const Step& step) {
  ++steps_;
  ++handed_out_;
  hashes_[step.client.value].add(step);
  sink_.perform(step);
}

void Conductor::count_event() {
  ++events_;
  // Client 1 as the address of a sample by count: client 0 is the periodic one.
  if (settings_.sample_every_events > 0 && events_ % settings_.sample_every_events == 0)
    queue_.push(Wake{now_, Priority::evaluate, ClientId{1}, 0});
}

std::optional<Glance> Conductor::glance() const {
  Glance glance{.at = now_, .present = attendance_ ? attendance_->here() : protocols_.size()};
  glance.unifications = unifications_, glance.under_way = under_way_, glance.staleness = staleness_;
  OverClients waiting{.min = protocols_.empty() ? 0 : std::numeric_limits<double>::infinity()};
  for (const auto& protocol : protocols_) {
    glance.counts += protocol->counts();
    const auto depth = static_cast<double>(protocol->mailbox().batch().size());
    waiting.mean += depth / static_cast<double>(protocols_.size());
    waiting.min = std::min(waiting.min, depth), waiting.max = std::max(waiting.max, depth);
  }
  glance.waiting = waiting;
  return glance;
}

MessageCounts Conductor::total_counts() const {
  MessageCounts total;
  for (const auto& protocol : protocols_) total += protocol->counts();
  return total;
}

}  // namespace rubato
