// Hosts find each other, agree, know each other's clocks, and notice who goes and who comes back.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>

#include "actors/hosts/membership.hpp"
#include "tests/actors/hosts.hpp"

using namespace rubato;
using namespace rubato::test;
using std::chrono::milliseconds;

namespace {

Membership::Settings settings_of(std::uint64_t life = 1) {
  Membership::Settings settings;
  settings.names = {"a", "b", "c"};
  settings.self = {"the same run", "the same arithmetic", "1.0", life, true, std::nullopt};
  settings.hello_every = milliseconds(20);
  settings.ask_every = milliseconds(20);
  return settings;
}

Impairment cuttable() {
  Impairment links;
  links.kinds = {ParcelKind::hello, ParcelKind::clock_ask, ParcelKind::clock_answer, ParcelKind::notice};
  return links;
}

// One host with its end of the hub.
struct Party {
  Party(Hub& hub, std::uint32_t self, Membership::Settings settings, const Impairment& links = cuttable())
      : end{hub.end(HostId{self})}, transport{*end, links, self}, membership{transport, std::move(settings)} {}

  std::unique_ptr<Transport> end;
  Impaired transport;
  Membership membership;
};

// A machine whose clock shows something else.
class Skewed final : public Transport, ParcelSink {
 public:
  Skewed(std::unique_ptr<Transport> inner, Duration skew) : inner_{std::move(inner)}, skew_{skew} {}
  HostId self() const override { return inner_->self(); }
  void start(ParcelSink& sink) override {
    sink_ = &sink;
    inner_->start(*this);
  }
  bool send(HostId to, Parcel parcel) override { return inner_->send(to, std::move(parcel)); }
  void stop(Duration linger) override { inner_->stop(linger); }
  TransportCounts counts() const override { return inner_->counts(); }

 private:
  void on_parcel(HostId from, Parcel parcel, Duration arrived) override {
    sink_->on_parcel(from, std::move(parcel), arrived + skew_);
  }

  std::unique_ptr<Transport> inner_;
  Duration skew_;
  ParcelSink* sink_ = nullptr;
};

// What a host is told.
class Told {
 public:
  Membership::Settings by(Membership::Settings settings) {
    settings.on_event = [this](const RunEvent& event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
    };
    return settings;
  }
  std::vector<RunEvent> all(const std::string& word) const {
    const std::lock_guard lock(mutex_);
    std::vector<RunEvent> found;
    std::ranges::copy_if(events_, std::back_inserter(found), [&](const RunEvent& event) { return event.event == word; });
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<RunEvent> events_;
};

template <class Type>
Type field(const RunEvent& event, const std::string& name) {
  const auto found = std::ranges::find(event.fields, name, [](const auto& each) { return each.first; });
  REQUIRE(found != event.fields.end());
  return std::get<Type>(found->second);
}

using Hosts = std::vector<HostId>;
const Hosts everybody = {{0}, {1}, {2}};

}  // namespace

TEST_CASE("hosts meet in whatever order they start, over links that lose half of what they say") {
  Impairment bad = cuttable();
  bad.loss = 0.5;
  Hub hub(3);
  Party c(hub, 2, settings_of(), bad), a(hub, 0, settings_of(), bad), b(hub, 1, settings_of(), bad);
  c.membership.start();
  a.membership.start();
  b.membership.start();
  for (Party* party : {&a, &b, &c}) CHECK(party->membership.meet(patience) == everybody);
  CHECK(a.membership.host_info({2})->run == "the same run");
  CHECK(a.membership.first_alive() == HostId{0});
  CHECK(c.membership.is_alive({1}));
}

TEST_CASE("who is missing at the limit is not among those who are there, and is named meanwhile") {
  Hub hub(3);
  Told told;
  Party a(hub, 0, told.by(settings_of())), c(hub, 2, settings_of());
  a.membership.start();
  c.membership.start();
  REQUIRE(comes_true([&] { return a.membership.is_alive({2}) && a.membership.offset({2}); }));
  CHECK(a.membership.meet(milliseconds(2500)) == Hosts{{0}, {2}});
  a.membership.stop({});
  const std::vector<RunEvent> waits = told.all("waiting");
  REQUIRE_FALSE(waits.empty());
  const auto named = std::get<std::vector<std::string>>(waits.back().fields.front().second);
  CHECK(named == std::vector<std::string>{"b"});
  CHECK_FALSE(a.membership.is_alive({1}));
  CHECK_FALSE(a.membership.host_info({1}));
}

TEST_CASE("a late host joins those who run without waiting for who is not there") {
  Hub hub(3);
  Party a(hub, 0, settings_of()), c(hub, 2, settings_of());
  a.membership.start();
  a.membership.meet(milliseconds(1));
  a.membership.set_running(monotonic_now(), 7);
  c.membership.start();
  const Duration before = monotonic_now();
  CHECK(c.membership.meet(patience) == Hosts{{0}, {2}});
  CHECK(monotonic_now() - before < std::chrono::seconds(30));
}

TEST_CASE("another experiment, version or arithmetic is refused by both, with both names") {
  const auto refusals = [](const auto& change) {
    Hub hub(3);
    Membership::Settings other = settings_of();
    change(other.self);
    Party a(hub, 0, settings_of()), b(hub, 1, other);
    a.membership.start();
    b.membership.start();
    return complaint<std::invalid_argument>([&] { a.membership.meet(patience); }) + " / " +
           complaint<std::invalid_argument>([&] { b.membership.meet(patience); });
  };
  const std::string run = refusals([](HostInfo& self) { self.run = "something else"; });
  CHECK(contains(run, "host \"b\" has another experiment (something el) than host \"a\" (the same run)"));
  CHECK(contains(run, "host \"a\" has another experiment (the same run) than host \"b\" (something el)"));
  CHECK(contains(refusals([](HostInfo& self) { self.version = "2.0"; }), "another version of rubato (2.0)"));
  CHECK(contains(refusals([](HostInfo& self) { self.arithmetic = "by hand"; }), "another arithmetic (by hand)"));
}

TEST_CASE("in real time hosts may compute with other instructions") {
  Hub hub(2);
  Membership::Settings one = settings_of(), other = settings_of();
  one.names = other.names = {"a", "b"};
  one.self.is_virtual = other.self.is_virtual = false;
  other.self.arithmetic = "by hand";
  Party a(hub, 0, one), b(hub, 1, other);
  a.membership.start();
  b.membership.start();
  CHECK(a.membership.meet(patience).size() == 2);
}

TEST_CASE("how far apart clocks are is known to within the error that is stated") {
  const Duration ahead = std::chrono::seconds(1234), behind = -std::chrono::hours(3);
  Hub hub(3);
  std::vector<std::unique_ptr<Skewed>> transports;
  std::vector<std::unique_ptr<Membership>> assemblies;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Duration skew = i == 0 ? Duration{} : i == 1 ? ahead : behind;
    Membership::Settings settings = settings_of();
    settings.now = [skew] { return monotonic_now() + skew; };
    transports.push_back(std::make_unique<Skewed>(hub.end(HostId{i}), skew));
    assemblies.push_back(std::make_unique<Membership>(*transports.back(), settings));
    assemblies.back()->start();
  }
  for (const auto& membership : assemblies) membership->meet(patience);
  const auto is_right = [&](std::size_t one, std::uint32_t other, Duration truth) {
    const auto offset = assemblies[one]->offset({other});
    REQUIRE(offset);
    CHECK(offset->error > Duration{});
    CHECK(offset->nanoseconds - offset->error <= truth);
    CHECK(offset->nanoseconds + offset->error >= truth);
  };
  is_right(0, 1, ahead);
  is_right(0, 2, behind);
  is_right(2, 1, ahead - behind);
  CHECK(assemblies[0]->offset({0})->nanoseconds == Duration{});
  assemblies.clear();
}

TEST_CASE("a host that falls silent is lost, and back when it is heard again") {
  Hub hub(3);
  std::atomic<int> lost{0}, back{0};
  Membership::Settings listening = settings_of();
  listening.lost_after = std::chrono::seconds(3);  // no busy machine keeps the others silent for so long
  listening.on_lost = [&](HostId host) { lost += host == HostId{0} ? 1 : 100; };
  listening.on_back = [&](HostId host, std::uint64_t life) { back += host == HostId{0} && life == 1 ? 1 : 100; };
  Told told;
  Party a(hub, 0, settings_of()), b(hub, 1, told.by(listening)), c(hub, 2, settings_of());
  for (Party* party : {&a, &b, &c}) party->membership.start();
  REQUIRE(b.membership.meet(patience) == everybody);
  CHECK(b.membership.first_alive() == HostId{0});
  a.transport.cut({0}, {1});
  b.transport.cut({0}, {1});
  CHECK(comes_true([&] { return lost == 1; }));
  CHECK_FALSE(b.membership.is_alive({0}));
  CHECK(b.membership.first_alive() == HostId{1});
  CHECK(back == 0);
  a.transport.heal({0}, {1});
  b.transport.heal({0}, {1});
  CHECK(comes_true([&] { return back == 1; }));
  CHECK(b.membership.is_alive({0}));
  b.membership.stop({});
  CHECK(told.all("met").size() == 2);
  REQUIRE(told.all("lost").size() == 1);
  CHECK(told.all("lost")[0].host == "a");
  CHECK(field<double>(told.all("lost")[0], "silent_seconds") >= 3);
  REQUIRE(told.all("back").size() == 1);
  CHECK(field<double>(told.all("back")[0], "away_seconds") >= 3);
  CHECK(field<std::uint64_t>(told.all("back")[0], "life") == 1);
  const std::vector<Absence> absences = b.membership.absences();
  REQUIRE(absences.size() == 1);
  CHECK(absences[0].host == HostId{0});
  CHECK_FALSE(absences[0].has_left);
  REQUIRE(absences[0].to.has_value());
  CHECK(*absences[0].to - absences[0].from >= listening.lost_after);
}

TEST_CASE("a host that is started again is back with its new life, and its old clock is forgotten") {
  Hub hub(3);
  std::atomic<std::uint64_t> life{0};
  Membership::Settings listening = settings_of();
  listening.on_back = [&](HostId, std::uint64_t number) { life = number; };
  Party b(hub, 1, listening);
  b.membership.start();
  {
    Party a(hub, 0, settings_of(5));
    a.membership.start();
    REQUIRE(comes_true([&] { return b.membership.host_info({0}).has_value(); }));
  }
  CHECK(life == 0);
  Party again(hub, 0, settings_of(6));
  again.membership.start();
  CHECK(comes_true([&] { return life == 6; }));
  CHECK(b.membership.host_info({0})->life == 6);
}

TEST_CASE("a host of which another knows a later start is told so, once") {
  Hub hub(2);
  Membership::Settings two = settings_of();
  two.names = {"a", "b"};
  Party b(hub, 1, two);
  b.membership.start();
  const auto life = [&](std::uint64_t number) {
    Membership::Settings settings = two;
    settings.self.life = number;
    return settings;
  };
  {
    Party later(hub, 0, life(9));
    later.membership.start();
    REQUIRE(comes_true([&] { return b.membership.host_info({0}).has_value(); }));
  }
  Told told;
  Party earlier(hub, 0, told.by(life(5)));
  earlier.membership.start();
  CHECK(comes_true([&] { return !told.all("doubled").empty(); }));
  CHECK(told.all("doubled")[0].host == "b");
  CHECK(b.membership.life({0}) == 9);
  std::this_thread::sleep_for(milliseconds(100));  // some more introductions
  CHECK(told.all("doubled").size() == 1);
}

TEST_CASE(
    "who was met is told as back with its second life in the run and the checkpoint it goes on from, and who comes to a run "
    "that has begun as late") {
  Hub hub(3);
  Told told;
  Party b(hub, 1, told.by(settings_of()));
  b.membership.start();
  {
    Party a(hub, 0, settings_of(5));
    a.membership.start();
    a.membership.set_running(monotonic_now(), 5, 0);
    REQUIRE(comes_true([&] { return !told.all("met").empty() && b.membership.status({0}).life == 1; }));
  }
  b.membership.set_running(monotonic_now(), 5, 0);
  Party again(hub, 0, settings_of(6)), c(hub, 2, settings_of());
  again.membership.start();
  c.membership.start();
  REQUIRE(comes_true([&] { return !told.all("back").empty() && !told.all("came_late").empty(); }));
  REQUIRE(b.membership.absences().size() == 1);
  CHECK(b.membership.absences()[0].to > b.membership.absences()[0].from);
  CHECK(told.all("back")[0].host == "a");
  CHECK(field<std::uint64_t>(told.all("back")[0], "life") == 2);
  CHECK(told.all("going_on").empty());
  again.membership.set_running(monotonic_now(), 5, 1);
  again.membership.set_origin(7, std::chrono::seconds(35));
  REQUIRE(comes_true([&] { return !told.all("going_on").empty(); }));
  CHECK(told.all("going_on")[0].host == "a");
  CHECK(field<std::uint64_t>(told.all("going_on")[0], "checkpoint") == 7);
  CHECK(field<double>(told.all("going_on")[0], "from_seconds") == 35);
  CHECK(told.all("came_late")[0].host == "c");
  CHECK(told.all("met").size() == 1);
  CHECK(b.membership.status({2}).state == "present");
}

TEST_CASE("a host of another experiment is told as refused, once and with the reason") {
  Hub hub(3);
  Told told;
  Membership::Settings other = settings_of();
  other.self.run = "something else";
  Party a(hub, 0, told.by(settings_of())), b(hub, 1, other);
  a.membership.start();
  b.membership.start();
  REQUIRE(comes_true([&] { return !told.all("refused").empty(); }));
  CHECK(complaint<std::invalid_argument>([&] { a.membership.meet(patience); }) != "");
  a.membership.stop({});
  REQUIRE(told.all("refused").size() == 1);
  CHECK(told.all("refused")[0].host == "b");
  CHECK(contains(field<std::string>(told.all("refused")[0], "text"), "has another experiment"));
  CHECK(a.membership.status({1}).state == "refused");
  CHECK(a.membership.status({2}).state == "never met");
}

TEST_CASE("a host that was only refused comes late, and one that was met is lost before it is refused and back after it") {
  Hub hub(3);
  Told told;
  Membership::Settings other = settings_of(6);
  other.self.run = "something else";
  Party b(hub, 1, told.by(settings_of()));
  b.membership.start();
  {
    Party a(hub, 0, settings_of(5));
    a.membership.start();
    REQUIRE(comes_true([&] { return !told.all("met").empty(); }));
  }
  b.membership.set_running(monotonic_now(), 5, 0);
  {
    Party mistaken(hub, 0, other), stranger(hub, 2, other);
    mistaken.membership.start();
    stranger.membership.start();
    REQUIRE(comes_true([&] { return told.all("refused").size() == 2; }));
  }
  REQUIRE(told.all("lost").size() == 1);
  CHECK(told.all("lost")[0].host == "a");
  REQUIRE(b.membership.absences().size() == 1);
  CHECK_FALSE(b.membership.absences()[0].to);
  Party again(hub, 0, settings_of(7)), mended(hub, 2, settings_of(7));
  again.membership.start();
  mended.membership.start();
  REQUIRE(comes_true([&] { return !told.all("came_late").empty() && !told.all("back").empty(); }));
  CHECK(told.all("came_late")[0].host == "c");
  CHECK(told.all("back")[0].host == "a");
  CHECK(told.all("came_late").size() + told.all("back").size() == 2);
  REQUIRE(b.membership.absences().size() == 1);
  CHECK(b.membership.absences()[0].to);
}

TEST_CASE("a host that says that it leaves is not lost") {
  Hub hub(3);
  Told told;
  Membership::Settings settings = settings_of();
  std::atomic<std::int64_t> ahead{0};  // seconds of silence that the test does not wait for
  settings.now = [&] { return monotonic_now() + std::chrono::seconds(ahead); };
  std::atomic<bool> is_silent{false};
  settings.on_lost = [&](HostId) { is_silent = true; };
  Party b(hub, 1, told.by(settings));
  b.membership.start();
  {
    Party a(hub, 0, settings_of());
    a.membership.start();
    REQUIRE(comes_true([&] { return !told.all("met").empty(); }));
    b.membership.note_leaving({0}, "stopped");
  }
  ahead = 60;
  REQUIRE(comes_true([&] { return is_silent.load(); }));
  b.membership.stop({});
  REQUIRE(told.all("left").size() == 1);
  CHECK(told.all("left")[0].host == "a");
  CHECK(field<std::string>(told.all("left")[0], "text") == "stopped");
  CHECK(told.all("lost").empty());
  CHECK(b.membership.status({0}).state == "stopped");
  REQUIRE(b.membership.absences().size() == 1);
  CHECK(b.membership.absences()[0].has_left);
  CHECK_FALSE(b.membership.absences()[0].to);
}

TEST_CASE("a host that has come to the end of the run is not absent") {
  Hub hub(3);
  std::atomic<std::int64_t> ahead{0};
  Membership::Settings settings = settings_of();
  settings.now = [&] { return monotonic_now() + std::chrono::seconds(ahead); };
  std::atomic<bool> is_silent{false};
  settings.on_lost = [&](HostId) { is_silent = true; };
  Party b(hub, 1, settings);
  b.membership.start();
  {
    Party a(hub, 0, settings_of());
    a.membership.start();
    REQUIRE(comes_true([&] { return b.membership.status({0}).state == "present"; }));
    b.membership.note_leaving({0}, "complete");
  }
  ahead = 60;
  REQUIRE(comes_true([&] { return is_silent.load(); }));
  CHECK(b.membership.absences().empty());
}

TEST_CASE("hosts with other experiments name the first thing in which they differ") {
  Hub hub(3);
  Told told;
  Membership::Settings one = settings_of(), other = settings_of();
  one.self.parts = {{"seed", "3"}, {"algorithm.eta", "0.1"}, {"data.train", "a.csv, 40 bytes"}};
  other.self.run = "something else";
  other.self.parts = {{"seed", "3"}, {"algorithm.eta", "0.2\n"}, {"data.train", "a.csv, 41 bytes"}};
  Party a(hub, 0, told.by(one)), b(hub, 1, other);
  a.membership.start();
  b.membership.start();
  REQUIRE(comes_true([&] { return !told.all("refused").empty(); }));
  CHECK(contains(field<std::string>(told.all("refused")[0], "text"),
                 "has another experiment than host \"a\": algorithm.eta is 0.2\\x0a there and 0.1 here"));
}

TEST_CASE("who begins to run says so to those who know it already") {
  Hub hub(3);
  Party a(hub, 0, settings_of()), b(hub, 1, settings_of());
  a.membership.start();
  b.membership.start();
  REQUIRE(comes_true([&] { return b.membership.host_info({0}).has_value(); }));
  CHECK_FALSE(b.membership.host_info({0})->running_since);
  a.membership.set_running(std::chrono::seconds(17));
  CHECK(comes_true([&] { return b.membership.host_info({0})->running_since == std::chrono::seconds(17); }));
}

TEST_CASE("parcels go to the handler of their kind, from hosts that have introduced themselves and no others") {
  Hub hub(3);
  Party b(hub, 1, settings_of());
  std::atomic<int> heard{0};
  b.membership.handle(ParcelKind::message, [&](HostId from, const Parcel& parcel, Duration) {
    heard += from == HostId{0} && parcel.head.size() == 3 ? 1 : 100;
  });
  b.membership.start();
  const Parcel message{ParcelKind::message, WhenFull::wait, false, std::vector<std::byte>(3), {}};
  b.membership.on_parcel({0}, message, monotonic_now());
  b.membership.on_parcel({7}, message, monotonic_now());
  CHECK(b.membership.ignored() == 2);
  CHECK(heard == 0);
  Party a(hub, 0, settings_of());
  a.membership.start();
  REQUIRE(comes_true([&] { return b.membership.is_alive({0}); }));
  a.transport.send({1}, message);
  CHECK(comes_true([&] { return heard == 1; }));
}

TEST_CASE("heads that are no heads are ignored and counted, whatever they hold") {
  Hub hub(2);
  Membership::Settings settings = settings_of();
  settings.names = {"a", "b"};
  Party a(hub, 0, settings), b(hub, 1, settings);
  a.membership.start();
  b.membership.start();
  REQUIRE(a.membership.meet(patience).size() == 2);
  const std::uint64_t before = a.membership.ignored();  // of one who spoke before it had introduced itself
  std::uint64_t sent = 0;
  Stream chance(1, no_client, Purpose::evaluation);
  for (const ParcelKind kind : {ParcelKind::hello, ParcelKind::clock_ask, ParcelKind::clock_answer})
    for (std::size_t size = 0; size < 300; ++size, ++sent) {
      std::vector<std::byte> noise(size == 8 || size == 24 ? 5 : size);  // 8 and 24 bytes are an ask and an answer
      for (std::byte& byte : noise) byte = static_cast<std::byte>(chance.below(256));
      a.membership.on_parcel({1}, {kind, WhenFull::wait, false, noise, {}}, monotonic_now());
    }
  CHECK(a.membership.ignored() - before == sent);
  CHECK(a.membership.is_alive({1}));
}
