#include "actors/shared_desk.hpp"

#include <algorithm>
#include <utility>

#include "actors/evaluator_actor.hpp"
#include "actors/remote_payloads.hpp"

namespace rubato {

namespace {

std::uint32_t deliveries(const StepEntry& entry) { return entry.lost ? 0 : 1u + entry.copies; }

GoodsName snapshot_name(const Step& step, std::size_t clients) {
  return {GoodsKind::snapshot, step.index * clients + step.client.value};
}

}  // namespace

SharedDesk::SharedDesk(StepDesk& desk, Stage& stage, SharedRun& run, Depot& depot, ModelShape shape)
    : desk_{desk}, stage_{stage}, run_{run}, depot_{depot}, shape_{shape} {
  stage_.ensemble.abroad = this;
}

SharedDesk::Message& SharedDesk::message(SlotIndex slot) {
  if (slot >= messages_.size()) messages_.resize(slot + 1);
  return messages_[slot];
}

void SharedDesk::perform(const Step& step) {
  run_.count_step();
  if (step.kind == StepKind::measure) return measure(step);
  if (step.kind == StepKind::publish) publish(step);
  if (step.kind == StepKind::decide) ask(step);
  const bool is_own = run_.is_own(step.client);
  const bool ends_messages = step.kind != StepKind::publish;
  if (is_own && ends_messages && step.kind != StepKind::discard)
    for (const StepEntry& entry : step.entries) fetch(entry, message(entry.slot));
  is_own ? desk_.perform(step) : desk_.record(step);
  if (ends_messages)
    for (const StepEntry& entry : step.entries) end_of_message(step, entry);
}

// ---- messages ------------------------------------------------------------------------------------------------------

void SharedDesk::publish(const Step& step) {
  if (step.entries.empty()) return;
  const SlotIndex slot = step.entries.front().slot;
  Message& published = message(slot);
  published = {publications_++, run_.owner(step.client), false, step.keeps ? 1u : 0u, step.message == MessageKind::model, {}};
  for (const StepEntry& entry : step.entries) published.left += deliveries(entry);
  if (published.owner == run_.self()) return publish_own(step, published);
  run_.count_empty_slots(1);
  if (published.left == 0) pass(published, slot);
}

void SharedDesk::publish_own(const Step& step, Message& message) {
  std::vector<HostId> hosts, by_place;
  for (const StepEntry& entry : step.entries) {
    const HostId host = run_.owner(entry.peer);
    by_place.push_back(host);
    if (host == run_.self() || deliveries(entry) == 0) continue;
    auto abroad = std::find_if(message.abroad.begin(), message.abroad.end(), [&](const Abroad& one) { return one.host == host; });
    if (abroad == message.abroad.end()) {
      hosts.push_back(host);
      abroad = message.abroad.insert(abroad, {host, 0, false});
    }
    abroad->left += deliveries(entry);
  }
  if (hosts.empty()) return;
  depot_.promise({GoodsKind::payload, message.number}, std::move(hosts));
  const std::lock_guard lock(mutex_);
  to_come_.emplace(step.entries.front().slot, Published{message.number, std::move(by_place)});
}

void SharedDesk::on_published(const Step& step, const Payload& payload) {
  if (step.entries.empty() || stage_.ensemble.has_failed()) return;
  Published published;
  {
    const std::lock_guard lock(mutex_);
    const auto promised = to_come_.find(step.entries.front().slot);
    if (promised == to_come_.end()) return;
    published = std::move(promised->second);
    to_come_.erase(promised);
  }
  depot_.deliver({GoodsKind::payload, published.number}, [payload, hosts = std::move(published.by_place)](HostId to) {
    std::vector<std::uint32_t> places;
    for (std::uint32_t place = 0; place < hosts.size(); ++place)
      if (hosts[place] == to) places.push_back(place);
    return goods_of(payload, places);
  });
}

// One of this host's clients is about to need the message.
void SharedDesk::fetch(const StepEntry& entry, Message& message) {
  if (message.owner == run_.self() || message.is_wanted) return;
  message.is_wanted = true;
  run_.count_empty_slots(-1);
  const auto receive = [this, slot = entry.slot, is_model = message.is_model](std::optional<Goods> goods) {
    std::optional<Payload> payload = goods ? payload_of(std::move(*goods), run_.owners().size()) : Payload{};
    if (!payload || (goods && is_model && !this->is_model(payload->common[0]))) return false;
    run_.put(slot, std::move(*payload));
    return true;
  };
  depot_.want({GoodsKind::payload, message.number}, message.owner, receive);
}

// One receiver of the message is done with it, as far as the timing goes.
void SharedDesk::end_of_message(const Step& step, const StepEntry& entry) {
  Message& ended = message(entry.slot);
  const bool is_receiver_own = run_.is_own(step.client);
  if (ended.owner != run_.self())
    pass(ended, entry.slot);
  else if (!is_receiver_own)
    note_abroad(ended, run_.owner(step.client), step.kind != StepKind::discard);
  if (!is_receiver_own) stage_.ensemble.slots.release(entry.slot);
}

// A message of another host that nobody here has wanted until its end takes no payload.
void SharedDesk::pass(Message& message, SlotIndex slot) {
  if (message.left > 0) --message.left;
  if (message.left > 0 || message.is_wanted) return;
  run_.count_empty_slots(-1);
  stage_.ensemble.slots.fill(slot, {});
}

void SharedDesk::note_abroad(Message& message, HostId host, bool is_needed) {
  for (Abroad& abroad : message.abroad) {
    if (abroad.host != host) continue;
    abroad.is_needed = abroad.is_needed || is_needed;
    if (--abroad.left == 0 && !abroad.is_needed) depot_.let_go({GoodsKind::payload, message.number}, host);
  }
}

// ---- questions and samples -----------------------------------------------------------------------------------------

void SharedDesk::ask(const Step& step) {
  const GoodsName name{GoodsKind::answer, questions_++};
  if (run_.is_own(step.client)) {
    if (!run_.others().empty()) depot_.promise(name, run_.others());
    return run_.on_own_question(name.number);
  }
  depot_.want(name, run_.owner(step.client), [this](std::optional<Goods> goods) {
    if (!goods) return true;
    if (goods->head.size() != 1) return false;
    run_.put_answer(goods->head.front() != std::byte{0});
    return true;
  });
}

void SharedDesk::open_sample(std::uint64_t number, Time at, std::uint32_t clients) {
  run_.on_sample(number);
  desk_.open_sample(number, at, clients);
}

void SharedDesk::measure(const Step& step) {
  const GoodsName name = snapshot_name(step, run_.owners().size());
  if (run_.is_own(step.client)) {
    if (!run_.is_first()) depot_.promise(name, {run_.first()});
    desk_.perform(step);
  } else if (run_.is_first()) {
    fetch_snapshot(step, name);
  }
}

void SharedDesk::fetch_snapshot(const Step& step, GoodsName name) {
  stage_.ensemble.outstanding.fetch_add(1);  // until it is gathered, like one of this host
  depot_.want(name, run_.owner(step.client), [this, step](std::optional<Goods> goods) {
    std::optional<Snapshot> snapshot;
    if (goods) snapshot = snapshot_of(std::move(*goods));
    if (goods && (!snapshot || !is_model(snapshot->model))) return false;
    const std::size_t tracked = stage_.evaluation.composite() ? shape_.count : 0;
    if (goods && static_cast<std::size_t>(snapshot->tracker.size()) != tracked) return false;
    run_.put_snapshot(step, std::move(snapshot));
    return true;
  });
}

void SnapshotKeeper::on_measure(const Step& step, const Performer& performer, ThreadMemory& memory) {
  const Snapshot snapshot = take_snapshot(step, performer, evaluation_, memory);
  depot_.deliver(snapshot_name(step, clients_), [goods = goods_of(snapshot, *pool_)](HostId) { return goods; });
}

}  // namespace rubato
