#include "actors/wall/clock.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cmath>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace rubato {

namespace {

namespace asio = boost::asio;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::int64_t not_started = -1;

}  // namespace

struct WallClock::Io {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  asio::steady_timer timer{context};
  std::mutex mutex;
  std::multimap<Time, std::function<void()>> alarms;  // of one instant: in the order in which they were set
  bool is_stopped = false;
  Time armed_for = never;
  std::atomic<std::int64_t> base{not_started};  // the machine's nanoseconds at the experiment's time 0
  std::atomic<Time> first{Time::min()};         // now() says nothing earlier
  std::thread thread;
};

WallClock::WallClock(double scale) : scale_{scale}, io_{std::make_unique<Io>()} {}

WallClock::~WallClock() { stop(); }

Duration WallClock::scaled(Duration real) const {
  constexpr double longest = 2e18;  // other hosts have a say in it
  return Duration{
      static_cast<std::int64_t>(std::llround(std::clamp(static_cast<double>(real.count()) * scale_, -longest, longest)))};
}

Time WallClock::at(Duration machine) const {
  const std::int64_t base = io_->base.load(std::memory_order_acquire);
  return base == not_started ? Time{} : Time{} + scaled(machine - Duration{base});
}

Time WallClock::told_at(Duration machine) const { return std::max(at(machine), io_->first.load(std::memory_order_relaxed)); }

Time WallClock::now() const { return told_at(monotonic_now()); }

// Rounded up, so that no alarm rings before its time.
Duration WallClock::unscaled(Duration experiment) const {
  const double real = std::ceil(static_cast<double>(experiment.count()) / scale_);
  return real >= 9e18 ? Duration::max() / 2 : Duration{static_cast<std::int64_t>(real)};
}

void WallClock::start(Time now, Duration at, Time first) {
  Io& io = *io_;
  io.first.store(first, std::memory_order_relaxed);
  io.base.store((at - unscaled(now.time_since_epoch())).count(), std::memory_order_release);
  io.thread = std::thread([&io] { io.context.run(); });
  alarm(Time{}, [] {});  // whatever was set before the start is looked at now
}

void WallClock::alarm(Time when, std::function<void()> ring) {
  Io& io = *io_;
  {
    const std::lock_guard lock(io.mutex);
    if (io.is_stopped) return;
    io.alarms.emplace(when, std::move(ring));
    if (when >= io.armed_for || io.base.load() == not_started) return;
    io.armed_for = when;
  }
  struct Arm {  // on the io thread, where the timer lives
    const WallClock& clock;
    void operator()() const {
      Io& mine = *clock.io_;
      ring_what_is_due(mine);
      const std::lock_guard lock(mine.mutex);
      if (mine.is_stopped) return;
      mine.armed_for = mine.alarms.empty() ? never : mine.alarms.begin()->first;
      if (mine.armed_for == never) return;
      const Duration rings_at = Duration{mine.base.load()} + clock.unscaled(mine.armed_for.time_since_epoch());
      mine.timer.expires_at(SteadyTime{rings_at});  // cancels the wait before
      mine.timer.async_wait([this_arm = *this](const boost::system::error_code& error) {
        if (!error) this_arm();
      });
    }
    void ring_what_is_due(Io& mine) const {
      while (true) {
        std::function<void()> due;
        {
          const std::lock_guard lock(mine.mutex);
          if (mine.is_stopped || mine.alarms.empty() || mine.alarms.begin()->first > clock.at(monotonic_now())) return;
          due = std::move(mine.alarms.extract(mine.alarms.begin()).mapped());
        }
        due();
      }
    }
  };
  asio::post(io.context, Arm{*this});
}

void WallClock::stop() {
  Io& io = *io_;
  {
    const std::lock_guard lock(io.mutex);
    io.is_stopped = true;
  }
  io.context.stop();
  if (io.thread.joinable()) io.thread.join();
  const std::lock_guard lock(io.mutex);
  io.alarms.clear();
}

}  // namespace rubato
