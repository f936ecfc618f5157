// What one host keeps and another wants: it comes, whole, however much is lost, and is let go of when it has come.
#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <thread>

#include "actors/hosts/item_exchange.hpp"
#include "results/evaluation.hpp"
#include "tests/actors/hosts.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

// What a transport is about to send until it is let go.
struct Held {
  void wait_for_one() const { is_there.wait(false); }
  void let_go() {
    may_go = true;
    may_go.notify_all();
  }
  std::atomic<bool> is_there{false}, may_go{false}, has_left{false};
};

class SlowReceipts final : public Transport {
 public:
  SlowReceipts(std::unique_ptr<Transport> inner, Held& receipts) : inner_{std::move(inner)}, receipts_{receipts} {}

  HostId self() const override { return inner_->self(); }
  void start(ParcelSink& sink) override { inner_->start(sink); }
  bool send(HostId to, Parcel parcel) override {
    const bool is_receipt = parcel.kind == ParcelKind::have;
    if (is_receipt) {
      receipts_.is_there = true;
      receipts_.is_there.notify_all();
      receipts_.may_go.wait(false);
    }
    const bool is_accepted = inner_->send(to, std::move(parcel));
    if (is_receipt) receipts_.has_left = true;
    return is_accepted;
  }
  void stop(Duration linger) override { inner_->stop(linger); }
  TransportCounts counts() const override { return inner_->counts(); }

 private:
  std::unique_ptr<Transport> inner_;
  Held& receipts_;
};

// Two hosts who know each other.
class Pair {
 public:
  explicit Pair(const Impairment& links = {}, std::size_t queue_bytes = Hub::usual_queue_bytes, Held* receipts = nullptr)
      : hub_{2, queue_bytes} {
    for (std::uint32_t i = 0; i < 2; ++i) {
      connect(i, links);
      if (receipts && i == 1) transports_[i] = std::make_unique<SlowReceipts>(std::move(transports_[i]), *receipts);
      open(i, 1, queue_bytes);
    }
    for (auto& membership : assemblies_) membership->start();
    for (auto& membership : assemblies_) REQUIRE(membership->meet(patience).size() == 2);
  }
  ~Pair() {
    for (auto& membership : assemblies_) membership->stop({});
  }

  /// The receiver is killed and started again.
  void restart_receiver() {
    assemblies_[1]->stop({});
    depots_[1].reset();
    assemblies_[1].reset();
    transports_[1].reset();
    ends_[1].reset();
    connect(1, {});
    open(1, 2, Hub::usual_queue_bytes);
    assemblies_[1]->start();
    REQUIRE(assemblies_[1]->meet(patience).size() == 2);
  }

  ItemExchange& owner() { return *depots_[0]; }
  ItemExchange& receiver() { return *depots_[1]; }
  Membership& membership(std::size_t host) { return *assemblies_[host]; }

 private:
  void connect(std::uint32_t host, const Impairment& links) {
    ends_[host] = hub_.end(HostId{host});
    transports_[host] = std::make_unique<Impaired>(*ends_[host], links, 3 + host);
  }
  void open(std::uint32_t host, std::uint64_t life, std::size_t queue_bytes) {
    Membership::Settings settings;
    settings.names = {"a", "b"};
    settings.self = {"run", "arithmetic", "1.0", life, true, std::nullopt};
    assemblies_[host] = std::make_unique<Membership>(*transports_[host], settings);
    depots_[host] = std::make_unique<ItemExchange>(*assemblies_[host], *transports_[host], pool_, queue_bytes / 4);
  }

  TensorPool pool_;
  Hub hub_;
  std::unique_ptr<Transport> ends_[2];
  std::unique_ptr<Transport> transports_[2];
  std::unique_ptr<Membership> assemblies_[2];
  std::unique_ptr<ItemExchange> depots_[2];
};

// Everything that is received, by number; waits for it.
class Shelf {
 public:
  ItemExchange::Receive receive(std::uint64_t number) {
    return [this, number](std::optional<Item> item) {
      const std::lock_guard lock(mutex_);
      ++calls_;
      if (item) goods_[number] = std::move(*item);
      changed_.notify_all();
      return true;
    };
  }
  bool has(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return goods_.size() >= count; });
  }
  const Item& at(std::uint64_t number) { return goods_.at(number); }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return goods_.size();
  }
  std::size_t calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Item> goods_;
  std::size_t calls_ = 0;
};

const HostId a{0}, b{1};

ItemName payload(std::uint64_t number) { return {ItemKind::payload, number}; }

Item marked(std::uint64_t number) { return {std::vector<std::byte>(3, static_cast<std::byte>(number)), {}}; }

ItemExchange::Pack packing(std::uint64_t number) {
  return [number](HostId) { return marked(number); };
}

bool is_empty_soon(const ItemExchange& items) {
  return comes_true([&] { return items.kept() == 0; });
}

Tensor tensor(TensorPool& pool, std::size_t count, float first) {
  Tensor made = pool.make<float>(count);
  for (std::size_t i = 0; i < count; ++i) made.writable<float>()[i] = first + static_cast<float>(i);
  return made;
}

}  // namespace

TEST_CASE("items come whether they were asked for before they were promised, before they were there, or after") {
  Pair pair;
  Shelf shelf;
  pair.receiver().want(payload(0), a, shelf.receive(0));
  pair.owner().promise(payload(1), {b});
  pair.receiver().want(payload(1), a, shelf.receive(1));
  pair.owner().deliver(payload(1), packing(1));
  REQUIRE(shelf.has(1));
  CHECK(shelf.at(1).head == marked(1).head);
}

TEST_CASE("ten thousand things come, each once, over links that lose, double and overtake, and then nothing is kept") {
  constexpr std::uint64_t many = 10'000;
  Pair pair(bad_links());
  Shelf shelf;
  for (std::uint64_t i = 0; i < many; ++i) {
    if (i % 2 == 0) pair.receiver().want(payload(i), a, shelf.receive(i));
    pair.owner().promise(payload(i), {b});
    pair.owner().deliver(payload(i), packing(i));
    if (i % 2 == 1) pair.receiver().want(payload(i), a, shelf.receive(i));
  }
  REQUIRE(shelf.has(many));
  for (std::uint64_t i = 0; i < many; ++i) REQUIRE(shelf.at(i).head == marked(i).head);
  CHECK(is_empty_soon(pair.owner()));
  CHECK(shelf.calls() == many);
}

TEST_CASE("items larger than the queue and than a parcel come whole, in their order") {
  constexpr std::size_t tensors = 500, numbers = 10'000;  // 20 MB
  TensorPool pool;
  Pair pair({}, std::size_t{1} << 20);
  Shelf shelf;
  Item large{std::vector<std::byte>(100, std::byte{7}), {}};
  for (std::size_t i = 0; i < tensors; ++i) large.tensors.push_back(tensor(pool, numbers, static_cast<float>(i)));
  pair.owner().promise(payload(0), {b});
  pair.owner().deliver(payload(0), [&](HostId) { return large; });
  pair.receiver().want(payload(0), a, shelf.receive(0));
  REQUIRE(shelf.has(1));
  CHECK(shelf.at(0).head == large.head);
  REQUIRE(shelf.at(0).tensors.size() == tensors);
  for (std::size_t i = 0; i < tensors; ++i) CHECK(shelf.at(0).tensors[i].data<float>()[1] == static_cast<float>(i + 1));
  CHECK(is_empty_soon(pair.owner()));
}

TEST_CASE("what no host will ask for is let go of, and a host that keeps less hears of it") {
  Pair pair;
  std::atomic<int> heard{0};
  pair.owner().on_less([&] { ++heard; });
  pair.owner().promise(payload(0), {b});
  CHECK(pair.owner().kept() == 1);
  CHECK(pair.owner().keeps(payload(0)));
  pair.owner().let_go(payload(0), b);
  CHECK(pair.owner().kept() == 0);
  CHECK(heard == 1);
  pair.owner().deliver(payload(0), packing(0));
  CHECK(pair.owner().kept() == 0);
}

TEST_CASE("items that cannot be what they should be are asked for again") {
  Pair pair;
  std::atomic<int> calls{0};
  pair.receiver().want(payload(0), a, [&](std::optional<Item>) { return ++calls == 3; });
  pair.owner().promise(payload(0), {b});
  pair.owner().deliver(payload(0), packing(0));
  CHECK(is_empty_soon(pair.owner()));
  CHECK(calls == 3);
  CHECK(pair.receiver().refused() == 2);
}

TEST_CASE("a host that settles before it goes leaves no other waiting for a receipt") {
  for (std::uint64_t round = 0; round < 50; ++round) {
    Shelf shelf;
    auto pair = std::make_unique<Pair>();
    ItemExchange& owner = pair->owner();
    owner.promise(payload(0), {b});
    owner.deliver(payload(0), packing(0));
    pair->receiver().want(payload(0), a, shelf.receive(0));
    REQUIRE(shelf.has(1));
    pair->receiver().settle();
    pair->membership(1).stop(std::chrono::seconds(1));
    CHECK(is_empty_soon(owner));
  }
}

TEST_CASE("who settles waits for words that are on their way to the links") {
  Held receipts;
  Shelf shelf;
  Pair pair({}, Hub::usual_queue_bytes, &receipts);
  pair.owner().promise(payload(0), {b});
  pair.owner().deliver(payload(0), packing(0));
  pair.receiver().want(payload(0), a, shelf.receive(0));
  receipts.wait_for_one();
  std::atomic<bool> settles{false};
  std::thread other([&] {
    settles.wait(false);
    receipts.let_go();
  });
  settles = true;
  settles.notify_one();
  pair.receiver().settle();
  CHECK(receipts.has_left.load());
  other.join();
  pair.membership(1).stop(std::chrono::seconds(1));
  CHECK(is_empty_soon(pair.owner()));
}

TEST_CASE("a host that is started again gets what it asks for, whatever its earlier life has asked for") {
  Pair pair;
  Shelf before, after;
  const ItemName first{ItemKind::snapshot, 0}, second{ItemKind::snapshot, 1};
  pair.receiver().want(payload(0), a, before.receive(0));
  pair.receiver().want(first, a, before.receive(1));
  pair.owner().promise(first, {b});
  pair.owner().deliver(first, packing(1));
  REQUIRE(before.has(1));                // and so the owner knows that payload 0 is wanted
  REQUIRE(is_empty_soon(pair.owner()));  // or it would keep the first snapshot for the new life, which does not ask
  pair.restart_receiver();
  pair.owner().promise(payload(0), {b});
  pair.owner().deliver(payload(0), packing(0));
  pair.owner().promise(second, {b});
  pair.owner().deliver(second, packing(2));
  pair.receiver().want(second, a, after.receive(2));
  REQUIRE(after.has(1));  // payload 0 would have come before it
  pair.receiver().want(payload(0), a, after.receive(0));
  CHECK(after.has(2));
  CHECK(is_empty_soon(pair.owner()));
}

TEST_CASE("who gives up tells all who wait that nothing will come, then and later") {
  Pair pair;
  std::atomic<int> nothing{0};
  const auto receive = [&](const std::optional<Item>& item) {
    nothing += item ? 100 : 1;
    return true;
  };
  pair.receiver().want(payload(0), a, receive);
  pair.receiver().want(payload(1), a, receive);
  CHECK(nothing == 0);
  pair.receiver().give_up();
  CHECK(nothing == 2);
  pair.receiver().want(payload(2), a, receive);
  CHECK(nothing == 3);
}

TEST_CASE("items that are longer than any can be are refused while they come, and what they should be is still awaited") {
  Pair pair({}, std::size_t{1} << 20);
  Shelf shelf;
  TensorPool pool;
  pair.receiver().allow(7, 200'000);
  pair.receiver().want(payload(0), a, shelf.receive(0));
  pair.owner().promise(payload(0), {b});
  std::atomic<bool> is_honest{false};
  pair.owner().deliver(payload(0), [&](HostId) {
    Item item;
    for (int part = 0; part < (is_honest ? 3 : 12); ++part) item.tensors.push_back(tensor(pool, 50'000, 1));  // 200 KB each
    return item;
  });
  CHECK(comes_true([&] { return pair.receiver().refused() > 0; }));
  CHECK(shelf.size() == 0);
  is_honest = true;
  REQUIRE(shelf.has(1));
  CHECK(shelf.at(0).tensors.size() == 3);
}

TEST_CASE("noise in the place of wants, items and receipts changes nothing") {
  Pair pair;
  Shelf shelf;
  pair.owner().promise(payload(0), {b});
  pair.receiver().want(payload(0), a, shelf.receive(0));
  Stream chance(2, no_client, Purpose::evaluation);
  for (const ParcelKind kind : {ParcelKind::want, ParcelKind::payload, ParcelKind::have})
    for (std::size_t i = 0; i < 3000; ++i) {
      std::vector<std::byte> noise(chance.below(40));
      for (std::byte& byte : noise) byte = static_cast<std::byte>(chance.below(i % 2 == 0 ? 256 : 2));
      pair.membership(0).on_parcel(b, {kind, WhenFull::wait, false, noise, {}}, monotonic_now());
    }
  CHECK(shelf.size() == 0);
  pair.owner().deliver(payload(0), packing(0));
  CHECK(shelf.has(1));
}

// ---- payloads and snapshots as items -------------------------------------------------------------------------------

TEST_CASE("a payload arrives with what is common and what belongs to the receivers there, at their places") {
  TensorPool pool;
  Payload sent;
  sent.common[1] = tensor(pool, 4, 10);
  sent.paper_bits = 77;
  sent.own_each = 2;
  for (int i = 0; i < 6; ++i) sent.own.push_back(i == 5 ? Tensor{} : tensor(pool, 3, static_cast<float>(100 * i)));
  const std::vector<std::uint32_t> places = {2, 0};
  const std::optional<Payload> got = payload_of(packed_payload(sent, places), 3);
  REQUIRE(got);
  CHECK_FALSE(got->common[0]);
  CHECK(got->common[1].data<float>()[3] == 13);
  CHECK(got->paper_bits == 77);
  CHECK(got->own_each == 2);
  CHECK(got->own[0].data<float>()[0] == 0);
  CHECK(got->own[1].data<float>()[0] == 100);
  CHECK_FALSE(got->own[2]);
  CHECK_FALSE(got->own[3]);
  CHECK(got->own[4].data<float>()[0] == 400);
  CHECK_FALSE(got->own[5]);
}

TEST_CASE("a payload with a place that no receiver has, or with other tensors than it says, is none") {
  TensorPool pool;
  Payload sent;
  sent.own.push_back(tensor(pool, 3, 0));
  const std::vector<std::uint32_t> place = {0};
  CHECK_FALSE(payload_of(packed_payload(sent, place), 0));
  Item fewer = packed_payload(sent, place);
  fewer.tensors.clear();
  CHECK_FALSE(payload_of(fewer, 1));
  Item longer = packed_payload(sent, place);
  longer.head.push_back(std::byte{0});
  CHECK_FALSE(payload_of(longer, 1));
  for (std::size_t size = 0; size + 1 < longer.head.size(); ++size) {
    Item shorter = packed_payload(sent, place);
    shorter.head.resize(size);
    CHECK_FALSE(payload_of(shorter, 1));
  }
}

TEST_CASE("a snapshot arrives as it was, with its parts of balances by name and its tracker") {
  TensorPool pool;
  Snapshot sent{
      tensor(pool, 5, 1), {3, 400, 5.5, 6}, {{"mass", {1, 2, 3}}, {"weight", {4}}}, {{"nu", std::vector<double>(5, 0.25)}}};
  const Item whole = item_of(sent, &pool);
  const auto got = read_item<Snapshot>(whole.head, whole.tensors);
  REQUIRE(got);
  CHECK(got->model.data<float>()[4] == 5);
  CHECK(got->traffic.messages == 3);
  CHECK(got->traffic.bytes == 400);
  CHECK(got->traffic.paper_bits == 5.5);
  CHECK(got->traffic.gradients == 6);
  REQUIRE(got->balance.size() == 2);
  CHECK(got->balance[0].name == "mass");
  CHECK(got->balance[0].values == std::vector<double>{1, 2, 3});
  REQUIRE(got->tracked.size() == 1);
  CHECK(got->tracked[0].name == "nu");
  CHECK(got->tracked[0].values == sent.tracked[0].values);
  Item torn = whole;
  torn.tensors.pop_back();
  CHECK_FALSE(read_item<Snapshot>(torn.head, torn.tensors));
  torn = whole;
  torn.tensors[1] = tensor(pool, 3, 1);  // no doubles
  CHECK_FALSE(read_item<Snapshot>(torn.head, torn.tensors));
}
