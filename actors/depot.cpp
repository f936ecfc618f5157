#include "actors/depot.hpp"

#include <algorithm>

#include "actors/parcel_head.hpp"

namespace rubato {

namespace {

constexpr Duration short_pause = std::chrono::milliseconds(50);  // before wants are repeated, if nothing comes
constexpr Duration long_pause = std::chrono::seconds(1);
constexpr Duration longest_wait = std::chrono::milliseconds(500);  // for a want that may be lost, while others are met
constexpr Duration shortest_doubt = std::chrono::milliseconds(20);  // before asking whether goods have arrived
constexpr Duration longest_doubt = std::chrono::seconds(2);
constexpr std::size_t most_names = 1024;         // in a parcel
constexpr std::size_t most_early = 1 << 16;      // wants that are remembered before their goods are promised
constexpr std::size_t name_bytes = 9;

}  // namespace

void GoodsName::form(Head& head) {
  head(kind);
  head(number);
  head.require(static_cast<std::uint8_t>(kind) >= 1 && static_cast<std::uint8_t>(kind) <= last_goods_kind);
}

// Wants: `flag` says that they stand for goods that did not arrive. Receipts: `flag` makes them questions.
struct Depot::Names {
  bool flag = false;
  std::vector<GoodsName> names;

  void form(Head& head) {
    head(flag);
    head.list(names, [](Head& part, GoodsName& name) { name.form(part); });
    head.require(names.size() <= most_names);
  }
};

Depot::Depot(Assembly& assembly, Transport& transport)
    : assembly_{assembly}, transport_{transport}, peers_(assembly.hosts()) {
  for (Peer& peer : peers_) peer.pause = short_pause;
  assembly_.handle(ParcelKind::want, [this](HostId from, const Parcel& parcel, Duration) { on_want(from, parcel); });
  assembly_.handle(ParcelKind::payload, [this](HostId from, Parcel parcel, Duration) { on_goods(from, std::move(parcel)); });
  assembly_.handle(ParcelKind::have, [this](HostId from, const Parcel& parcel, Duration) { on_have(from, parcel); });
  thread_ = std::thread([this] { run(); });
}

Depot::~Depot() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

// ---- what this host has --------------------------------------------------------------------------------------------

void Depot::promise(GoodsName name, std::vector<HostId> hosts) {
  const std::lock_guard lock(mutex_);
  Kept& kept = kept_[name];
  for (const HostId host : hosts) kept.holds.push_back({host});
  promised_[static_cast<std::size_t>(name.kind)] = name.number + 1;
  const auto early = early_.find(name);
  if (early == early_.end()) return;
  for (Hold& hold : kept.holds)
    hold.has_asked = std::find(early->second.begin(), early->second.end(), hold.host) != early->second.end();
  early_.erase(early);
}

void Depot::deliver(GoodsName name, Pack pack) {
  std::vector<HostId> askers;
  {
    const std::lock_guard lock(mutex_);
    const auto kept = kept_.find(name);
    if (kept == kept_.end()) return;
    for (const Hold& hold : kept->second.holds)
      if (hold.has_asked) askers.push_back(hold.host);
    kept->second.pack = pack;
  }
  for (const HostId host : askers) ship(name, pack, host);
}

bool Depot::drop(GoodsName name, HostId host) {
  const auto kept = kept_.find(name);
  if (kept == kept_.end()) return false;
  std::erase_if(kept->second.holds, [&](const Hold& hold) { return hold.host == host; });
  if (!kept->second.holds.empty()) return false;
  kept_.erase(kept);
  return true;
}

void Depot::let_go(GoodsName name, HostId host) {
  bool is_less = false;
  {
    const std::lock_guard lock(mutex_);
    is_less = drop(name, host);
  }
  if (is_less && on_less_) on_less_();
}

std::size_t Depot::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

bool Depot::keeps(GoodsName name) const {
  const std::lock_guard lock(mutex_);
  return kept_.contains(name);
}

std::uint64_t Depot::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

void Depot::ship(GoodsName name, const Pack& pack, HostId to) {
  Goods goods = pack(to);
  Parcel parcel{ParcelKind::payload, WhenFull::refuse, false, head_of(name), std::move(goods.tensors)};
  parcel.head.insert(parcel.head.end(), goods.head.begin(), goods.head.end());
  const auto mark = [&](bool is_sent) {
    const std::lock_guard lock(mutex_);
    const auto kept = kept_.find(name);
    if (kept == kept_.end()) return;
    for (Hold& hold : kept->second.holds)
      if (hold.host == to) hold.is_sent = is_sent;
    if (is_sent) peers_[to.value].unconfirmed.push_back({name, monotonic_now()});
  };
  mark(true);
  if (!transport_.send(to, std::move(parcel))) mark(false);  // the next want finds it here
}

void Depot::on_want(HostId from, const Parcel& parcel) {
  const std::optional<Names> wants = read_head<Names>(parcel.head);
  std::vector<std::pair<GoodsName, Pack>> to_ship;
  {
    const std::lock_guard lock(mutex_);
    if (!wants) {
      ++refused_;
      return;
    }
    for (const GoodsName& name : wants->names) {
      const auto kept = kept_.find(name);
      if (kept == kept_.end()) {
        remember_early(name, from);
        continue;
      }
      for (Hold& hold : kept->second.holds) {
        if (hold.host != from) continue;
        hold.has_asked = true;
        if (kept->second.pack && (!hold.is_sent || wants->flag)) to_ship.emplace_back(name, kept->second.pack);
      }
    }
  }
  for (const auto& [name, pack] : to_ship) ship(name, pack, from);
}

// What was promised and is not kept any more is with everybody who needed it: that want was late.
void Depot::remember_early(GoodsName name, HostId host) {
  if (name.number < promised_[static_cast<std::size_t>(name.kind)] || early_.size() >= most_early) return;
  std::vector<HostId>& askers = early_[name];
  if (std::find(askers.begin(), askers.end(), host) == askers.end()) askers.push_back(host);
}

void Depot::on_have(HostId from, const Parcel& parcel) {
  const std::optional<Names> have = read_head<Names>(parcel.head);
  if (!have) {
    const std::lock_guard lock(mutex_);
    ++refused_;
    return;
  }
  have->flag ? on_questions(from, have->names) : on_receipts(from, have->names);
}

void Depot::on_receipts(HostId from, const std::vector<GoodsName>& names) {
  bool is_less = false;
  {
    const std::lock_guard lock(mutex_);
    const Duration now = monotonic_now();
    for (const GoodsName& name : names) {
      confirm(peers_[from.value], name, now);
      is_less = drop(name, from) || is_less;
    }
  }
  if (is_less && on_less_) on_less_();
}

void Depot::confirm(Peer& peer, const GoodsName& name, Duration now) {
  const auto sent = std::find_if(peer.unconfirmed.begin(), peer.unconfirmed.end(),
                                 [&](const Sent& one) { return one.name == name; });
  if (sent == peer.unconfirmed.end()) return;
  peer.round_trip += (now - sent->at - peer.round_trip) / 8;
  peer.unconfirmed.erase(sent);
}

// Parcels come in order: what was sent before the question and is still wanted has been lost.
void Depot::on_questions(HostId from, const std::vector<GoodsName>& names) {
  const std::lock_guard lock(mutex_);
  Peer& peer = peers_[from.value];
  for (const GoodsName& name : names) {
    const auto wanted = wanted_.find(name);
    const bool is_missing = wanted != wanted_.end() && wanted->second.owner == from;
    (is_missing ? peer.repeats : peer.receipts).push_back(name);
  }
  has_words_ = true;
  changed_.notify_all();
}

// ---- what this host wants ------------------------------------------------------------------------------------------

void Depot::want(GoodsName name, HostId owner, Receive receive) {
  {
    const std::lock_guard lock(mutex_);
    if (!has_given_up_) {
      wanted_.insert_or_assign(name, Wanted{owner, std::move(receive)});
      peers_[owner.value].wants.push_back(name);
      has_words_ = true;
      changed_.notify_all();
      return;
    }
  }
  receive(std::nullopt);
}

void Depot::give_up() {
  std::vector<Receive> waiting;
  {
    const std::lock_guard lock(mutex_);
    has_given_up_ = true;
    for (auto& [name, wanted] : wanted_) waiting.push_back(std::move(wanted.receive));
    wanted_.clear();
  }
  for (const Receive& receive : waiting) receive(std::nullopt);
}

void Depot::on_goods(HostId from, Parcel parcel) {
  const std::size_t name_size = std::min(name_bytes, parcel.head.size());
  const std::optional<GoodsName> name = read_head<GoodsName>(std::span{parcel.head}.first(name_size));
  Wanted wanted;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[from.value];
    if (!name) {
      ++refused_;
      return;
    }
    const auto found = wanted_.find(*name);
    if (found == wanted_.end() || found->second.owner != from) {
      peer.receipts.push_back(*name);  // a second time: the receipt of the first may be lost
      has_words_ = true;
      return;
    }
    wanted = std::move(found->second);
    wanted_.erase(found);
    const Duration now = monotonic_now();
    peer.pause = short_pause;
    peer.next_repeat = std::min(now + short_pause, peer.last_repeat + longest_wait);
  }
  Goods goods{{parcel.head.begin() + static_cast<std::ptrdiff_t>(name_size), parcel.head.end()}, std::move(parcel.tensors)};
  const bool is_good = wanted.receive(std::move(goods));
  const std::lock_guard lock(mutex_);
  if (is_good) {
    peers_[from.value].receipts.push_back(*name);
  } else {
    ++refused_;
    wanted_.insert_or_assign(*name, std::move(wanted));
  }
  has_words_ = true;
  changed_.notify_all();
}

// ---- what the thread says ------------------------------------------------------------------------------------------

void Depot::say(ParcelKind kind, HostId to, std::vector<GoodsName> names, bool flag) {
  for (std::size_t first = 0; first < names.size(); first += most_names) {
    const std::size_t last = std::min(first + most_names, names.size());
    const auto begin = names.begin();
    transport_.send(to, parcel_of(kind, Names{flag, {begin + static_cast<std::ptrdiff_t>(first),
                                                     begin + static_cast<std::ptrdiff_t>(last)}}));
  }
}

void Depot::repeat_wants(Duration now) {
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

void Depot::ask_about_unconfirmed(Duration now) {
  for (std::uint32_t host = 0; host < peers_.size(); ++host) {
    Peer& peer = peers_[host];
    const Duration doubt = std::clamp(4 * peer.round_trip, shortest_doubt, longest_doubt);
    const auto is_settled = [&](const Sent& sent) {
      const auto kept = kept_.find(sent.name);
      return kept == kept_.end() || std::none_of(kept->second.holds.begin(), kept->second.holds.end(), [&](const Hold& hold) {
               return hold.host == HostId{host} && hold.is_sent;
             });
    };
    while (!peer.unconfirmed.empty() && is_settled(peer.unconfirmed.front())) peer.unconfirmed.pop_front();
    for (Sent& sent : peer.unconfirmed) {
      if (now - sent.at < doubt || peer.questions.size() >= most_names) break;
      peer.questions.push_back(sent.name);
      sent.at = now;
    }
  }
}

void Depot::run() {
  constexpr Duration tick = std::chrono::milliseconds(5);
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    changed_.wait_for(lock, tick, [this] { return is_stopping_ || has_words_; });
    has_words_ = false;
    const Duration now = monotonic_now();
    repeat_wants(now);
    ask_about_unconfirmed(now);
    for (std::uint32_t host = 0; host < peers_.size(); ++host) {
      Peer& peer = peers_[host];
      const auto wants = std::exchange(peer.wants, {}), repeats = std::exchange(peer.repeats, {}),
                 receipts = std::exchange(peer.receipts, {}), questions = std::exchange(peer.questions, {});
      lock.unlock();
      say(ParcelKind::want, {host}, wants, false);
      say(ParcelKind::want, {host}, repeats, true);
      say(ParcelKind::have, {host}, receipts, false);
      say(ParcelKind::have, {host}, questions, true);
      lock.lock();
    }
  }
}

}  // namespace rubato
