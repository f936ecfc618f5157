#include "actors/wall_gathering.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace rubato {

namespace {

constexpr Duration glance = std::chrono::milliseconds(20);

}  // namespace

std::optional<std::vector<FinalClient>> WallGathering::gather(const std::vector<FinalClient>& mine, Duration limit,
                                                              HostId& gatherer) {
  const Duration until = monotonic_now() + limit;
  while (true) {
    gatherer = assembly_.first_alive();
    if (gatherer == assembly_.self()) return take_all(mine, until);
    if (give(mine, gatherer, until)) return std::nullopt;
    if (monotonic_now() >= until) return std::nullopt;
  }
}

// False: the other has gone before it had them.
bool WallGathering::give(const std::vector<FinalClient>& mine, HostId to, Duration until) {
  const auto packed = std::make_shared<PackedClients>(pack(mine, pool_));
  const GoodsName name{GoodsKind::result, to.value | std::uint64_t{assembly_.self().value} << 32};
  depot_.promise(name, {to});
  depot_.deliver(name, [packed](HostId) { return Goods{packed->head, packed->tensors}; });
  std::unique_lock lock(mutex_);
  while (depot_.kept() > 0) {
    if (!assembly_.is_alive(to) || monotonic_now() >= until) {
      depot_.let_go(name, to);
      return false;
    }
    changed_.wait_for(lock, glance);
  }
  return true;
}

bool WallGathering::take(HostId from, std::optional<Goods> goods) {
  if (!goods) return true;
  auto clients = unpack(goods->head, std::move(goods->tensors), static_cast<std::uint32_t>(host_of_.size()), model_bytes_);
  const auto is_its_own = [&](const FinalClient& client) { return host_of_[client.client.value] == from; };
  if (!clients || !std::all_of(clients->begin(), clients->end(), is_its_own)) return false;
  const std::lock_guard lock(mutex_);
  taken_[from] = std::move(*clients);
  changed_.notify_all();
  return true;
}

std::vector<FinalClient> WallGathering::take_all(const std::vector<FinalClient>& mine, Duration until) {
  const GoodsName name{GoodsKind::result, assembly_.self().value};
  std::vector<HostId> asked;
  for (std::uint32_t host = 0; host < assembly_.hosts(); ++host) {
    if (HostId{host} == assembly_.self() || !assembly_.is_alive({host})) continue;
    asked.push_back({host});
  }
  for (const HostId host : asked)
    depot_.want({name.kind, name.number | std::uint64_t{host.value} << 32}, host,
                [this, host](std::optional<Goods> goods) { return take(host, std::move(goods)); });
  std::unique_lock lock(mutex_);
  const auto is_done = [&](HostId host) { return taken_.contains(host) || !assembly_.is_alive(host); };
  while (!std::all_of(asked.begin(), asked.end(), is_done) && monotonic_now() < until) changed_.wait_for(lock, glance);
  lock.unlock();
  depot_.give_up();  // what comes now comes too late
  lock.lock();
  std::vector<FinalClient> all = mine;
  for (auto& [host, clients] : taken_) std::move(clients.begin(), clients.end(), std::back_inserter(all));
  std::sort(all.begin(), all.end(), [](const FinalClient& a, const FinalClient& b) { return a.client < b.client; });
  return all;
}

}  // namespace rubato
