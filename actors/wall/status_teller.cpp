#include "actors/wall/status_teller.hpp"

#include <algorithm>

namespace rubato {

static constexpr Duration between_words = std::chrono::seconds(1);

StatusTeller::StatusTeller(const HostOptions& options, const config::Experiment& experiment, const Membership& membership,
                           WallHost& host)
    : options_{options}, experiment_{experiment}, membership_{membership}, host_{host} {
  if (options_.on_status) thread_ = std::thread([this] { run(); });
}

StatusTeller::~StatusTeller() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void StatusTeller::enter(HostState state) {
  const std::lock_guard lock(mutex_);
  state_ = state;
  is_new_ = true;
  changed_.notify_all();
}

void StatusTeller::run() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    is_new_ = false;
    const HostState state = state_;
    lock.unlock();
    options_.on_status(status(state));
    lock.lock();
    changed_.wait_for(lock, between_words, [this] { return is_new_ || is_over_; });
  }
}

HostStatus StatusTeller::status(HostState state) const {
  const WallHost::Live live = host_.live();
  HostStatus status{.state = state, .clients = host_.clients().size(), .counts = live.counts, .skipped = live.skipped};
  status.seconds = std::clamp(to_seconds(host_.clock().now()), 0.0, experiment_.until);
  status.accuracy = live.accuracy;
  if (state != HostState::meeting) status.life = std::uint64_t{host_.world().incarnation} + 1;
  status.saved = host_.newest_checkpoint();
  for (std::uint32_t host = 0; host < membership_.hosts(); ++host)
    if (HostId{host} != membership_.self()) status.peers.push_back(membership_.status({host}));
  return status;
}

}  // namespace rubato
