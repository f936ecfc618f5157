#include "runtime/protocols/push.hpp"

#include <algorithm>

#include "runtime/random.hpp"

namespace rubato {

Push::Push(const ClientSettings& settings, ClientId self)
    : TickingProtocol(settings, self), mailbox_{settings.limits, settings.graph->in_degree(self)} {
  const Needs& needs = settings.needs;
  const std::size_t senders = settings.graph->in_degree(self);
  if (settings.transmit_per_link) {
    link_timers_.resize(settings.graph->out_degree(self));
    link_news_.resize(link_timers_.size());
  }
  const bool follows = needs.in_order || needs.keep == Keep::newest_ever;
  if (!follows && !settings.may_duplicate && !needs.most_ahead && needs.absorb == AbsorbAt::window) return;
  memory_ = std::make_unique<Memory>();
  if (follows) memory_->next.resize(senders);
  if (needs.most_ahead) memory_->heard.resize(senders);
  if (settings.may_duplicate) memory_->filters.resize(senders);
}

void Push::start(Effects& effects) {
  if (settings_.needs.opens_with_compute) compute({}, effects);
  wake_timers(effects);
  begin({}, effects);
}

void Push::wake_timers(Effects& effects) {
  wake_compute(effects);
  if (!settings_.needs.sends || settings_.needs.sends_at_compute) return;
  if (!settings_.transmit_per_link) return wake_transmit(effects);
  for (std::uint32_t link = 0; link < link_timers_.size(); ++link) wake_link(link, effects);
}

void Push::wake_link(std::uint32_t link, Effects& effects) {
  if (!transmit_law().ticks_by_itself()) return;
  const Time next = link_timers_[link].next(transmit_law(), settings_.seed, self_, Purpose::transmit_timer, link + 1);
  effects.wake({next, Priority::transmit, self_, link});
}

void Push::resume(Time now, Effects& effects) {
  skip_timers_to(now);
  if (transmit_law().ticks_by_itself())
    for (Timer& timer : link_timers_) timer.skip_to(now, transmit_law());
  if (counts_.computations == 0) return start(effects);
  wake_timers(effects);
  begin(now, effects);
}

void Push::on_leave(Time now, Effects& effects) {
  on_unify(now, true, effects);
  if (memory_) give_up(memory_->stored, now, effects);
  for (const Retained& retained : retained_) {
    effects.step(StepKind::discard, self_, now);
    effects.entry({.peer = self_, .sequence = retained.sequence, .slot = retained.slot});
  }
  retained_.clear();
  set_news(false);
}

Push::Memory& Push::memory() {
  if (!memory_) memory_ = std::make_unique<Memory>();
  return *memory_;
}

double Push::merge_weight(const Arrival& arrival, Time now) const {
  const std::uint64_t row = settings_.row_at(settings_.weighs_as_sent ? arrival.sent : now);
  return settings_.merge_weight(arrival.link, row) * scale(row);
}

// Of merge weights that are shared out among the clients that are here.
double Push::scale(std::uint64_t row) const {
  if (!settings_.shares_out_weights || !memory_ || memory_->absent.empty()) return 1;
  double all = 0, here = 0;
  for (std::size_t k = 0; k < settings_.graph->in_degree(self_); ++k) {
    const double weight = settings_.merge_weight(settings_.graph->in_link(self_, k), row);
    all += weight;
    if (is_here(settings_.graph->senders_to(self_)[k])) here += weight;
  }
  return here > 0 ? all / here : 1;
}

void Push::on_new_life(ClientId sender) {
  if (!memory_) return;
  const std::size_t place = place_of(sender);
  if (!memory_->filters.empty()) memory_->filters[place] = {};
  if (!has_next()) return;
  memory_->next[place] = 0;
  if (!settings_.needs.in_order) return;
  memory_->is_unknown.resize(memory_->next.size());
  memory_->is_unknown[place] = true;
}

void Push::archive(Archive& archive) {
  Protocol::archive(archive);
  archive(has_news_), archive(turns_), archive(sequence_);
  for (std::size_t link = 0; link < link_news_.size(); ++link) {
    bool has_news = link_news_[link];
    archive(has_news);
    link_news_[link] = has_news;
  }
  archive_timers(archive);
  archive.list(link_timers_, [](Archive& each, Timer& timer) { timer.archive(each); });
}

void Push::begin(Time now, Effects& effects) {
  if (settings_.needs.fixes_model_at_start) effects.step(StepKind::begin, self_, now).index = counts_.computations;
}

void Push::on_compute(Time now, std::uint32_t, Effects& effects) {
  wake_compute(effects);
  if (is_too_far_ahead()) {
    ++skipped_;
    wake_coupled(now, effects);
    return begin(now, effects);
  }
  absorb_stored(now, effects);
  compute(now, effects);
  set_news(true);
  if (settings_.needs.sends_at_compute) {
    send(now, 0, effects);
    ++turns_;
  }
  wake_coupled(now, effects);
  begin(now, effects);
}

// Of any sender too few computations have been heard of.
bool Push::is_too_far_ahead() const {
  const auto& most = settings_.needs.most_ahead;
  if (!most || counts_.computations <= *most) return false;
  const std::uint64_t least = counts_.computations - *most;
  return std::ranges::any_of(memory_->heard, [&](std::uint64_t done) { return done < least; });
}

bool Push::is_coupled_after(std::uint64_t computations) const {
  const TimerLaw& law = transmit_law();
  const Needs& needs = settings_.needs;
  return law.kind == TimerLaw::Kind::coupled && needs.sends && !needs.sends_at_compute &&
         computations % (std::uint64_t{law.every} * needs.send_every) == 0;
}

std::optional<std::uint64_t> Push::sends_at(const Wake& wake) const {
  const Needs& needs = settings_.needs;
  if (needs.asks_before_sending) return std::nullopt;  // its client decides
  const bool computes = wake.priority == Priority::compute;
  if (computes && !needs.sends_at_compute && !is_coupled_after(counts_.computations + 1)) return std::nullopt;
  if (!computes && needs.send_only_if_computed && !has_news(wake.detail)) return std::nullopt;
  bool is_heard = false;
  each_receiver(wake, [&](ClientId, LinkIndex) { is_heard = true; });
  return is_heard ? std::optional(turns_) : std::nullopt;
}

void Push::wake_coupled(Time now, Effects& effects) {
  if (!is_coupled_after(counts_.computations)) return;
  const std::uint32_t times = transmit_law().repeat * settings_.needs.send_times;
  for (std::uint32_t i = 0; i < times; ++i) effects.wake({now, Priority::transmit, self_, i});
}

void Push::on_transmit(Time now, std::uint32_t detail, Effects& effects) {
  settings_.transmit_per_link ? wake_link(detail, effects) : wake_transmit(effects);
  if (settings_.needs.asks_before_sending) {
    effects.step(StepKind::decide, self_, now).index = turns_;
    asked_detail_ = detail;
    return;
  }
  if (has_news(detail) || !settings_.needs.send_only_if_computed) send(now, detail, effects);
  ++turns_;
}

void Push::on_answer(Time now, bool sends, Effects& effects) {
  if (sends) send(now, asked_detail_, effects);
  ++turns_;
}

void Push::send(Time now, std::uint32_t detail, Effects& effects) {
  Step& step = effects.step(StepKind::publish, self_, now);
  step.index = sequence_;
  step.keeps = settings_.needs.acknowledgements;
  effects.turn(turns_);
  if (settings_.needs.most_ahead) effects.tag(static_cast<std::uint32_t>(counts_.computations));
  if (settings_.needs.acknowledgements) effects.wake({later(now, settings_.limits.deadline), Priority::deadline, self_, sequence_});
  const std::uint64_t row = settings_.row_at(now);
  sent_to_.clear();
  each_receiver({now, Priority::transmit, self_, detail}, [&](ClientId receiver, LinkIndex link) {
    if (settings_.needs.acknowledgements) sent_to_.push_back(receiver);
    send_to(receiver, link, row, effects);
  });
  ++sequence_;
  ++counts_.publications;
  if (link_news_.empty())
    has_news_ = false;
  else if (effects.drafts().back().entries > 0)  // else its receiver is not here, and the link keeps what it has
    link_news_[detail] = false;
}

bool Push::on_acknowledged(Sequence sequence, ClientId by) {
  const auto retained = std::ranges::find(retained_, sequence, &Retained::sequence);
  if (retained == retained_.end()) return settings_.graph->find_link(self_, by).has_value();  // too late, by a neighbour
  const bool is_receiver = std::ranges::find(retained->receivers, by) != retained->receivers.end();
  retained->is_acknowledged = retained->is_acknowledged || is_receiver;
  return is_receiver;
}

void Push::on_deadline(Time now, Sequence sequence, Effects& effects) {
  if (retained_.empty() || retained_.front().sequence != sequence) return;  // it had no receivers
  const Retained oldest = std::move(retained_.front());                     // deadlines come in the order of departures
  retained_.erase(retained_.begin());
  std::uint32_t place = 0;
  if (!link_news_.empty())
    place = *settings_.graph->find_link(self_, oldest.receivers.front()) - settings_.graph->first_link(self_);
  effects.step(oldest.is_acknowledged ? StepKind::discard : StepKind::reclaim, self_, now);
  effects.entry({.peer = self_, .sequence = oldest.sequence, .slot = oldest.slot, .place = place});
  if (oldest.is_acknowledged) return;
  has_news_ = true;  // what came back is to be sent again
  if (!link_news_.empty()) link_news_[place] = true;
}

// A receiver has missed something: it gets the whole state, as it is after what was sent last.
void Push::on_request(Time now, ClientId from, std::uint32_t, Effects& effects) {
  const auto link = settings_.graph->find_link(self_, from);
  if (!link || !settings_.needs.in_order) return;
  Step& step = effects.step(StepKind::publish, self_, now);
  step.message = MessageKind::resync;
  step.index = counts_.resyncs;
  effects.turn(counts_.resyncs);
  effects.tag(sequence_);
  effects.entry({.peer = from,
                 .sequence = static_cast<Sequence>(counts_.resyncs),
                 .weight = settings_.share_weight(*link, settings_.row_at(now)),
                 .place = *link});
  ++counts_.resyncs;
}

Offer Push::judge(const Arrival& arrival) {
  if (settings_.may_duplicate && arrival.kind == MessageKind::update) {
    using Verdict = DuplicateFilter::Verdict;
    const Verdict verdict = memory_->filters[place_of(arrival.id.sender)].add(arrival.id.sequence);
    if (verdict != Verdict::fresh) return verdict == Verdict::seen ? Offer::duplicate : Offer::late;
  }
  if (settings_.counts_receptions && !is_too_old(arrival)) settings_.counts_receptions->add(self_, period_);
  if (settings_.receptions && !is_too_old(arrival)) {
    const std::uint32_t all = settings_.receptions->of(self_, period_), number = came_++;
    if (!is_taken_by_chance(settings_.seed, self_, period_, number, all, mailbox_.tokens())) return Offer::capped;
  }
  return mailbox_.offer(arrival, settings_.limits);
}

Offer Push::on_arrival(const Arrival& arrival, Effects& effects) {
  const bool opens = mailbox_.batch().empty();
  const Offer offer = judge(arrival);
  if (!admit(offer, arrival, effects)) return offer;
  if (settings_.needs.absorb == AbsorbAt::compute)
    store(effects);
  else if (opens)
    effects.close_window(mailbox_.open_until(), self_);
  return offer;
}

// Moves what the mailbox has just kept to the store, where only the newest of a sender stays.
void Push::store(Effects& effects) {
  const Arrival fresh = mailbox_.batch().front();
  mailbox_.clear();
  if (has_next()) {
    std::uint64_t& next = next_of(fresh.id.sender);
    if (fresh.id.sequence < next) return supersede(fresh, fresh.arrived, effects);
    next = fresh.id.sequence + std::uint64_t{1};
  }
  std::vector<Arrival>& stored = memory_->stored;
  const auto at = std::ranges::lower_bound(stored, fresh.id.sender, {}, [](const Arrival& one) { return one.id.sender; });
  if (at == stored.end() || at->id.sender != fresh.id.sender) {
    stored.insert(at, fresh);
    return;
  }
  const bool is_newer = at->id < fresh.id;
  supersede(is_newer ? *at : fresh, fresh.arrived, effects);
  if (is_newer) *at = fresh;
}

void Push::absorb_stored(Time now, Effects& effects) {
  if (!memory_ || memory_->stored.empty()) return;
  const std::uint64_t every = settings_.absorb_every.empty() ? 1 : settings_.absorb_every[self_.value];
  if (counts_.computations % every != 0) return;
  effects.step(StepKind::merge, self_, now);
  for (const Arrival& arrival : memory_->stored) effects.entry(merge_entry(arrival, now, merge_weight(arrival, now)));
  memory_->stored.clear();
}

void Push::supersede(const Arrival& arrival, Time now, Effects& effects) {
  discard(arrival, self_, now, effects);
  ++counts_.superseded;
}

void Push::on_window_close(Time now, Effects& effects) {
  if (mailbox_.open_until() != now) return;  // a unification has emptied the window that closes here
  if (settings_.needs.in_order)
    merge_in_order(now, effects);
  else if (settings_.needs.keep != Keep::all)
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
    const double weight = settings_.needs.weights_by_batch ? equal_share : merge_weight(arrival, now);
    effects.entry(merge_entry(arrival, now, weight));
  }
}

void Push::merge_newest(Time now, Effects& effects) {
  sorted_.assign(mailbox_.batch().begin(), mailbox_.batch().end());
  if (settings_.needs.most_ahead)
    for (const Arrival& arrival : sorted_) {
      std::uint64_t& heard = memory_->heard[place_of(arrival.id.sender)];
      heard = std::max<std::uint64_t>(heard, arrival.tag);
    }
  std::ranges::sort(sorted_, {}, &Arrival::id);
  const auto is_superseded = [&](std::size_t i) {
    if (i + 1 < sorted_.size() && sorted_[i].id.sender == sorted_[i + 1].id.sender) return true;
    return has_next() && sorted_[i].id.sequence < next_of(sorted_[i].id.sender);
  };
  effects.step(StepKind::merge, self_, now);
  std::size_t used = 0;
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    if (is_superseded(i)) continue;
    effects.entry(merge_entry(sorted_[i], now, merge_weight(sorted_[i], now)));
    ++used;
  }
  if (used == 0) effects.take_back();
  for (std::size_t i = 0; i < sorted_.size(); ++i)
    if (is_superseded(i)) supersede(sorted_[i], now, effects);
  if (!has_next()) return;
  for (const Arrival& arrival : sorted_) {
    std::uint64_t& next = next_of(arrival.id.sender);
    next = std::max(next, arrival.id.sequence + std::uint64_t{1});
  }
}

// Whole states first, then what follows them without a gap. At a gap the sender is asked for its state.
void Push::merge_in_order(Time now, Effects& effects) {
  sorted_.assign(mailbox_.batch().begin(), mailbox_.batch().end());
  std::sort(sorted_.begin(), sorted_.end(),
            [](const Arrival& a, const Arrival& b) { return a.kind != b.kind ? a.kind > b.kind : a.id < b.id; });
  std::vector<Arrival>& refused = memory_->refused;
  refused.clear();
  std::erase_if(sorted_, [&](const Arrival& arrival) {
    if (is_due(arrival, effects)) return false;
    refused.push_back(arrival);
    return true;
  });
  for (const MessageKind kind : {MessageKind::resync, MessageKind::update}) {
    bool is_open = false;
    for (const Arrival& taken : sorted_) {
      if (taken.kind != kind) continue;
      if (!is_open) effects.step(StepKind::merge, self_, now).message = kind;
      is_open = true;
      effects.entry(merge_entry(taken, now, merge_weight(taken, now)));
    }
  }
  for (const Arrival& late : refused) supersede(late, now, effects);
}

bool Push::is_due(const Arrival& arrival, Effects& effects) {
  std::uint64_t& next = next_of(arrival.id.sender);
  const std::size_t place = place_of(arrival.id.sender);
  const bool is_unknown = !memory_->is_unknown.empty() && memory_->is_unknown[place];
  if (arrival.kind == MessageKind::resync) {
    if (arrival.tag < next) return false;
    next = arrival.tag;
    if (is_unknown) memory_->is_unknown[place] = false;
    return true;
  }
  if (is_unknown) {
    effects.request(self_, arrival.id.sender, 0);
    return false;
  }
  if (arrival.id.sequence > next) effects.request(self_, arrival.id.sender, 0);
  if (arrival.id.sequence != next) return false;
  ++next;
  return true;
}

void Push::on_unify(Time now, bool clears_mailbox, Effects& effects) {
  if (!clears_mailbox) return;
  for (const Arrival& arrival : mailbox_.batch()) discard(arrival, self_, now, effects);
  counts_.superseded += mailbox_.batch().size();
  mailbox_.clear();
  if (has_next()) give_up(memory_->stored, now, effects);  // counters of an older epoch
}

}  // namespace rubato
