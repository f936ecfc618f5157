#include "runtime/protocols/async_server.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/random.hpp"

namespace rubato {

namespace {

constexpr std::size_t remembered_orders = 64;        // of a worker: answers to older ones that were given up count for nothing
constexpr std::uint32_t of_order = 0, of_round = 1;  // what a deadline is about

AnswerFate unused(AnswerFate::Reason reason) { return {reason, 0}; }

}  // namespace

AsyncServer::AsyncServer(const ServerSettings& rules, ClientId self)
    : ClientProtocol(*rules.push, self),
      rules_{rules},
      book_(*rules.push->needs.answers, clients() - (rules.push->needs.answers->centre_works ? 0 : 1),
            self == rules.centre ? clients() : 0),
      workers_(self == rules.centre ? clients() : 0) {}

void AsyncServer::start(Effects& effects) {
  if (!is_centre()) return;
  if (rule().gather == Gather::round) effects.round_is_over(0);
  effects.wake({{}, Priority::transmit, self_});
}

void AsyncServer::resume(Time now, Effects& effects) {
  if (is_centre()) effects.wake({now, Priority::transmit, self_});
}

void AsyncServer::on_leave(Time now, Effects& effects) {
  drop_waiting(now, effects);
  job_.reset();
  for (Worker& worker : workers_) worker.orders.clear(), worker.waits = false;
  alarms_.clear();
  round_ends_.reset();
}

// A worker that is here again has forgotten what it was asked for; a round does not wait for one that has gone.
void AsyncServer::on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) {
  if (!is_centre()) return;
  absent_.set(neighbour, is_here);
  Worker& worker = workers_[neighbour.value];
  const bool was_asked = std::ranges::any_of(worker.orders, &Order::is_outstanding);
  for (Order& order : worker.orders) order.is_outstanding = false;
  if (rule().gather == Gather::round) {
    if (!was_asked || --asked_ > book_.gathered()) return;
    close_round(now, effects);
    end_round(now, effects);
  } else if (is_here) {
    hand_out({&neighbour, 1}, rule().arriving == Arriving::cancel, now, effects);
  }
}

void AsyncServer::archive(Archive& archive) {
  Protocol::archive(archive);
  archive(sequence_, jobs_, answers_, version_, turned_, round_, orders_);
  book_.archive(archive);
  for (Worker& worker : workers_) archive(worker.next);
}

// --- At a worker. ---

// Begins the work of the order, at the model that is held.
void AsyncServer::begin(std::uint32_t number, Time now, Effects& effects) {
  const Duration length = length_of_job(rules_.jobs, settings_, self_, jobs_++);
  job_ = {number, jobs_};
  if (rules_.watch) rules_.watch->on_begin(now, self_, number, dropped_);
  dropped_.clear();
  effects.wake({later(now, length), Priority::compute, self_, jobs_});
}

void AsyncServer::drop_waiting(Time now, Effects& effects) {
  if (waiting_.empty()) return;
  if (is_centre()) merge_answer(at_work::forgets_kept, 0, nullptr, now, effects);
  for (const Arrival& model : waiting_)
    if (!is_centre() && model.kind == MessageKind::update) discard(model, self_, now, effects), ++counts_.superseded;
  waiting_.clear();
}

// `model`: null at a centre, which works at what it has.
void AsyncServer::take_model(std::uint32_t number, bool cancels, const Arrival* model, Time now, Effects& effects) {
  if (job_ && cancels && rule().arriving == Arriving::cancel) {
    ++orders_.cancelled;
    dropped_.push_back(job_->number);
    for (const Arrival& waiting : waiting_) dropped_.push_back(waiting.id.sequence);
    drop_waiting(now, effects);
    job_.reset();
  }
  if (!job_) {
    merge_answer(at_work::begins, 0, model, now, effects);
    return begin(number, now, effects);
  }
  if (rule().arriving == Arriving::newest) drop_waiting(now, effects);
  waiting_.push_back(model ? *model : Arrival{{{self_, 0, number}}});
  if (!model) merge_answer(at_work::keeps_own, 0, nullptr, now, effects);
  if (rules_.watch) rules_.watch->on_hold(now, self_, number);
}

void AsyncServer::on_request(Time now, ClientId from, std::uint32_t number, Effects& effects) {
  if (from != rules_.centre || is_centre()) return;
  if (!job_) return begin(number, now, effects);
  waiting_.push_back({{{from, 0, number}, 0, {}, now, MessageKind::request}});
  if (rules_.watch) rules_.watch->on_hold(now, self_, number);
}

std::optional<std::uint64_t> AsyncServer::sends_at(const Wake& wake) const {
  const bool answers = wake.priority == Priority::compute && job_ && job_->place == wake.detail && !is_centre();
  return answers ? std::optional<std::uint64_t>(sequence_) : std::nullopt;
}

void AsyncServer::on_compute(Time now, std::uint32_t job, Effects& effects) {
  if (!job_ || job_->place != job) return;  // the work was cancelled
  const std::uint32_t number = job_->number;
  compute(now, effects);
  job_.reset();
  const Sequence sequence = answers_++;
  if (rules_.watch) rules_.watch->on_finish(now, self_, number, sequence);
  if (!waiting_.empty()) {
    const Arrival model = waiting_.front();
    waiting_.pop_front();
    if (is_centre())
      merge_answer(at_work::begins_kept, 0, nullptr, now, effects);
    else if (model.kind == MessageKind::update)  // else it works once more at the model that it holds
      merge_answer(at_work::begins, 0, &model, now, effects);
    begin(model.id.sequence, now, effects);
  } else if (rule().keeps_going) {
    begin(number, now, effects);
  }
  if (is_centre())
    take_answer(self_, number, sequence, nullptr, now, effects);
  else
    publish(hands_in, {&rules_.centre, 1}, number, now, effects);
}

Offer AsyncServer::on_arrival(const Arrival& arrival, Effects& effects) {
  const ClientId sender = arrival.id.sender;
  if (is_too_old(arrival)) return conclude(Offer::late, arrival, effects);
  if (is_centre())
    return conclude(take_answer(sender, arrival.tag, arrival.id.sequence, &arrival, arrival.arrived, effects), arrival, effects);
  const Offer offer = sender == rules_.centre ? Offer::kept : Offer::late;
  if (admit(offer, arrival, effects)) take_model(arrival.id.sequence, arrival.tag != 0, &arrival, arrival.arrived, effects);
  return offer;
}

// --- At the centre. ---

std::vector<Order> AsyncServer::outstanding(ClientId worker) const {
  std::vector<Order> orders;
  for (const Order& order : workers_[worker.value].orders)
    if (order.is_outstanding) orders.push_back(order);
  return orders;
}

double AsyncServer::mean_delay(ClientId worker) const {
  const Worker& of = workers_[worker.value];
  return of.answers > 0 ? static_cast<double>(of.delays) / static_cast<double>(of.answers) : NAN;
}

void AsyncServer::on_transmit(Time now, std::uint32_t, Effects& effects) {
  if (!is_centre()) return;
  if (rule().gather == Gather::round) return begin_round(now, effects);
  hand_out_to_all(false, now, effects);
}

void AsyncServer::hand_out_to_all(bool cancels, Time now, Effects& effects) {
  std::vector<ClientId> all;
  for (std::uint32_t i = 0; i < clients(); ++i)
    if (is_worker({i}) && !absent_.has({i})) all.push_back({i});
  hand_out(all, cancels, now, effects);
}

Order& AsyncServer::add_order(ClientId worker, std::uint64_t version) {
  std::deque<Order>& orders = workers_[worker.value].orders;
  while (orders.size() >= remembered_orders && !orders.front().is_outstanding) orders.pop_front();
  orders.push_back({sequence_, version, workers_[worker.value].next++, true});
  oldest_ = std::min(oldest_, version);
  ++orders_.dispatched;
  return orders.back();
}

void AsyncServer::await(ClientId worker, const Order& order, Time now, Effects& effects) {
  if (rule().patience == Duration::max() || rule().gather == Gather::round) return;
  const Time at = later(now, rule().patience);
  if (alarms_.empty() || alarms_.back().at != at) effects.wake({at, Priority::deadline, self_, of_order});
  alarms_.push_back({at, worker, order.number, order.place});
}

// To workers that ascend: one message, and at a centre that works its own job.
void AsyncServer::hand_out(std::span<const ClientId> workers, bool cancels, Time now, Effects& effects) {
  others_.clear();
  const std::uint32_t number = sequence_;
  for (const ClientId worker : workers) {
    if (cancels)
      for (Order& order : workers_[worker.value].orders) order.is_outstanding = false;
    const Order& order = add_order(worker, version_);
    if (rules_.watch) rules_.watch->on_dispatch(now, worker, order, false);
    await(worker, order, now, effects);
    if (worker == self_)
      take_model(number, cancels, nullptr, now, effects);
    else
      others_.push_back(worker);
  }
  if (others_.empty())
    ++sequence_;
  else
    publish(hands_out, others_, cancels ? 1 : 0, now, effects);
}

void AsyncServer::ask_again(ClientId worker, std::uint64_t version, Time now, Effects& effects) {
  const Order& order = add_order(worker, version);
  const std::uint32_t number = sequence_++;
  if (rules_.watch) rules_.watch->on_dispatch(now, worker, order, true);
  await(worker, order, now, effects);
  if (worker == self_)
    begin(number, now, effects);
  else
    effects.request(self_, worker, number);
}

Offer AsyncServer::take_answer(ClientId worker, std::uint32_t number, Sequence sequence, const Arrival* answer, Time now,
                               Effects& effects) {
  std::deque<Order>& orders = workers_[worker.value].orders;
  const auto found = std::ranges::find(orders, number, &Order::number);
  if (found == orders.end()) {
    ++orders_.superseded;
    return Offer::superseded;
  }
  AnswerReport report{worker, *found, sequence, version_ - found->version, {}, version_};
  const bool is_superseded = !found->is_outstanding && !rule().keeps_going;
  found->is_outstanding = false;
  orders_.count_delay(report.delay);
  ++workers_[worker.value].answers, workers_[worker.value].delays += report.delay;
  if (is_superseded)
    report.fate = unused(AnswerFate::Reason::superseded);
  else if (report.delay > rule().greatest_delay)
    report.fate = unused(AnswerFate::Reason::stale);
  else
    report.fate = book_.take(worker, report.order.version, version_, asked_);
  ++(is_superseded ? orders_.superseded : report.fate.is_used() ? orders_.applied : orders_.ignored);
  if (report.fate.is_used()) merge_answer(report.fate.phase, report.delay, answer, now, effects);
  if (report.fate.updates()) ++version_;
  report.version = version_;
  if (rules_.watch) rules_.watch->on_answer(now, report);
  if (is_superseded) return Offer::superseded;
  hand_out_after(worker, report.fate, report.order.version, now, effects);
  return report.fate.is_used() ? Offer::kept : Offer::late;
}

void AsyncServer::merge_answer(std::uint8_t phase, std::uint64_t delay, const Arrival* answer, Time now, Effects& effects) {
  taken_.clear();
  if (answer) taken_.push_back(*answer);
  merge(taken_, phase, 0, now, effects).index = delay;
}

void AsyncServer::hand_out_after(ClientId worker, const AnswerFate& fate, std::uint64_t its_version, Time now, Effects& effects) {
  if (rule().gather == Gather::round) {
    if (fate.updates()) end_round(now, effects);
    return;
  }
  if (rule().gather == Gather::table && !fate.updates()) return ask_again(worker, its_version, now, effects);
  switch (rule().hand_out) {
    case HandOut::all:
      if (fate.updates()) hand_out_to_all(true, now, effects);
      return;
    case HandOut::at_update: {
      workers_[worker.value].waits = true;
      if (!fate.updates()) return;
      std::vector<ClientId> due;
      for (std::uint32_t i = 0; i < clients(); ++i)
        if (std::exchange(workers_[i].waits, false) && !absent_.has({i})) due.push_back({i});
      return hand_out(due, false, now, effects);
    }
    case HandOut::answerer: {
      const ClientId next = next_worker(worker);
      if (!absent_.has(next)) hand_out({&next, 1}, false, now, effects);
      if (fate.updates() && rule().stops) stop_old_work(now, effects);
    }
  }
}

ClientId AsyncServer::next_worker(ClientId answerer) {
  const std::uint64_t turn = turned_++;
  if (!rules_.next.empty()) return rules_.next[std::min<std::uint64_t>(turn, rules_.next.size() - 1)];
  if (!rule().draws_next) return answerer;
  const std::uint32_t workers = clients() - (rule().centre_works ? 0 : 1);
  Stream draws(settings_.seed, no_client, Purpose::neighbours, static_cast<std::uint32_t>(turn + 1));
  const auto drawn = static_cast<std::uint32_t>(draws.below(workers));
  return {drawn + (!rule().centre_works && drawn >= rules_.centre.value ? 1 : 0)};
}

// Workers whose answer would be too old by now. They are looked for when the oldest order would be, if it is still outstanding.
void AsyncServer::stop_old_work(Time now, Effects& effects) {
  const auto is_old = [&](std::uint64_t version) { return version_ - version > rule().greatest_delay; };
  if (!is_old(oldest_)) return;
  std::vector<ClientId> old;
  oldest_ = version_;
  for (std::uint32_t i = 0; i < clients(); ++i) {
    std::uint64_t oldest = version_;
    for (const Order& order : workers_[i].orders)
      if (order.is_outstanding) oldest = std::min(oldest, order.version);
    if (is_old(oldest))
      old.push_back({i});
    else
      oldest_ = std::min(oldest_, oldest);
  }
  if (!old.empty()) hand_out(old, true, now, effects);
}

void AsyncServer::on_deadline(Time now, Sequence about, Effects& effects) {
  if (about == of_round) {
    if (round_ends_ != now) return;
    close_round(now, effects);
    ++orders_.patience;
    if (rules_.watch) rules_.watch->on_round_end(now, self_, version_);
    return end_round(now, effects);
  }
  std::vector<Alarm> due;
  for (; !alarms_.empty() && alarms_.front().at <= now; alarms_.pop_front()) due.push_back(alarms_.front());
  std::ranges::sort(due,
                    [](const Alarm& a, const Alarm& b) { return a.worker != b.worker ? a.worker < b.worker : a.place < b.place; });
  for (const Alarm& alarm : due) {
    std::deque<Order>& orders = workers_[alarm.worker.value].orders;
    const auto order = std::ranges::find(orders, alarm.number, &Order::number);
    if (order == orders.end() || !order->is_outstanding) continue;
    order->is_outstanding = false;
    ++orders_.patience;
    if (rules_.watch) rules_.watch->on_patience(now, alarm.worker, *order);
    hand_out({&alarm.worker, 1}, rule().arriving == Arriving::cancel, now, effects);
  }
}

void AsyncServer::begin_round(Time now, Effects& effects) {
  std::vector<ClientId> chosen;
  if (round_ < rules_.selected.size()) {
    chosen = rules_.selected[round_];
  } else {
    for (std::uint32_t i = 0; i < clients(); ++i)
      if (is_worker({i}) && !absent_.has({i})) chosen.push_back({i});
    const std::size_t count = share_of(rules_.share, chosen.size());
    Stream draws(settings_.seed, no_client, Purpose::neighbours, static_cast<std::uint32_t>(round_ + 1));
    if (count < chosen.size()) keep_drawn(chosen, count, draws);
  }
  asked_ = static_cast<std::uint32_t>(chosen.size());
  // Even a round without clients takes time.
  const Duration patience = chosen.empty() ? Duration{1} : rule().patience;
  if (patience != Duration::max()) {
    round_ends_ = later(now, patience);
    effects.wake({*round_ends_, Priority::deadline, self_, of_round});
  }
  // Earlier rounds are over for all workers.
  for (Worker& worker : workers_)
    for (Order& order : worker.orders) order.is_outstanding = false;
  hand_out(chosen, true, now, effects);
}

// With the answers that came, if any did.
void AsyncServer::close_round(Time now, Effects& effects) {
  if (!book_.close_round()) return;
  merge_answer(at_work::updates, 0, nullptr, now, effects);
  ++version_;
}

void AsyncServer::end_round(Time now, Effects& effects) {
  round_ends_.reset();
  effects.round_is_over(++round_);
  begin_round(now, effects);
}

}  // namespace rubato
