// The hub keeps the contract of transports, and a few promises of its own.
#include "transports/hub.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "tests/transports/collector.hpp"
#include "tests/transports/transport_contract.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

class HubEnds final : public Ends {
 public:
  HubEnds(std::uint32_t hosts, std::size_t queue_bytes) : hub_{hosts, queue_bytes} {
    for (std::uint32_t host = 0; host < hosts; ++host) ends_.push_back(hub_.end(HostId{host}));
  }
  Transport& operator[](std::uint32_t host) override { return *ends_[host]; }

 private:
  Hub hub_;
  std::vector<std::unique_ptr<Transport>> ends_;
};

}  // namespace

TEST_CASE("the hub keeps the transport contract") {
  transport_contract([](std::uint32_t hosts, std::size_t queue_bytes) { return std::make_unique<HubEnds>(hosts, queue_bytes); });
}

TEST_CASE("the hub hands tensors over without a copy") {
  TensorPool pool;
  Hub hub(2);
  Collector heard;
  const auto one = hub.end(HostId{0}), other = hub.end(HostId{1});
  other->start(heard);
  Parcel parcel;
  parcel.tensors = {tensor_of(pool, Scalar::float32, 1'000'000)};
  const float* const numbers = parcel.tensors[0].data<float>();
  const std::size_t reserved = pool.reserved_bytes();
  REQUIRE(one->send(HostId{1}, std::move(parcel)));
  REQUIRE(heard.wait_for(1));
  CHECK(heard.heard()[0].parcel.tensors[0].data<float>() == numbers);
  CHECK(pool.reserved_bytes() == reserved);
  other->stop({});
}

TEST_CASE("a host has one end at a time on a hub, and must be one of its hosts") {
  Hub hub(2);
  auto end = hub.end(HostId{1});
  CHECK_THROWS_WITH_AS(hub.end(HostId{1}), "host 1 has an end on this hub already", std::invalid_argument);
  CHECK_THROWS_WITH_AS(hub.end(HostId{2}), "host 2 is not on this hub, which has 2 hosts", std::invalid_argument);
  end.reset();
  CHECK_NOTHROW(hub.end(HostId{1}));
}

TEST_CASE("a host that comes back to the hub finds what the others have sent meanwhile") {
  Hub hub(2);
  const auto one = hub.end(HostId{0});
  Collector first, second;
  {
    const auto other = hub.end(HostId{1});
    other->start(first);
    one->send(HostId{1}, numbered(0));
    REQUIRE(first.wait_for(1));
  }
  one->send(HostId{1}, numbered(1));
  const auto other = hub.end(HostId{1});
  other->start(second);
  one->send(HostId{1}, numbered(2));
  REQUIRE(second.wait_for(2));
  other->stop({});
  CHECK(numbers_of(second.heard()) == std::vector<std::uint64_t>{1, 2});
  CHECK(first.count() == 1);
}

TEST_CASE("on the hub a host that sends much keeps no other waiting") {
  Hub hub(3);
  const auto busy = hub.end(HostId{0}), calm = hub.end(HostId{1}), listener = hub.end(HostId{2});
  for (std::uint64_t i = 0; i < 100; ++i) busy->send(HostId{2}, numbered(i));
  calm->send(HostId{2}, numbered(1000));
  Collector heard;
  listener->start(heard);
  REQUIRE(heard.wait_for(101));
  listener->stop({});
  const auto numbers = numbers_of(heard.heard());
  CHECK((numbers[0] == 1000 || numbers[1] == 1000));
}
