#include "runtime/protocols/server.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/random.hpp"

namespace rubato {

namespace {

constexpr std::uint8_t to_clients = 0, to_centre = 1;    // phases of the usual order
constexpr std::uint8_t gather = 0, scatter = 1;          // phases with gathers_first

}  // namespace

bool ServerBoard::gathers_first() const {
  const PhaseList& list = settings->needs.program.round;
  return list.size() > 0 && list[list.size() - 1].kind == PhaseKind::compute;
}

Server::Server(ServerBoard& board, ClientId self)
    : board_{board}, self_{self}, gathers_first_{board.gathers_first()}, mailbox_{board.settings->limits, 0} {}

void Server::start(Effects& effects) {
  if (++board_.started < clients()) return;  // the last to come rings the bell
  board_.is_opening = board_.settings->needs.program.opening.size() > 0;
  if (!board_.is_opening) effects.round_is_over(0);
  enter_turn({}, false, effects);
}

void Server::enter_turn(Time now, bool is_repeat, Effects& effects) {
  board_.centre = next_centre(is_repeat);
  board_.stage = ServerBoard::Stage::gathering;
  if (!gathers_first_) return effects.wake({now, Priority::transmit, board_.centre, board_.turn});
  board_.missing = clients() - 1;
  board_.computing = 0;
  board_.is_awaited.assign(clients(), true);
  for (std::uint32_t i = 0; i < clients(); ++i) effects.wake({now, Priority::transmit, ClientId{i}, board_.turn});
}

ClientId Server::next_centre(bool is_repeat) const {
  if (board_.turn < board_.centres.size()) return board_.centres[board_.turn];
  const auto behind_first = [&](std::uint64_t places) {
    return ClientId{static_cast<std::uint32_t>((board_.first_centre.value + places) % clients())};
  };
  if (board_.law == CentreLaw::fixed) return behind_first(board_.failures);
  if (board_.law == CentreLaw::in_turn) return behind_first(board_.turn);
  Stream stream(board_.settings->seed, no_client, Purpose::hub, board_.turn + 1);
  const ClientId drawn{static_cast<std::uint32_t>(stream.below(clients()))};
  return is_repeat && drawn == board_.centre ? ClientId{(drawn.value + 1) % clients()} : drawn;
}

void Server::choose() {
  std::vector<ClientId>& chosen = board_.chosen;
  if (!board_.is_opening && board_.round < board_.selected.size()) {
    chosen = board_.selected[board_.round];
    return;
  }
  chosen.resize(clients());
  for (std::uint32_t i = 0; i < clients(); ++i) chosen[i] = ClientId{i};
  const auto wanted = static_cast<std::size_t>(std::ceil(board_.share * clients() - 1e-9));
  const std::size_t count = std::clamp<std::size_t>(wanted, 1, clients());
  if (board_.is_opening || count == clients()) return;
  Stream stream(board_.settings->seed, no_client, Purpose::neighbours, board_.turn + 1);
  for (std::size_t i = 0; i < count; ++i) std::swap(chosen[i], chosen[i + stream.below(clients() - i)]);
  chosen.resize(count);
  std::sort(chosen.begin(), chosen.end());
}

void Server::on_transmit(Time now, std::uint32_t, Effects& effects) {
  if (gathers_first_)
    hand_in(now, effects);
  else
    hand_out(now, effects);
}

std::optional<std::uint64_t> Server::sends_at(const Wake& wake) const {
  const bool answers = wake.priority == Priority::compute && job_ == wake.detail && !gathers_first_ && !is_centre();
  const bool hands_in = wake.priority == Priority::transmit && gathers_first_ && !is_centre();
  return answers || hands_in ? std::optional<std::uint64_t>(sequence_) : std::nullopt;
}

void Server::hand_out(Time now, Effects& effects) {
  job_.reset();
  choose();
  board_.missing = board_.chosen.size();
  board_.is_awaited.assign(clients(), false);
  others_.clear();
  for (const ClientId client : board_.chosen) {
    board_.is_awaited[client.value] = true;
    if (client != self_) others_.push_back(client);
  }
  if (!others_.empty()) publish(to_clients, others_, now, effects);
  if (board_.is_awaited[self_.value]) begin_job(now, effects);
  if (board_.missing > 0) return await_until_deadline(to_centre, now, effects);
  // Even a round of nobody takes time.
  effects.wake({later(now, Duration{1}), Priority::deadline, self_, tag_of(to_centre)});
}

void Server::hand_in(Time now, Effects& effects) {
  if (!is_centre()) return publish(gather, {&board_.centre, 1}, now, effects);
  if (board_.missing == 0) return effects.close_window(now, self_);
  await_until_deadline(gather, now, effects);
}

void Server::answer_all(Time now, Effects& effects) {
  board_.stage = ServerBoard::Stage::scattering;
  board_.missing = clients() - 1;
  board_.computing = 1;
  others_.clear();
  for (std::uint32_t i = 0; i < clients(); ++i)
    if (ClientId{i} != self_) others_.push_back(ClientId{i});
  begin_job(now, effects);
  if (others_.empty()) {
    board_.stage = ServerBoard::Stage::working;
    return;
  }
  publish(scatter, others_, now, effects);
  await_until_deadline(scatter, now, effects);
}

void Server::await_until_deadline(std::uint8_t phase, Time now, Effects& effects) {
  const Duration deadline = board_.settings->limits.deadline;
  if (deadline != Duration::max()) effects.wake({later(now, deadline), Priority::deadline, self_, tag_of(phase)});
}

void Server::publish(std::uint8_t phase, std::span<const ClientId> receivers, Time now, Effects& effects) {
  Step& step = effects.step(StepKind::publish, self_, now);
  step.index = sequence_;
  step.phase = phase;
  effects.turn(sequence_);
  // An answer that is late keeps the tag of the round that it answers.
  effects.tag(!gathers_first_ && phase == to_centre ? 2 * *job_ + phase : tag_of(phase));
  const Graph& graph = *board_.settings->graph;
  for (const ClientId receiver : receivers)
    effects.entry({.peer = receiver, .sequence = sequence_, .place = *graph.find_link(self_, receiver)});
  ++sequence_;
  ++counts_.publications;
}

void Server::begin_job(Time now, Effects& effects) {
  job_ = board_.turn;
  Timer timer;  // each turn has an address of its own, so a round may be computed again
  const PushSettings& settings = *board_.settings;
  const Duration length =
      timer.interval(settings.compute_law(self_), settings.seed, self_, Purpose::compute_timer, board_.turn + 1);
  effects.wake({later(now, length), Priority::compute, self_, board_.turn});
}

void Server::on_compute(Time now, std::uint32_t detail, Effects& effects) {
  if (job_ != detail) return;  // overtaken by a newer model, or the round is over
  effects.step(StepKind::compute, self_, now).index = counts_.computations++;
  if (gathers_first_) {
    --board_.computing;
    if (board_.computing == 0 && board_.stage == ServerBoard::Stage::working) end_round(now, effects);
  } else if (is_centre()) {
    count_answer(now, effects);
  } else {
    publish(to_centre, {&answers_to_, 1}, now, effects);
  }
  job_.reset();
}

void Server::count_answer(Time now, Effects& effects) {
  board_.is_awaited[self_.value] = false;
  if (--board_.missing == 0) effects.close_window(now, self_);
}

Offer Server::judge(const Arrival& arrival, std::uint8_t phase) const {
  const bool is_of_this_turn = arrival.tag == tag_of(phase);
  const bool is_for_centre = phase == (gathers_first_ ? gather : to_centre);
  const auto stage = is_for_centre ? ServerBoard::Stage::gathering : ServerBoard::Stage::scattering;
  if (!is_of_this_turn || ((is_for_centre || gathers_first_) && board_.stage != stage)) return Offer::late;
  if (is_for_centre) return board_.is_awaited[arrival.id.sender.value] ? Offer::kept : Offer::duplicate;
  return heard_ == board_.turn ? Offer::duplicate : Offer::kept;
}

void Server::accept(const Arrival& arrival, std::uint8_t phase, Effects& effects) {
  arrived_.push_back(arrival);
  const bool is_for_centre = phase == (gathers_first_ ? gather : to_centre);
  if (is_for_centre) {
    board_.is_awaited[arrival.id.sender.value] = false;
    if (--board_.missing > 0) return;
  } else {
    heard_ = board_.turn;
    answers_to_ = arrival.id.sender;
    if (gathers_first_) {
      ++board_.computing;
      if (--board_.missing == 0) board_.stage = ServerBoard::Stage::working;
    }
  }
  effects.close_window(arrival.arrived, self_);
}

Offer Server::on_arrival(const Arrival& arrival, Effects& effects) {
  const auto phase = static_cast<std::uint8_t>(arrival.tag % 2);
  const Offer offer = judge(arrival, phase);
  if (offer == Offer::kept) {
    ++counts_.kept;
    accept(arrival, phase, effects);
    return offer;
  }
  ++(offer == Offer::late ? counts_.late : counts_.duplicates);
  discard(arrival, self_, arrival.arrived, effects);
  return offer;
}

void Server::merge(std::uint8_t phase, Time now, Effects& effects) {
  std::sort(arrived_.begin(), arrived_.end(), [](const Arrival& a, const Arrival& b) { return a.id < b.id; });
  Step& step = effects.step(StepKind::merge, self_, now);
  step.phase = phase;
  step.index = board_.round;
  for (const Arrival& arrival : arrived_)
    effects.entry(merge_entry(arrival, now, board_.settings->merge_weight(arrival.link, board_.round)));
  arrived_.clear();
}

void Server::on_window_close(Time now, Effects& effects) {
  if (!is_centre()) {
    merge(gathers_first_ ? scatter : to_clients, now, effects);
    begin_job(now, effects);
  } else if (gathers_first_) {
    merge(gather, now, effects);
    answer_all(now, effects);
  } else {
    merge(to_centre, now, effects);
    job_.reset();  // what the centre has not finished by now is not wanted any more
    end_round(now, effects);
  }
}

void Server::on_deadline(Time now, Sequence detail, Effects& effects) {
  if (detail == tag_of(to_centre) && !gathers_first_) return effects.close_window(now, self_);
  if (!gathers_first_) return;
  using Stage = ServerBoard::Stage;
  if (detail == tag_of(gather) && board_.stage == Stage::gathering) return effects.close_window(now, self_);
  if (detail != tag_of(scatter) || board_.stage != Stage::scattering) return;
  if (board_.missing < clients() - 1) {
    board_.stage = Stage::working;
    if (board_.computing == 0) end_round(now, effects);
    return;
  }
  job_.reset();
  ++board_.failures;
  ++board_.turn;
  enter_turn(now, true, effects);
}

void Server::end_round(Time now, Effects& effects) {
  effects.round_is_over(board_.is_opening ? 0 : ++board_.round);
  board_.is_opening = false;
  ++board_.turn;
  enter_turn(now, false, effects);
}

}  // namespace rubato
