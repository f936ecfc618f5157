#include "runtime/protocols/server.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/random.hpp"

namespace rubato {

namespace {

constexpr std::uint8_t to_clients = 0, to_centre = 1;  // phases
constexpr std::uint32_t phases = 2;

std::uint32_t tag_of(std::uint32_t turn, std::uint8_t phase) { return phases * turn + phase; }

}  // namespace

bool ServerSettings::gathers_first() const {
  const PhaseList& list = push->needs.program.round;
  return list.size() > 0 && list[list.size() - 1].kind == PhaseKind::compute;
}

Duration length_of_job(const ClientSettings& settings, ClientId client, std::uint32_t turn) {
  Timer timer;
  return timer.interval(settings.compute_law(client), settings.seed, client, Purpose::compute_timer, turn + 1);
}

Server::Server(const ServerSettings& settings, ClientId self)
    : settings_{settings}, self_{self}, mailbox_{settings.push->limits, 0} {}

void Server::start(Effects& effects) {
  if (!is_centre()) return;
  if (!settings_.has_opening()) effects.round_is_over(0);
  effects.wake({{}, Priority::transmit, self_, leading_.turn});
}

void Server::resume(Time now, Effects& effects) {
  if (is_centre()) effects.wake({now, Priority::transmit, self_, leading_.turn});
}

void Server::give_up_arrived(Time now, Effects& effects) {
  for (const Arrival& arrival : arrived_) discard(arrival, self_, now, effects);
  counts_.superseded += arrived_.size();
  arrived_.clear();
}

void Server::on_leave(Time now, Effects& effects) {
  give_up_arrived(now, effects);
  job_.reset();
  leading_.is_awaited.clear();
  leading_.is_closing = false;
}

void Server::on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) {
  if (!is_centre()) return;
  leading_.absent.set(neighbour, is_here);
  const bool is_awaited = !leading_.is_awaited.empty() && leading_.is_awaited[neighbour.value];
  if (is_awaited) count_answer(neighbour, now, effects);  // who is here again has forgotten what it was asked for
}

// A centre that has come back may count its turns from an earlier one.
void Server::on_new_life(ClientId sender) {
  if (sender == settings_.centre) heard_.reset();
}

void Server::archive(Archive& archive) {
  Protocol::archive(archive);
  archive(sequence_), archive(leading_.turn);
}

void Server::choose() {
  std::vector<ClientId>& chosen = leading_.chosen;
  const std::uint64_t round = round_of(leading_.turn);
  if (!is_opening(leading_.turn) && round < settings_.selected.size()) {
    chosen = settings_.selected[round];
    return;
  }
  chosen.clear();
  for (std::uint32_t i = 0; i < clients(); ++i)
    if (!leading_.absent.has({i})) chosen.push_back(ClientId{i});
  const std::size_t here = chosen.size();
  const auto wanted = static_cast<std::size_t>(std::ceil(settings_.share * clients() - 1e-9));
  const std::size_t count = std::min(std::max<std::size_t>(wanted, 1), here);
  if (is_opening(leading_.turn) || count == here) return;
  Stream stream(push().seed, no_client, Purpose::neighbours, leading_.turn + 1);
  for (std::size_t i = 0; i < count; ++i) std::swap(chosen[i], chosen[i + stream.below(here - i)]);
  chosen.resize(count);
  std::sort(chosen.begin(), chosen.end());
}

void Server::on_transmit(Time now, std::uint32_t turn, Effects& effects) {
  if (turn == leading_.turn) begin_round(now, effects);
}

std::optional<std::uint64_t> Server::sends_at(const Wake& wake) const {
  const bool answers = wake.priority == Priority::compute && job_ == wake.detail && !is_centre();
  return answers ? std::optional<std::uint64_t>(sequence_) : std::nullopt;
}

void Server::begin_round(Time now, Effects& effects) {
  job_.reset();
  choose();
  leading_.missing = leading_.chosen.size();
  leading_.is_awaited.assign(clients(), false);
  others_.clear();
  for (const ClientId client : leading_.chosen) {
    leading_.is_awaited[client.value] = true;
    if (client != self_) others_.push_back(client);
  }
  if (!others_.empty()) publish(to_clients, others_, leading_.turn, now, effects);
  if (leading_.is_awaited[self_.value]) begin_job(leading_.turn, now, effects);
  const Duration deadline = push().limits.deadline;
  // Even a round of nobody takes time.
  const Duration patience = leading_.missing > 0 ? deadline : Duration{1};
  if (patience != Duration::max())
    effects.wake({later(now, patience), Priority::deadline, self_, tag_of(leading_.turn, to_centre)});
}

void Server::publish(std::uint8_t phase, std::span<const ClientId> receivers, std::uint32_t turn, Time now, Effects& effects) {
  Step& step = effects.step(StepKind::publish, self_, now);
  step.index = sequence_;
  step.phase = phase;
  effects.turn(sequence_);
  effects.tag(tag_of(turn, phase));
  for (const ClientId receiver : receivers)
    effects.entry({.peer = receiver, .sequence = sequence_, .place = *push().graph->find_link(self_, receiver)});
  ++sequence_;
  ++counts_.publications;
}

void Server::begin_job(std::uint32_t turn, Time now, Effects& effects) {
  job_ = turn;
  effects.wake({later(now, length_of_job(push(), self_, turn)), Priority::compute, self_, turn});
}

void Server::on_compute(Time now, std::uint32_t turn, Effects& effects) {
  if (job_ != turn) return;  // overtaken by a newer model, or the round is over
  effects.step(StepKind::compute, self_, now).index = counts_.computations++;
  job_.reset();
  if (is_centre()) return count_answer(self_, now, effects);
  publish(to_centre, {&settings_.centre, 1}, turn, now, effects);  // to a round that may be over
}

// It has answered, or is not waited for any more.
void Server::count_answer(ClientId client, Time now, Effects& effects) {
  leading_.is_awaited[client.value] = false;
  if (--leading_.missing == 0) close_round(now, effects);
}

void Server::close_round(Time now, Effects& effects) {
  if (!leading_.is_closing) effects.close_window(now, self_);
  leading_.is_closing = true;
}

Offer Server::judge(const Arrival& arrival) const {
  const std::uint32_t turn = arrival.tag / phases;
  if ((arrival.tag % phases == to_centre) != is_centre()) return Offer::late;
  if (is_centre()) {
    if (turn != leading_.turn || leading_.is_awaited.empty()) return Offer::late;
    return leading_.is_awaited[arrival.id.sender.value] ? Offer::kept : Offer::duplicate;
  }
  if (arrival.id.sender != settings_.centre) return Offer::late;
  if (heard_ == turn) return Offer::duplicate;
  const bool is_old = arrival.arrived - arrival.sent > push().limits.deadline || (heard_ && turn < *heard_);
  return is_old ? Offer::late : Offer::kept;
}

Offer Server::on_arrival(const Arrival& arrival, Effects& effects) {
  const Offer offer = judge(arrival);
  if (offer == Offer::kept) {
    ++counts_.kept;
    if (is_centre()) {
      arrived_.push_back(arrival);
      count_answer(arrival.id.sender, arrival.arrived, effects);
    } else {
      give_up_arrived(arrival.arrived, effects);  // an older model, at the same instant
      arrived_.push_back(arrival);
      heard_ = arrival.tag / phases;
      effects.close_window(arrival.arrived, self_);
    }
    return offer;
  }
  ++(offer == Offer::late ? counts_.late : counts_.duplicates);
  discard(arrival, self_, arrival.arrived, effects);
  return offer;
}

void Server::merge(std::uint8_t phase, std::uint32_t turn, Time now, Effects& effects) {
  std::sort(arrived_.begin(), arrived_.end(), [](const Arrival& a, const Arrival& b) { return a.id < b.id; });
  Step& step = effects.step(StepKind::merge, self_, now);
  step.phase = phase;
  step.index = round_of(turn);
  for (const Arrival& arrival : arrived_) effects.entry(merge_entry(arrival, now, push().merge_weight(arrival.link, step.index)));
  arrived_.clear();
}

void Server::on_window_close(Time now, Effects& effects) {
  if (!is_centre()) {
    if (arrived_.empty()) return;  // two models at one instant
    merge(to_clients, *heard_, now, effects);
    return begin_job(*heard_, now, effects);
  }
  if (!leading_.is_closing) return;
  leading_.is_closing = false;
  merge(to_centre, leading_.turn, now, effects);
  job_.reset();  // what the centre has not finished by now is not wanted any more
  effects.round_is_over(is_opening(leading_.turn) ? 0 : round_of(leading_.turn) + 1);
  ++leading_.turn;
  leading_.is_awaited.clear();
  effects.wake({now, Priority::transmit, self_, leading_.turn});
}

void Server::on_deadline(Time now, Sequence detail, Effects& effects) {
  if (detail == tag_of(leading_.turn, to_centre)) close_round(now, effects);
}

}  // namespace rubato
