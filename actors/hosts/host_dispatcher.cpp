#include "actors/hosts/host_dispatcher.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/evaluator_actor.hpp"
#include "actors/core/run_parts.hpp"

namespace rubato {

namespace {

std::uint32_t deliveries(const StepEntry& entry) { return entry.lost ? 0 : 1u + entry.copies; }

ItemName snapshot_name(const Step& step, std::size_t clients) {
  return {ItemKind::snapshot, step.index * clients + step.client.value};
}

}  // namespace

HostDispatcher::HostDispatcher(StepDispatcher& dispatcher, RunControl& control, HostProgress& run, ItemExchange& items,
                               ModelShape shape)
    : dispatcher_{dispatcher}, control_{control}, run_{run}, items_{items}, shape_{shape} {
  control_.client_pool.on_published = [this](const Step& step, const Payload& payload) { on_published(step, payload); };
}

HostDispatcher::Message& HostDispatcher::message(SlotIndex slot) {
  if (slot >= messages_.size()) messages_.resize(slot + 1);
  return messages_[slot];
}

void HostDispatcher::perform(const Step& step) {
  run_.count_step();
  if (step.kind == StepKind::measure) return measure(step);
  if (step.kind == StepKind::publish) publish(step);
  if (step.kind == StepKind::decide) ask(step);
  const bool is_own = run_.is_own(step.client);
  const bool ends_messages = step.kind != StepKind::publish;
  if (is_own && ends_messages && step.kind != StepKind::discard)
    for (const StepEntry& entry : step.entries) fetch(entry, message(entry.slot));
  is_own ? dispatcher_.perform(step) : dispatcher_.record(step);
  if (ends_messages)
    for (const StepEntry& entry : step.entries) end_of_message(step, entry);
}

// ---- messages ------------------------------------------------------------------------------------------------------

void HostDispatcher::publish(const Step& step) {
  if (step.entries.empty()) return;
  const SlotIndex slot = step.entries.front().slot;
  Message& published = message(slot);
  published = {publications_++, run_.owner(step.client), false, step.keeps ? 1u : 0u, step.message == MessageKind::model, {}};
  for (const StepEntry& entry : step.entries) published.left += deliveries(entry);
  if (published.owner == run_.self()) return publish_own(step, published);
  run_.count_empty_slots(1);
  if (published.left == 0) pass(published, slot);
}

void HostDispatcher::publish_own(const Step& step, Message& message) {
  std::vector<HostId> hosts, by_place;
  for (const StepEntry& entry : step.entries) {
    const HostId host = run_.owner(entry.peer);
    by_place.push_back(host);
    if (host == run_.self() || deliveries(entry) == 0) continue;
    auto remote = std::ranges::find(message.remote, host, &Abroad::host);
    if (remote == message.remote.end()) {
      hosts.push_back(host);
      remote = message.remote.insert(remote, {host, 0, false});
    }
    remote->left += deliveries(entry);
  }
  if (hosts.empty()) return;
  items_.promise({ItemKind::payload, message.number}, std::move(hosts));
  const std::lock_guard lock(mutex_);
  to_come_.emplace(step.entries.front().slot, Published{message.number, std::move(by_place)});
}

// On the thread of the client that has published.
void HostDispatcher::on_published(const Step& step, const Payload& payload) {
  if (step.entries.empty() || control_.client_pool.has_failed()) return;
  Published published;
  {
    const std::lock_guard lock(mutex_);
    const auto promised = to_come_.find(step.entries.front().slot);
    if (promised == to_come_.end()) return;
    published = std::move(promised->second);
    to_come_.erase(promised);
  }
  items_.deliver({ItemKind::payload, published.number}, [payload, hosts = std::move(published.by_place)](HostId to) {
    std::vector<std::uint32_t> places;
    for (std::uint32_t place = 0; place < hosts.size(); ++place)
      if (hosts[place] == to) places.push_back(place);
    return packed_payload(payload, std::move(places));
  });
}

// One of this host's clients is about to need the message.
void HostDispatcher::fetch(const StepEntry& entry, Message& message) {
  if (message.owner == run_.self() || message.is_wanted) return;
  message.is_wanted = true;
  run_.count_empty_slots(-1);
  const auto receive = [this, slot = entry.slot, is_model = message.is_model](std::optional<Item> item) {
    std::optional<Payload> payload = item ? payload_of(std::move(*item), run_.owners().size()) : Payload{};
    if (!payload || (item && is_model && !shape_.fits(payload->common[0]))) return false;
    run_.put(slot, std::move(*payload));
    return true;
  };
  items_.want({ItemKind::payload, message.number}, message.owner, receive);
}

// One receiver of the message is done with it, as far as the timing goes.
void HostDispatcher::end_of_message(const Step& step, const StepEntry& entry) {
  Message& ended = message(entry.slot);
  const bool is_receiver_own = run_.is_own(step.client);
  if (ended.owner != run_.self())
    pass(ended, entry.slot);
  else if (!is_receiver_own)
    note_abroad(ended, run_.owner(step.client), step.kind != StepKind::discard);
  if (!is_receiver_own) control_.client_pool.slots.release(entry.slot);
}

// A message of another host that no client here has wanted until its end takes no payload.
void HostDispatcher::pass(Message& message, SlotIndex slot) {
  if (message.left > 0) --message.left;
  if (message.left > 0 || message.is_wanted) return;
  run_.count_empty_slots(-1);
  control_.client_pool.slots.fill(slot, {});
}

void HostDispatcher::note_abroad(Message& message, HostId host, bool is_needed) {
  for (Abroad& remote : message.remote) {
    if (remote.host != host) continue;
    remote.is_needed = remote.is_needed || is_needed;
    if (--remote.left == 0 && !remote.is_needed) items_.let_go({ItemKind::payload, message.number}, host);
  }
}

// ---- questions and samples -----------------------------------------------------------------------------------------

void HostDispatcher::ask(const Step& step) {
  const ItemName name{ItemKind::answer, questions_++};
  if (run_.is_own(step.client)) {
    if (!run_.others().empty()) items_.promise(name, run_.others());
    return run_.on_own_question(name.number);
  }
  items_.want(name, run_.owner(step.client), [this](std::optional<Item> item) {
    if (!item) return true;
    if (item->head.size() != 1) return false;
    run_.put_answer(item->head.front() != std::byte{0});
    return true;
  });
}

void HostDispatcher::open_sample(const SampleHeader& header) {
  run_.on_sample(header.number);
  dispatcher_.open_sample(header);
}

void HostDispatcher::measure(const Step& step) {
  const ItemName name = snapshot_name(step, run_.owners().size());
  if (run_.is_own(step.client)) {
    if (!run_.is_first()) items_.promise(name, {run_.first()});
    dispatcher_.perform(step);
  } else if (run_.is_first()) {
    fetch_snapshot(step, name);
  }
}

void HostDispatcher::fetch_snapshot(const Step& step, ItemName name) {
  control_.client_pool.outstanding.fetch_add(1);  // until it is gathered, like one of this host
  items_.want_thing<Snapshot>(name, run_.owner(step.client), [this, step](std::optional<Snapshot> snapshot) {
    const bool has_model = step.phase != traffic_only;
    const bool is_good =
        !snapshot || ((has_model ? shape_.fits(snapshot->model) && control_.evaluation.measures().fits(*snapshot, shape_.count)
                                 : !snapshot->model && snapshot->tracked.empty()) &&
                      is_row(snapshot->collaboration, run_.owners().size()));
    if (is_good) run_.put_snapshot(step, std::move(snapshot));
    return is_good;
  });
}

void SnapshotKeeper::on_measure(const Step& step, const Performer& performer, ThreadMemory& memory) {
  const Snapshot snapshot = take_snapshot(step, performer, evaluation_, memory);
  items_.deliver(snapshot_name(step, clients_), [item = item_of(snapshot, pool_)](HostId) { return item; });
}

}  // namespace rubato
