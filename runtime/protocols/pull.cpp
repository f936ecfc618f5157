#include "runtime/protocols/pull.hpp"

#include <algorithm>

#include "runtime/random.hpp"

namespace rubato {

constexpr std::uint8_t answering = 0, announcing = 1;  // phases

bool PullSettings::announces() const {
  const PhaseList& round = push->needs.program.round;
  for (std::size_t i = 0; i < round.size(); ++i)
    if (round[i].kind == PhaseKind::exchange && round[i].number == announcing) return true;
  return false;
}

Pull::Pull(const PullSettings& rules, ClientId self) : TickingProtocol(*rules.push, self), rules_{rules} {}

void Pull::resume(Time now, Effects& effects) {
  skip_timers_to(now);
  start(effects);
}

void Pull::on_leave(Time now, Effects& effects) {
  awaits_ = is_cut_ = false;
  give_up(answers_, now, effects);
  give_up(news_, now, effects);
}

void Pull::archive(Archive& archive) {
  Protocol::archive(archive);
  archive(sequence_), archive(pulls_);
  archive_timers(archive);
}

void Pull::start(Effects& effects) {
  wake_compute(effects);
  if (!rules_.at_compute()) wake_transmit(effects);
}

void Pull::on_compute(Time now, std::uint32_t, Effects& effects) {
  wake_compute(effects);
  if (!rules_.at_compute()) return compute_once(now, effects);
  if (awaits_) {
    ++skipped_;
    return;
  }
  const std::uint64_t every = settings_.absorb_every.empty() ? 1 : settings_.absorb_every[self_.value];
  const bool pulls = counts_.computations % every == 0;
  if (!pulls || !ask(now, effects)) compute_once(now, effects);
}

void Pull::compute_once(Time now, Effects& effects) {
  compute(now, effects);
  const TimerLaw& law = transmit_law();
  if (rules_.at_compute() || law.kind != TimerLaw::Kind::coupled) return;
  if (counts_.computations % (std::uint64_t{law.every} * settings_.needs.send_every) == 0)
    effects.wake({now, Priority::transmit, self_});
}

void Pull::on_transmit(Time now, std::uint32_t, Effects& effects) {
  wake_transmit(effects);
  if (awaits_)
    ++skipped_;
  else
    ask(now, effects);
}

void Pull::choose_asked() {
  if (self_.value < rules_.asked.size() && pulls_ < rules_.asked[self_.value].size()) {
    asked_ = rules_.asked[self_.value][pulls_];
    return;
  }
  const auto all = settings_.graph->senders_to(self_);
  asked_.assign(all.begin(), all.end());
  const std::size_t count = share_of(rules_.asks(self_), all.size());
  if (count == all.size()) return;
  Stream draws(settings_.seed, self_, Purpose::neighbours, pulls_ + 1);
  keep_drawn(asked_, count, draws);
}

// False if there is no neighbour to ask.
bool Pull::ask(Time now, Effects& effects) {
  choose_asked();
  const std::uint32_t pull = pulls_++;
  if (asked_.empty()) return false;
  enough_ = std::min(asked_.size(), share_of(rules_.awaits(self_), settings_.graph->in_degree(self_)));
  awaits_ = true;
  is_cut_ = false;
  for (const ClientId neighbour : asked_) effects.request(self_, neighbour, pull);
  if (has_deadline()) effects.wake({later(now, settings_.limits.deadline), Priority::deadline, self_, pull});
  return true;
}

void Pull::on_request(Time now, ClientId from, std::uint32_t pull, Effects& effects) {
  if (settings_.graph->find_link(self_, from)) publish(answering, {&from, 1}, 2 * pull + answering, now, effects);
}

Offer Pull::judge(const Arrival& arrival) const {
  if (arrival.tag % 2 == announcing) return is_too_old(arrival) ? Offer::late : Offer::kept;
  if (arrival.tag / 2 + 1 != pulls_) return Offer::late;
  if (!awaits_) return is_cut_ ? Offer::late : Offer::superseded;
  const auto is_same = [&](const Arrival& answer) { return answer.id.sender == arrival.id.sender; };
  if (!std::ranges::binary_search(asked_, arrival.id.sender)) return Offer::late;
  if (std::ranges::any_of(answers_, is_same)) return Offer::duplicate;
  return answers_.size() < enough_ ? Offer::kept : Offer::superseded;
}

Offer Pull::on_arrival(const Arrival& arrival, Effects& effects) {
  const Offer offer = judge(arrival);
  if (!admit(offer, arrival, effects)) return offer;
  const bool is_news = arrival.tag % 2 == announcing;
  (is_news ? news_ : answers_).push_back(arrival);
  if (is_news || answers_.size() == enough_) effects.close_window(arrival.arrived, self_);
  return offer;
}

void Pull::on_window_close(Time now, Effects& effects) {
  if (!news_.empty()) merge(news_, announcing, 0, now, effects);
  if (awaits_ && (is_cut_ || answers_.size() == enough_)) finish(now, effects);
}

void Pull::finish(Time now, Effects& effects) {
  awaits_ = false;
  std::vector<ClientId> peers;
  if (rules_.announces())
    for (const Arrival& answer : answers_)
      if (settings_.graph->find_link(self_, answer.id.sender)) peers.push_back(answer.id.sender);
  if (!answers_.empty()) merge(answers_, answering, 0, now, effects);
  if (rules_.at_compute()) compute_once(now, effects);
  std::ranges::sort(peers);
  if (!peers.empty()) publish(announcing, peers, announcing, now, effects);
}

void Pull::on_deadline(Time now, Sequence pull, Effects& effects) {
  if (!awaits_ || pull + 1 != pulls_) return;
  is_cut_ = true;
  effects.close_window(now, self_);
}

}  // namespace rubato
