#include "runtime/protocols/server.hpp"

#include <algorithm>

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

Duration length_of_job(const std::vector<std::vector<Duration>>& jobs, const ClientSettings& settings, ClientId client,
                       std::uint32_t turn) {
  if (jobs.empty()) return length_of_job(settings, client, turn);
  const std::vector<Duration>& own = jobs[client.value];
  return own[std::min<std::size_t>(turn, own.size() - 1)];
}

Server::Server(const ServerSettings& rules, ClientId self) : ClientProtocol(*rules.push, self), rules_{rules} {}

void Server::start(Effects& effects) {
  if (!is_centre()) return;
  if (!rules_.has_opening()) effects.round_is_over(0);
  effects.wake({{}, Priority::transmit, self_, leading_.turn});
}

void Server::resume(Time now, Effects& effects) {
  if (is_centre()) effects.wake({now, Priority::transmit, self_, leading_.turn});
}

void Server::on_leave(Time now, Effects& effects) {
  give_up(arrived_, now, effects);
  job_.reset();
  leading_.is_awaited.clear();
  leading_.is_closing = false;
}

void Server::on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) {
  if (!is_centre()) return;
  leading_.absent.set(neighbour, is_here);
  const bool is_awaited = !leading_.is_awaited.empty() && leading_.is_awaited[neighbour.value];
  if (is_awaited) count_answer(neighbour, now, effects);  // a neighbour that is here again has forgotten what it was asked for
}

// A centre that has come back may count its turns from an earlier one.
void Server::on_new_life(ClientId sender) {
  if (sender == rules_.centre) heard_.reset();
}

void Server::archive(Archive& archive) {
  Protocol::archive(archive);
  archive(sequence_), archive(leading_.turn);
}

void Server::choose() {
  std::vector<ClientId>& chosen = leading_.chosen;
  const std::uint64_t round = round_of(leading_.turn);
  if (!is_opening(leading_.turn) && round < rules_.selected.size()) {
    chosen = rules_.selected[round];
    return;
  }
  chosen.clear();
  for (std::uint32_t i = 0; i < clients(); ++i)
    if (!leading_.absent.has({i})) chosen.push_back(ClientId{i});
  const std::size_t here = chosen.size();
  const std::size_t count = std::min(share_of(rules_.share, clients()), here);
  if (is_opening(leading_.turn) || count == here) return;
  Stream stream(settings_.seed, no_client, Purpose::neighbours, leading_.turn + 1);
  keep_drawn(chosen, count, stream);
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
  if (!others_.empty()) publish(to_clients, others_, tag_of(leading_.turn, to_clients), now, effects);
  if (leading_.is_awaited[self_.value]) begin_job(leading_.turn, now, effects);
  const Duration deadline = settings_.limits.deadline;
  // Even a round without clients takes time.
  const Duration patience = leading_.missing > 0 ? deadline : Duration{1};
  if (patience != Duration::max())
    effects.wake({later(now, patience), Priority::deadline, self_, tag_of(leading_.turn, to_centre)});
}

void Server::begin_job(std::uint32_t turn, Time now, Effects& effects) {
  job_ = turn;
  effects.wake({later(now, length_of_job(settings_, self_, turn)), Priority::compute, self_, turn});
}

void Server::on_compute(Time now, std::uint32_t turn, Effects& effects) {
  if (job_ != turn) return;  // overtaken by a newer model, or the round is over
  compute(now, effects);
  job_.reset();
  if (is_centre()) return count_answer(self_, now, effects);
  publish(to_centre, {&rules_.centre, 1}, tag_of(turn, to_centre), now, effects);  // to a round that may be over
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
  if (arrival.id.sender != rules_.centre) return Offer::late;
  if (heard_ == turn) return Offer::duplicate;
  const bool is_old = is_too_old(arrival) || (heard_ && turn < *heard_);
  return is_old ? Offer::late : Offer::kept;
}

Offer Server::on_arrival(const Arrival& arrival, Effects& effects) {
  const Offer offer = judge(arrival);
  if (!admit(offer, arrival, effects)) return offer;
  if (!is_centre()) give_up(arrived_, arrival.arrived, effects);  // an older model, at the same instant
  arrived_.push_back(arrival);
  if (is_centre()) {
    count_answer(arrival.id.sender, arrival.arrived, effects);
  } else {
    heard_ = arrival.tag / phases;
    effects.close_window(arrival.arrived, self_);
  }
  return offer;
}

void Server::merge_arrived(std::uint8_t phase, std::uint32_t turn, Time now, Effects& effects) {
  merge(arrived_, phase, round_of(turn), now, effects).index = round_of(turn);
}

void Server::on_window_close(Time now, Effects& effects) {
  if (!is_centre()) {
    if (arrived_.empty()) return;  // two models at one instant
    merge_arrived(to_clients, *heard_, now, effects);
    return begin_job(*heard_, now, effects);
  }
  if (!leading_.is_closing) return;
  leading_.is_closing = false;
  merge_arrived(to_centre, leading_.turn, now, effects);
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
