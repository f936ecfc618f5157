#include "actors/wall/status_teller.hpp"

#include <algorithm>

namespace rubato {

static constexpr Duration between_words = std::chrono::seconds(1);

StatusTeller::StatusTeller(const HostOptions& options, const config::Experiment& experiment, const Membership& membership,
                           HostViews& views, WallHost& host)
    : options_{options}, experiment_{experiment}, membership_{membership}, views_{views}, host_{host} {
  thread_ = std::thread([this] { run(); });
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
    say(state);
    lock.lock();
    changed_.wait_for(lock, between_words, [this] { return is_new_ || is_over_; });
  }
}

void StatusTeller::say(HostState state) {
  if (options_.asks_for_views) views_.ask();
  const bool is_asked = views_.is_asked();
  if (!is_asked && !options_.on_status) return;
  const HostStatus now = status(state);
  if (is_asked) views_.tell(view_of(now));
  if (options_.on_status) options_.on_status(now);
}

HostStatus StatusTeller::status(HostState state) const {
  const WallHost::Live live = host_.live();
  HostStatus status{.state = state, .clients = host_.clients().size(), .counts = live.counts, .skipped = live.skipped};
  status.seconds = std::clamp(to_seconds(host_.clock().now()), 0.0, experiment_.until);
  status.scores = live.scores;
  if (state != HostState::meeting) status.life = std::uint64_t{host_.world().incarnation} + 1;
  status.saved = host_.newest_checkpoint();
  for (const HostId host : membership_.others()) {
    PeerStatus& peer = status.peers.emplace_back(membership_.status(host));
    peer.clients = views_.clients(host);
    const std::optional<HostViews::Told> told = views_.newest(host);
    if (told) peer.view = told->view, peer.view_age = std::max(to_seconds(monotonic_now() - told->at), 0.0);
  }
  return status;
}

}  // namespace rubato
