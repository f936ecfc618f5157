#include "transports/hub.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "runtime/sentence.hpp"
#include "transports/parcel_queue.hpp"

namespace rubato {

namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point after(Duration linger) {
  constexpr Duration longest = std::chrono::hours(24);
  return Clock::now() + std::min(linger, longest);
}

}  // namespace

/// What is on its way to one host. Senders take turns, so none is kept waiting by another that sends more.
class Hub::Inbox {
 public:
  struct Arrival {
    HostId from;
    Parcel parcel;
  };

  Inbox(std::uint32_t hosts, std::size_t queue_bytes) : queues_(hosts, ParcelQueue(queue_bytes)) {}

  ParcelQueue::Outcome put(HostId from, Parcel parcel) {
    const std::lock_guard lock(mutex_);
    const ParcelQueue::Outcome outcome = queues_[from.value].put(std::move(parcel));
    if (outcome.is_taken) something_came_.notify_one();
    return outcome;
  }

  void open() {
    const std::lock_guard lock(mutex_);
    life_ = Life::open;
  }

  /// Waits for a parcel. Nothing: the inbox is closed.
  std::optional<Arrival> take() {
    std::unique_lock lock(mutex_);
    std::optional<HostId> from;
    something_came_.wait(lock, [&] { return life_ != Life::open || (from = whose_turn()); });
    if (life_ != Life::open) return {};
    turn_ = from->value + 1;
    ParcelQueue& queue = queues_[from->value];
    Arrival arrival{*from, queue.take()};
    if (queue.is_empty()) something_left_.notify_all();
    return arrival;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    life_ = Life::closed;
    something_came_.notify_all();
    something_left_.notify_all();
  }

  /// Waits until everything of this sender was taken, but for a receiver that has closed, then forgets what is left.
  void drain(HostId from, Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    ParcelQueue& queue = queues_[from.value];
    something_left_.wait_until(lock, deadline, [&] { return queue.is_empty() || life_ == Life::closed; });
    queue.clear();
  }

  /// At most one end at a time.
  bool claim() {
    const std::lock_guard lock(mutex_);
    if (is_claimed_) return false;
    life_ = Life::not_open;
    return is_claimed_ = true;
  }

  void give_up() {
    const std::lock_guard lock(mutex_);
    is_claimed_ = false;
  }

 private:
  enum class Life : std::uint8_t { not_open, open, closed };

  std::optional<HostId> whose_turn() const {
    for (std::uint32_t i = 0; i < queues_.size(); ++i) {
      const auto host = static_cast<std::uint32_t>((turn_ + i) % queues_.size());
      if (!queues_[host].is_empty()) return HostId{host};
    }
    return {};
  }

  std::mutex mutex_;
  std::condition_variable something_came_, something_left_;
  std::vector<ParcelQueue> queues_;  // by sender
  std::size_t turn_ = 0;
  Life life_ = Life::not_open;
  bool is_claimed_ = false;
};

class Hub::End final : public Transport {
 public:
  End(Hub& hub, HostId self) : hub_{hub}, self_{self} {}
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  ~End() override {
    stop({});
    inbox().give_up();
  }

  HostId self() const override { return self_; }

  void start(ParcelSink& sink) override {
    if (thread_.joinable()) throw std::logic_error("this end of the hub has been started already");
    inbox().open();
    thread_ = std::thread([this, &sink] { deliver(sink); });
  }

  bool send(HostId to, Parcel parcel) override {
    const std::size_t bytes = parcel.bytes();
    const std::lock_guard lock(mutex_);  // held while it is put, so that nothing follows after stop()
    ParcelQueue::Outcome outcome{.is_taken = false};
    if (!is_stopped_ && to != self_ && to.value < hub_.inboxes_.size())
      outcome = hub_.inboxes_[to.value]->put(self_, std::move(parcel));
    counts_.dropped_states += outcome.dropped_states;
    if (!outcome.is_taken) {
      ++(outcome.gave_way ? counts_.gave_way : counts_.refused);
      return false;
    }
    ++counts_.sent;
    counts_.sent_bytes += bytes;
    return true;
  }

  void stop(Duration linger) override {
    const Clock::time_point deadline = after(linger);
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
    }
    for (std::uint32_t host = 0; host < hub_.inboxes_.size(); ++host)
      if (HostId{host} != self_) hub_.inboxes_[host]->drain(self_, deadline);
    inbox().close();
    if (thread_.joinable()) thread_.join();
  }

  TransportCounts counts() const override {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  Inbox& inbox() { return *hub_.inboxes_[self_.value]; }

  void deliver(ParcelSink& sink) {
    while (std::optional<Inbox::Arrival> arrival = inbox().take()) try {
        if (count(arrival->parcel)) sink.on_parcel(arrival->from, std::move(arrival->parcel), monotonic_now());
      } catch (const std::bad_alloc&) {
        const std::lock_guard lock(mutex_);
        ++counts_.unaffordable;
      }
  }

  // True: the parcel is whole.
  bool count(const Parcel& parcel) {
    const std::lock_guard lock(mutex_);
    if (parcel.is_spoilt) {
      ++counts_.malformed;
      return false;
    }
    ++counts_.received;
    counts_.received_bytes += parcel.bytes();
    return true;
  }

  Hub& hub_;
  HostId self_;
  std::thread thread_;
  mutable std::mutex mutex_;  // taken before an inbox's
  TransportCounts counts_;
  bool is_stopped_ = false;
};

Hub::Hub(std::uint32_t hosts, std::size_t queue_bytes) {
  for (std::uint32_t host = 0; host < hosts; ++host) inboxes_.push_back(std::make_unique<Inbox>(hosts, queue_bytes));
}

Hub::~Hub() = default;

std::unique_ptr<Transport> Hub::end(HostId host) {
  if (host.value >= inboxes_.size()) refuse("host ", host.value, " is not on this hub, which has ", inboxes_.size(), " hosts");
  if (!inboxes_[host.value]->claim()) refuse("host ", host.value, " has an end on this hub already");
  return std::make_unique<End>(*this, host);
}

}  // namespace rubato
