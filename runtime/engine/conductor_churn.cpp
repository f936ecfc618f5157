// Conductor, with churn: clients come and go, messages find no receiver, and mass is counted anew.
#include <algorithm>

#include "runtime/engine/conductor.hpp"
#include "runtime/protocols/push.hpp"

namespace rubato {

void Conductor::open_doors() {
  attendance_.emplace(*settings_.churn);
  next_churn_ = attendance_->next();
  for (std::uint32_t i = 0; i < protocols_.size(); ++i) {
    if (!attendance_->is_here({i})) tell_neighbours({i});
    if (settings_.churn->needs_first_state({i})) issue(StepKind::save, {i}, 0);
  }
}

// Before everything else of its instant.
void Conductor::churn() {
  using Kind = ChurnEvent::Kind;
  const ChurnEvent& event = attendance_->take();
  next_churn_ = attendance_->next();
  now_ = event.at;
  switch (event.kind) {
    case Kind::save:
      issue(StepKind::save, event.client, event.number);
      break;
    case Kind::leave:
      queue_.drop_wakes(event.client, false);
      protocols_[event.client.value]->on_leave(now_, effects_);
      take_over();
      break;
    case Kind::crash:
      queue_.drop_wakes(event.client, false);
      protocols_[event.client.value]->on_crash(now_, effects_);
      take_over();
      break;
    case Kind::pause:
      queue_.drop_wakes(event.client, true);
      break;
    case Kind::go_on:
      protocols_[event.client.value]->resume(now_, effects_);
      take_over();
      break;
    case Kind::come:
      begin_life(event);
      break;
    case Kind::notice:
    case Kind::heal:
    case Kind::partition:
      break;
  }
  if (event.is_announced()) tell_neighbours(event.client);
  if (event.kind == Kind::come) begin_with(event);
  if (event.is_announced() && settings_.passes_mass_on) begin_epoch(event);
  if (event.kind == Kind::come) {
    protocols_[event.client.value]->resume(now_, effects_);
    take_over();
  }
  if (observer_) observer_->on_churn(event);
}

// It learns which clients are there.
void Conductor::begin_life(const ChurnEvent& event) {
  const Graph& graph = *settings_.graph;
  for (const auto neighbours : {graph.senders_to(event.client), graph.receivers_of(event.client)})
    for (const ClientId neighbour : neighbours)
      protocols_[event.client.value]->on_presence(neighbour, !attendance_->is_missed(neighbour), now_, effects_);
  take_over();
}

void Conductor::begin_with(const ChurnEvent& event) {
  if (life(event.client) > 0) {
    for (const ClientId receiver : settings_.graph->receivers_of(event.client))
      protocols_[receiver.value]->on_new_life(event.client);
    issue(StepKind::load, event.client, event.number);
  }
  if (settings_.may_adopt) fetch_model(event);
}

// The first neighbour that it hears hands its model over, at once and for sure: that is part of joining.
void Conductor::fetch_model(const ChurnEvent& event) {
  const ClientId joiner = event.client;
  const ClientId giver = attendance_->giver_of(event, settings_.graph->senders_to(joiner));
  if (giver == no_client) return;
  ++model_messages_;
  ++hand_overs_;
  StepEntry entry{.peer = joiner,
                  .sequence = fetched_model(event),
                  .slot = sink_.open_slot(1),
                  .incarnation = static_cast<std::uint16_t>(life(giver)),
                  .place = outside_graph};
  issue(StepKind::publish, giver, entry.sequence, {&entry, 1});
  entry.peer = giver;
  entry.place = 0;
  issue(StepKind::adopt, joiner, entry.sequence, {&entry, 1});
}

// All clients know which are there, whatever keeps their messages apart.
void Conductor::tell_neighbours(ClientId about) {
  const Graph& graph = *settings_.graph;
  const bool is_here = !attendance_->is_missed(about);
  for (const auto neighbours : {graph.senders_to(about), graph.receivers_of(about)})
    for (const ClientId neighbour : neighbours) {
      protocols_[neighbour.value]->on_presence(about, is_here, now_, effects_);
      take_over();
    }
}

void Conductor::begin_epoch(const ChurnEvent& event) {
  const Epoch epoch = attendance_->epoch_after(event);
  for (std::uint32_t i = 0; i < protocols_.size(); ++i)
    if (attendance_->hears_of(epoch, {i})) enter_epoch({i}, epoch);
}

void Conductor::enter_epoch(ClientId client, Epoch epoch) {
  if (epoch <= attendance_->epoch(client)) return;
  attendance_->enter(client, epoch);
  protocols_[client.value]->on_unify(now_, true, effects_);  // whatever waits in the mailbox is of an older epoch
  take_over();
  issue(StepKind::reset, client, epoch.packed());
}

// False: the message has come to nothing.
bool Conductor::reaches(const Flight& flight) {
  const bool finds_nobody =
      !is_within_reach(flight.id.sender, flight.receiver) || flight.sent < attendance_->since(flight.receiver);
  if (is_control(flight.kind)) return !finds_nobody;
  const bool is_exchanged = flight.kind != MessageKind::model;
  const bool is_stale = flight.id.incarnation != life(flight.id.sender) ||
                        (settings_.passes_mass_on && is_exchanged && flight.epoch < attendance_->epoch(flight.receiver));
  if (finds_nobody || is_stale) {
    drop(flight, !finds_nobody);
    return false;
  }
  if (settings_.passes_mass_on && is_exchanged) enter_epoch(flight.receiver, flight.epoch);
  return true;
}

void Conductor::drop(const Flight& flight, bool is_stale) {
  const bool is_exchanged = flight.kind != MessageKind::model;
  under_way_ -= is_exchanged;
  models_lost_ += !is_exchanged;
  is_stale ? count_event() : void(++attendance_->counts().lost);
  const bool is_apart = attendance_->is_here(flight.receiver) && attendance_->are_apart(flight.id.sender, flight.receiver);
  const auto count = [&](auto& numbers) { ++(is_stale ? numbers.stale : is_apart ? numbers.apart : numbers.absent); };
  if (is_exchanged) count(protocols_[flight.receiver.value]->counts());
  if (!link_counts_.empty() && flight.link != outside_graph) count(link_counts_[flight.link]);
  effects_.step(StepKind::discard, flight.receiver, now_).message = flight.kind;
  effects_.entry(merge_entry(flight, now_, 1));
  take_over();
}

// Whose life the step belongs to, and its own messages with it.
void Conductor::sign(Effects::Draft& draft, std::span<StepEntry> entries) const {
  Step& step = draft.step;
  step.at = std::max(step.at, now_);  // of a client that starts late
  step.incarnation = life(step.client);
  for (StepEntry& entry : entries)
    if (step.kind == StepKind::publish || entry.peer == step.client)
      entry.incarnation = static_cast<std::uint16_t>(step.incarnation);
}

// Of the clients after it in a circle the first that is there.
ClientId Conductor::hub_beside_absent(ClientId hub) const {
  if (!attendance_) return hub;
  const auto clients = static_cast<std::uint32_t>(protocols_.size());
  for (std::uint32_t i = 0; i < clients; ++i)
    if (const ClientId next{(hub.value + i) % clients}; attendance_->is_here(next)) return next;
  return no_client;
}

// The clients that are there.
void Conductor::choose_measured() {
  auto there = std::make_shared<std::vector<ClientId>>();
  const auto all = static_cast<std::uint32_t>(settings_.measured ? settings_.measured->size() : protocols_.size());
  for (std::uint32_t i = 0; i < all; ++i)
    if (const ClientId client = settings_.measured ? (*settings_.measured)[i] : ClientId{i}; attendance_->is_here(client))
      there->push_back(client);
  measured_ = std::move(there);
}

}  // namespace rubato
