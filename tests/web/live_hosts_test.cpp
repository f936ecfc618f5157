// What the page of one host of a run in real time shows of the others.
#include <doctest/doctest.h>

#include <map>
#include <mutex>
#include <thread>

#include "tests/actors/hosts.hpp"
#include "tests/web/support.hpp"
#include "web/live/live_run.hpp"

using namespace rubato;
using namespace rubato::web;

namespace {

// Of hosts a, b and c: it goes on until it is stopped.
config::Experiment watched_run() {
  std::vector<std::string> keys = test::digits_instead();
  for (const char* key : {"clock=wall", "time_scale=30", "mailbox.deadline=30.0", "until=3600.5", "metrics.every_events=0",
                          "metrics.every_seconds=9.0", "hosts.lost_after=1.0", "hosts.drain=2.0"})
    keys.emplace_back(key);
  return test::over_hosts(test::experiment(keys), 3);
}

/// Its hosts, and a page that looks at a.
struct Watched {
  config::Experiment run = watched_run();
  TensorPool pool;
  Hub hub{3};
  LiveRun page{run, {.kind = "node", .host = "a"}};
  std::atomic<bool> stop{false}, c_is_cut{false};
  std::mutex mutex;                                // guards what follows
  std::map<std::string, std::vector<Sample>> own;  // by host, as it told its caller
  std::map<std::string, RunResult> results;
  std::map<std::string, std::uint64_t> views;  // that left, by host
  std::vector<std::thread> threads;

  /// Counts the views that leave, and is cut off when the test says so.
  class Wire final : public Transport {
   public:
    Wire(Watched& all, std::uint32_t host) : all_{all}, inner_{all.hub.end(HostId{host}), all.pool} {}
    HostId self() const override { return inner_.self(); }
    void start(ParcelSink& sink) override { inner_.start(sink); }
    bool send(HostId to, Parcel parcel) override {
      const HostId c{2};
      if (all_.c_is_cut && (to == c || self() == c)) return true;
      if (parcel.kind == ParcelKind::view && !parcel.head.empty()) {
        const std::lock_guard lock(all_.mutex);
        ++all_.views[all_.run.roster[self().value].name];
      }
      return inner_.send(to, std::move(parcel));
    }
    void stop(Duration linger) override { inner_.stop(linger); }
    TransportCounts counts() const override { return inner_.counts(); }

   private:
    Watched& all_;
    test::WireLike inner_;
  };

  void begin(bool a_asks) {
    for (std::uint32_t i = 0; i < 3; ++i)
      threads.emplace_back([this, i, a_asks] {
        const std::string name = run.roster[i].name;
        Wire wire(*this, i);
        RunOptions options = test::on_threads(1);
        options.stop = &stop;
        options.on_sample = [this, name](const Sample& sample) {
          const std::lock_guard lock(mutex);
          own[name].push_back(sample);
        };
        HostOptions host;
        if (i == 0) {
          host.asks_for_views = a_asks;
          host.on_status = [this](const HostStatus& status) { page.add(status); };
        }
        RunResult result = run_host(run, options, host, wire);
        const std::lock_guard lock(mutex);
        results[name] = std::move(result);
      });
  }
  void end() {
    stop = true;
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }
  ~Watched() { end(); }

  std::vector<Json> told_by(std::size_t host) const {
    std::vector<Json> rows;
    const Json told = Json::parse(page.views(0))["rows"];
    for (const Json& row : told)
      if (row[0] == host && !row[6].is_null()) rows.push_back(row);
    return rows;
  }
  Json host(std::size_t which) const {
    const Json rows = Json::parse(page.hosts())["rows"];
    return which < rows.size() ? rows[which] : Json{{"state", ""}};
  }
};

}  // namespace

TEST_CASE(
    "the page of one host shows the accuracy of the clients of all, and of one that fell silent the last it said and how old") {
  Watched watched;
  watched.begin(true);
  REQUIRE(test::comes_true(
      [&] { return watched.told_by(0).size() > 2 && watched.told_by(1).size() > 2 && watched.told_by(2).size() > 2; }));
  watched.c_is_cut = true;
  REQUIRE(test::comes_true([&] { return watched.host(2)["state"] == "lost" && watched.host(2)["view_age"] > 2; }));
  const Json last = watched.host(2);
  CHECK(last["name"] == "c");
  CHECK(last["accuracy"] == watched.told_by(2).back()[3]);
  CHECK(last["clients"] == 2);
  CHECK(last["sent"] > 0);
  REQUIRE(test::comes_true([&] { return watched.host(2)["view_age"] > last["view_age"].get<double>() + 1; }));
  CHECK(watched.host(2)["accuracy"] == last["accuracy"]);
  CHECK(watched.host(2)["sent"] == last["sent"]);
  CHECK(watched.host(1)["view_age"] < 100);  // it goes on telling, however busy the machine is
  const Json b_said = watched.host(1);
  watched.end();
  for (const std::size_t host : {0, 1, 2}) {
    CAPTURE(host);
    const std::string name = watched.run.roster[host].name;
    for (const Json& row : watched.told_by(host)) {
      const auto sample = std::ranges::find_if(
          watched.own[name], [&](const Sample& each) { return to_seconds(each.header.at) == row[1].get<double>(); });
      REQUIRE(sample != watched.own[name].end());
      CHECK(row[2] == sample->header.clients);
      CHECK(row[3] == sample->accuracy_mean);
      CHECK(row[4] == sample->accuracy_min);
      CHECK(row[5] == sample->worst->value);
      CHECK(row[6] == sample->loss_mean);
    }
  }
  std::uint64_t computations = 0, sent = 0, kept = 0;  // b's own, to the end
  for (const ClientId client : watched.results["b"].host_clients) {
    const MessageCounts& counts = watched.results["b"].by_client[client.value];
    computations += counts.computations, sent += counts.sent, kept += counts.kept;
  }
  CHECK(b_said["clients"] == watched.results["b"].host_clients.size());
  CHECK((b_said["computations"] > 0 && b_said["computations"] <= computations));
  CHECK((b_said["sent"] > 0 && b_said["sent"] <= sent));
  CHECK((b_said["delivered"] > 0 && b_said["delivered"] <= kept));
  CHECK(watched.views["a"] == 0);  // no other asks
}

TEST_CASE("where no host asks none tells the others of its clients") {
  Watched watched;
  watched.begin(false);
  REQUIRE(test::comes_true([&] { return watched.told_by(0).size() > 3; }));
  watched.end();
  CHECK(watched.views.empty());
  CHECK(watched.told_by(1).empty());
}
