#include "runtime/protocols/local_rounds.hpp"

#include <algorithm>
#include <stdexcept>

namespace rubato {

namespace {

constexpr std::uint32_t most_phases = 1u << 30;
constexpr std::uint32_t of_model = 1u << 30;       // beside the number of the phase that a unification comes before
constexpr std::uint32_t furthest_jump = 1u << 29;  // no client can be lured to the end of the numbers
constexpr std::uint64_t many = 16;
constexpr std::size_t most_unsaid = 64;  // remembered for each neighbour
constexpr std::size_t most_models = 4;
constexpr int longest_pause = 16;  // in the shortest

std::uint32_t please(std::uint32_t number) { return 2 * number; }
std::uint32_t nothing_in(std::uint32_t number) { return 2 * number + 1; }
bool is_question(std::uint32_t tag) { return tag % 2 == 0; }
std::uint32_t number_of(std::uint32_t tag) { return tag / 2; }

// Where all clients send to all their neighbours no client can be more than one exchange ahead of them.
std::uint64_t reach_of(const RoundSettings& rules) {
  const ClientSettings& settings = *rules.settings;
  const bool changes = settings.merge_weights.size() > 1 || settings.share_weights.size() > 1 || settings.fading;
  const bool is_always_heard = settings.links.is_all() && !changes && rules.sends.empty() && rules.send_probability >= 1 &&
                               rules.participation.empty() && !settings.needs.send_only_if_computed;
  return is_always_heard && !settings.graph->is_directed() ? 1 : many;
}

}  // namespace

LocalRounds::LocalRounds(const RoundSettings& rules, ClientId self)
    : RoundClient(rules, self),
      phases_{rules.settings->needs.program},
      reach_{reach_of(rules)},
      filters_(rules.settings->graph->in_degree(self)) {}

// ---- from phase to phase

// To the next phase that takes time.
void LocalRounds::walk(Time now, Effects& effects) {
  doing_ = Doing::nothing;
  while (true) {
    if (jump(now, effects)) continue;
    if (is_to_unify()) return unify(now, effects);
    if (!phases_.happens(here_)) {
      go_to(here_ + 1, effects);
      continue;
    }
    switch (phase().kind) {
      case PhaseKind::begin:
        pace_.begin(self_, now, effects);
        go_to(here_ + 1, effects);
        break;
      case PhaseKind::compute:
        return begin_to_compute(now, effects);
      case PhaseKind::exchange:
        doing_ = Doing::about_to_exchange;
        return effects.wake({now, Priority::transmit, self_});
    }
  }
}

void LocalRounds::go_to(Number number, Effects& effects) {
  if (number >= most_phases) throw std::length_error("a run has more phases than messages can number");
  const std::uint64_t before = round();
  const bool was_opening = phases_.is_opening(here_);
  here_ = number;
  if (phases_.is_opening(here_) || (round() == before && !was_opening)) return;
  effects.round_is_over(round());
  const std::uint64_t every = rules_.refill_every;
  if (every > 0 && round() / every > before / every) on_refill();
}

// Where others are far ahead; of an opening only what is exchanged is left out. True if it has got anywhere.
bool LocalRounds::jump(Time now, Effects& effects) {
  if (here_ >= followed_) return false;
  if (!phases_.is_opening(here_)) {
    go_to(followed_, effects);
    if (rules_.unify_every > 0 && round() % rules_.unify_every != 0) pass_unification(round() / rules_.unify_every, now, effects);
    return true;
  }
  if (phase().kind != PhaseKind::exchange) return false;
  go_to(here_ + 1, effects);
  return true;
}

void LocalRounds::begin_to_compute(Time now, Effects& effects) {
  doing_ = Doing::computing;
  if (!rules_.jobs.is_in_force()) {
    if (pace_.left == 0) pace_.left = phase().repeat;  // else it was saved, or others were far ahead, before it was done
    return effects.wake({later(now, pace_.next_length(settings_, self_)), Priority::compute, self_});
  }
  const std::optional<Duration> done = pace_.work(rules_, self_, round(), now, effects);
  is_working_ = done.has_value();
  if (done) effects.wake({later(now, *done), Priority::compute, self_});
  due_ = later(now, rules_.jobs.phase);
  effects.wake({due_, Priority::transmit, self_});
}

void LocalRounds::on_compute(Time now, std::uint32_t, Effects& effects) {
  if (doing_ != Doing::computing) return;
  compute(phase().number, now, effects);
  if (rules_.jobs.is_in_force()) {
    is_working_ = false;
    if (now < due_) return;
  } else if (--pace_.left > 0) {
    return effects.wake({later(now, pace_.next_length(settings_, self_)), Priority::compute, self_});
  }
  go_to(here_ + 1, effects);
  walk(now, effects);
}

void LocalRounds::on_transmit(Time now, std::uint32_t, Effects& effects) {
  switch (doing_) {
    case Doing::nothing:
      return;
    case Doing::about_to_exchange:
      return begin_to_exchange(now, effects);
    case Doing::waiting:
    case Doing::unifying:
      return look_again(now, effects);
    case Doing::computing:
      if (!rules_.jobs.is_in_force() || is_working_ || now < due_) return;
      go_to(here_ + 1, effects);
      return walk(now, effects);
  }
}

// ---- an exchange

void LocalRounds::begin_to_exchange(Time now, Effects& effects) {
  doing_ = Doing::waiting;
  const Exchange exchange = this->exchange();
  send(exchange, now, effects);
  const Graph& graph = *settings_.graph;
  const auto senders = graph.senders_to(self_);
  awaited_.clear();
  for (std::size_t k = 0; k < senders.size(); ++k)
    if (!absent_.has(senders[k]) && !has_said(senders[k]) && will_send(senders[k], graph.in_link(self_, k), exchange))
      awaited_.push_back(senders[k]);
  wait(now, effects);
  go_on_if_complete(now, effects);
}

void LocalRounds::wait(Time now, Effects& effects) {
  since_ = now;
  pause_ = rules_.patience == Duration::max() ? rules_.ask_after : rules_.patience;
  due_ = later(now, pause_);
  if (doing_ == Doing::unifying || !awaited_.empty()) set_alarm(now, effects);
}

// An alarm that rings before is enough: it is set again then.
void LocalRounds::set_alarm(Time now, Effects& effects) {
  if (alarm_ > now && alarm_ <= due_) return;
  alarm_ = due_;
  effects.wake({due_, Priority::transmit, self_});
}

void LocalRounds::send(const Exchange& exchange, Time now, Effects& effects) {
  if (!settings_.needs.sends || !rules_.sends_in(self_, exchange.round)) return;
  const auto receivers = settings_.graph->receivers_of(self_);
  if (!has_something_to_say()) {  // which its receivers cannot know
    settings_.each_link_used(self_, exchange.turn, exchange.round, [&](std::uint32_t place) {
      if (!absent_.has(receivers[place])) effects.tell(self_, receivers[place], nothing_in(here_));
    });
    return;
  }
  const auto kept = static_cast<std::uint32_t>(reach_ + 1);
  if (sent_.size() == kept) sent_.pop_front();
  Sent& sent = sent_.emplace_back(here_, sequence_);
  std::vector<ClientId> untold;  // which wait to hear
  publish(exchange, now, effects, [&](ClientId receiver, LinkIndex) {
    if (absent_.has(receiver)) return false;
    const bool is_sent = is_told(receiver, exchange);
    (is_sent ? sent.receivers : untold).push_back(receiver);
    return is_sent;
  });
  effects.tag(here_);
  effects.keep_among(kept);
  for (const ClientId receiver : untold) effects.tell(self_, receiver, nothing_in(here_));
}

bool LocalRounds::will_send(ClientId neighbour, LinkIndex link, const Exchange& exchange) const {
  if (!settings_.needs.sends || !rules_.sends_in(neighbour, exchange.round)) return false;
  bool is_used = false;
  const LinkIndex first = settings_.graph->first_link(neighbour);
  settings_.each_link_used(neighbour, exchange.turn, exchange.round,
                           [&](std::uint32_t place) { is_used |= first + place == link; });
  return is_used;
}

// Its message of this exchange, or that there is none.
bool LocalRounds::has_said(ClientId neighbour) const {
  return std::ranges::any_of(heard_, [&](const Arrival& one) { return one.id.sender == neighbour && one.tag == here_; }) ||
         has_said_nothing(neighbour, here_);
}

bool LocalRounds::has_said_nothing(ClientId neighbour, Number number) const {
  return std::ranges::find(unsaid_, std::pair(neighbour, number)) != unsaid_.end();
}

// It has waited for long: for long enough, or it asks.
void LocalRounds::look_again(Time now, Effects& effects) {
  if (now < due_) return set_alarm(now, effects);
  if (rules_.patience != Duration::max()) return doing_ == Doing::waiting ? finish_exchange(now, effects) : walk(now, effects);
  if (doing_ == Doing::unifying)
    effects.tell(self_, hub(), please(here_ + of_model));
  else
    for (const ClientId neighbour : awaited_) effects.tell(self_, neighbour, please(here_));
  pause_ = std::min(2 * pause_, longest_pause * rules_.ask_after);
  due_ = later(now, pause_);
  set_alarm(now, effects);
}

void LocalRounds::go_on_if_complete(Time now, Effects& effects) {
  const bool is_waiting = doing_ == Doing::waiting || doing_ == Doing::unifying;
  if (!is_waiting) return;
  now = std::max(now, since_);  // what came while it computed
  if (here_ < followed_) return walk(now, effects);
  if (doing_ == Doing::unifying) return take_model(now, effects);
  if (awaited_.empty()) finish_exchange(now, effects);
}

void LocalRounds::finish_exchange(Time now, Effects& effects) {
  std::ranges::copy_if(heard_, std::back_inserter(arrived_), [&](const Arrival& one) { return one.tag == here_; });
  std::erase_if(heard_, [&](const Arrival& one) { return one.tag == here_; });
  std::erase_if(unsaid_, [&](const auto& one) { return one.second <= here_; });
  awaited_.clear();
  absorb(arrived_, exchange(), now, effects);
  was_away_ = false;
  go_to(here_ + 1, effects);
  walk(now, effects);
}

// ---- a unification

bool LocalRounds::is_to_unify() const {
  const std::uint64_t every = rules_.unify_every;
  if (every == 0 || phases_.is_opening(here_) || here_ != phases_.first_of(round())) return false;
  return round() % every == 0 && round() / every > unified_;
}

ClientId LocalRounds::hub() const {
  const Graph& graph = *settings_.graph;
  ClientId hub = rules_.unification->hub(unified_, graph, settings_.seed);
  while (absent_.has(hub)) hub = ClientId{static_cast<std::uint32_t>((hub.value + 1) % graph.clients())};
  return hub;
}

// It has come to this one, or is past it: models of earlier ones are of no use.
void LocalRounds::pass_unification(std::uint64_t number, Time now, Effects& effects) {
  unified_ = number;
  discard_if(
      models_, [&](const Arrival& one) { return one.id.sequence < unified_; }, now, effects);
}

void LocalRounds::unify(Time now, Effects& effects) {
  pass_unification(round() / rules_.unify_every, now, effects);
  std::erase_if(unsaid_, [&](const auto& one) { return one.second >= of_model && one.second < here_ + of_model; });
  doing_ = Doing::unifying;
  wait(now, effects);
  take_model(now, effects);
}

void LocalRounds::take_model(Time now, Effects& effects) {
  if (hub() == self_) {
    publish_model(now, effects);
    return walk(now, effects);
  }
  const auto model = std::ranges::find_if(models_, [&](const Arrival& one) { return one.id.sequence == unified_; });
  if (model != models_.end()) {
    rubato::take_model(*model, true, self_, now, effects);
    models_.erase(model);
  } else if (!has_said_nothing(hub(), here_ + of_model)) {
    return;
  }
  walk(now, effects);
}

void LocalRounds::publish_model(Time now, Effects& effects) {
  effects.publish_model(self_, unified_, now);
  effects.round(round());
  effects.keep_among(1);
  sent_model_ = {here_, static_cast<Sequence>(unified_), {}};
  for (std::uint32_t i = 0; i < settings_.graph->clients(); ++i) {
    if (ClientId{i} == self_ || absent_.has({i})) continue;
    sent_model_.receivers.push_back({i});
    effects.entry({.peer = ClientId{i}, .sequence = sent_model_.sequence, .place = outside_graph});
  }
}

bool LocalRounds::on_model(const Arrival& arrival, Effects& effects) {
  if (rules_.unify_every == 0) return false;
  const bool is_awaited = doing_ == Doing::unifying && arrival.id.sequence == unified_;
  const bool is_early = arrival.id.sequence > unified_ && arrival.id.sequence <= unified_ + most_models &&
                        std::ranges::none_of(models_, [&](const Arrival& one) { return one.id.sequence == arrival.id.sequence; });
  if (is_awaited || is_early)
    models_.push_back(arrival);
  else
    discard(arrival, self_, arrival.arrived, effects);
  go_on_if_complete(arrival.arrived, effects);
  return true;
}

// ---- what comes in

DuplicateFilter* LocalRounds::filter(ClientId sender) {
  const std::size_t place = place_of(sender);
  return place < filters_.size() && settings_.graph->senders_to(self_)[place] == sender ? &filters_[place] : nullptr;
}

// The exchange that it is in, or comes to next, counted from the first.
std::uint64_t LocalRounds::own_exchange() const { return phases_.exchanges_before(std::max(here_, followed_)); }

// More exchanges ahead than a neighbour can be, or than is kept for a slow client.
bool LocalRounds::is_far_ahead(Number number) const {
  return phases_.exchanges_before(number) > own_exchange() + settings_.graph->clients() + many;
}

Offer LocalRounds::judge(const Arrival& arrival) {
  if (is_far_ahead(arrival.tag)) return Offer::late;
  if (filter(arrival.id.sender)->add(arrival.id.sequence) == DuplicateFilter::Verdict::seen) return Offer::duplicate;
  // In another life it may say the same once more.
  const auto is_same = [&](const Arrival& one) { return one.id.sender == arrival.id.sender && one.tag == arrival.tag; };
  if (std::ranges::any_of(heard_, is_same)) return Offer::duplicate;
  if (is_too_old(arrival) && arrival.tag >= here_) hear_nothing(arrival.id.sender, arrival.tag);
  return is_too_old(arrival) || arrival.tag < std::max(here_, followed_) ? Offer::late : Offer::kept;
}

Offer LocalRounds::on_arrival(const Arrival& arrival, Effects& effects) {
  const bool can_be = filter(arrival.id.sender) && arrival.tag < most_phases && phases_.is_exchange(arrival.tag);
  if (can_be) follow(arrival.tag, reach_, arrival.arrived, effects);
  const Offer offer = can_be ? judge(arrival) : Offer::late;
  if (admit(offer, arrival, effects)) {  // until the exchange is absorbed and tokens run out
    heard_.push_back(arrival);
    if (arrival.tag == here_) std::erase(awaited_, arrival.id.sender);
  }
  go_on_if_complete(arrival.arrived, effects);
  return offer;
}

// Its sender has said what it had to say.
void LocalRounds::on_outdated(const Arrival& arrival, Effects& effects) {
  if (arrival.tag < most_phases) hear_nothing(arrival.id.sender, arrival.tag);
  go_on_if_complete(arrival.arrived, effects);
}

// A neighbour is in this phase. A client that is waited for can wait; one that is not catches up.
void LocalRounds::follow(Number number, std::uint64_t reach, Time now, Effects& effects) {
  const bool is_waited_for = !was_anybody_away_ && rules_.patience == Duration::max();
  const bool is_near = phases_.exchanges_before(number) <= own_exchange() + (was_away_ ? 0 : reach);
  if (is_waited_for || is_near || number > furthest_jump) return;
  followed_ = static_cast<Number>(phases_.first_of(phases_.round_of(number)));
  const std::size_t dropped = discard_if(
      heard_, [&](const Arrival& one) { return one.tag < followed_; }, now, effects);
  std::erase_if(unsaid_, [&](const auto& one) { return one.second % of_model < followed_; });
  counts_.kept -= dropped;
  counts_.late += dropped;
}

void LocalRounds::on_request(Time now, ClientId from, std::uint32_t tag, Effects& effects) {
  const Number number = number_of(tag);
  if (!is_question(tag)) {
    hear_nothing(from, number);
  } else if (number < of_model) {
    answer(from, number, now, effects);
  } else {
    answer_about_model(from, number - of_model, now, effects);
  }
  go_on_if_complete(now, effects);
}

// This client may be the one that all others wait for.
void LocalRounds::answer(ClientId asker, Number number, Time now, Effects& effects) {
  if (!settings_.graph->find_link(self_, asker)) return;
  follow(number, reach_, now, effects);
  const bool is_still_to_come = number > here_ || (number == here_ && doing_ != Doing::waiting);
  if (is_still_to_come) return;
  for (const Sent& sent : sent_)
    if (sent.number == number && std::ranges::find(sent.receivers, asker) != sent.receivers.end())
      return effects.repeat(asker, MessageKind::update, sent.sequence);
  effects.tell(self_, asker, nothing_in(number));
}

void LocalRounds::answer_about_model(ClientId asker, Number number, Time now, Effects& effects) {
  if (rules_.unify_every == 0 || phases_.is_opening(number)) return;
  follow(number, reach_ * settings_.graph->clients(), now, effects);  // the asker may be far away, and so far ahead
  const std::uint64_t unification = phases_.round_of(number) / rules_.unify_every;
  const bool is_still_to_come = unification > unified_ || (unification == unified_ && doing_ == Doing::unifying);
  if (is_still_to_come) return;
  if (sent_model_.number == number && std::ranges::find(sent_model_.receivers, asker) != sent_model_.receivers.end())
    effects.repeat(asker, MessageKind::model, sent_model_.sequence);
  else
    effects.tell(self_, asker, nothing_in(number + of_model));
}

void LocalRounds::hear_nothing(ClientId from, Number number) {
  const bool can_be = number < of_model ? filter(from) != nullptr : rules_.unify_every > 0;
  if (!can_be || number % of_model < here_) return;
  const bool is_awaited = number % of_model == here_;
  if (number == here_) std::erase(awaited_, from);
  const bool has_room = is_awaited || unsaid_.size() < most_unsaid * (filters_.size() + 1);
  if (has_room && !has_said_nothing(from, number)) unsaid_.push_back({from, number});
}

void LocalRounds::on_lost(ClientId receiver, MessageKind kind, Effects& effects) {
  const bool is_model = kind == MessageKind::model;
  Sent& sent = is_model ? sent_model_ : sent_.back();
  std::erase(sent.receivers, receiver);
  effects.tell(self_, receiver, nothing_in(sent.number + (is_model ? of_model : 0)));
}

// ---- clients that come and go

// A client that has not begun yet may be only a little late, and waited for.
void LocalRounds::resume(Time now, Effects& effects) {
  was_away_ = here_ > 0;
  was_anybody_away_ = true;
  alarm_ = {};
  walk(now, effects);
}

// A neighbour that has gone or come will say nothing in this exchange.
void LocalRounds::on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) {
  absent_.set(neighbour, is_here);
  was_anybody_away_ = true;
  std::erase(awaited_, neighbour);
  go_on_if_complete(now, effects);
}

// It counts its messages anew, and has forgotten what this exchange is about; with its message goes on the client that waited
// for it.
void LocalRounds::on_new_life(ClientId sender) {
  if (DuplicateFilter* filter = this->filter(sender)) *filter = {};
  was_anybody_away_ = true;
  std::erase(awaited_, sender);
}

// A new epoch: what was sent before it is not used any more, here or elsewhere.
void LocalRounds::on_unify(Time now, bool clears_mailbox, Effects& effects) {
  if (!clears_mailbox) return;
  give_up(heard_, now, effects);
  sent_.clear();
}

void LocalRounds::archive(Archive& archive) {
  RoundClient::archive(archive);
  archive(has_news_), archive(sequence_), archive(here_), archive(unified_), archive(pace_.computations), archive(pace_.left);
  archive(peers_);
  pace_.job.archive(archive);
}

}  // namespace rubato
