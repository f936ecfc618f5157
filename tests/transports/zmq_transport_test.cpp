// ZeroMQ between hosts: the contract over every wire, restarts, pieces, borrowed memory, and what is refused at once.
#include "transports/zmq_transport.hpp"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/transports/collector.hpp"
#include "tests/transports/transport_contract.hpp"
#include "tests/transports/zmq_party.hpp"
#include "transports/lent_tensors.hpp"
#include "transports/zmq_address.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

struct OwnPool {
  TensorPool own;
};

/// Whose pool goes after its hosts.
struct PartyWithPool : OwnPool, ZmqParty {
  PartyWithPool(std::uint32_t hosts, Wire wire, const Change& change) : ZmqParty{own, hosts, wire, change} {}
};

MakeEnds party_over(Wire wire) {
  return [wire](std::uint32_t hosts, std::size_t queue_bytes) {
    return std::make_unique<PartyWithPool>(hosts, wire,
                                           [queue_bytes](TransportOptions& options) { options.limits.queue_bytes = queue_bytes; });
  };
}

/// What a roster is refused with; empty if it is not.
std::string refusal(const TransportOptions& options, TensorPool& pool) {
  try {
    const auto transport = ZmqTransport::open(options, pool);
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return "";
}

/// Hears and forgets.
struct Counter : ParcelSink {
  std::atomic<std::uint64_t> count{0};
  void on_parcel(HostId, Parcel, Duration) override { ++count; }
};

/// Host 1 in a process of its own, which sends large parcels to host 0 until it is killed.
class Sibling {
 public:
  static constexpr std::size_t numbers = 300'000;

  Sibling(const std::vector<TransportHost>& roster, std::uint64_t life) {
    REQUIRE(pipe(start_.data()) == 0);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) live(roster, life);
  }
  ~Sibling() {
    kill();
    close(start_[0]);
    close(start_[1]);
  }
  Sibling(const Sibling&) = delete;
  Sibling& operator=(const Sibling&) = delete;

  void begin() { REQUIRE(write(start_[1], "!", 1) == 1); }
  void kill() {
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  [[noreturn]] void live(const std::vector<TransportHost>& roster, std::uint64_t life) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char signal = 0;
    if (read(start_[0], &signal, 1) != 1) _exit(1);
    TensorPool pool;
    Counter nobody;
    TransportOptions options{.self = HostId{1}, .hosts = roster, .life = life};
    options.limits.frame.piece_bytes = 100'000;
    const auto host = ZmqTransport::open(options, pool);
    host->start(nobody);
    Parcel parcel = numbered(life, WhenFull::drop_oldest);
    parcel.tensors = {tensor_of(pool, Scalar::float32, numbers, life)};
    for (;;)
      if (host->send(HostId{0}, parcel)) std::this_thread::sleep_for(1ms);
  }

  std::array<int, 2> start_{};
  pid_t process_ = -1;
};

}  // namespace

TEST_CASE("ZeroMQ over tcp keeps the transport contract") { transport_contract(party_over(Wire::tcp_plain)); }
TEST_CASE("ZeroMQ over tcp with CURVE keeps the transport contract") { transport_contract(party_over(Wire::tcp_curve)); }
TEST_CASE("ZeroMQ over ipc keeps the transport contract") { transport_contract(party_over(Wire::ipc_plain)); }
TEST_CASE("ZeroMQ over ipc with CURVE keeps the transport contract") { transport_contract(party_over(Wire::ipc_curve)); }

TEST_CASE("an address chooses its transport by its scheme, and an unknown scheme is refused") {
  TensorPool pool;
  TransportOptions options;
  options.hosts = {{"a", "tcp://127.0.0.1:*", ""}};
  CHECK(open_transport(options, pool).transport->self() == HostId{0});
  options.hosts[0].address = "carrier-pigeon://loft";
  CHECK_THROWS_WITH_AS(open_transport(options, pool),
                       "no transport carries \"carrier-pigeon://loft\"; tcp://HOST:PORT and ipc://PATH can be carried",
                       std::invalid_argument);
}

TEST_CASE("a host that dies and comes back is heard again, and hears what waited for it") {
  for (const Wire wire : {Wire::tcp_curve, Wire::ipc_plain}) {
    TensorPool pool;
    Collector first, second, other;
    ZmqParty party(pool, 2, wire);
    party[0].start(other);
    party[1].start(first);
    for (std::uint64_t i = 0; i < 50; ++i) REQUIRE(party[0].send(b, numbered(i)));
    REQUIRE(first.wait_for(50));
    party.kill(1);
    for (std::uint64_t i = 50; i < 100; ++i) REQUIRE(party[0].send(b, numbered(i)));
    party.reborn(1);
    party[1].start(second);
    REQUIRE(party[1].send(a, numbered(1000)));
    CHECK(other.wait_for(1));
    std::uint64_t next = 100;
    REQUIRE(comes_true([&] { return party[0].send(b, numbered(next++)) && second.count() > 0; }));
    const std::uint64_t end = next + 50;
    while (next < end) REQUIRE(party[0].send(b, numbered(next++)));
    CHECK(second.wait_until([end](const auto& heard) { return number_of(heard.back().parcel) == end - 1; }));
    const auto numbers = numbers_of(second.heard());
    CHECK(numbers.front() >= 50);
    // What left before the death was noticed is lost; all that waited is there.
    std::vector<std::uint64_t> expected(end - numbers.front());
    std::iota(expected.begin(), expected.end(), numbers.front());
    CHECK(numbers == expected);
    CHECK(party[0].counts().stale + party[1].counts().stale + party[1].counts().malformed == 0);
    party[0].stop({});
    party[1].stop({});
  }
}

TEST_CASE("a process that is killed in the middle of a parcel does no harm, and its next life is heard") {
  const Folder folder;
  const std::vector<TransportHost> roster{{"a", "ipc://" + (folder.path() / "a").string(), ""},
                                          {"b", "ipc://" + (folder.path() / "b").string(), ""}};
  std::vector<std::unique_ptr<Sibling>> lives;  // made before any thread
  for (std::uint64_t life = 1; life <= 3; ++life) lives.push_back(std::make_unique<Sibling>(roster, life));
  TensorPool pool;
  Collector heard;
  const auto host = ZmqTransport::open({.self = a, .hosts = roster}, pool);
  host->start(heard);
  for (std::uint64_t life = 1; life <= 3; ++life) {
    lives[life - 1]->begin();
    CHECK(heard.wait_until([&](const auto& all) {
      return std::ranges::count_if(all, [&](const Heard& each) { return number_of(each.parcel) == life; }) >= 5;
    }));
    lives[life - 1]->kill();
  }
  std::uint64_t newest = 0;
  for (const Heard& each : heard.heard()) {
    CHECK(number_of(each.parcel) >= newest);
    newest = number_of(each.parcel);
    CHECK(are_equal(each.parcel.tensors.at(0), tensor_of(pool, Scalar::float32, Sibling::numbers, newest)));
  }
  host->stop({});
}

TEST_CASE("a host that reads nothing while another dies goes on, and hears its next life") {
  TensorPool pool;
  std::atomic<bool> reads{false};
  Collector one, second;
  second.on_each = [&](HostId, const Parcel&) {
    while (!reads) std::this_thread::sleep_for(1ms);
  };
  // Little is under way before ZeroMQ stops to read from the connection.
  ZmqParty party(pool, 2, Wire::tcp_curve, [](TransportOptions& options) { options.limits.flight_bytes = 4096; });
  party[0].start(one);
  party[1].start(second);
  for (std::uint64_t i = 0; i < 20000; ++i) REQUIRE(party[0].send(b, numbered(i)));
  std::this_thread::sleep_for(500ms);  // the queues of both sides fill up
  party.kill(0);
  std::this_thread::sleep_for(5s);  // in which whatever ZeroMQ does by a timer has been done twice
  reads = true;
  party.reborn(0);
  party[0].start(one);
  std::uint64_t next = 100'000;
  CHECK(comes_true([&] {
    REQUIRE(party[0].send(b, numbered(next++)));
    const auto heard = second.heard();
    return !heard.empty() && number_of(heard.back().parcel) >= 100'000;
  }));
  party[0].stop({});
  party[1].stop({});
}

TEST_CASE("signals that break off what its thread waits for do it no harm") {
  using Action = struct sigaction;
  Action heard{}, before{};
  heard.sa_handler = [](int) {};
  sigaction(SIGUSR1, &heard, &before);
  TensorPool pool;
  Collector one, other;
  ZmqParty party(pool, 2, Wire::ipc_plain);
  party[0].start(one);
  party[1].start(other);
  for (int i = 0; i < 100; ++i) {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
      syscall(SYS_tgkill, getpid(), std::stoi(thread.path().filename()), SIGUSR1);
    std::this_thread::sleep_for(1ms);  // in which its thread begins to wait again
  }
  REQUIRE(party[0].send(b, numbered(1)));
  CHECK(other.wait_for(1));
  party[0].stop({});
  party[1].stop({});
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("tensors are lent to ZeroMQ, not copied, and have all come back when stop returns") {
  for (const Wire wire : {Wire::tcp_plain, Wire::tcp_curve}) {
    TensorPool pool, own;
    Collector ignored, heard;
    ZmqParty party(pool, 2, wire);
    LentTensors lent;
    party[0].start(ignored);
    for (std::uint64_t i = 0; i < 20; ++i) {
      Parcel parcel = numbered(i);
      parcel.tensors = {tensor_of(own, Scalar::float32, 200'000, i)};
      lent.lend(parcel.tensors[0]);
      REQUIRE(party[0].send(b, std::move(parcel)));
    }
    lent.collect_all();
    CHECK(lent.bytes() > 0);
    SUBCASE("they left") {
      party[1].start(heard);
      REQUIRE(heard.wait_for(20));
      CHECK(comes_true([&] { return lent.collect_all(), lent.bytes() == 0; }));
    }
    SUBCASE("they never could") {}
    party[0].stop({});
    lent.collect_all();
    CHECK(lent.bytes() == 0);
    CHECK(own.reserved_bytes() > 0);
    party[1].stop({});
  }
}

TEST_CASE("a stream of parcels does not grow the receiver's memory") {
  TensorPool pool, own;
  Collector ignored;
  Counter counter;
  ZmqParty party(pool, 2, Wire::tcp_plain);
  party[0].start(ignored);
  party[1].start(counter);
  std::size_t reserved = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    Parcel parcel = numbered(i);
    parcel.tensors = {tensor_of(own, Scalar::float32, 50'000, i)};
    REQUIRE(party[0].send(b, std::move(parcel)));
    REQUIRE(comes_true([&] { return counter.count == i + 1; }));
    if (i == 100) reserved = pool.reserved_bytes();
  }
  CHECK(pool.reserved_bytes() <= reserved + 4 * 200'064);
  party[0].stop({});
  party[1].stop({});
}

TEST_CASE("sources of connections are IPv4 addresses and the networks of IPv6 ones; names and any-addresses have none") {
  using Sources = std::vector<std::string>;
  CHECK(source_of("10.0.0.1") == "10.0.0.1");
  CHECK(source_of("::ffff:10.0.0.1") == "10.0.0.1");
  CHECK(source_of("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::");
  CHECK(source_of("fe80::1%eth0") == source_of("fe80::2"));
  CHECK(source_of("host.example") == "");
  CHECK(sources_of("tcp://10.0.0.1:7001") == Sources{"10.0.0.1"});
  CHECK(sources_of("tcp://[2001:db8:1:2:3:4:5:6]:7001") == Sources{"2001:db8:1:2::"});
  CHECK(sources_of("tcp://localhost:7001") == Sources{"127.0.0.1", "::"});
  CHECK(sources_of("ipc:///run/rubato/a") == Sources{""});
  for (const char* unknown : {"tcp://host.example:7001", "tcp://0.0.0.0:7001", "tcp://[::]:7001"})
    CHECK(sources_of(unknown).empty());
}

TEST_CASE("plain text that would leave this machine is refused, or allowed in a loud voice") {
  TensorPool pool;
  const auto options = [](const std::string& own, const std::string& other, bool is_insecure = false) {
    TransportOptions made;
    made.hosts = {{"left", own, ""}, {"right", other, ""}};
    made.is_insecure = is_insecure;
    return made;
  };
  const std::string here = "tcp://127.0.0.1:*", near = "tcp://localhost:7", far = "tcp://192.0.2.1:7001";
  CHECK(ZmqTransport::open(options(here, near), pool)->warning() == "");
  CHECK(refusal(options(here, far), pool) ==
        "the address of host \"right\", \"tcp://192.0.2.1:7001\", is not on this machine, and without keys every machine "
        "on the "
        "way can read and forge what is sent; make keys with `rubato keygen` and give them in the roster or with "
        "--keys, or set hosts.insecure = true");
  CHECK(refusal(options("tcp://*:0", near), pool).starts_with("the address of host \"left\", \"tcp://*:0\", is not on this"));
  CHECK(ZmqTransport::open(options(here, far, true), pool)->warning().starts_with("INSECURE: the address of host \"right\""));
  TransportOptions with_keys = options("tcp://*:0", far);
  const Identity left = make_identity(), right = make_identity();
  with_keys.hosts[0].public_key = left.public_key;
  with_keys.hosts[1].public_key = right.public_key;
  with_keys.secret = left.secret;
  CHECK(ZmqTransport::open(with_keys, pool)->warning() == "");
}

TEST_CASE("a roster with a fault is refused with a sentence") {
  TensorPool pool;
  const Identity left = make_identity(), right = make_identity();
  TransportOptions good;
  good.hosts = {{"left", "tcp://127.0.0.1:*", left.public_key}, {"right", "tcp://127.0.0.1:7", right.public_key}};
  good.secret = left.secret;
  CHECK(refusal(good, pool) == "");
  const auto refused = [&](const std::function<void(TransportOptions&)>& change) {
    TransportOptions bad = good;
    change(bad);
    return refusal(bad, pool);
  };
  CHECK(refused([](TransportOptions& o) { o.self = HostId{2}; }) == "the roster has 2 hosts, so there is no host 2");
  CHECK(refused([](TransportOptions& o) { o.secret = {}; }) == "host \"left\" has a public key, but we have no secret key");
  CHECK(refused([](TransportOptions& o) { o.hosts[1].public_key = ""; }) ==
        "the public key of host \"right\", \"\", is no key; a key has 40 characters of Z85");
  CHECK(refused([](TransportOptions& o) { o.hosts[1].public_key[7] = '~'; }).starts_with("the public key of host \"right\""));
  CHECK(refused([](TransportOptions& o) { o.hosts[1].public_key = o.hosts[0].public_key; }) ==
        "host \"right\" has the same public key as another host");
  CHECK(refused([&](TransportOptions& o) { o.secret = right.secret; }) ==
        "the secret key is not the other half of the public key of host \"left\"");
  CHECK(refused([](TransportOptions& o) { o.hosts[1].address = "udp://127.0.0.1:7"; }) ==
        "the address of host \"right\", \"udp://127.0.0.1:7\", must be tcp://HOST:PORT or ipc://PATH; a port is 1 to "
        "65535, a path has at most 107 "
        "characters");
  CHECK(refused([](TransportOptions& o) {
          o.bind = "ipc:///no/such/folder/socket";
        }).starts_with("host \"left\" cannot listen at \"ipc:///no/such/folder/socket\": "));
  CHECK(refused([](TransportOptions& o) { o.limits.frame.piece_bytes = 10; }) == "a piece of 10 bytes: 1 KiB to 1 GiB are allowed");
  const auto listening = ZmqTransport::open(good, pool);
  CHECK(refused([&](TransportOptions& o) { o.bind = listening->endpoint(); }).ends_with("Address already in use"));
  CHECK(refused([&](TransportOptions& o) {
          o.hosts[0].address = listening->endpoint();
        }).ends_with("; `bind` in its roster entry says where to listen, such as tcp://*:27001"));
}
