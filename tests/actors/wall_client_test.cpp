// One client in real time, whose network is the test.
#include <doctest/doctest.h>

#include <utility>

#include "actors/core/run_parts.hpp"
#include "actors/wall/client.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

/// Keeps what was sent last; nothing arrives and no alarm rings.
class Keeping final : public ClientNetwork {
 public:
  void send(std::shared_ptr<const Message> message, std::vector<Delivery>) override { sent = std::move(message); }
  void later(Time, ClientId, WallEvent, bool) override {}
  void measured(ClientId, std::uint64_t, const MessageCounts&) override {}
  void counted(const WallClient&) override {}
  void refused(ClientId, Misdeed) override {}
  void saved(ClientId, std::uint64_t, std::vector<std::byte>) override {}
  bool is_hub(ClientId, std::uint64_t) const override { return false; }
  Duration round_trip(ClientId) const override { return {}; }

  std::shared_ptr<const Message> sent;
};

struct NoSnapshots final : SnapshotSink {
  void on_measure(const Step&, const Performer&, ThreadMemory&) override {}
};

}  // namespace

TEST_CASE("a message of a host whose clock is ahead is new when it arrives, however late it is handled") {
  const config::Experiment wall = experiment({"clock=wall", "algorithm.name=fedavg", "topology.kind=star", "mailbox.cap=none",
                                              "mailbox.cap_period=none", "unification.period=none", "channel={kind=\"ideal\"}"});
  const RunOptions options = on_threads(1);
  ResolvedExperiment resolved = resolve(wall, options);
  Preparation parts(resolved, options);
  parts.read_data(wall, options);
  auto protocols = parts.timing->make_protocols(true);
  const ClientViews views = parts.timing->views(true);
  NoSnapshots snapshots;
  ClientPool client_pool(snapshots, 1, false);
  WallClock clock(1);
  Keeping network;
  WallRecord record(nullptr);
  WallWorld world{.graph = parts.timing->graph,
                  .churn = parts.timing->churn,
                  .clock = clock,
                  .network = network,
                  .record = record,
                  .client_pool = client_pool};
  const auto client = [&](std::uint32_t i) {
    return WallClient(world, ClientId{i}, std::move(protocols[i]),
                      parts.task->make_performer(views.of(ClientId{i}, parts.task->samples()), client_pool.pool));
  };
  WallClient centre = client(0), worker = client(1);
  const auto memory = client_pool.lend();
  centre.handle({.kind = WallEvent::Kind::start}, *memory);
  REQUIRE(network.sent);
  auto ahead = std::make_shared<Message>(*network.sent);
  ahead->sent = Time{5s};
  worker.handle({.kind = WallEvent::Kind::count, .at = Time{10s}}, *memory);  // it has been at work until then
  worker.handle({.kind = WallEvent::Kind::message, .at = Time{4s}, .message = std::move(ahead), .delivery = {.receiver = {1}}},
                *memory);
  REQUIRE_FALSE(client_pool.failure());
  REQUIRE(worker.tally().staleness.count() == 1);
  CHECK(worker.tally().staleness.mean_seconds() == 0);
}
