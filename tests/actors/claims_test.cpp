// What a host of the run claims is believed within bounds: docs/trust.md has the list.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>

#include "actors/hosts/host_progress.hpp"
#include "actors/hosts/host_views.hpp"
#include "actors/hosts/item_exchange.hpp"
#include "actors/hosts/membership.hpp"
#include "actors/wall/beginning.hpp"
#include "actors/wall/gathering.hpp"
#include "runtime/random.hpp"
#include "tests/actors/hosts.hpp"

using namespace rubato;
using namespace rubato::test;
using std::chrono::milliseconds;

namespace {

const HostId a{0}, b{1}, c{2};

Parcel parcel_with(ParcelKind kind, std::vector<std::byte> head) { return {kind, WhenFull::wait, false, std::move(head), {}}; }

Membership::Settings settings_of(std::vector<std::string> names, bool is_virtual = false) {
  Membership::Settings settings;
  settings.names = std::move(names);
  settings.self = {.run = "run", .arithmetic = "sse", .version = "1.0", .life = 1, .is_virtual = is_virtual};
  settings.hello_every = settings.ask_every = milliseconds(20);
  return settings;
}

/// A hello, as docs/wire-format.md has its fields.
struct Hello {
  HostInfo self = settings_of({}).self;
  std::uint32_t edition = 0;
  std::uint64_t heard_life = 1;
  std::uint32_t heard_edition = 0;
  bool asks_for_answer = false;
  std::uint32_t lives = 0;
  void archive(Archive& archive) { archive(self, edition, heard_life, heard_edition, asks_for_answer, lives); }
};

/// Host a is ours; what the others say a test makes up.
struct Scene {
  explicit Scene(Membership::Settings settings = settings_of({"a", "b", "c"})) : membership{*end, std::move(settings)} {}
  ~Scene() { membership.stop({}); }

  void hear(HostId from, Parcel parcel) { membership.on_parcel(from, std::move(parcel), monotonic_now()); }
  void introduce(HostId from, const Hello& hello = {}) { hear(from, parcel_of(ParcelKind::hello, hello)); }

  Hub hub{3};
  std::unique_ptr<Transport> end = hub.end(a);
  Membership membership;
};

/// One part of payload 0.
Parcel part_of_item(std::uint32_t part, std::uint32_t parts, std::size_t head_bytes, std::vector<Tensor> tensors = {}) {
  std::vector<std::byte> head(17 + head_bytes);
  const ItemKind kind = ItemKind::payload;
  std::memcpy(head.data(), &kind, 1);
  std::memcpy(head.data() + 9, &part, 4);
  std::memcpy(head.data() + 13, &parts, 4);
  return {ParcelKind::payload, WhenFull::refuse, false, std::move(head), std::move(tensors)};
}

/// Wants one item of b.
struct Wanting : Scene {
  Wanting() {
    introduce(b);
    items.allow(1, 1000);
    items.want({ItemKind::payload, 0}, b, [this](std::optional<Item> item) {
      if (runs_out) throw std::bad_alloc();
      if (item) head_bytes = item->head.size(), is_there = true;
      return true;
    });
  }
  ~Wanting() { items.give_up(); }

  TensorPool pool;
  bool is_there = false, runs_out = false;
  std::size_t head_bytes = 0;
  ItemExchange items{membership, *end, pool};
};

/// What a host of a virtual run tells of itself.
struct Notice {
  std::uint64_t position = 0;
  bool is_halting = false;
  std::optional<Duration> halted_at{}, end_at{};
  std::uint64_t mark[3] = {}, judged = 0, last_sample = 0;
  std::string ended_by{};
  std::optional<std::string> failure{};
  bool has_ended = false;
  void archive(Archive& archive) {
    archive(position, is_halting, halted_at, end_at, mark[0], mark[1], mark[2], judged, last_sample, ended_by, failure, has_ended);
  }
};

/// Host a of a virtual run over three.
struct Walking : Scene {
  Walking() : Scene{settings_of({"a", "b", "c"}, true)} {
    Hello hello;
    hello.self.is_virtual = true;
    introduce(b, hello);
    introduce(c, hello);
    progress.begin();
    hear(b, parcel_of(ParcelKind::notice, Notice{.position = 40}));
    hear(c, parcel_of(ParcelKind::notice, Notice{.position = 12}));
  }
  /// After so many seconds in which nothing was heard.
  std::optional<std::string> look_after(int seconds) {
    return progress.look_for_standstill(std::chrono::seconds(600), monotonic_now() + std::chrono::seconds(seconds));
  }

  TensorPool pool;
  ItemExchange items{membership, *end, pool};
  HostProgress progress{membership, *end, items, {a, b, c}};
};

/// Whether this is said, with so many seconds at its end, or some more on a busy machine.
bool is_said(const std::optional<std::string>& said, const std::string& sentence, int seconds) {
  const std::string before = sentence + " for ";
  if (!said || !said->starts_with(before) || !said->ends_with(" s")) return false;
  const int given = std::stoi(said->substr(before.size()));
  return given >= seconds && given < seconds + 25;
}

/// A clock's answer to the question with this nonce.
struct Answer {
  std::uint64_t nonce = 0;
  Duration arrived{}, answered{};
  void archive(Archive& archive) { archive(nonce, arrived, answered); }
};

/// A host that says to the others that it runs for eleven days.
class Backdating final : public Transport {
 public:
  explicit Backdating(Transport& inner) : inner_{inner} {}
  HostId self() const override { return inner_.self(); }
  void start(ParcelSink& sink) override { inner_.start(sink); }
  bool send(HostId to, Parcel parcel) override {
    if (parcel.kind != ParcelKind::hello) return inner_.send(to, std::move(parcel));
    Hello hello = *read_item<Hello>(parcel.head);
    hello.self.running_since = monotonic_now() - std::chrono::seconds(1'000'000);
    return inner_.send(to, parcel_of(ParcelKind::hello, hello));
  }
  void stop(Duration linger) override { inner_.stop(linger); }
  TransportCounts counts() const override { return inner_.counts(); }

 private:
  Transport& inner_;
};

/// A host whose messages say that they came so many times more.
class Doubling final : public Transport {
 public:
  explicit Doubling(Transport& inner) : inner_{inner} {}
  HostId self() const override { return inner_.self(); }
  void start(ParcelSink& sink) override { inner_.start(sink); }
  bool send(HostId to, Parcel parcel) override {
    constexpr std::size_t first_copies = 33 + 8 + 8;  // of docs/wire-format.md, a message: after receiver and place
    if (parcel.kind == ParcelKind::message) parcel.head.at(first_copies) = std::byte{255};
    return inner_.send(to, std::move(parcel));
  }
  void stop(Duration linger) override { inner_.stop(linger); }
  TransportCounts counts() const override { return inner_.counts(); }

 private:
  Transport& inner_;
};

/// Two hosts in real time, of which the second lies; what the first has at the end.
template <class Lying>
RunResult beside() {
  const config::Experiment wall =
      over_hosts(experiment({"clock=wall", "time_scale=30", "mailbox.deadline=30.0", "hosts.drain=1.0"}), 2);
  TensorPool pool;
  Hub hub(2);
  RunResult honest;
  const auto run_one = [&](HostId host) {
    WireLike wire(hub.end(host), pool);
    Lying lying(wire);
    const RunResult result = run_host(wall, on_threads(1), {}, host == b ? static_cast<Transport&>(lying) : wire);
    if (host == a) honest = result;
  };
  std::thread other([&] { run_one(b); });
  run_one(a);
  other.join();
  return honest;
}

BeginningClaim began(Duration since, std::uint64_t run = 0) { return {{since, run}, milliseconds(1)}; }

}  // namespace

TEST_CASE("the head of an item counts in what the item may take here") {
  Wanting host;
  host.hear(b, part_of_item(0, 2, 1 << 20));
  CHECK(host.items.refused() == 1);
  host.hear(b, part_of_item(0, 1, 40'000));
  CHECK(host.is_there);
  CHECK(host.head_bytes == 40'000);
}

TEST_CASE("only the first part of an item has a head of the item") {
  Wanting host;
  host.hear(b, part_of_item(0, 2, 8));
  host.hear(b, part_of_item(1, 2, 8));
  CHECK(host.items.refused() == 1);
  CHECK_FALSE(host.is_there);
}

TEST_CASE("the number of an item's parts is what the first of them says") {
  Wanting host;
  host.hear(b, part_of_item(1, 2, 0));
  host.hear(b, part_of_item(0, 65'536, 0));
  CHECK(host.items.refused() == 1);
  host.hear(b, part_of_item(1, 2, 0));
  CHECK_FALSE(host.is_there);
  host.hear(b, part_of_item(0, 2, 3));
  CHECK(host.is_there);
  CHECK(host.head_bytes == 3);
}

TEST_CASE("parts with nothing in them are bounded, too") {
  Wanting host;
  for (std::uint32_t part = 1; part < 2000 && host.items.refused() == 0; ++part) host.hear(b, part_of_item(part, 65'536, 0));
  CHECK(host.items.refused() == 1);
}

TEST_CASE("lack of memory ends one parcel, is counted under its sender, and what was to come may still come") {
  Wanting host;
  host.runs_out = true;
  host.hear(b, part_of_item(0, 1, 1));
  CHECK(host.membership.unaffordable(b) == 1);
  CHECK(host.membership.unaffordable({0}) == 0);
  host.runs_out = false;
  host.hear(b, part_of_item(0, 1, 1));
  CHECK(host.is_there);
  host.items.settle();
}

TEST_CASE("parcels whose heads are longer than any of their kind are ignored") {
  Scene host;
  int heard = 0;
  constexpr ParcelKind kinds[] = {ParcelKind::message, ParcelKind::control, ParcelKind::want,
                                  ParcelKind::have,    ParcelKind::notice,  ParcelKind::view};
  for (const ParcelKind kind : kinds) host.membership.handle(kind, [&](HostId, const Parcel&, Duration) { ++heard; });
  host.introduce(b);
  for (const ParcelKind kind : kinds) {
    host.hear(b, parcel_with(kind, std::vector<std::byte>(16 << 20)));
    host.hear(b, parcel_with(kind, std::vector<std::byte>(8'000)));
  }
  CHECK(heard == 6);
  CHECK(host.membership.ignored() == 6);
}

TEST_CASE("a host says of its own clients what can be, and is shown to have said nothing else") {
  const std::vector<HostId> host_of{a, b, b, b, c};
  Scene host;
  HostViews views(host.membership, *host.end, host_of, 60);
  const auto whole = [] {
    HostView view{.seconds = 30, .computations = 7, .sent = 8, .delivered = 9};
    view.scores = HostScores{.seconds = 29, .measured = 3, .loss = 0.5, .accuracy = HostAccuracy{0.75, 0.5, {2}}};
    return view;
  };
  const auto says = [&](const HostView& view) { host.hear(b, parcel_of(ParcelKind::view, view)); };
  says(whole());
  CHECK_FALSE(views.newest(b));  // of a host that has not introduced itself
  host.introduce(b);
  const auto misdeeds = [&] {
    const auto words = host.membership.conduct().due(monotonic_now(), true);
    return words.empty() ? 0 : words.back().count;
  };
  std::uint64_t refused = 0;
  const auto is_refused = [&](auto change) {
    HostView view = whole();
    change(view);
    says(view);
    CHECK_FALSE(views.newest(b));
    CHECK(misdeeds() == ++refused);
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double seconds : {-1.0, 61.0, nan}) {
    is_refused([&](HostView& view) { view.seconds = seconds; });
    is_refused([&](HostView& view) { view.scores->seconds = seconds; });
  }
  for (auto counter : {&HostView::computations, &HostView::sent, &HostView::delivered})
    is_refused([&](HostView& view) { view.*counter = std::uint64_t{1} << 53; });
  for (const std::uint64_t measured : {0, 4}) is_refused([&](HostView& view) { view.scores->measured = measured; });
  for (const double share : {-0.1, 1.1, nan}) {
    is_refused([&](HostView& view) { view.scores->accuracy->mean = share; });
    is_refused([&](HostView& view) { view.scores->accuracy->worst = share; });
  }
  for (const std::uint32_t client : {0u, 4u, 5u, ~0u})
    is_refused([&](HostView& view) { view.scores->accuracy->client = {client}; });
  TensorPool pool;
  Parcel longer = parcel_of(ParcelKind::view, whole()), with_tensor = longer;
  longer.head.push_back({});
  with_tensor.tensors.push_back(pool.make<float>(1));
  for (const Parcel& odd : {longer, with_tensor, parcel_with(ParcelKind::view, std::vector<std::byte>(8))}) {
    host.hear(b, odd);
    CHECK_FALSE(views.newest(b));
    CHECK(misdeeds() == ++refused);
  }
  says(whole());
  REQUIRE(views.newest(b));
  CHECK(views.newest(b)->view.sent == 8);
  CHECK_FALSE(views.newest(c));
  HostView diverged = whole();
  diverged.scores->loss = nan;  // as it may be
  says(diverged);
  CHECK(std::isnan(views.newest(b)->view.scores->loss));
}

TEST_CASE("views of random bytes never say more than can be") {
  const std::vector<HostId> host_of{a, b, b, c};
  Scene host;
  HostViews views(host.membership, *host.end, host_of, 60);
  host.introduce(b);
  HostView view{.seconds = 30, .computations = 7, .sent = 8, .delivered = 9};
  view.scores = HostScores{.seconds = 29, .measured = 2, .loss = 0.5, .accuracy = HostAccuracy{0.75, 0.5, {2}}};
  const Parcel whole = parcel_of(ParcelKind::view, view);
  Stream chance(6, no_client, Purpose::noise);
  for (int i = 0; i < 20000; ++i) {
    Parcel damaged = whole;
    for (std::uint64_t k = 1 + chance.below(3); k > 0; --k)
      damaged.head[chance.below(damaged.head.size())] = static_cast<std::byte>(chance.below(256));
    if (chance.below(4) == 0) damaged.head.resize(chance.below(100));
    host.hear(b, damaged);
    const auto told = views.newest(b);
    if (!told) continue;
    REQUIRE((told->view.seconds >= 0 && told->view.seconds <= 60));
    if (!told->view.scores) continue;
    REQUIRE((told->view.scores->measured == 1 || told->view.scores->measured == 2));
    if (!told->view.scores->accuracy) continue;
    REQUIRE((told->view.scores->accuracy->mean >= 0 && told->view.scores->accuracy->worst <= 1));
    REQUIRE(host_of.at(told->view.scores->accuracy->client.value) == b);
  }
  CHECK(views.newest(b));
}

TEST_CASE("a payload has no more places than the run has clients") {
  Payload payload;
  TensorPool pool;
  payload.own.push_back(pool.make<float>(1));
  payload.own.push_back(pool.make<float>(1));
  CHECK(payload_of(packed_payload(payload, {0, 1}), 2));
  CHECK_FALSE(payload_of(packed_payload(payload, {0, 1, 0}), 2));
}

TEST_CASE("a pool with a bound gives back to the system what comes back beyond it") {
  constexpr std::size_t megabyte = 1 << 20;
  TensorPool pool(10 * megabyte);
  for (std::size_t size = 1; size <= 40; ++size) {
    std::vector<Tensor> lent;
    for (int i = 0; i < 4; ++i) lent.push_back(pool.make<float>(size * 30'000));
  }
  CHECK(pool.reserved_bytes() <= 10 * megabyte);
  const Tensor used_again = pool.make<float>(30'000);
  CHECK(pool.reserved_bytes() <= 10 * megabyte);
}

TEST_CASE("a host says how long the modelled link delays its messages, within what the link's law can give") {
  config::Experiment wall = over_hosts(experiment({"clock=wall", "time_scale=30", "mailbox.deadline=30.0", "hosts.drain=1.0"}), 2);
  std::vector<HostStart> starts(2, HostStart{wall, on_threads(1), {}});
  starts[0].floods = 50;  // notes that wait for an hour
  const std::vector<HostOutcome> outcomes = run_hosts(starts);
  for (const HostOutcome& outcome : outcomes) CHECK(outcome.complaint == "");
  CHECK(contains(outcomes[1].result.hosts.back(), " 50 no messages of this run"));
}

TEST_CASE("a law knows its largest number") {
  CHECK(largest(Law::constant(3)) == 3);
  CHECK(largest({.kind = LawKind::uniform, .first = 1, .second = 4}) == doctest::Approx(4));
  CHECK(largest({.kind = LawKind::exponential, .first = 2}) < 80);
  CHECK(largest({.kind = LawKind::exponential, .first = 2}) > 70);
  CHECK(largest({.kind = LawKind::list, .values = {1, 5, 2}}) == 5);
  CHECK(std::isinf(largest({.kind = LawKind::gamma, .first = 2, .second = 1})));
}

TEST_CASE("a beginning that cannot be is not believed, and of several the middle one is") {
  const Duration now = std::chrono::hours(10), longest = std::chrono::seconds(100);
  const auto since = [&](std::vector<BeginningClaim> claims) {
    const auto believed = believable(std::move(claims), now, longest);
    return believed ? std::optional(believed->since - now) : std::nullopt;
  };
  using std::chrono::seconds;
  CHECK_FALSE(since({}));
  CHECK_FALSE(since({began(now - seconds(1'000'000))}));
  CHECK_FALSE(since({began(now + seconds(100'000'000))}));
  CHECK_FALSE(since({began(now + head_start + milliseconds(2))}));
  CHECK(since({began(now + head_start)}) == head_start);
  CHECK(since({began(now - seconds(99))}) == -seconds(99));
  CHECK(since({began(now - seconds(99)), began(now - seconds(7)), began(now - seconds(8))}) == -seconds(8));
  CHECK(since({began(now + seconds(9)), began(now - seconds(7)), began(now - seconds(8))}) == -seconds(8));
}

TEST_CASE("a host that says that the run began long ago does not end it at the others") {
  CHECK(beside<Backdating>().messages.computations > 50);
}

TEST_CASE("a host that does not hear this one is never met: nothing is told of it when it leaves or falls silent") {
  Membership::Settings settings = settings_of({"a", "b", "c"});
  std::atomic<std::int64_t> ahead{0};  // seconds of silence that the test does not wait for
  settings.now = [&] { return monotonic_now() + std::chrono::seconds(ahead); };
  std::atomic<int> told{0}, silent{0};
  settings.on_event = [&](const RunEvent& event) { told += event.host != "a"; };
  settings.on_lost = [&](HostId) { ++silent; };
  Scene host(settings);
  host.membership.start();
  Hello hello;
  hello.heard_life = 0;
  host.introduce(b, hello);
  host.introduce(c, hello);
  CHECK(host.membership.host_info(b));
  host.membership.note_leaving(b, "complete");
  CHECK(host.membership.status(b).state == "never met");
  ahead = 60;
  CHECK(comes_true([&] { return silent == 2; }));
  host.membership.stop({});
  CHECK(told == 0);
  CHECK(host.membership.status(b).state == "never met");
  CHECK(host.membership.absences().empty());
}

TEST_CASE("a run that all have left is as old as the hosts that were in it say, and not beyond its end") {
  using std::chrono::seconds;
  Scene host;
  host.membership.set_past(5, seconds(60));
  Hello hello;
  const auto told = [&](std::uint64_t run, Duration came) {
    hello.self.begun = run, hello.self.came_to = came;
    host.introduce(b, hello);
    return came_to(host.membership, 5, seconds(100));
  };
  CHECK(told(5, seconds(40)) == seconds(60));
  CHECK(told(5, seconds(61)) == seconds(61));
  CHECK(told(6, seconds(61)) == seconds(60));
  CHECK(told(5, std::chrono::hours(9)) == seconds(100));
}

TEST_CASE("a clock's answer that was not asked for moves nothing") {
  Scene host;
  host.introduce(b);
  const std::uint64_t before = host.membership.ignored();
  const Duration now = monotonic_now();
  for (std::uint64_t nonce = 0; nonce < 100; ++nonce) host.hear(b, parcel_of(ParcelKind::clock_answer, Answer{nonce, now, now}));
  CHECK(host.membership.ignored() - before == 100);
  CHECK_FALSE(host.membership.offset(b));
}

TEST_CASE("the number of a host's life is its record's, or what others know beyond it within reason") {
  CHECK(next_life(3, 0) == 3);
  CHECK(next_life(3, 5) == 5);
  CHECK(next_life(3, 259) == 259);
  CHECK(next_life(3, 260) == 3);
  CHECK(next_life(3, 0xFFFF'FFFF) == 3);
  CHECK(next_life(65'535, 0) == 65'535);
  CHECK(contains(complaint<std::invalid_argument>([] { next_life(65'536, 0); }), "65,536 lives"));
}

TEST_CASE("a hello that numbers lives beyond the last is no hello") {
  Scene host;
  Hello hello;
  hello.lives = 0xFFFF'FFFF;
  host.introduce(b, hello);
  hello = {};
  hello.self.incarnation = 70'000;
  host.introduce(b, hello);
  CHECK(host.membership.ignored() == 2);
  CHECK_FALSE(host.membership.host_info(b));
}

TEST_CASE("a message of a life beyond the last, or of the last epoch, is no message") {
  const auto is_read = [](std::uint32_t life, std::uint32_t epoch) {
    Message message;
    message.id.incarnation = life;
    message.epoch = {epoch, 1};
    return to_message(to_parcel(message, {{.receiver = {1}}}, false), 2).has_value();
  };
  CHECK(is_read(65'535, 0));
  CHECK_FALSE(is_read(65'536, 0));
  CHECK_FALSE(is_read(65'537, 0));
  CHECK(is_read(0, 0xFFFF'FFFE));
  CHECK_FALSE(is_read(0, 0xFFFF'FFFF));
}

TEST_CASE("a host of a virtual run that is there and stands still is named, and given up in the end") {
  Walking host;
  CHECK_FALSE(host.look_after(20));
  CHECK(is_said(host.look_after(31), "waiting for host \"c\", which stands at step 12", 31));
  CHECK_FALSE(host.look_after(40));
  CHECK(is_said(host.look_after(62), "waiting for host \"c\", which stands at step 12", 62));
  CHECK_FALSE(host.progress.failure());
  host.look_after(601);
  CHECK(is_said(host.progress.failure(), "the run does not go on without host \"c\", which stands at step 12", 601));
}

TEST_CASE("a host of a virtual run that does not say where it stands does not keep others from stopping") {
  Walking host;
  host.progress.on_stop_wanted();
  host.hear(b, parcel_of(ParcelKind::notice, Notice{.position = 40, .is_halting = true, .halted_at = std::chrono::seconds(4)}));
  CHECK_FALSE(host.look_after(0));
  CHECK_FALSE(host.progress.failure());
  host.look_after(11);
  CHECK(is_said(host.progress.failure(), "the run was stopped without waiting for host \"c\", which stands at step 12", 11));
}

TEST_CASE("which sample is the last of a virtual run is said by the first host alone, and of the reasons there are") {
  Hub hub(3);
  const auto end = hub.end(b);
  Membership membership(*end, settings_of({"a", "b", "c"}, true));
  TensorPool pool;
  ItemExchange items(membership, *end, pool);
  HostProgress progress(membership, *end, items, {a, b, c});
  const auto hear = [&](HostId from, Parcel parcel) { membership.on_parcel(from, std::move(parcel), monotonic_now()); };
  Hello hello;
  hello.self.is_virtual = true;
  for (const HostId other : {a, c}) hear(other, parcel_of(ParcelKind::hello, hello));
  const auto ended_by_word_of = [&](HostId host, const std::string& reason) {
    hear(host, parcel_of(ParcelKind::notice, Notice{.last_sample = 3, .ended_by = reason}));
    return progress.ended_by();
  };
  CHECK(ended_by_word_of(c, "metrics.stop") == "");
  CHECK(ended_by_word_of(a, "\x1b[2J") == "");
  CHECK(ended_by_word_of(a, "metrics.stop") == "metrics.stop");
  membership.stop({});
}

TEST_CASE("what other hosts say is shown without what steers a terminal, and not beyond a bound") {
  Walking host;
  host.hear(b, parcel_of(ParcelKind::notice, Notice{.failure = "host \"b\": \x1b[2J" + std::string(1900, 'x')}));
  REQUIRE(host.progress.failure());
  CHECK(contains(*host.progress.failure(), "host \"b\": \\x1b[2J"));
  Walking other;
  other.hear(b, parcel_of(ParcelKind::notice, Notice{.failure = std::string(5000, 'x')}));
  CHECK_FALSE(other.progress.failure());
  Scene meeting;
  Hello hello;
  hello.self.version = "\x1b]0;owned\a";
  meeting.introduce(b, hello);
  CHECK(contains(meeting.membership.refusal(b), "another version of rubato (\\x1b]0;owned\\x07)"));
}

TEST_CASE("in real time one mistaken host is refused and named, and the others go on") {
  Hub hub(3);
  std::vector<std::unique_ptr<Transport>> ends;
  std::mutex mutex;
  std::vector<std::string> refused;  // as host a is told, in the order of time
  std::vector<std::unique_ptr<Membership>> hosts;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Membership::Settings settings = settings_of({"a", "b", "c"});
    if (i == 2) settings.self.run = "another";
    if (i == 0)
      settings.on_event = [&](const RunEvent& event) {
        const std::lock_guard lock(mutex);
        if (event.event == "refused") refused.push_back(event.host);
      };
    ends.push_back(hub.end(HostId{i}));
    hosts.push_back(std::make_unique<Membership>(*ends.back(), settings));
    hosts.back()->start();
  }
  CHECK(contains(complaint<std::invalid_argument>([&] { hosts[2]->meet(patience); }), "has another experiment"));
  REQUIRE(comes_true([&] { return hosts[0]->offset(b) && hosts[1]->offset(a); }));
  CHECK(hosts[0]->meet(std::chrono::seconds(5)) == std::vector<HostId>{a, b});
  CHECK(hosts[1]->meet(milliseconds(1)) == std::vector<HostId>{a, b});
  CHECK(comes_true([&] {
    const std::lock_guard lock(mutex);
    return refused == std::vector<std::string>{"c"};
  }));
  CHECK(contains(hosts[0]->refusal(c), "host \"c\" has another experiment (another)"));
  CHECK_FALSE(hosts[0]->is_alive(c));
  for (auto& host : hosts) host->stop({});
}

TEST_CASE("what is left out of what a host sends is told with its name at once, and then once a minute") {
  Conduct conduct(2);
  const Duration start = std::chrono::seconds(5);
  const auto told = [&](Duration after) {
    std::vector<std::uint64_t> counts;
    for (const Conduct::Word& word : conduct.due(start + after)) {
      CHECK(word.host == b);
      CHECK(word.what == Misdeed::message);
      counts.push_back(word.count);
    }
    return counts;
  };
  CHECK(told({}).empty());
  conduct.add(b, Misdeed::message);
  CHECK(told({}) == std::vector<std::uint64_t>{1});
  for (int i = 0; i < 5; ++i) conduct.add(b, Misdeed::message);
  CHECK(told(std::chrono::seconds(59)).empty());
  CHECK(told(std::chrono::seconds(60)) == std::vector<std::uint64_t>{6});
  CHECK(told(std::chrono::seconds(600)).empty());
  conduct.add({7}, Misdeed::message);  // no host
}

TEST_CASE("a host that greets or asks faster than any has to gets a bounded number of answers, and is named") {
  std::mutex mutex;
  std::vector<std::string> events;
  Membership::Settings settings = settings_of({"a", "b", "c"});
  settings.on_event = [&](const RunEvent& event) {
    const std::lock_guard lock(mutex);
    if (event.event == "ignored") events.push_back(event.host + ": " + std::get<std::string>(event.fields.back().second));
  };
  Scene host(settings);
  host.membership.start();
  host.introduce(b);
  for (int i = 0; i < 5000; ++i) host.hear(b, parcel_with(ParcelKind::clock_ask, std::vector<std::byte>(8)));
  for (std::uint64_t life = 2; life < 50; ++life) {
    Hello hello;
    hello.self.life = life;
    host.introduce(b, hello);
  }
  CHECK(host.membership.ignored() > 1000);
  CHECK(host.membership.life(b) < 40);
  CHECK(comes_true([&] {
    const std::lock_guard lock(mutex);
    return events == std::vector<std::string>{"b: greetings, questions for the time, or lives faster than they are taken"};
  }));
}

TEST_CASE("a host says how often its messages came, within what any link doubles") {
  const RunResult result = beside<Doubling>();
  CHECK(result.messages.duplicates == 0);
  CHECK(contains(result.hosts.back(), " no messages of this run"));
}

TEST_CASE("a host says at the end what its clients have counted, within what can be counted") {
  FinalClient last;
  CHECK(last.is_possible(3));
  const auto is_refused = [&](auto change) {
    FinalClient changed = last;
    change(changed);
    return !changed.is_possible(3);
  };
  CHECK(is_refused([](FinalClient& client) { client.counts.late = ~std::uint64_t{0}; }));
  CHECK(is_refused([](FinalClient& client) { client.steps = ~std::uint64_t{0}; }));
  CHECK(is_refused([](FinalClient& client) { client.seconds = NAN; }));
  CHECK(is_refused([](FinalClient& client) { client.exchanges.counts.met = ~std::uint64_t{0}; }));
  CHECK(is_refused([](FinalClient& client) { client.exchanges.counts.asking = Duration::max(); }));
  CHECK(is_refused([](FinalClient& client) { client.staleness_sum = INFINITY; }));
  CHECK(is_refused([](FinalClient& client) { client.snapshot.traffic.paper_bits = NAN; }));
  CHECK(is_refused([](FinalClient& client) { client.screened.push_back({.sender = {3}, .receiver = {0}}); }));
  CHECK(is_refused([](FinalClient& client) { client.collaboration.push_back({{3}, 1}); }));
  CHECK(is_refused([](FinalClient& client) { client.snapshot.collaboration.push_back({{3}, 1}); }));
}
