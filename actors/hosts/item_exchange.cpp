#include "actors/hosts/item_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

namespace rubato {

namespace {

constexpr Duration short_pause = std::chrono::milliseconds(50);  // before wants are repeated, if nothing comes
constexpr Duration long_pause = std::chrono::seconds(1);
constexpr Duration longest_wait = std::chrono::milliseconds(500);   // for a want that may be lost, while others are met
constexpr Duration shortest_doubt = std::chrono::milliseconds(20);  // before asking whether an item has arrived
constexpr Duration longest_doubt = std::chrono::seconds(2);
constexpr std::size_t most_names = 1024;       // in a parcel
constexpr std::size_t most_early = 1 << 16;    // wants that are remembered before their items are promised, of all hosts
constexpr std::size_t most_part_tensors = 48;  // in a parcel
constexpr std::uint32_t most_parts = 1 << 16;
constexpr std::size_t part_head_bytes = 17;

Tensor copy_of(const Tensor& tensor, TensorPool& pool) {
  if (!tensor) return {};
  Tensor copy = pool.make(tensor.scalar(), tensor.count());
  std::memcpy(copy.writable<std::byte>(), tensor.data<std::byte>(), tensor.bytes());
  return copy;
}

// Where each part of these tensors begins, and their end.
std::vector<std::size_t> cut(const std::vector<Tensor>& tensors, std::size_t part_bytes) {
  std::vector<std::size_t> cuts{0};
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool is_full = i - cuts.back() == most_part_tensors || bytes + tensors[i].bytes() > part_bytes;
    if (is_full && i > cuts.back()) {
      cuts.push_back(i);
      bytes = 0;
    }
    bytes += tensors[i].bytes();
  }
  cuts.push_back(tensors.size());
  return cuts;
}

}  // namespace

void ItemName::archive(Archive& archive) {
  archive(kind, number);
  archive.require(static_cast<std::uint8_t>(kind) >= 1 && static_cast<std::uint8_t>(kind) <= last_item_kind);
}

// Wants: `flag` says that they stand for items that did not arrive. Receipts: `flag` makes them questions.
struct ItemExchange::Names {
  bool flag = false;
  std::vector<ItemName> names;

  void archive(Archive& archive) {
    archive(flag);
    archive.list(names, [](Archive& part, ItemName& name) { part(name); });
    archive.require(names.size() <= most_names);
  }
};

// Before the item's own head, which comes with the first part.
struct ItemExchange::PartHead {
  ItemName name;
  std::uint32_t part = 0, parts = 1;

  void archive(Archive& archive) {
    archive(name, part, parts);
    archive.require(part < parts && parts <= most_parts);
  }
};

ItemExchange::ItemExchange(Membership& membership, Transport& transport, TensorPool& pool, std::size_t parcel_bytes)
    : membership_{membership}, transport_{transport}, pool_{pool}, parcel_bytes_{parcel_bytes}, peers_(membership.hosts()) {
  for (Peer& peer : peers_) peer.pause = short_pause;
  membership_.handle(ParcelKind::want, [this](HostId from, const Parcel& parcel, Duration) { on_want(from, parcel); });
  membership_.handle(ParcelKind::payload, [this](HostId from, Parcel parcel, Duration) { on_item(from, std::move(parcel)); });
  membership_.handle(ParcelKind::have, [this](HostId from, const Parcel& parcel, Duration) { on_have(from, parcel); });
  thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

// ---- hosts that are there

// Before anything is concluded from what a host has said.
void ItemExchange::look_at_life(HostId host) {
  const std::uint64_t life = membership_.life(host);
  const std::uint64_t known = std::exchange(peers_[host.value].life, life);
  if (known != 0 && life != known) forget_earlier_life(host);
}

void ItemExchange::forget_earlier_life(HostId host) {
  peers_[host.value].unconfirmed.clear();
  peers_[host.value].refused.clear();
  for (auto& [name, kept] : kept_)
    for (Hold& hold : kept.holds)
      if (hold.host == host) hold = {host};
  for (auto& [name, askers] : early_) std::erase(askers, host);
  std::erase_if(early_, [](const auto& each) { return each.second.empty(); });
  peers_[host.value].early = 0;
  for (auto& [name, wanted] : wanted_)
    if (wanted.owner == host) wanted.arriving = {};
}

// ---- what this host has --------------------------------------------------------------------------------------------

void ItemExchange::promise(ItemName name, std::vector<HostId> hosts) {
  const std::lock_guard lock(mutex_);
  for (const HostId host : hosts) look_at_life(host);
  Kept& kept = kept_[name];
  for (const HostId host : hosts) kept.holds.push_back({host});
  promised_[static_cast<std::size_t>(name.kind)] = name.number + 1;
  const auto early = early_.find(name);
  if (early == early_.end()) return;
  for (Hold& hold : kept.holds) hold.has_asked = std::ranges::find(early->second, hold.host) != early->second.end();
  for (const HostId asker : early->second) --peers_[asker.value].early;
  early_.erase(early);
}

void ItemExchange::deliver(ItemName name, Pack pack) {
  std::vector<HostId> askers;
  {
    const std::lock_guard lock(mutex_);
    const auto kept = kept_.find(name);
    if (kept == kept_.end()) return;
    for (const Hold& hold : kept->second.holds) look_at_life(hold.host);
    for (const Hold& hold : kept->second.holds)
      if (hold.has_asked) askers.push_back(hold.host);
    kept->second.pack = pack;
  }
  for (const HostId host : askers) ship(name, pack, host);
}

bool ItemExchange::drop(ItemName name, HostId host) {
  const auto kept = kept_.find(name);
  if (kept == kept_.end()) return false;
  std::erase_if(kept->second.holds, [&](const Hold& hold) { return hold.host == host; });
  if (!kept->second.holds.empty()) return false;
  kept_.erase(kept);
  return true;
}

void ItemExchange::let_go(ItemName name, HostId host) {
  std::unique_lock lock(mutex_);
  const bool is_less = drop(name, host);
  lock.unlock();
  if (is_less && on_less_) on_less_();
}

std::size_t ItemExchange::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

bool ItemExchange::keeps(ItemName name) const {
  const std::lock_guard lock(mutex_);
  return kept_.contains(name);
}

ItemExchange::Hold* ItemExchange::find_hold(ItemName name, HostId host) {
  const auto kept = kept_.find(name);
  if (kept == kept_.end()) return nullptr;
  const auto hold = std::ranges::find(kept->second.holds, host, &Hold::host);
  return hold == kept->second.holds.end() ? nullptr : &*hold;
}

void ItemExchange::ship(ItemName name, const Pack& pack, HostId to) {
  Item item = pack(to);
  const std::vector<std::size_t> cuts = cut(item.tensors, parcel_bytes_);
  const auto parts = static_cast<std::uint32_t>(cuts.size() - 1);
  std::uint32_t part = 0;
  {
    const std::lock_guard lock(mutex_);
    Hold* hold = find_hold(name, to);
    if (!hold) return;
    part = hold->is_refused ? std::min(hold->next_part, parts - 1) : 0;
    hold->is_sent = true;  // before it is: the receipt may be quick
    hold->is_refused = false;
    peers_[to.value].unconfirmed.push_back({name, monotonic_now()});
  }
  for (; part < parts; ++part) {
    Parcel parcel{ParcelKind::payload, WhenFull::refuse, false, item_of(PartHead{name, part, parts}).head, {}};
    if (part == 0) parcel.head.insert(parcel.head.end(), item.head.begin(), item.head.end());
    for (std::size_t i = cuts[part]; i < cuts[part + 1]; ++i) parcel.tensors.push_back(item.tensors[i]);
    if (transport_.send(to, std::move(parcel))) continue;
    const std::lock_guard lock(mutex_);
    if (Hold* hold = find_hold(name, to)) {
      hold->is_sent = false;
      hold->is_refused = true;
      hold->next_part = part;
      peers_[to.value].refused.push_back(name);
    }
    return;
  }
}

// As far as the queue takes it.
void ItemExchange::ship_refused(HostId to) {
  std::deque<ItemName> names;
  {
    const std::lock_guard lock(mutex_);
    names.swap(peers_[to.value].refused);
  }
  while (!names.empty()) {
    const ItemName name = names.front();
    names.pop_front();
    Pack pack;
    {
      const std::lock_guard lock(mutex_);
      const Hold* hold = find_hold(name, to);
      if (!hold || hold->is_sent) continue;
      pack = kept_.at(name).pack;
    }
    ship(name, pack, to);
    const std::lock_guard lock(mutex_);
    std::deque<ItemName>& refused = peers_[to.value].refused;
    if (refused.empty()) continue;
    refused.insert(refused.end(), names.begin(), names.end());
    return;
  }
}

void ItemExchange::on_want(HostId from, const Parcel& parcel) {
  const std::optional<Names> wants = read_item<Names>(parcel.head);
  if (!wants) return refuse(from, Misdeed::unreadable);
  std::vector<std::pair<ItemName, Pack>> to_ship;
  {
    const std::lock_guard lock(mutex_);
    look_at_life(from);
    for (const ItemName& name : wants->names) {
      const auto kept = kept_.find(name);
      if (kept == kept_.end()) {
        remember_early(name, from);
        continue;
      }
      Hold* hold = find_hold(name, from);
      if (!hold) continue;
      hold->has_asked = true;
      const bool is_to_go = !hold->is_refused && (!hold->is_sent || wants->flag);
      if (kept->second.pack && is_to_go) to_ship.emplace_back(name, kept->second.pack);
    }
  }
  for (const auto& [name, pack] : to_ship) ship(name, pack, from);
}

// What was promised and is not kept any more is with all hosts that needed it: that want was late.
void ItemExchange::remember_early(ItemName name, HostId host) {
  std::size_t& count = peers_[host.value].early;
  if (name.number < promised_[static_cast<std::size_t>(name.kind)] || count >= most_early / peers_.size()) return;
  std::vector<HostId>& askers = early_[name];
  if (std::ranges::find(askers, host) != askers.end()) return;
  askers.push_back(host);
  ++count;
}

void ItemExchange::on_have(HostId from, const Parcel& parcel) {
  const std::optional<Names> have = read_item<Names>(parcel.head);
  if (!have) return refuse(from, Misdeed::unreadable);
  have->flag ? on_questions(from, have->names) : on_receipts(from, have->names);
}

void ItemExchange::on_receipts(HostId from, const std::vector<ItemName>& names) {
  bool is_less = false;
  std::unique_lock lock(mutex_);
  const Duration now = monotonic_now();
  look_at_life(from);
  for (const ItemName& name : names) {
    confirm(peers_[from.value], name, now);
    const Hold* hold = find_hold(name, from);
    const bool is_meant = hold && (hold->is_sent || hold->is_refused);  // and not what was sent to an earlier life
    if (is_meant) is_less = drop(name, from) || is_less;
  }
  lock.unlock();
  if (is_less && on_less_) on_less_();
}

void ItemExchange::confirm(Peer& peer, const ItemName& name, Duration now) {
  const auto sent = std::ranges::find(peer.unconfirmed, name, &Sent::name);
  if (sent == peer.unconfirmed.end()) return;
  peer.round_trip += (now - sent->at - peer.round_trip) / 8;
  peer.unconfirmed.erase(sent);
}

// Parcels come in order: what was sent before the question and is still wanted has been lost.
void ItemExchange::on_questions(HostId from, const std::vector<ItemName>& names) {
  const std::lock_guard lock(mutex_);
  Peer& peer = peers_[from.value];
  for (const ItemName& name : names) {
    const auto wanted = wanted_.find(name);
    const bool is_missing = wanted != wanted_.end() && wanted->second.owner == from;
    (is_missing ? peer.repeats : peer.receipts).push_back(name);
  }
  wake_speaker();
}

// ---- what this host wants ------------------------------------------------------------------------------------------

void ItemExchange::allow(std::size_t tensors, std::size_t bytes_each) {
  const std::lock_guard lock(mutex_);
  most_bytes_ = head_room + tensors * (bytes_each + bytes_besides);
}

void ItemExchange::want(ItemName name, HostId owner, Receive receive) {
  {
    const std::lock_guard lock(mutex_);
    if (!has_given_up_) {
      wanted_.insert_or_assign(name, Wanted{owner, std::move(receive)});
      peers_[owner.value].wants.push_back(name);
      return wake_speaker();
    }
  }
  receive(std::nullopt);
}

std::optional<ItemExchange::Awaited> ItemExchange::longest_awaited() const {
  const std::lock_guard lock(mutex_);
  const auto oldest = std::ranges::min_element(wanted_, {}, [](const auto& each) { return each.second.since; });
  if (oldest == wanted_.end()) return std::nullopt;
  return Awaited{oldest->second.owner, oldest->second.since};
}

void ItemExchange::give_up() {
  std::vector<Receive> waiting;
  std::unique_lock lock(mutex_);
  has_given_up_ = true;
  for (auto& [name, wanted] : wanted_) waiting.push_back(std::move(wanted.receive));
  wanted_.clear();
  lock.unlock();
  for (const Receive& receive : waiting) receive(std::nullopt);
}

void ItemExchange::on_item(HostId from, Parcel parcel) {
  const std::size_t head_size = std::min(part_head_bytes, parcel.head.size());
  const std::optional<PartHead> head = read_item<PartHead>(std::span{parcel.head}.first(head_size));
  if (!head) return refuse(from, Misdeed::unreadable);
  if (!is_wanted(*head, from) || !admit(*head, from, parcel, head_size)) return;
  Receive receive;
  std::optional<Item> item;
  try {
    Item part{{parcel.head.begin() + static_cast<std::ptrdiff_t>(head_size), parcel.head.end()}, {}};
    for (const Tensor& tensor : parcel.tensors) part.tensors.push_back(copy_of(tensor, pool_));
    const std::lock_guard lock(mutex_);
    const auto wanted = wanted_.find(head->name);
    if (wanted == wanted_.end()) return;  // it is not wanted any more
    item = add_part(wanted->second.arriving, head->part, std::move(part));
    if (!item) return;
    receive = std::move(wanted->second.receive);
    wanted_.erase(wanted);
    ++receiving_;
  } catch (const std::bad_alloc&) {
    forget_parts(head->name);
    throw;
  }
  bool is_good = false, is_affordable = true;
  try {
    is_good = receive(std::move(item));
  } catch (const std::bad_alloc&) {
    is_affordable = false;
  }
  const std::lock_guard lock(mutex_);
  --receiving_;
  if (is_good) {
    peers_[from.value].receipts.push_back(head->name);
  } else {
    refuse(from, Misdeed::item);
    wanted_.insert_or_assign(head->name, Wanted{from, std::move(receive)});
  }
  wake_speaker();
  if (!is_affordable) throw std::bad_alloc();
}

// Before memory is taken for it. The head of an item comes with its first part.
bool ItemExchange::admit(const PartHead& head, HostId from, const Parcel& parcel, std::size_t own_head_bytes) {
  const std::lock_guard lock(mutex_);
  const auto wanted = wanted_.find(head.name);
  if (wanted == wanted_.end()) return false;
  Arriving& arriving = wanted->second.arriving;
  if (arriving.parts_in_all == 0) arriving.parts_in_all = head.parts;
  if (arriving.parts.contains(head.part)) return false;
  const std::size_t bytes = parcel.bytes() - own_head_bytes + bytes_besides * (1 + parcel.tensors.size());
  const bool has_room = bytes <= most_bytes_ - std::min(most_bytes_, arriving.bytes);
  if (head.parts == arriving.parts_in_all && has_room && (head.part == 0 || parcel.head.size() == own_head_bytes)) {
    arriving.bytes += bytes;
    return true;
  }
  arriving = {};
  refuse(from, Misdeed::item);
  return false;
}

void ItemExchange::refuse(HostId from, Misdeed what) {
  ++refused_;
  membership_.conduct().add(from, what);
}

void ItemExchange::forget_parts(ItemName name) {
  const std::lock_guard lock(mutex_);
  if (const auto wanted = wanted_.find(name); wanted != wanted_.end()) wanted->second.arriving = {};
}

// What has come a second time: the receipt of the first may be lost.
bool ItemExchange::is_wanted(const PartHead& head, HostId from) {
  const std::lock_guard lock(mutex_);
  look_at_life(from);
  Peer& peer = peers_[from.value];
  const auto wanted = wanted_.find(head.name);
  if (wanted == wanted_.end() || wanted->second.owner != from) {
    peer.receipts.push_back(head.name);
    wake_speaker();
    return false;
  }
  peer.pause = short_pause;
  peer.next_repeat = std::min(monotonic_now() + short_pause, peer.last_repeat + longest_wait);
  return true;
}

// The item, once all its parts are there.
std::optional<Item> ItemExchange::add_part(Arriving& arriving, std::uint32_t part, Item item) {
  arriving.parts.insert_or_assign(part, std::move(item));
  if (arriving.parts.size() < arriving.parts_in_all) return {};
  Item whole = std::move(arriving.parts.begin()->second);
  arriving.parts.erase(arriving.parts.begin());
  for (auto& [number, rest] : arriving.parts) std::ranges::move(rest.tensors, std::back_inserter(whole.tensors));
  return whole;
}

// ---- what the thread says ------------------------------------------------------------------------------------------

void ItemExchange::say(ParcelKind kind, HostId to, std::span<const ItemName> names, bool flag) {
  for (; !names.empty(); names = names.subspan(std::min(most_names, names.size()))) {
    const auto some = names.first(std::min(most_names, names.size()));
    transport_.send(to, parcel_of(kind, Names{flag, {some.begin(), some.end()}}));
  }
}

void ItemExchange::repeat_wants(Duration now) {
  if (wanted_.empty()) return;
  for (Peer& peer : peers_) {
    peer.is_due = now >= peer.next_repeat;
    if (!peer.is_due) continue;
    peer.last_repeat = now;
    peer.next_repeat = now + peer.pause;
    peer.pause = std::min(2 * peer.pause, long_pause);
  }
  for (const auto& [name, wanted] : wanted_) {
    Peer& owner = peers_[wanted.owner.value];
    if (owner.is_due) owner.wants.push_back(name);
  }
}

void ItemExchange::ask_about_unconfirmed(Duration now) {
  for (std::uint32_t host = 0; host < peers_.size(); ++host) {
    Peer& peer = peers_[host];
    const Duration doubt = std::clamp(4 * peer.round_trip, shortest_doubt, longest_doubt);
    const auto is_settled = [&](const Sent& sent) {
      const Hold* hold = find_hold(sent.name, {host});
      return !hold || !hold->is_sent;
    };
    while (!peer.unconfirmed.empty() && is_settled(peer.unconfirmed.front())) peer.unconfirmed.pop_front();
    for (Sent& sent : peer.unconfirmed) {
      if (now - sent.at < doubt || peer.questions.size() >= most_names) break;
      peer.questions.push_back(sent.name);
      sent.at = now;
    }
  }
}

// With the lock.
void ItemExchange::wake_speaker() {
  has_words_ = true;
  changed_.notify_all();
}

// Many words go in one parcel: other threads leave what they have to say to the one that speaks.
void ItemExchange::speak(std::unique_lock<std::mutex>& lock) {
  ++speaking_;
  for (std::uint32_t host = 0; host < peers_.size(); ++host) {
    Peer& peer = peers_[host];
    const auto wants = std::exchange(peer.wants, {}), repeats = std::exchange(peer.repeats, {}),
               receipts = std::exchange(peer.receipts, {}), questions = std::exchange(peer.questions, {});
    const bool has_refused = !peer.refused.empty();
    lock.unlock();
    if (has_refused) ship_refused({host});
    say(ParcelKind::want, {host}, wants, false);
    say(ParcelKind::want, {host}, repeats, true);
    say(ParcelKind::have, {host}, receipts, false);
    say(ParcelKind::have, {host}, questions, true);
    lock.lock();
  }
  --speaking_;
  changed_.notify_all();
}

void ItemExchange::settle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return receiving_ == 0; });
  speak(lock);
  changed_.wait(lock, [this] { return speaking_ == 0; });  // the thread may have words in its hands that it has not sent
}

void ItemExchange::run(std::stop_token stop) {
  constexpr Duration tick = std::chrono::milliseconds(5);
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, tick, [this] { return has_words_; });
    has_words_ = false;
    const Duration now = monotonic_now();
    repeat_wants(now);
    ask_about_unconfirmed(now);
    speak(lock);
  }
}

}  // namespace rubato
