// Strangers, broken programs and hosts gone mad at the socket of a host that goes on with its work.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>
#include <new>
#include <random>
#include <thread>
#include <zmq.hpp>

#include "tests/transports/collector.hpp"
#include "tests/transports/delaying_relay.hpp"
#include "tests/transports/zmq_party.hpp"
#include "transports/descriptors.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

constexpr HostId sender{0}, victim{1}, madman{2};

/// Two good hosts, whose talk must go on, and a third whose keys the attacker may have.
class Scene {
 public:
  /// The time for a handshake is more than enough for a good host, on a busy machine too, unless the attacker needs less.
  explicit Scene(Wire wire, const TransportLimits& limits = roomy())
      : party_{pool_, 3, wire, [this, limits](TransportOptions& options) {
                 options.limits = limits;
                 if (options.self == victim) options.on_trouble = [this](const std::string& sentence) { told(sentence); };
               }} {
    party_.kill(madman.value);
    party_[0].start(answers_);
    party_[1].start(heard_);
    talk();
  }
  static TransportLimits roomy() {
    TransportLimits limits;
    limits.handshake = patience;
    limits.receive_bytes = std::size_t{64} << 20;
    return limits;
  }
  ~Scene() {
    party_[0].stop({});
    party_[1].stop({});
  }

  /// A hundred more parcels arrive, in order, like all before.
  void talk() {
    for (int i = 0; i < 100; ++i) REQUIRE(party_[0].send(victim, numbered(sent_++)));
    REQUIRE(heard_.wait_until([&](const auto& heard) { return !heard.empty() && number_of(heard.back().parcel) == sent_ - 1; }));
    std::uint64_t expected = 0;
    for (const Heard& each : heard_.heard())
      if (each.from == sender) CHECK(number_of(each.parcel) == expected++);
    CHECK(expected == sent_);
  }

  TransportCounts counts() { return party_[1].counts(); }
  template <class Test>
  bool counted(Test test) {
    return comes_true([&] { return test(counts()); });
  }
  const std::string& endpoint() { return party_[1].endpoint(); }
  std::uint16_t port() { return static_cast<std::uint16_t>(std::stoi(endpoint().substr(endpoint().rfind(':') + 1))); }
  ZmqParty& party() { return party_; }
  Collector& heard() { return heard_; }
  std::vector<std::string> sentences() {
    const std::lock_guard lock(mutex_);
    return sentences_;
  }

 private:
  void told(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    sentences_.push_back(sentence);
  }

  std::mutex mutex_;
  std::vector<std::string> sentences_;
  TensorPool pool_;
  Collector answers_, heard_;
  ZmqParty party_;
  std::uint64_t sent_ = 0;
};

/// A program that speaks ZeroMQ, but not Rubato.
class Stranger {
 public:
  Stranger() { socket_.set(zmq::sockopt::linger, 0); }
  void use(const Identity& own, const std::string& server_key) {
    socket_.set(zmq::sockopt::curve_publickey, own.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, own.secret.z85());
    socket_.set(zmq::sockopt::curve_serverkey, server_key);
  }
  zmq::socket_t& socket() { return socket_; }
  void connect(Scene& scene) { socket_.connect(scene.endpoint()); }
  void send(const std::vector<std::vector<std::byte>>& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      socket_.send(zmq::buffer(parts[i]), i + 1 < parts.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_{context_, zmq::socket_type::push};
};

std::string greeting(std::string mechanism) {
  mechanism.resize(20);
  return std::string("\xFF\0\0\0\0\0\0\0\x01\x7F\x03\x00", 12) + mechanism + std::string(32, '\0');
}

const std::string ready = std::string("\x04\x1a\x05READY\x0BSocket-Type\0\0\0\x04PUSH", 28);

/// A bare tcp connection.
class Wiretap {
 public:
  explicit Wiretap(std::uint16_t port) : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    const timeval limit{patience.count(), 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  }
  ~Wiretap() { ::close(socket_); }
  Wiretap(const Wiretap&) = delete;
  Wiretap& operator=(const Wiretap&) = delete;

  /// False once the other side has gone.
  bool write(const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (count <= 0) return false;
      done += static_cast<std::size_t>(count);
    }
    return true;
  }
  /// The same, but false as soon as that is over, too: a sender that was cut off when its buffers were full may hear of
  /// it from the kernel minutes later.
  template <class Test>
  bool write_until(const std::string& bytes, Test is_over) {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
      const bool is_full = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
      if (count > 0) done += static_cast<std::size_t>(count);
      if (count <= 0 && (!is_full || is_over())) return false;
      if (is_full) std::this_thread::sleep_for(1ms);
    }
    return true;
  }
  /// Waits for so many bytes.
  bool hear(std::size_t bytes) {
    std::string heard(bytes, '\0');
    return ::recv(socket_, heard.data(), bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
  }
  /// As a sender that knows ZeroMQ's protocol.
  bool shake_hands() { return write(greeting("NULL") + ready) && hear(64 + ready.size()); }
  /// True if the other side ends the connection, whatever it says before.
  bool is_ended() {
    std::array<char, 4096> bytes{};
    for (;;) {
      const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), 0);
      if (count == 0 || (count < 0 && errno == ECONNRESET)) return true;
      if (count < 0) return false;
    }
  }

 private:
  int socket_;
};

/// Opens a thousand connections a second, says `greeting` on each and nothing else, and keeps as many as it may have.
class Flood {
 public:
  Flood(std::uint16_t port, const char* source, std::string greeting)
      : port_{port}, source_{source}, greeting_{std::move(greeting)}, thread_{[this] { run(); }} {}
  ~Flood() {
    is_over_ = true;
    thread_.join();
    for (const int each : open_) ::close(each);
  }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

 private:
  static sockaddr_in at(const char* ip, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, ip, &address.sin_addr);
    return address;
  }

  void run() {
    const std::size_t most = std::min<std::size_t>(1500, descriptor_limit() / 4);
    Duration next = monotonic_now();
    while (!is_over_) {
      open_one();
      for (; open_.size() > most; open_.pop_front()) ::close(open_.front());
      next = std::max(next + 1ms, monotonic_now() - 50ms);  // at most so much is made up for
      std::this_thread::sleep_until(std::chrono::steady_clock::time_point(next));
    }
  }

  void open_one() {
    const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (one < 0) return;
    const sockaddr_in there = at("127.0.0.1", port_);
    const int reuse = 1;
    ::setsockopt(one, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    for (int failed = 0; failed < 100; ++failed) {
      from_ = from_ < 32000 ? from_ + 1 : 10000;
      const sockaddr_in here = at(source_, from_);
      if (::bind(one, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0) break;
    }
    static_cast<void>(::connect(one, reinterpret_cast<const sockaddr*>(&there), sizeof there));
    static_cast<void>(::send(one, greeting_.data(), greeting_.size(), MSG_NOSIGNAL));
    open_.push_back(one);
  }

  std::uint16_t port_;
  // Of those that no program is given: else a host that starts again may find its port taken.
  std::uint16_t from_ = static_cast<std::uint16_t>(10000 + getpid() % 20000);
  const char* source_;
  std::string greeting_;
  std::deque<int> open_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

/// Opens connections, a thousand a second, and keeps them; in a process of its own, for their descriptors.
class OtherProcess {
 public:
  explicit OtherProcess(int connections) {
    REQUIRE(pipe(start_.data()) == 0);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) live(connections);
  }
  ~OtherProcess() {
    ::kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    ::close(start_[0]);
    ::close(start_[1]);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  void begin(std::uint16_t port) const { REQUIRE(::write(start_[1], &port, sizeof port) == sizeof port); }

 private:
  [[noreturn]] void live(int connections) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::uint16_t port = 0;
    if (::read(start_[0], &port, sizeof port) != sizeof port) _exit(1);
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(port);
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < connections; ++i) {
      const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      static_cast<void>(::connect(one, reinterpret_cast<const sockaddr*>(&there), sizeof there));
      ::usleep(1000);
    }
    for (;;) ::pause();
  }

  std::array<int, 2> start_{};
  pid_t process_ = -1;
};

/// The soft limit of descriptors, as long as it lives.
class LowerLimit {
 public:
  explicit LowerLimit(std::size_t limit) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit lower{limit, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~LowerLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  LowerLimit(const LowerLimit&) = delete;
  LowerLimit& operator=(const LowerLimit&) = delete;

 private:
  rlimit before_{};
};

/// The header of a long ZMTP frame: 2 = long, 1 = more to come, 4 = a command.
std::string long_frame(int flags, std::uint64_t length) {
  std::string header(9, '\0');
  header[0] = static_cast<char>(flags);
  for (int i = 0; i < 8; ++i) header[static_cast<std::size_t>(8 - i)] = static_cast<char>(length >> (8 * i));
  return header;
}

std::vector<std::vector<std::byte>> frame_from(HostId from, std::uint64_t life, std::uint64_t sequence, const Parcel& parcel) {
  KnownSums sums;
  WrittenFrame frame;
  write_frame({from, victim, life, sequence}, parcel, 0, parcel.bytes(), &sums, frame);
  return {frame.first_part};
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("nobody without a key of the roster is heard") {
  Scene scene(Wire::tcp_curve);
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (int i = 0; i < 5; ++i) strangers.push_back(std::make_unique<Stranger>());
  bool is_asked_about = false;  // with its address; of who fails before that, it is known only if it stays long enough
  SUBCASE("a key that is not in the roster") {
    is_asked_about = true;
    for (auto& stranger : strangers) stranger->use(make_identity(), scene.party().identity(1).public_key);
  }
  SUBCASE("no key") {}
  SUBCASE("the wrong key of the server") {
    for (auto& stranger : strangers) stranger->use(scene.party().identity(2), make_identity().public_key);
  }
  SUBCASE("a name and a password") {
    for (auto& stranger : strangers) {
      stranger->socket().set(zmq::sockopt::plain_username, "host0");
      stranger->socket().set(zmq::sockopt::plain_password, "please");
    }
  }
  for (auto& stranger : strangers) {
    stranger->connect(scene);
    stranger->send(frame_from(sender, ~std::uint64_t{0}, 1, numbered(666)));
  }
  CHECK(scene.counted([](const TransportCounts& counts) { return counts.unauthenticated >= 5; }));
  scene.talk();
  REQUIRE(comes_true([&] { return scene.sentences().size() == 1; }));
  const std::string told = scene.sentences().front();
  CAPTURE(told);
  CHECK(told.starts_with(is_asked_about ? "a peer at 127.0.0.1 could not" : "a peer"));
  CHECK(told.ends_with(
      " could not show that it is a host of the roster; compare public_key in the files of all hosts; what follows of "
      "this is only counted"));
}

TEST_CASE("a host is believed about itself and about no other") {
  Scene scene(Wire::tcp_curve);
  Stranger mad;
  mad.use(scene.party().identity(2), scene.party().identity(1).public_key);
  mad.connect(scene);
  mad.send(frame_from(sender, ~std::uint64_t{0}, 1, numbered(666)));
  CHECK(scene.counted([](const TransportCounts& counts) { return counts.unauthenticated == 1; }));
  mad.send(frame_from(madman, 1, 1, numbered(0)));
  CHECK(scene.heard().wait_until([](const auto& heard) { return heard.back().from == madman; }));
  scene.talk();
}

TEST_CASE("frames that are sent again, are of an earlier life, or are none at all are counted and dropped") {
  Scene scene(Wire::tcp_curve);
  Stranger mad;
  mad.use(scene.party().identity(2), scene.party().identity(1).public_key);
  mad.connect(scene);
  const auto frame = frame_from(madman, 7, 1, numbered(0));
  for (int i = 0; i < 4; ++i) mad.send(frame);
  mad.send(frame_from(madman, 6, 2, numbered(0)));
  mad.send({{}});
  mad.send({std::vector<std::byte>(5000)});
  mad.send(std::vector<std::vector<std::byte>>(2000));
  auto other_version = frame;
  other_version[0][4] = std::byte{9};
  mad.send(other_version);
  CHECK(scene.counted([](const TransportCounts& counts) {
    return counts.replayed == 3 && counts.stale == 1 && counts.malformed == 3 && counts.unknown == 1;
  }));
  scene.talk();
  CHECK(comes_true([&] { return scene.sentences().size() == 4; }));
  CHECK(scene.counted([](const TransportCounts& counts) { return counts.received == 201; }));
}

TEST_CASE("noise on the wire ends that connection and nothing else") {
  for (const Wire wire : {Wire::tcp_curve, Wire::tcp_plain}) {
    Scene scene(wire);
    std::mt19937_64 random(1);
    for (int i = 0; i < 20; ++i) {
      Wiretap tap(scene.port());
      std::string noise(20'000, '\0');
      for (char& byte : noise) byte = static_cast<char>(random());
      if (i % 2 == 1) noise = greeting(wire == Wire::tcp_curve ? "CURVE" : "NULL") + noise;
      tap.write(noise);
      CHECK(tap.is_ended());
    }
    CHECK(scene.counted([](const TransportCounts& counts) { return counts.unauthenticated + counts.malformed >= 10; }));
    scene.talk();
  }
}

TEST_CASE("hundreds of connections that say nothing are bounded, then closed, and do not keep a good host out") {
  TransportLimits limits = Scene::roomy();
  limits.handshake = 5s;
  limits.connections = 100;
  Scene scene(Wire::tcp_curve, limits);
  const std::size_t before = open_descriptors();
  {
    std::vector<std::unique_ptr<Wiretap>> taps;
    for (int i = 0; i < 300; ++i) taps.push_back(std::make_unique<Wiretap>(scene.port()));
    CHECK(scene.counted([](const TransportCounts& counts) { return counts.crowded_out > 0; }));
    scene.party().reborn(2);
    Collector ignored;
    scene.party()[2].start(ignored);
    REQUIRE(scene.party()[2].send(victim, numbered(0)));
    CHECK(scene.heard().wait_until([](const auto& heard) { return heard.back().from == madman; }));
    scene.talk();
    for (auto& tap : taps) CHECK(tap->is_ended());
    scene.party()[2].stop({});
    scene.party().kill(2);
  }
  CHECK(scene.counted([](const TransportCounts& counts) { return counts.unauthenticated + counts.crowded_out >= 300; }));
  CHECK(comes_true([&] { return open_descriptors() <= before + 3; }));
  scene.talk();
}

TEST_CASE("a host 50 ms away gets in while a stranger opens a thousand connections a second") {
  raise_descriptor_limit();
  Scene scene(Wire::tcp_curve);
  const char* source = "127.0.0.2";
  std::string said;
  SUBCASE("from another address") {}
  SUBCASE("from another address, with the greeting of ZeroMQ") { said = greeting("CURVE"); }
  SUBCASE("from the address of the host") { source = "127.0.0.1"; }
  SUBCASE("from the address of the host, with the greeting of ZeroMQ") {
    source = "127.0.0.1";
    said = greeting("CURVE");
  }
  Collector ignored;
  const DelayingRelay relay(scene.port(), 50ms);
  {
    const Flood flood(scene.port(), source, said);
    REQUIRE(scene.counted([](const TransportCounts& counts) { return counts.crowded_out > 300; }));
    scene.party().reborn(2);
    scene.party()[2].reach(victim, relay.address());
    scene.party()[2].start(ignored);
    REQUIRE(scene.party()[2].send(victim, numbered(0)));
    CHECK(scene.heard().wait_until([](const auto& heard) { return heard.back().from == madman; }));
    const std::uint64_t crowded_out = scene.counts().crowded_out;
    REQUIRE(scene.counted([&](const TransportCounts& counts) { return counts.crowded_out > crowded_out + 300; }));
    REQUIRE(scene.party()[2].send(victim, numbered(1)));  // over the same connection, which stays
    CHECK(scene.heard().wait_until(
        [](const auto& heard) { return heard.back().from == madman && number_of(heard.back().parcel) == 1; }));
    scene.talk();
  }
  const auto sentences = scene.sentences();
  CHECK(std::ranges::count(sentences, std::string("a peer at ") + source +
                                          " opens more connections than are kept: some were crowded out while shaking hands; "
                                          "what follows of this is only counted") == 1);
  scene.party()[2].stop({});
}

TEST_CASE("strangers do not take the descriptors that files need") {
  const OtherProcess strangers(400);  // made before any thread
  const LowerLimit limit(open_descriptors() + 220);
  Scene scene(Wire::tcp_curve);
  strangers.begin(scene.port());
  CHECK(scene.counted([](const TransportCounts& counts) { return counts.crowded_out >= 200; }));
  std::vector<int> files;
  for (int i = 0; i < 30; ++i) files.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  CHECK(std::ranges::count(files, -1) == 0);
  for (const int file : files) ::close(file);
  scene.talk();
}

TEST_CASE("a host whose descriptors do not suffice for the roster says so") {
  const LowerLimit limit(open_descriptors() + 150);
  TensorPool pool;
  ZmqParty party(pool, 3, Wire::tcp_curve);
  CHECK(party[0].warning() == "");
  party.kill(1);
  const LowerLimit lower(open_descriptors() + 100);
  party.reborn(1);
  CAPTURE(party[1].warning());
  CHECK(party[1].warning().starts_with("this process may have "));
  CHECK(party[1].warning().ends_with("; raise the limit (ulimit -n)"));
}

TEST_CASE("a host goes on while others of its process have taken all descriptors, and connects when they have gone") {
  Scene scene(Wire::tcp_curve);
  Collector ignored;
  scene.party().reborn(2);
  {
    const LowerLimit limit(open_descriptors());
    scene.party()[2].start(ignored);
    REQUIRE(scene.party()[2].send(victim, numbered(0)));
    scene.talk();
  }
  CHECK(scene.heard().wait_until([](const auto& heard) { return heard.back().from == madman; }));
  scene.party()[2].stop({});
}

TEST_CASE("a length of four gigabytes ends the connection, takes no memory and is counted") {
  for (const Wire wire : {Wire::tcp_curve, Wire::tcp_plain}) {
    Scene scene(wire);
    const std::size_t before = resident_bytes();
    for (int i = 0; i < 10; ++i) {
      Wiretap tap(scene.port());
      if (wire == Wire::tcp_plain)
        REQUIRE((tap.shake_hands() && tap.write(long_frame(2, std::uint64_t{4} << 30))));
      else
        tap.write(greeting("CURVE") + long_frame(2 | 4, std::uint64_t{4} << 30));
      CHECK(tap.is_ended());
    }
    CHECK(scene.counted([](const TransportCounts& counts) { return counts.unauthenticated + counts.malformed >= 10; }));
    CHECK(resident_bytes() < before + (std::size_t{64} << 20));
    scene.talk();
    CHECK(comes_true([&] { return scene.sentences().size() == 1; }));
  }
}

TEST_CASE("a message without an end is cut off before it fills the memory") {
  Scene scene(Wire::tcp_plain);
  const std::size_t before = resident_bytes();
  Wiretap tap(scene.port());
  REQUIRE(tap.shake_hands());
  const std::string part = long_frame(2 | 1, 1 << 20) + std::string(1 << 20, 'x');
  std::size_t sent = 0;
  while (tap.write_until(part, [&] { return scene.counts().flooded > 0; })) {
    sent += part.size();
    REQUIRE(sent < std::size_t{4} << 30);
  }
  CHECK(scene.counted([](const TransportCounts& counts) { return counts.flooded == 1; }));
  CHECK(resident_bytes() < before + (std::size_t{1} << 30));
  scene.talk();
}

TEST_CASE("a parcel that takes more memory than there is ends, and the host goes on and says whose it was") {
  Collector ignored;
  Scene scene(Wire::tcp_curve);
  scene.heard().on_each = [](HostId from, const Parcel&) {
    if (from == madman) throw std::bad_alloc();
  };
  scene.party().reborn(2);
  scene.party()[2].start(ignored);
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(scene.party()[2].send(victim, numbered(i)));
  CHECK(scene.counted([](const TransportCounts& counts) { return counts.unaffordable == 3; }));
  scene.talk();
  CHECK(scene.sentences() ==
        std::vector<std::string>{"host \"host2\" sent what there is no memory for; what follows of this is only counted"});
  scene.party()[2].stop({});
}

TEST_CASE("a known host that sends more than is used up is refused, and the others are heard") {
  TensorPool pool;
  Collector ignored;
  TransportLimits limits = Scene::roomy();
  limits.receive_bytes = std::size_t{33} << 20;
  Scene scene(Wire::tcp_curve, limits);
  scene.party().reborn(2);
  scene.party()[2].start(ignored);
  Parcel parcel = numbered(0);
  parcel.tensors = {tensor_of(pool, Scalar::float32, 250'000)};
  for (int i = 0; i < 60; ++i) REQUIRE(scene.party()[2].send(victim, parcel));
  CHECK(scene.counted([](const TransportCounts& counts) { return counts.flooded == 60 - 34; }));
  scene.talk();
  scene.party()[2].stop({});
}

TEST_CASE("a host that sends as fast as it can is slowed down and named, and the others are heard") {
  Collector ignored;
  TransportLimits limits = Scene::roomy();
  limits.frames_a_second = 1000;
  Scene scene(Wire::tcp_curve, limits);
  scene.party().reborn(2);
  scene.party()[2].start(ignored);
  for (std::uint64_t i = 0; i < 3000; ++i) REQUIRE(scene.party()[2].send(victim, numbered(i)));
  CHECK(scene.heard().wait_until([](const auto& heard) {
    return std::ranges::any_of(heard, [](const Heard& each) { return each.from == madman && number_of(each.parcel) == 2999; });
  }));
  CHECK(scene.counted([](const TransportCounts& counts) { return counts.hasty > 0; }));
  scene.talk();
  CHECK(scene.sentences() ==
        std::vector<std::string>{"host \"host2\" sends more frames a second than one host may, and all are read more slowly; "
                                 "what follows of this is only counted"});
  scene.party()[2].stop({});
}

TEST_CASE("what two hosts do is told of each, once") {
  Scene scene(Wire::tcp_curve);
  scene.heard().on_each = [](HostId, const Parcel&) { throw std::bad_alloc(); };
  Collector ignored;
  scene.party().reborn(2);
  scene.party()[2].start(ignored);
  for (std::uint64_t i = 0; i < 3; ++i)
    for (const std::uint32_t host : {0, 2}) REQUIRE(scene.party()[host].send(victim, numbered(i)));
  CHECK(scene.counted([](const TransportCounts& counts) { return counts.unaffordable == 6; }));
  std::vector<std::string> sentences = scene.sentences();
  std::ranges::sort(sentences);
  const std::string what = " sent what there is no memory for; what follows of this is only counted";
  CHECK(sentences == std::vector<std::string>{"host \"host0\"" + what, "host \"host2\"" + what});
  scene.party()[2].stop({});
}
