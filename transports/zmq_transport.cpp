#include "transports/zmq_transport.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <zmq.hpp>

#include "runtime/allowance.hpp"
#include "runtime/printable.hpp"
#include "transports/descriptors.hpp"
#include "transports/reception.hpp"
#include "transports/waker.hpp"
#include "transports/zmq_address.hpp"
#include "transports/zmq_gatekeeper.hpp"
#include "transports/zmq_outgoing.hpp"
#include "transports/zmq_watch.hpp"

namespace rubato {

namespace {

// What a part of a frame may be longer than a piece: the header, and what CURVE adds.
constexpr std::size_t header_room = frame_header_bytes(most_frame_tensors) + 1024;
constexpr int longest_greeting = 4096;  // of what a receiver says to a sender
constexpr int frames_a_turn = 64;
constexpr Duration turn_time = std::chrono::milliseconds(5);  // so that connections are looked after in time
constexpr Duration breather = std::chrono::milliseconds(1);   // between turns while a host sends too fast
constexpr Duration tick = std::chrono::milliseconds(100);
constexpr Duration patrol_interval = std::chrono::milliseconds(20);
constexpr std::size_t kernel_buffers = std::size_t{64} << 20;  // what a connection may have on its way at most

// What is told once of each host, and counted from then on.
struct Trouble {
  std::uint64_t TransportCounts::*count;
  const char* sentence;
};
constexpr std::array troubles{
    Trouble{&TransportCounts::malformed, "sent what is no frame, or a damaged one"},
    Trouble{&TransportCounts::oversized, "sent a frame beyond the limits"},
    Trouble{&TransportCounts::unknown, "sent a frame of a version or kind that we do not know"},
    Trouble{&TransportCounts::unauthenticated, "could not show that it is a host of the roster"},
    Trouble{&TransportCounts::replayed, "sent a frame once more"},
    Trouble{&TransportCounts::stale, "sent a frame of an earlier start: two processes may run with its key"},
    Trouble{&TransportCounts::flooded, "sends more than it may have waiting here"},
    Trouble{&TransportCounts::unaffordable, "sent what there is no memory for"},
    Trouble{&TransportCounts::hasty, "sends more frames a second than one host may, and all are read more slowly"},
    Trouble{&TransportCounts::crowded_out, "opens more connections than are kept: some were crowded out while shaking hands"},
};

int milliseconds(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

int frames(std::size_t bytes, const TransportLimits& limits) {
  return static_cast<int>(std::clamp<std::size_t>(bytes / limits.frame.piece_bytes, 16, 1000));
}

std::string in_quotes(const std::string& text) { return "\"" + printable(text) + "\""; }

std::string peer_at(const std::string& address) { return "a peer" + (address.empty() ? "" : " at " + printable(address)); }

std::uint64_t time_of_day() {
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() / Duration(1));
}

void check_sizes(const TransportLimits& limits) {
  const std::size_t piece = limits.frame.piece_bytes;
  if (piece < 1024 || piece > (std::size_t{1} << 30))
    throw std::invalid_argument("a piece of " + std::to_string(piece) + " bytes: 1 KiB to 1 GiB are allowed");
  if (limits.receive_bytes < limits.frame.parcel_bytes)
    throw std::invalid_argument("the memory for what a host sends, " + std::to_string(limits.receive_bytes) +
                                " bytes, cannot hold the largest parcel, " + std::to_string(limits.frame.parcel_bytes));
}

void check_keys(const TransportOptions& options) {
  std::vector<std::string> seen;
  for (const TransportHost& host : options.hosts) {
    if (!options.secret.is_there()) {
      if (!host.public_key.empty())
        throw std::invalid_argument("host " + in_quotes(host.name) + " has a public key, but we have no secret key");
      continue;
    }
    check_public_key(host.public_key, "host " + in_quotes(host.name));
    if (std::ranges::find(seen, host.public_key) != seen.end())
      throw std::invalid_argument("host " + in_quotes(host.name) + " has the same public key as another host");
    seen.push_back(host.public_key);
  }
  const TransportHost& own = options.hosts[options.self.value];
  if (options.secret.is_there() && options.secret.public_key() != own.public_key)
    throw std::invalid_argument("the secret key is not the other half of the public key of host " + in_quotes(own.name));
}

void check(const TransportOptions& options) {
  if (options.hosts.size() <= options.self.value)
    throw std::invalid_argument("the roster has " + std::to_string(options.hosts.size()) + " hosts, so there is no host " +
                                std::to_string(options.self.value));
  check_sizes(options.limits);
  check_keys(options);
}

// ZeroMQ takes the memory of each message from malloc. The GNU one gives freed memory back to the system beyond twice
// the largest block of its own mapping that was ever freed, and every page of it costs a fault when it is needed again:
// a tenth of the time a model of 600 KB takes. So such a block is freed here once; nothing writes to it.
void let_malloc_keep_buffers() {
  constexpr std::size_t largest_that_counts = std::size_t{31} << 20;
  ::operator delete(::operator new(largest_that_counts));
}

// The sentence to be printed in red, or a refusal.
std::string plain_text_warning(const TransportOptions& options, const std::string& address, const std::string& whose) {
  if (options.secret.is_there() || stays_here(address)) return "";
  const std::string sentence =
      "the address of " + whose + ", " + in_quotes(address) +
      ", is not on this machine, and without keys every machine on the way can read and forge what is sent";
  if (!options.is_insecure)
    throw std::invalid_argument(sentence +
                                "; make keys with `rubato keygen` and give them in the roster or with --keys, or set "
                                "hosts.insecure = true");
  return "INSECURE: " + sentence;
}

std::size_t least_connections(std::size_t hosts) { return ConnectionRoom::most_of_a_host * hosts + 8; }

std::size_t longest_part(const TransportLimits& limits) { return limits.frame.piece_bytes + header_room; }

// How many of them are ready, after at most a tick; below 0: a signal has broken off the wait.
int wait_for(std::vector<zmq::pollitem_t>& items) {
  const int ready = zmq_poll(items.data(), static_cast<int>(items.size()), milliseconds(tick));
  if (ready < 0 && zmq_errno() != EINTR) throw zmq::error_t();
  return ready;
}

// Two descriptors a connection that others open, and four a host for ours to it. The first host is us.
ConnectionRoom::Limits connection_limits(std::size_t hosts, std::size_t wanted) {
  const std::size_t needed = open_descriptors() + 4 * hosts + ZmqWatch::spare_descriptors;
  const std::size_t limit = descriptor_limit(), left = limit > needed ? (limit - needed) / 2 : 0;
  const std::size_t least = least_connections(hosts);
  const std::size_t more = std::min(left > least ? left - least : 0, wanted);
  return {least + more, least + more / 2};
}

// The sentence to be printed in red where not all hosts could connect; sockets are open, connections are not.
std::string descriptor_warning(std::size_t hosts) {
  const std::size_t needed = open_descriptors() + 2 * hosts + 2 * least_connections(hosts) + ZmqWatch::spare_descriptors;
  if (needed <= descriptor_limit()) return "";
  return "this process may have " + std::to_string(descriptor_limit()) + " descriptors, and the connections of " +
         std::to_string(hosts) + " hosts and files need " + std::to_string(needed) + "; raise the limit (ulimit -n)";
}

ZmqWatch::Limits watch_limits(const TransportOptions& options) {
  const TransportLimits& limits = options.limits;
  const std::size_t hosts = options.hosts.size();
  const auto waiting = static_cast<std::size_t>(frames(limits.flight_bytes, limits)) + 2;
  return {.room = connection_limits(hosts, limits.connections),
          .least_connections = least_connections(hosts),
          .unread_bytes = waiting * longest_part(limits) + kernel_buffers,
          .silence = limits.silence};
}

class Sockets final : public ZmqTransport {
 public:
  Sockets(TransportOptions options, TensorPool& pool);
  ~Sockets() override { stop(Duration::zero()); }

  void reach(HostId host, const std::string& address) override;
  void start(ParcelSink& sink) override;
  bool send(HostId to, Parcel parcel) override;
  void stop(Duration linger) override;
  TransportCounts counts() const override;

  HostId self() const override { return options_.self; }
  const std::string& endpoint() const override { return endpoint_; }
  const std::string& warning() const override { return warning_; }

 private:
  std::vector<std::string> public_keys() const;
  const std::string& name_of(HostId host) const { return options_.hosts[host.value].name; }
  zmq::socket_t made_incoming();
  zmq::socket_t made_outgoing(HostId to);
  void set_common(zmq::socket_t& socket);
  void listen();

  void run();
  bool receive();
  bool receive_frame();
  bool hand_over(Reception::Arrived arrived, Duration when);
  bool transmit();
  void guard();
  void sleep();
  bool has_work() const;
  bool is_done() const;
  void publish_counts();
  void close_sockets();
  TransportCounts received_counts() const;
  void tell_troubles(std::optional<HostId> who);
  bool keeps_pace(std::optional<HostId> from, Duration now);
  std::string of_refused(const Trouble& trouble) const;

  TransportOptions options_;
  zmq::context_t context_;
  ZmqGatekeeper gatekeeper_;
  zmq::socket_t incoming_;
  ZmqWatch watch_;
  Duration last_patrol_{};
  Reception reception_;
  Waker waker_;
  KnownSums sums_;
  std::vector<std::unique_ptr<ZmqOutgoing>> outgoing_;  // by host; none to ourselves
  std::string endpoint_;
  std::string warning_;

  ParcelSink* sink_ = nullptr;
  std::vector<zmq::message_t> messages_;  // of one frame, used again
  std::vector<FramePart> parts_;
  TransportCounts told_;                                    // when troubles were last told
  std::vector<std::array<bool, troubles.size()>> is_told_;  // by host, and of strangers
  std::vector<Allowance> paces_;                            // by host; none: any pace
  std::uint64_t hasty_ = 0;
  bool has_hasty_ = false;          // in this turn
  std::uint64_t unaffordable_ = 0;  // parcels, to the sink

  std::atomic<std::uint64_t> sent_{0}, sent_bytes_{0}, dropped_states_{0}, refused_{0}, gave_way_{0};
  mutable std::mutex counts_mutex_;
  TransportCounts counts_;  // of the receiving half, as of the last turn

  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> has_deadline_{false};
  std::atomic<Duration::rep> stop_at_{0};  // on the monotonic clock
  std::thread thread_;
};

Sockets::Sockets(TransportOptions options, TensorPool& pool)
    : options_{(check(options), std::move(options))},
      context_{1, static_cast<int>(options_.hosts.size()) + 16},
      gatekeeper_{context_, public_keys()},
      incoming_{made_incoming()},
      watch_{context_, incoming_, watch_limits(options_)},
      reception_{options_.self, options_.hosts.size(), options_.limits.frame, options_.limits.receive_bytes, pool},
      messages_(1 + most_frame_tensors),
      is_told_(options_.hosts.size() + 1) {
  if (const double pace = options_.limits.frames_a_second; pace > 0) paces_.assign(options_.hosts.size(), {pace, pace});
  let_malloc_keep_buffers();
  if (options_.life == 0) options_.life = time_of_day();
  for (std::uint32_t host = 0; host < options_.hosts.size(); ++host) {
    const HostId to{host};
    if (to == options_.self) {
      outgoing_.push_back(nullptr);
      continue;
    }
    const ZmqOutgoing::Limits limits{options_.limits.frame, options_.limits.queue_bytes, options_.limits.flight_bytes};
    outgoing_.push_back(std::make_unique<ZmqOutgoing>(made_outgoing(to), Envelope{options_.self, to, options_.life, 0}, limits,
                                                      options_.secret.is_there() ? nullptr : &sums_, [this] { waker_.wake(); }));
    if (!options_.hosts[host].address.empty()) reach(to, options_.hosts[host].address);
  }
  listen();
  if (warning_.empty()) warning_ = descriptor_warning(options_.hosts.size());
}

std::vector<std::string> Sockets::public_keys() const {
  std::vector<std::string> keys;
  if (options_.secret.is_there())
    for (const TransportHost& host : options_.hosts) keys.push_back(host.public_key);
  return keys;
}

void Sockets::set_common(zmq::socket_t& socket) {
  const TransportLimits& limits = options_.limits;
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::handshake_ivl, milliseconds(limits.handshake));
  // The kernel's own, because those of libzmq 4.3.4 end the process: where a connection breaks while it is not read, the
  // next heartbeat meets an assertion (issues 4364 and 4767 of zeromq/libzmq).
  constexpr int probes = 3;
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, milliseconds(limits.silence) / 3000 + 1);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, milliseconds(limits.silence) / 5000 + 1);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, probes);
  socket.set(zmq::sockopt::tcp_maxrt, milliseconds(limits.silence));
}

zmq::socket_t Sockets::made_incoming() {
  zmq::socket_t socket(context_, zmq::socket_type::pull);
  set_common(socket);
  socket.set(zmq::sockopt::rcvhwm, frames(options_.limits.flight_bytes, options_.limits));
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(longest_part(options_.limits)));
  socket.set(zmq::sockopt::backlog, 128);
  socket.set(zmq::sockopt::zap_domain, ZmqGatekeeper::domain);
  if (options_.secret.is_there()) {
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, options_.secret.z85());
  }
  return socket;
}

zmq::socket_t Sockets::made_outgoing(HostId to) {
  zmq::socket_t socket(context_, zmq::socket_type::push);
  set_common(socket);
  const TransportLimits& limits = options_.limits;
  socket.set(zmq::sockopt::immediate, true);  // what cannot leave waits in our queue, which has rules
  socket.set(zmq::sockopt::sndhwm, frames(limits.flight_bytes, limits));
  socket.set(zmq::sockopt::rcvhwm, 1);
  socket.set(zmq::sockopt::maxmsgsize, std::int64_t{longest_greeting});
  socket.set(zmq::sockopt::connect_timeout, milliseconds(limits.handshake));
  socket.set(zmq::sockopt::reconnect_ivl, milliseconds(limits.reconnect_first));
  socket.set(zmq::sockopt::reconnect_ivl_max, milliseconds(limits.reconnect_last));
  if (options_.secret.is_there()) {
    socket.set(zmq::sockopt::curve_serverkey, options_.hosts[to.value].public_key);
    socket.set(zmq::sockopt::curve_publickey, options_.hosts[options_.self.value].public_key);
    socket.set(zmq::sockopt::curve_secretkey, options_.secret.z85());
  }
  return socket;
}

void Sockets::listen() {
  const TransportHost& own = options_.hosts[options_.self.value];
  const std::string address = options_.bind.empty() ? own.address : options_.bind;
  check_address(address, "host " + in_quotes(own.name), true);
  const std::string warning = plain_text_warning(options_, address, "host " + in_quotes(own.name));
  if (!warning.empty()) warning_ = warning;
  try {
    incoming_.set(zmq::sockopt::ipv6, is_ipv6(address));
    incoming_.bind(address);
  } catch (const zmq::error_t& error) {
    throw std::invalid_argument(
        "host " + in_quotes(own.name) + " cannot listen at " + in_quotes(address) + ": " + error.what() +
        (options_.bind.empty() ? "; `bind` in its roster entry says where to listen, such as tcp://*:27001" : ""));
  }
  endpoint_ = incoming_.get(zmq::sockopt::last_endpoint);
}

void Sockets::reach(HostId host, const std::string& address) {
  const std::string whose = "host " + in_quotes(name_of(host));
  check_address(address, whose, false);
  const std::string warning = plain_text_warning(options_, address, whose);
  if (!warning.empty()) warning_ = warning;
  options_.hosts[host.value].address = address;
  for (const std::string& source : sources_of(address)) watch_.trust(source);
}

void Sockets::start(ParcelSink& sink) {
  sink_ = &sink;
  for (std::size_t host = 0; host < outgoing_.size(); ++host) {
    if (!outgoing_[host]) continue;
    if (options_.hosts[host].address.empty())
      throw std::invalid_argument("host " + in_quotes(options_.hosts[host].name) + " has no address");
    outgoing_[host]->connect(options_.hosts[host].address);
  }
  // Any call of ZeroMQ that a signal breaks off throws. The thread begins with all signals blocked: others take them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool Sockets::send(HostId to, Parcel parcel) {
  const bool is_host = to.value < outgoing_.size() && outgoing_[to.value];
  if (!is_host || is_stopping_ || !fits(parcel, options_.limits.frame)) return ++refused_, false;
  const std::size_t bytes = parcel.bytes();
  const auto outcome = outgoing_[to.value]->put(std::move(parcel));
  dropped_states_ += outcome.dropped_states;
  if (!outcome.is_taken) return ++(outcome.gave_way ? gave_way_ : refused_), false;
  ++sent_;
  sent_bytes_ += bytes;
  waker_.wake();
  return true;
}

void Sockets::stop(Duration linger) {
  if (is_stopping_.exchange(true)) return;
  stop_at_ = (monotonic_now() + linger).count();
  has_deadline_ = true;
  waker_.wake();
  if (thread_.joinable())
    thread_.join();
  else
    close_sockets();
  context_.close();  // waits until ZeroMQ has let go of every tensor
}

bool Sockets::is_done() const {
  if (!has_deadline_) return false;
  if (monotonic_now().count() >= stop_at_) return true;
  return std::ranges::none_of(outgoing_, [](const auto& way) { return way && way->has_waiting(); });
}

void Sockets::run() {
  while (!is_done()) {
    const bool has_received = receive();
    const bool has_sent = transmit();
    const bool is_idle = !has_received && !has_sent;
    guard();
    if (is_idle) sleep();
    if (std::exchange(has_hasty_, false)) std::this_thread::sleep_for(breather);
  }
  close_sockets();
}

bool Sockets::receive() {
  const Duration end = monotonic_now() + turn_time;
  int received = 0;
  while (received < frames_a_turn && monotonic_now() < end && receive_frame()) ++received;
  return received > 0;
}

bool Sockets::receive_frame() {
  if (!incoming_.recv(messages_[0], zmq::recv_flags::dontwait)) return false;
  std::size_t count = 1;
  bool is_whole = true;
  for (bool has_more = messages_[0].more(); has_more;) {
    is_whole = count < messages_.size();
    zmq::message_t& message = messages_[is_whole ? count++ : count - 1];  // what is too much goes over the last
    has_more = incoming_.recv(message, zmq::recv_flags::dontwait) && message.more();
  }
  const Duration arrived = monotonic_now();
  std::size_t bytes = 0;
  parts_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    parts_.push_back({messages_[i].data<std::byte>(), messages_[i].size()});
    bytes += messages_[i].size();
  }
  watch_.credit(messages_[0], count, bytes);
  const auto sender = ZmqGatekeeper::sender_of(messages_[0]);
  if (!is_whole) parts_.clear();
  auto parcel = reception_.take(parts_, sender);
  if (sender || parcel) watch_.hear(messages_[0], sender ? *sender : parcel->from, sender.has_value());
  for (std::size_t i = 0; i < count; ++i) messages_[i].rebuild();
  publish_counts();
  const auto from = parcel ? std::optional(parcel->from) : sender;
  const bool is_good = keeps_pace(from, arrived) && parcel;
  if (!parcel || !hand_over(*std::move(parcel), arrived) || !is_good) tell_troubles(from);
  return true;
}

// Each costs some microseconds, and a host may send two hundred thousand a second. Connections are read in turn: the others
// lose little while one of them waits.
bool Sockets::keeps_pace(std::optional<HostId> from, Duration now) {
  if (!from || paces_.empty() || paces_[from->value].take(now)) return true;
  ++hasty_;
  has_hasty_ = true;
  return false;
}

// False: the sink took more memory than there is. That ends the parcel, and not the host.
bool Sockets::hand_over(Reception::Arrived arrived, Duration when) {
  try {
    sink_->on_parcel(arrived.from, std::move(arrived.parcel), when);
    return true;
  } catch (const std::bad_alloc&) {
    ++unaffordable_;
    publish_counts();
    return false;
  }
}

bool Sockets::transmit() {
  bool has_sent = false;
  for (const auto& way : outgoing_)
    if (way && way->has_waiting()) has_sent = way->pump(frames_a_turn) || has_sent;
  return has_sent;
}

void Sockets::guard() {
  gatekeeper_.answer();
  watch_.listen();
  publish_counts();
  const Duration now = monotonic_now();
  if (now - last_patrol_ >= patrol_interval) {
    last_patrol_ = now;
    watch_.patrol();
  }
  tell_troubles(std::nullopt);
}

bool Sockets::has_work() const {
  return is_done() || std::ranges::any_of(outgoing_, [](const auto& way) { return way && way->can_pump(); });
}

void Sockets::sleep() {
  waker_.prepare_sleep();
  if (!has_work()) {
    std::vector<zmq::pollitem_t> items{{incoming_.handle(), 0, ZMQ_POLLIN, 0},
                                       {gatekeeper_.socket().handle(), 0, ZMQ_POLLIN, 0},
                                       {watch_.socket().handle(), 0, ZMQ_POLLIN, 0},
                                       {nullptr, waker_.descriptor(), ZMQ_POLLIN, 0}};
    for (const auto& way : outgoing_)
      if (way && way->is_blocked()) items.push_back({way->socket().handle(), 0, ZMQ_POLLOUT, 0});
    if (wait_for(items) == 0) {
      reception_.tidy();
      sums_.forget();
      for (const auto& way : outgoing_)
        if (way) way->attend();
    }
  }
  waker_.rise();
}

TransportCounts Sockets::received_counts() const {
  TransportCounts now = reception_.counts();
  const ZmqWatch::Counts& watched = watch_.counts();
  now.unauthenticated += gatekeeper_.refused() + watched.failed_handshakes;
  now.malformed += watched.broke_protocol;
  now.flooded += watched.overfull;
  now.unaffordable += unaffordable_;
  now.hasty = hasty_;
  now.crowded_out = watched.crowded_out;
  return now;
}

// Of what has come up since the last time.
void Sockets::tell_troubles(std::optional<HostId> who) {
  const TransportCounts before = std::exchange(told_, received_counts());
  auto& is_told = is_told_[who ? who->value : options_.hosts.size()];
  for (std::size_t i = 0; i < troubles.size(); ++i) {
    if (is_told[i] || told_.*troubles[i].count == before.*troubles[i].count) continue;
    is_told[i] = true;
    const std::string refused = who ? "" : of_refused(troubles[i]);
    const std::string name = who ? "host " + in_quotes(name_of(*who)) : "a peer";
    const std::string sentence = refused.empty() ? name + " " + troubles[i].sentence : refused;
    if (options_.on_trouble) options_.on_trouble(sentence + "; what follows of this is only counted");
  }
}

// The sentence about a connection that was not opened; empty where all of this trouble came over connections that were.
std::string Sockets::of_refused(const Trouble& trouble) const {
  if (trouble.count == &TransportCounts::crowded_out) return peer_at(watch_.crowded_address()) + " " + trouble.sentence;
  const bool is_known = gatekeeper_.refused() > 0;
  if (trouble.count != &TransportCounts::unauthenticated || (!is_known && watch_.counts().failed_handshakes == 0)) return "";
  const std::string& address = is_known ? gatekeeper_.refused_address() : watch_.failed_address();
  return peer_at(address) + " " + trouble.sentence +
         (options_.secret.is_there() ? "; compare public_key in the files of all hosts" : "");
}

void Sockets::publish_counts() {
  const TransportCounts now = received_counts();
  const std::lock_guard lock(counts_mutex_);
  counts_ = now;
}

TransportCounts Sockets::counts() const {
  const std::lock_guard lock(counts_mutex_);
  TransportCounts counts = counts_;
  counts.sent = sent_;
  counts.sent_bytes = sent_bytes_;
  counts.dropped_states = dropped_states_;
  counts.refused = refused_;
  counts.gave_way = gave_way_;
  return counts;
}

// What libzmq still has may linger until the deadline.
void Sockets::close_sockets() {
  const Duration left = std::max(Duration::zero(), Duration(stop_at_) - monotonic_now());
  for (const auto& way : outgoing_)
    if (way) way->close(std::chrono::duration_cast<std::chrono::milliseconds>(left));
  sums_.forget();
  watch_.socket().close();
  incoming_.close();
  gatekeeper_.socket().close();
}

}  // namespace

std::unique_ptr<ZmqTransport> ZmqTransport::open(TransportOptions options, TensorPool& pool) {
  return std::make_unique<Sockets>(std::move(options), pool);
}

}  // namespace rubato
