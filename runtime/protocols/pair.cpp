#include "runtime/protocols/pair.hpp"

#include <algorithm>
#include <utility>

#include "runtime/elementary.hpp"
#include "runtime/random.hpp"

namespace rubato {

namespace {

// Ticks of attempts that are made again lie above those of links.
constexpr std::uint32_t first_again = 1u << 27;

ExchangeTag tag_of(const Arrival& arrival) { return ExchangeTag::unpacked(arrival.tag); }

PairRecord record_of(PairRecord::Kind kind, Time now, ClientId peer, ExchangeTag tag, PairRecord::Outcome outcome,
                     bool ends = false) {
  return {
      .kind = kind, .at = now, .peer = peer, .exchange = tag.exchange, .attempt = tag.attempt, .outcome = outcome, .ends = ends};
}

bool is_older(Time born, ClientId asker, Time other, ClientId other_asker) {
  return born != other ? born < other : asker < other_asker;
}

}  // namespace

Pair::Pair(const PairSettings& rules, ClientId self) : TickingProtocol(*rules.push, self), rules_{rules} {
  if (settings_.transmit_per_link && !pairing().in_batches) link_timers_.resize(settings_.graph->out_degree(self));
  if (settings_.may_duplicate) filters_.resize(settings_.graph->in_degree(self));
}

std::optional<std::pair<ClientId, std::uint32_t>> Pair::asked() const {
  if (!asking_) return std::nullopt;
  return std::pair{asking_->partner, asking_->tag.exchange};
}

std::vector<std::pair<ClientId, std::uint32_t>> Pair::waiting_requests() const {
  std::vector<std::pair<ClientId, std::uint32_t>> requests;
  for (const Arrival& request : queue_) requests.emplace_back(request.id.sender, tag_of(request).exchange);
  return requests;
}

void Pair::start(Effects& effects) {
  wake_compute(effects);
  wake_ticks(effects);
  begin({}, effects);
}

void Pair::wake_ticks(Effects& effects) {
  if (pairing().in_batches || !may_ask()) return;
  if (link_timers_.empty()) return wake_transmit(effects);
  for (std::uint32_t place = 0; place < link_timers_.size(); ++place) wake_link(place, effects);
}

void Pair::wake_link(std::uint32_t place, Effects& effects) {
  const Time next = link_timers_[place].next(transmit_law(), settings_.seed, self_, Purpose::transmit_timer, place + 1);
  effects.wake({next, Priority::transmit, self_, place});
}

void Pair::begin(Time now, Effects& effects) {
  if (settings_.needs.fixes_model_at_start) effects.step(StepKind::begin, self_, now).index = counts_.computations;
}

void Pair::resume(Time now, Effects& effects) {
  is_stopped_ = false;
  skip_timers_to(now);
  for (Timer& timer : link_timers_) timer.skip_to(now, transmit_law());
  wake_compute(effects);
  wake_ticks(effects);
  begin(now, effects);
}

void Pair::on_stop() {
  is_stopped_ = true;
  again_.clear();
}

void Pair::on_leave(Time now, Effects& effects) {
  for (const Arrival& request : queue_) {
    effects.request(self_, request.id.sender, request.tag);
    count(Outcome::refused);
  }
  on_crash(now, effects);
}

void Pair::on_crash(Time now, Effects& effects) {
  give_up(queue_, now, effects);
  if (asking_) end_attempt(now);
  again_.clear();
  is_at_rest_ = false;
  done_ = 0;
}

// A client that has gone asks for nothing any more.
void Pair::on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) {
  absent_.set(neighbour, is_here);
  if (is_here) return;
  const auto is_its = [&](const Arrival& request) { return request.id.sender == neighbour; };
  exchanges_.refused += static_cast<std::uint64_t>(std::ranges::count_if(queue_, is_its));
  give_up_if(queue_, is_its, now, effects);
}

void Pair::on_new_life(ClientId sender) {
  if (!filters_.empty()) filters_[place_of(sender)] = {};
}

void Pair::archive(Archive& archive) {
  Protocol::archive(archive);
  archive(sequence_), archive(exchanges_begun_), archive(retries_), archive(ticks_), archive(batch_), archive(exchanges_);
  archive_timers(archive);
  archive.list(link_timers_, [](Archive& each, Timer& timer) { timer.archive(each); });
}

void Pair::on_compute(Time now, std::uint32_t, Effects& effects) {
  wake_compute(effects);
  if (pairing().blocks && is_at_rest_)
    return see({.kind = PairRecord::Kind::compute, .at = now, .outcome = Outcome::working}, effects);
  Step& step = compute(now, effects);
  const bool is_last = pairing().in_batches && ++done_ >= batch_length();
  step.phase = static_cast<std::uint8_t>(is_last);
  begin(now, effects);
  see({.kind = PairRecord::Kind::compute, .at = now, .steps = is_last ? 0 : done_}, effects);
  if (is_last) return end_batch(now, effects);
  const TimerLaw& law = transmit_law();
  const bool is_coupled = law.kind == TimerLaw::Kind::coupled && !pairing().in_batches && may_ask();
  if (is_coupled && counts_.computations % law.every == 0) effects.wake({now, Priority::transmit, self_});
}

// Of the batch under way.
std::uint32_t Pair::batch_length() {
  if (self_.value < rules_.batches.size() && !rules_.batches[self_.value].empty()) {
    const std::vector<std::uint32_t>& mine = rules_.batches[self_.value];
    return mine[std::min<std::size_t>(batch_, mine.size() - 1)];
  }
  const std::vector<double>& steps = pairing().steps;
  const double mean = steps.empty() ? 1 : steps[steps.size() > 1 ? self_.value : 0];
  if (!pairing().draws_steps || mean <= 1) return static_cast<std::uint32_t>(mean);
  const double u = open_uniform01(draw(settings_.seed, self_, Purpose::batch_length, batch_).first);
  return 1 + static_cast<std::uint32_t>(std::min(elementary::log(u) / elementary::log(1 - 1 / mean), 1e9));
}

void Pair::end_batch(Time now, Effects& effects) {
  done_ = 0;
  ++batch_;
  if (!pairing().blocks) {
    if (may_ask() && has_partners_left()) effects.wake({now, Priority::transmit, self_});
    return;
  }
  is_at_rest_ = true;
  serve_waiting(now, effects);
  if (!is_at_rest_) return;
  if (may_ask() && has_partners_left() && !is_stopped_)
    effects.wake({now, Priority::transmit, self_});
  else if (may_ask())
    work_alone(std::nullopt, now, effects);
}

bool Pair::has_partners_left() const { return rules_.partners.empty() || ticks_ < rules_.partners[self_.value].size(); }

void Pair::on_transmit(Time now, std::uint32_t detail, Effects& effects) {
  if (detail >= first_again) {
    const auto found = std::ranges::find(again_, detail, &Attempt::detail);
    if (found == again_.end()) return;
    const Attempt attempt = *found;
    again_.erase(found);
    return ask(attempt, now, effects);
  }
  if (!pairing().in_batches) link_timers_.empty() ? wake_transmit(effects) : wake_link(detail, effects);
  if (auto attempt = new_attempt(detail)) {
    attempt->born = now;
    ask(*attempt, now, effects);
  } else if (pairing().blocks && is_at_rest_) {
    work_alone(std::nullopt, now, effects);  // no neighbour is there
  }
}

std::optional<Pair::Attempt> Pair::new_attempt(std::uint32_t detail) {
  const std::uint32_t tick = ticks_++;
  if (!rules_.partners.empty()) {
    const std::vector<GivenPartner>& mine = rules_.partners[self_.value];
    if (tick >= mine.size()) return std::nullopt;
    return Attempt{.partner = mine[tick].partner, .last = std::min(rules_.retries, std::max(mine[tick].attempts, 1u) - 1)};
  }
  std::optional<ClientId> partner;
  if (link_timers_.empty())
    partner = draw_partner();
  else if (const ClientId other = settings_.graph->receivers_of(self_)[detail]; !absent_.has(other))
    partner = other;
  if (!partner) return std::nullopt;
  return Attempt{.partner = *partner, .last = rules_.retries};
}

std::optional<ClientId> Pair::draw_partner() {
  const auto neighbours = settings_.graph->receivers_of(self_);
  const LinkIndex first = settings_.graph->first_link(self_);
  const double u = uniform01(draw(settings_.seed, self_, Purpose::partner, ticks_).first);
  const std::size_t count = neighbours.size();
  if (rules_.partner_weights.empty() && absent_.empty() && count > 0)  // a hub may have many
    return neighbours[std::min(static_cast<std::size_t>(static_cast<double>(count) * u), count - 1)];
  const auto weight_of = [&](std::size_t place) {
    if (absent_.has(neighbours[place])) return 0.0;
    return rules_.partner_weights.empty() ? 1.0 : rules_.partner_weights[first + place];
  };
  double all = 0;
  for (std::size_t place = 0; place < count; ++place) all += weight_of(place);
  if (!(all > 0)) return std::nullopt;
  double left = all * u;
  std::optional<ClientId> last;
  for (std::size_t place = 0; place < count; ++place) {
    const double weight = weight_of(place);
    if (weight == 0) continue;
    last = neighbours[place];
    if (left < weight) break;
    left -= weight;
  }
  return last;
}

void Pair::ask(Attempt attempt, Time now, Effects& effects) {
  PairRecord record{.kind = PairRecord::Kind::exchange, .at = now, .peer = attempt.partner, .attempt = attempt.tag.attempt};
  if (attempt.tag.attempt > 0) record.exchange = attempt.tag.exchange;
  if (asking_ || is_at_work() || is_stopped_) {
    ++exchanges_.skipped;
    record.outcome = asking_ ? Outcome::asking : Outcome::working;
    return see(record, effects);
  }
  const bool is_first = attempt.tag.attempt == 0;
  if (is_first) attempt.tag.exchange = exchanges_begun_++ % ExchangeTag::exchanges;
  ++(is_first ? exchanges_.begun : exchanges_.retried);
  record.exchange = attempt.tag.exchange;
  attempt.sequence = sequence_;
  attempt.begun = now;
  asking_ = attempt;
  publish(is_first ? pair_request : pair_request_again, {&attempt.partner, 1}, attempt.tag.packed(), now, effects);
  effects.since(attempt.born);
  see(record, effects);
  if (has_deadline()) effects.wake({later(now, settings_.limits.deadline), Priority::deadline, self_, attempt.sequence});
}

bool Pair::is_fresh(const Arrival& arrival) {
  return filters_.empty() || filters_[place_of(arrival.id.sender)].add(arrival.id.sequence) == DuplicateFilter::Verdict::fresh;
}

Offer Pair::on_arrival(const Arrival& arrival, Effects& effects) {
  if (!is_fresh(arrival)) return conclude(Offer::duplicate, arrival, effects);
  if (tag_of(arrival).is_reply) {
    const bool ends = is_asked(arrival.id.sender, tag_of(arrival));
    const Offer offer = ends || pairing().in_increments ? Offer::kept : Offer::late;
    if (admit(offer, arrival, effects)) take_reply(arrival, effects);
    return offer;
  }
  const Outcome outcome = handle(arrival, effects);
  count(outcome);
  see(record_of(PairRecord::Kind::request, arrival.arrived, arrival.id.sender, tag_of(arrival), outcome), effects);
  const Offer offer = outcome == Outcome::late                                ? Offer::late
                      : outcome == Outcome::met || outcome == Outcome::queued ? Offer::kept
                                                                              : Offer::superseded;
  return conclude(offer, arrival, effects);
}

void Pair::count(Outcome outcome) {
  exchanges_.met += outcome == Outcome::met;
  exchanges_.refused += outcome == Outcome::refused;
  exchanges_.queued += outcome == Outcome::queued;
  exchanges_.empty += outcome == Outcome::empty;
  exchanges_.late += outcome == Outcome::late;
}

Pair::Outcome Pair::handle(const Arrival& request, Effects& effects) {
  if (is_too_old(request)) return Outcome::late;
  const ClientId asker = request.id.sender;
  const bool is_its_turn_to_wait = asking_ && is_older(request.since, asker, asking_->born, self_);
  if (asking_ || is_at_work()) {
    const bool waits = rules_.busy == Busy::wait && (!asking_ || is_its_turn_to_wait);
    if (waits) {
      queue_.push_back(request);
      return Outcome::queued;
    }
    effects.request(self_, asker, request.tag);
    return Outcome::refused;
  }
  return serve(request, request.arrived, effects);
}

// Where nothing comes of it the request is still to be discarded.
Pair::Outcome Pair::serve(const Arrival& request, Time now, Effects& effects) {
  const ClientId asker = request.id.sender;
  const Duration longest = settings_.limits.deadline;
  if (now - request.sent > longest) return Outcome::late;
  const auto link = settings_.graph->find_link(self_, asker);
  if (!link) return Outcome::late;
  if (rules_.commit == Commit::known && rules_.foresight.fate_of) {
    const Fate fate = rules_.foresight.fate_of({.sender = self_, .receiver = asker, .link = *link, .turn = sequence_});
    if (fate.lost || (has_deadline() && now - request.sent > longest - fate.delay)) return Outcome::empty;
  }
  effects.step(StepKind::merge, self_, now).phase = pair_request;
  effects.entry(merge_entry(request, now, 1));
  ExchangeTag tag = tag_of(request);
  tag.is_reply = true;
  publish(pair_reply, {&asker, 1}, tag.packed(), now, effects);
  is_at_rest_ = false;
  return Outcome::met;
}

void Pair::serve_waiting(Time now, Effects& effects) {
  while (!queue_.empty() && !asking_ && !is_at_work()) serve_oldest(now, effects);
}

void Pair::serve_oldest(Time now, Effects& effects) {
  const auto oldest = std::ranges::min_element(
      queue_, [](const Arrival& a, const Arrival& b) { return is_older(a.since, a.id.sender, b.since, b.id.sender); });
  const Arrival request = *oldest;
  queue_.erase(oldest);
  const Outcome outcome = serve(request, now, effects);
  count(outcome);
  see(record_of(PairRecord::Kind::serve, now, request.id.sender, tag_of(request), outcome), effects);
  if (outcome == Outcome::met) return;
  ++counts_.superseded;
  discard(request, self_, now, effects);
}

bool Pair::is_asked(ClientId by, ExchangeTag tag) const {
  tag.is_reply = false;
  return asking_ && asking_->partner == by && asking_->tag == tag;
}

void Pair::end_attempt(Time now) {
  exchanges_.asking += now - asking_->begun;
  ended_ = *asking_;
  asking_.reset();
}

void Pair::take_reply(const Arrival& arrival, Effects& effects) {
  const Time now = arrival.arrived;
  effects.step(StepKind::merge, self_, now).phase = pair_reply;
  effects.entry(merge_entry(arrival, now, 1));
  hear(arrival.id.sender, tag_of(arrival), Outcome::met, now, effects);
}

// It is refused.
void Pair::on_request(Time now, ClientId from, std::uint32_t packed, Effects& effects) {
  hear(from, ExchangeTag::unpacked(packed), Outcome::refused, now, effects);
}

// What has become of a request to this partner.
void Pair::hear(ClientId partner, ExchangeTag tag, Outcome outcome, Time now, Effects& effects) {
  const bool ends = is_asked(partner, tag), has_met = outcome == Outcome::met;
  see(record_of(PairRecord::Kind::reply, now, partner, tag, outcome, ends), effects);
  if (!ends) return;
  end_attempt(now);
  if (has_met) is_at_rest_ = false;
  be_free(has_met, now, effects);
}

void Pair::on_deadline(Time now, Sequence sequence, Effects& effects) {
  constexpr Sequence told = (1u << 28) - 1;  // as much of it as a wake-up tells
  if (!asking_ || (asking_->sequence & told) != (sequence & told)) return;
  ++exchanges_.over;
  end_attempt(now);
  see({.kind = PairRecord::Kind::over, .at = now, .exchange = ended_.tag.exchange, .attempt = ended_.tag.attempt}, effects);
  be_free(false, now, effects);
}

void Pair::be_free(bool has_met, Time now, Effects& effects) {
  const std::uint32_t exchange = ended_.tag.exchange;
  const bool comes_again = !has_met && try_again(now, effects);
  serve_waiting(now, effects);
  if (pairing().blocks && is_at_rest_ && !has_met && !comes_again) work_alone(exchange, now, effects);
}

bool Pair::try_again(Time now, Effects& effects) {
  if (is_stopped_ || ended_.tag.attempt >= ended_.last) return false;
  Attempt next = ended_;
  ++next.tag.attempt;
  next.detail = first_again + retries_++ % (first_again - 1);
  again_.push_back(next);
  effects.wake({later(now, rules_.retry_after), Priority::transmit, self_, next.detail});
  return true;
}

void Pair::work_alone(std::optional<std::uint32_t> exchange, Time now, Effects& effects) {
  is_at_rest_ = false;
  if (pairing().acts_alone) effects.step(StepKind::merge, self_, now).phase = pair_alone;
  see({.kind = PairRecord::Kind::alone, .at = now, .exchange = exchange}, effects);
}

}  // namespace rubato
