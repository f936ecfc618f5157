#include "transports/impaired.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "runtime/random.hpp"

namespace rubato {

namespace {

constexpr Duration longest = std::chrono::hours(24 * 365);

std::size_t cost(const Parcel& parcel) { return parcel.bytes() + sizeof(Parcel); }

std::pair<HostId, HostId> pair_of(HostId one, HostId other) { return std::minmax(one, other); }

// Hosts draw from addresses that no client has.
ClientId address_of(HostId host) { return ClientId{0x8000'0000u | host.value}; }

void check_chance(const char* name, double chance) {
  if (!(chance >= 0 && chance <= 1))
    throw std::invalid_argument(std::string(name) + " of an impaired transport is a chance, from 0 to 1; it is " +
                                std::to_string(chance));
}

void check(const Impairment& impairment) {
  check_chance("loss", impairment.loss);
  check_chance("duplicate", impairment.duplicate);
  check_chance("reorder", impairment.reorder);
  check_chance("spoil", impairment.spoil);
  if (impairment.held_back < Duration{}) throw std::invalid_argument("held_back of an impaired transport is negative");
  if (impairment.delay.kind == Law::Kind::list)
    throw std::invalid_argument("the delay of an impaired transport cannot be a list: a list has one number a client");
  if (impairment.delay.is_constant() && !(impairment.delay.first >= 0))
    throw std::invalid_argument("the delay of an impaired transport is " + std::to_string(impairment.delay.first) +
                                " seconds; it is at least 0");
}

}  // namespace

Impaired::Impaired(Transport& inner, Impairment impairment, std::uint64_t seed)
    : inner_{inner}, impairment_{std::move(impairment)}, seed_{seed} {
  check(impairment_);
  thread_ = std::thread([this] { let_go_of_what_is_due(); });
}

Impaired::~Impaired() { stop({}); }

Duration Impaired::delay_of(HostId to, std::uint64_t number, std::uint32_t copy) const {
  const ClientId sender = address_of(self());
  const std::uint64_t own_seed = draw(seed_, sender, Purpose::delay, number, to.value).first;
  Stream stream(own_seed, sender, Purpose::delay, copy);
  return std::clamp(from_seconds(sample(impairment_.delay, stream, sender)), Duration{}, longest);
}

Impaired::Fate Impaired::fate_of(HostId to, std::uint64_t number) const {
  const ClientId sender = address_of(self());
  const DrawnPair harm = draw(seed_, sender, Purpose::loss, number, to.value);
  const DrawnPair order = draw(seed_, sender, Purpose::duplicate, number, to.value);
  Fate fate;
  fate.is_lost = uniform01(harm.first) < impairment_.loss;
  fate.is_spoilt = uniform01(harm.second) < impairment_.spoil;
  fate.is_held_back = uniform01(order.second) < impairment_.reorder;
  fate.copies = uniform01(order.first) < impairment_.duplicate ? 2 : 1;
  for (std::uint32_t copy = 0; copy < fate.copies; ++copy) fate.delays[copy] = delay_of(to, number, copy);
  if (fate.is_held_back) fate.delays[0] += impairment_.held_back;
  return fate;
}

bool Impaired::send(HostId to, Parcel parcel) {
  std::unique_lock lock(mutex_);
  if (is_stopped_) {
    ++refused_;
    return false;
  }
  if (!impairment_.kinds.contains(parcel.kind)) {
    lock.unlock();
    return inner_.send(to, std::move(parcel));
  }
  const Fate fate = fate_of(to, numbers_[to]++);
  if (is_gone(fate, to)) return true;
  const bool leaves_at_once = fate.delays[0] == Duration{};
  const std::size_t first_held = leaves_at_once ? 1 : 0;
  if (!has_room(parcel, fate.copies - first_held)) {
    ++refused_;
    return false;
  }
  did_.spoilt += fate.is_spoilt;
  did_.duplicated += fate.copies - 1;
  did_.reordered += fate.is_held_back;
  parcel.is_spoilt |= fate.is_spoilt;
  const Duration now = monotonic_now();
  for (std::size_t copy = first_held; copy < fate.copies; ++copy) hold(to, parcel, now + fate.delays[copy]);
  if (!leaves_at_once) return true;
  lock.unlock();
  return inner_.send(to, std::move(parcel));
}

bool Impaired::is_gone(const Fate& fate, HostId to) {
  if (cut_.contains(pair_of(self(), to))) {
    ++did_.cut;
    return true;
  }
  did_.lost += fate.is_lost;
  return fate.is_lost;
}

bool Impaired::has_room(const Parcel& parcel, std::size_t copies) const {
  if (copies == 0) return true;
  const std::size_t limit = impairment_.held_bytes * (parcel.when_full == WhenFull::wait ? 2 : 1);
  return held_bytes_ + copies * cost(parcel) <= limit;
}

void Impaired::hold(HostId to, const Parcel& parcel, Duration until) {
  held_bytes_ += cost(parcel);
  ++did_.delayed;
  held_.emplace(Due{until, held_so_far_++}, Held{to, parcel});
  if (held_.begin()->first.first == until) something_changed_.notify_one();
}

void Impaired::let_go_of_what_is_due() {
  std::unique_lock lock(mutex_);
  while (!held_.empty() || !is_stopped_) {
    if (held_.empty()) {
      something_changed_.wait(lock);
      continue;
    }
    const Duration next = std::min(held_.begin()->first.first, last_moment_);
    if (monotonic_now() < next) {
      something_changed_.wait_until(lock, std::chrono::steady_clock::time_point{next});
    } else if (held_.begin()->first.first <= last_moment_) {
      let_go_of_one(lock);
    } else {
      did_.overdue += held_.size();
      held_.clear();
    }
  }
}

void Impaired::let_go_of_one(std::unique_lock<std::mutex>& lock) {
  Held held = std::move(held_.begin()->second);
  held_.erase(held_.begin());
  held_bytes_ -= cost(held.parcel);
  lock.unlock();
  inner_.send(held.to, std::move(held.parcel));
  lock.lock();
}

void Impaired::stop(Duration linger) {
  const Duration end = monotonic_now() + std::clamp(linger, Duration{}, longest);
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    last_moment_ = end;
    something_changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  inner_.stop(std::max(Duration{}, end - monotonic_now()));
}

TransportCounts Impaired::counts() const {
  TransportCounts counts = inner_.counts();
  const std::lock_guard lock(mutex_);
  counts.refused += refused_;
  return counts;
}

void Impaired::cut(HostId one, HostId other) {
  const std::lock_guard lock(mutex_);
  cut_.insert(pair_of(one, other));
}

void Impaired::heal(HostId one, HostId other) {
  const std::lock_guard lock(mutex_);
  cut_.erase(pair_of(one, other));
}

ImpairmentCounts Impaired::impairments() const {
  const std::lock_guard lock(mutex_);
  return did_;
}

}  // namespace rubato
