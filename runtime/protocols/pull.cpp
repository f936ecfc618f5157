#include "runtime/protocols/pull.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/random.hpp"

namespace rubato {

namespace {

constexpr std::uint8_t answering = 0, announcing = 1;  // phases

std::size_t share_of(double share, std::size_t all) {
  const auto wanted = static_cast<std::size_t>(std::ceil(share * static_cast<double>(all) - 1e-9));
  return std::min(all, std::max<std::size_t>(wanted, 1));
}

}  // namespace

bool PullSettings::announces() const {
  const PhaseList& round = push->needs.program.round;
  for (std::size_t i = 0; i < round.size(); ++i)
    if (round[i].kind == PhaseKind::exchange && round[i].number == announcing) return true;
  return false;
}

Pull::Pull(const PullSettings& settings, ClientId self) : settings_{settings}, self_{self}, mailbox_{settings.push->limits, 0} {}

void Pull::wake_compute(Effects& effects) {
  effects.wake(
      {compute_timer_.next(push().compute_law(self_), push().seed, self_, Purpose::compute_timer), Priority::compute, self_});
}

void Pull::resume(Time now, Effects& effects) {
  compute_timer_.skip_to(now, push().compute_law(self_));
  if (push().transmit_law(self_).ticks_by_itself()) transmit_timer_.skip_to(now, push().transmit_law(self_));
  start(effects);
}

void Pull::on_leave(Time now, Effects& effects) {
  awaits_ = is_cut_ = false;
  for (std::vector<Arrival>* held : {&answers_, &news_}) {
    for (const Arrival& arrival : *held) discard(arrival, self_, now, effects);
    counts_.superseded += held->size();
    held->clear();
  }
}

void Pull::archive(Archive& archive) {
  Protocol::archive(archive);
  archive(sequence_), archive(pulls_);
  compute_timer_.archive(archive);
  transmit_timer_.archive(archive);
}

void Pull::start(Effects& effects) {
  wake_compute(effects);
  const TimerLaw& law = push().transmit_law(self_);
  if (law.ticks_by_itself() && !settings_.at_compute())
    effects.wake({transmit_timer_.next(law, push().seed, self_, Purpose::transmit_timer), Priority::transmit, self_});
}

void Pull::on_compute(Time now, std::uint32_t, Effects& effects) {
  wake_compute(effects);
  if (!settings_.at_compute()) return compute(now, effects);
  if (awaits_) {
    ++skipped_;
    return;
  }
  const std::uint64_t every = push().absorb_every.empty() ? 1 : push().absorb_every[self_.value];
  const bool pulls = counts_.computations % every == 0;
  if (!pulls || !ask(now, effects)) compute(now, effects);
}

void Pull::compute(Time now, Effects& effects) {
  Step& step = effects.step(StepKind::compute, self_, now);
  step.with_gradient = push().has_gradient(self_, counts_.computations);
  step.index = counts_.computations++;
  const TimerLaw& law = push().transmit_law(self_);
  if (settings_.at_compute() || law.kind != TimerLaw::Kind::coupled) return;
  if (counts_.computations % law.every == 0) effects.wake({now, Priority::transmit, self_});
}

void Pull::on_transmit(Time now, std::uint32_t, Effects& effects) {
  const TimerLaw& law = push().transmit_law(self_);
  if (law.ticks_by_itself())
    effects.wake({transmit_timer_.next(law, push().seed, self_, Purpose::transmit_timer), Priority::transmit, self_});
  if (awaits_)
    ++skipped_;
  else
    ask(now, effects);
}

void Pull::choose_asked() {
  if (self_.value < settings_.asked.size() && pulls_ < settings_.asked[self_.value].size()) {
    asked_ = settings_.asked[self_.value][pulls_];
    return;
  }
  const auto all = push().graph->senders_to(self_);
  asked_.assign(all.begin(), all.end());
  const std::size_t count = share_of(settings_.asks(), all.size());
  if (count == all.size()) return;
  Stream draws(push().seed, self_, Purpose::neighbours, pulls_ + 1);
  for (std::size_t i = 0; i < count; ++i) std::swap(asked_[i], asked_[i + draws.below(all.size() - i)]);
  asked_.resize(count);
  std::sort(asked_.begin(), asked_.end());
}

// False if there is nobody to ask.
bool Pull::ask(Time now, Effects& effects) {
  choose_asked();
  const std::uint32_t pull = pulls_++;
  if (asked_.empty()) return false;
  enough_ = std::min(asked_.size(), share_of(settings_.awaits(), push().graph->in_degree(self_)));
  awaits_ = true;
  is_cut_ = false;
  for (const ClientId neighbour : asked_) effects.request(self_, neighbour, pull);
  if (push().limits.deadline != Duration::max())
    effects.wake({later(now, push().limits.deadline), Priority::deadline, self_, pull});
  return true;
}

void Pull::on_request(Time now, ClientId from, std::uint32_t pull, Effects& effects) {
  if (push().graph->find_link(self_, from)) publish(answering, {&from, 1}, 2 * pull + answering, now, effects);
}

void Pull::publish(std::uint8_t phase, std::span<const ClientId> receivers, std::uint32_t tag, Time now, Effects& effects) {
  Step& step = effects.step(StepKind::publish, self_, now);
  step.index = sequence_;
  step.phase = phase;
  effects.turn(sequence_);
  effects.tag(tag);
  for (const ClientId receiver : receivers) {
    const LinkIndex link = *push().graph->find_link(self_, receiver);
    effects.entry({.peer = receiver, .sequence = sequence_, .weight = push().share_weight(link), .place = link});
  }
  ++sequence_;
  ++counts_.publications;
}

Offer Pull::judge(const Arrival& arrival) const {
  if (arrival.tag % 2 == announcing) return arrival.arrived - arrival.sent > push().limits.deadline ? Offer::late : Offer::kept;
  if (arrival.tag / 2 + 1 != pulls_) return Offer::late;
  if (!awaits_) return is_cut_ ? Offer::late : Offer::superseded;
  const auto is_same = [&](const Arrival& answer) { return answer.id.sender == arrival.id.sender; };
  if (!std::ranges::binary_search(asked_, arrival.id.sender)) return Offer::late;
  if (std::ranges::any_of(answers_, is_same)) return Offer::duplicate;
  return answers_.size() < enough_ ? Offer::kept : Offer::superseded;
}

Offer Pull::on_arrival(const Arrival& arrival, Effects& effects) {
  const Offer offer = judge(arrival);
  if (offer == Offer::kept) {
    ++counts_.kept;
    const bool is_news = arrival.tag % 2 == announcing;
    (is_news ? news_ : answers_).push_back(arrival);
    if (is_news || answers_.size() == enough_) effects.close_window(arrival.arrived, self_);
    return offer;
  }
  ++(offer == Offer::late ? counts_.late : offer == Offer::duplicate ? counts_.duplicates : counts_.superseded);
  discard(arrival, self_, arrival.arrived, effects);
  return offer;
}

void Pull::merge(std::vector<Arrival>& arrived, std::uint8_t phase, Time now, Effects& effects) {
  std::sort(arrived.begin(), arrived.end(), [](const Arrival& a, const Arrival& b) { return a.id < b.id; });
  effects.step(StepKind::merge, self_, now).phase = phase;
  const double equal_share = 1.0 / static_cast<double>(arrived.size());
  for (const Arrival& arrival : arrived) {
    const double by_link = push().merge_weight(arrival.link);
    effects.entry(merge_entry(arrival, now, push().needs.weights_by_batch ? equal_share : by_link));
  }
  arrived.clear();
}

void Pull::on_window_close(Time now, Effects& effects) {
  if (!news_.empty()) merge(news_, announcing, now, effects);
  if (awaits_ && (is_cut_ || answers_.size() == enough_)) finish(now, effects);
}

void Pull::finish(Time now, Effects& effects) {
  awaits_ = false;
  const bool has_answers = !answers_.empty();
  if (has_answers) merge(answers_, answering, now, effects);
  if (settings_.at_compute()) compute(now, effects);
  const auto receivers = push().graph->receivers_of(self_);
  if (has_answers && settings_.announces() && !receivers.empty()) publish(announcing, receivers, announcing, now, effects);
}

void Pull::on_deadline(Time now, Sequence pull, Effects& effects) {
  if (!awaits_ || pull + 1 != pulls_) return;
  is_cut_ = true;
  effects.close_window(now, self_);
}

}  // namespace rubato
