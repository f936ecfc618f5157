#include "actors/hosts/host_views.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "transports/parcel_head.hpp"

namespace rubato {

namespace {

constexpr Duration lately = std::chrono::seconds(10);  // questions come each second, but some give way

}  // namespace

HostViews::HostViews(Membership& membership, Transport& transport, const std::vector<HostId>& host_of, double until)
    : membership_{membership},
      transport_{transport},
      host_of_{host_of},
      until_{std::max(until, to_seconds(from_seconds(until)))},
      peers_(membership.hosts()) {
  for (const HostId host : host_of_) ++peers_[host.value].clients;
  membership_.handle(ParcelKind::view,
                     [this](HostId from, Parcel parcel, Duration arrived) { on_parcel(from, std::move(parcel), arrived); });
}

void HostViews::on_parcel(HostId from, Parcel parcel, Duration arrived) {
  if (parcel.head.empty() && parcel.tensors.empty()) {
    const std::lock_guard lock(mutex_);
    peers_[from.value].asked = arrived;
    return;
  }
  const auto view = read_item<HostView>(parcel.head, std::move(parcel.tensors));
  if (!view || !is_possible(*view, from)) return membership_.conduct().add(from, Misdeed::unreadable);
  const std::lock_guard lock(mutex_);
  peers_[from.value].told = {*view, arrived};
}

bool HostViews::is_possible(const HostView& view, HostId from) const {
  constexpr std::uint64_t most = std::uint64_t{1} << 53;
  const auto is_time = [this](double seconds) { return seconds >= 0 && seconds <= until_; };
  const auto is_share = [](double number) { return number >= 0 && number <= 1; };
  const auto is_small = [](std::uint64_t number) { return number < most; };
  if (!is_time(view.seconds) || !std::ranges::all_of(std::array{view.computations, view.sent, view.delivered}, is_small))
    return false;
  if (!view.scores) return true;
  const HostScores& scores = *view.scores;
  if (!is_time(scores.seconds) || scores.measured == 0 || scores.measured > clients(from)) return false;
  if (!scores.accuracy) return true;
  const ClientId client = scores.accuracy->client;
  return is_share(scores.accuracy->mean) && is_share(scores.accuracy->worst) && client.value < host_of_.size() &&
         host_of_[client.value] == from;
}

void HostViews::ask() {
  for (const HostId host : membership_.others())
    if (membership_.is_alive(host)) transport_.send(host, {ParcelKind::view, WhenFull::give_way, false, {}, {}});
}

std::vector<HostId> HostViews::asking() const {
  const Duration now = monotonic_now();
  std::vector<HostId> asking;
  {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t host = 0; host < peers_.size(); ++host)
      if (peers_[host].asked && now - *peers_[host].asked < lately) asking.push_back({host});
  }
  std::erase_if(asking, [this](HostId host) { return !membership_.is_alive(host); });
  return asking;
}

bool HostViews::is_asked() const { return !asking().empty(); }

void HostViews::tell(const HostView& own) {
  for (const HostId host : asking()) transport_.send(host, parcel_of(ParcelKind::view, own, WhenFull::give_way));
}

std::optional<HostViews::Told> HostViews::newest(HostId host) const {
  const std::lock_guard lock(mutex_);
  return peers_[host.value].told;
}

}  // namespace rubato
