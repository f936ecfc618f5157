#include "web/score_collector.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/world/churn.hpp"

namespace rubato::web {

ScoreCollector::ScoreCollector(Facts facts, const ScoreLimits& limits)
    : facts_{std::move(facts)}, limits_{limits}, sent_(facts_.clients), acted_(facts_.clients), path_{facts_.clients, facts_.asks} {
  score_.has_arrivals = facts_.has_arrivals;
  score_.waits = facts_.waits;
  score_.course.resize(limits_.slices);
  score_.ages_course.resize(limits_.slices);
  score_.by_client.resize(facts_.clients);
  for (const auto& [from, to] : facts_.parts) score_.parts.push_back({.from = from, .to = to});
  const bool is_whole = facts_.parts.size() == 1 && facts_.parts.front().second >= facts_.end;
  if (is_whole) return;
  const std::size_t each = std::max<std::size_t>(1, clients_of_group(facts_.clients, limits_));
  score_.density_computations.resize((facts_.clients + each - 1) / each * limits_.density_slices);
  score_.density_merges.resize(score_.density_computations.size());
}

RunScore::Part* ScoreCollector::part_at(Time at) {
  while (part_ < score_.parts.size() && score_.parts[part_].to < at) ++part_;
  return part_ < score_.parts.size() && score_.parts[part_].from <= at ? &score_.parts[part_] : nullptr;
}

std::size_t ScoreCollector::slice_of(Time at, std::size_t slices) const {
  const double share = to_seconds(at) / std::max(1e-9, to_seconds(facts_.end));
  return std::min(slices - 1, static_cast<std::size_t>(std::max(0.0, share) * static_cast<double>(slices)));
}

void ScoreCollector::perform(const Step& step) {
  ++steps_;
  switch (step.kind) {
    case StepKind::compute:
      if (RunScore::Part* part = part_at(step.at)) part->computations.push_back({step.at, step.client});
      if (!score_.density_computations.empty())
        ++score_.density_computations[step.client.value / clients_of_group(facts_.clients, limits_) * limits_.density_slices +
                                      slice_of(step.at, limits_.density_slices)];
      acted_[step.client.value] = step.at;
      computation_ = {step.client, step.client, step.at, step.at, steps_};
      return;
    case StepKind::publish:
      return publish(step);
    case StepKind::merge:
    case StepKind::adopt:
      return absorb(step);
    case StepKind::discard:
      return discard(step);
    default:
      return;
  }
}

void ScoreCollector::publish(const Step& step) {
  if (step.message == MessageKind::model) {
    if (!is_hand_over(step))
      score_.events.push_back({step.at, "unification", step.client, no_client});
    else
      for (const StepEntry& entry : step.entries) score_.events.push_back({step.at, "hand-over", step.client, entry.peer});
    return;
  }
  if (is_control(step.message)) return;
  RunScore::Part* part = part_at(step.at);
  if (part) part->publications.push_back({step.at, step.client});
  const std::uint64_t ordinal = ++sent_[step.client.value];
  if (facts_.in_step && computation_.arrived > acted_[step.client.value]) note_wait(step.client, step.at, computation_);
  acted_[step.client.value] = step.at;
  for (const StepEntry& entry : step.entries) {
    Open open{.sent = step.at, .ordinal = ordinal, .order = steps_};
    if (part) {
      open.part = static_cast<std::int64_t>(part_);
      open.mark = part->messages.size();
      part->messages.push_back({.publication = static_cast<std::uint32_t>(part->publications.size() - 1), .receiver = entry.peer});
    }
    const Key key{step.client.value, entry.peer.value, entry.sequence};
    if (entry.lost)
      end(key, open, are_apart(step.client, entry.peer) ? Ending::partition : Ending::lost, step.at, 0);
    else
      open_.insert_or_assign(key, open);
  }
}

bool ScoreCollector::are_apart(ClientId a, ClientId b) const {
  const Attendance* attendance = conductor_ ? conductor_->attendance() : nullptr;
  return attendance && attendance->are_apart(a, b);
}

void ScoreCollector::on_arrival(const Arrival& message, ClientId receiver, Offer offer, std::uint32_t) {
  const Key key{message.id.sender.value, receiver.value, message.id.sequence};
  const auto found = open_.find(key);
  if (found == open_.end()) return;  // once more what had its outcome already
  if (found->second.arrived != never) return;
  found->second.arrived = message.arrived;
  if (found->second.part >= 0)
    score_.parts[static_cast<std::size_t>(found->second.part)].messages[found->second.mark].arrived = message.arrived;
  if (offer == Offer::kept) {
    arrival_ = {message.id.sender, receiver, found->second.sent, message.arrived, found->second.order};
    return;
  }
  const Ending fate = offer == Offer::late        ? Ending::late
                      : offer == Offer::capped    ? Ending::capped
                      : offer == Offer::duplicate ? Ending::other
                                                  : Ending::superseded;
  end(key, found->second, fate, message.arrived, 0);
  open_.erase(found);
}

// Where all have computed and none sends, as in an opening, the round ends with the last computation.
void ScoreCollector::on_round(Time at, std::uint64_t round) {
  if (facts_.keeps_rounds) score_.rounds.emplace_back(at, round);
  if (!facts_.in_step) return;
  ++steps_;
  for (std::uint32_t i = 0; i < acted_.size(); ++i) {
    if (computation_.arrived > acted_[i]) note_wait({i}, at, computation_);
    acted_[i] = std::max(acted_[i], at);
  }
}

// A client waits for what it merges, or for what all merge; the sender of what came last is whom it has waited for.
void ScoreCollector::absorb(const Step& step) {
  Last last;
  for (const StepEntry& entry : step.entries) {
    const auto found = open_.find({entry.peer.value, step.client.value, entry.sequence});
    if (found == open_.end()) continue;
    const std::uint64_t newer = sent_[entry.peer.value] - found->second.ordinal;
    if (found->second.arrived != never && found->second.arrived > last.arrived)
      last = {entry.peer, step.client, found->second.sent, found->second.arrived, found->second.order};
    const auto lag = static_cast<std::uint32_t>(newer);
    end(found->first, found->second, Ending::merged, step.at, lag);
    add_ages(found->first, found->second, step.at, lag);
    open_.erase(found);
  }
  if (!facts_.waits) return;
  if (last.sender != no_client) path_.merged(step.client, step.at, steps_);
  if (last.sender != no_client && facts_.in_step) last = arrival_;
  if (last.sender != no_client && step.at > acted_[step.client.value]) note_wait(step.client, step.at, last);
  acted_[step.client.value] = step.at;
}

void ScoreCollector::note_wait(ClientId client, Time at, const Last& last) {
  const Time from = acted_[client.value];
  const ClientId other = last.sender == client ? last.receiver : last.sender;  // its own message is not there yet
  RunScore::Waited& waited = score_.by_waiting[{client.value, other.value}];
  ++waited.times;
  waited.seconds += to_seconds(at - from);
  if (RunScore::Part* part = part_at(at); part && part->from <= from) part->waits.push_back({from, at, client, other});
  // What was there already when the client last acted is not what it has waited for: its timer is.
  if (last.arrived > from) path_.add(client, {from, last.sent, last.arrived, at, last.sender, last.receiver, steps_, last.order});
}

void ScoreCollector::discard(const Step& step) {
  if (step.message == MessageKind::model || is_control(step.message)) return;
  for (const StepEntry& entry : step.entries) {
    const auto found = open_.find({entry.peer.value, step.client.value, entry.sequence});
    if (found == open_.end()) continue;
    end(found->first, found->second, fate_of_discarded(found->second, step, entry), step.at, 0);
    open_.erase(found);
  }
}

// What was kept is discarded for a newer one, or at a window's close for the cap; what did not come to a mailbox found its
// receiver away or cut off, or is of an earlier life.
Ending ScoreCollector::fate_of_discarded(const Open& open, const Step& step, const StepEntry& entry) const {
  if (!facts_.has_arrivals) return entry.age > facts_.deadline ? Ending::late : Ending::superseded;
  if (open.arrived != never) return facts_.refuses_at_close ? Ending::capped : Ending::superseded;
  const Attendance* attendance = conductor_ ? conductor_->attendance() : nullptr;
  if (!attendance) return Ending::other;
  const bool is_here = attendance->is_here(step.client);
  if (is_here && attendance->are_apart(entry.peer, step.client)) return Ending::partition;
  return !is_here || open.sent < attendance->since(step.client) ? Ending::absent : Ending::other;
}

void ScoreCollector::end(const Key& key, const Open& open, Ending fate, Time at, std::uint32_t lag) {
  ++score_.course[slice_of(open.sent, limits_.slices)][static_cast<std::size_t>(fate)];
  if (fate == Ending::merged && !score_.density_merges.empty())
    ++score_.density_merges[key.receiver / clients_of_group(facts_.clients, limits_) * limits_.density_slices +
                            slice_of(at, limits_.density_slices)];
  if (open.part < 0) return;
  RunScore::Message& mark = score_.parts[static_cast<std::size_t>(open.part)].messages[open.mark];
  mark.fate = fate;
  mark.lag = lag;
  mark.ended = at;
}

void ScoreCollector::add_ages(const Key& key, const Open& open, Time at, std::uint32_t lag) {
  const Duration age = at - open.sent;
  const auto nanoseconds = static_cast<double>(age.count());
  const std::size_t slice = slice_of(at, limits_.slices);
  if (nanoseconds >= 1) {
    RunScore::Aged& like = score_.ages[{static_cast<std::uint32_t>(slice), static_cast<int>(std::log2(nanoseconds) * 4)}];
    ++like.messages;
    if (open.arrived != never) like.transit += to_seconds(open.arrived - open.sent);
  }
  constexpr std::uint32_t most_versions = 63;
  const std::uint32_t versions = std::min(lag, most_versions);
  if (score_.versions.size() <= versions) score_.versions.resize(versions + 1);
  ++score_.versions[versions];
  for (RunScore::Ages* sum :
       {&score_.ages_course[slice], &score_.by_link[{key.sender, key.receiver}], &score_.by_client[key.receiver]}) {
    ++sum->merged;
    sum->age += to_seconds(age);
    if (open.arrived == never) continue;
    ++sum->arrived;
    sum->transit += to_seconds(open.arrived - open.sent);
  }
}

RunScore ScoreCollector::take(Time end_of_run, bool is_cut) {
  for (const auto& [key, open] : open_) {
    const Ending fate = open.arrived == never ? Ending::under_way : Ending::waiting;
    ++score_.course[slice_of(open.sent, limits_.slices)][static_cast<std::size_t>(fate)];
    if (open.part >= 0) score_.parts[static_cast<std::size_t>(open.part)].messages[open.mark].fate = fate;
  }
  score_.path = path_.pieces();
  score_.end = end_of_run;
  score_.is_cut = is_cut;
  return std::move(score_);
}

}  // namespace rubato::web
