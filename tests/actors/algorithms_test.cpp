// Every algorithm in whole runs: the examples, schedules that ask the models, and invariants that are watched.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "experiment/build/timing.hpp"
#include "experiment/file/experiment_file.hpp"
#include "runtime/engine/timing_check.hpp"
#include "runtime/world/topology.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

const std::vector<std::string> two_classes = {"data.partition.kind=by_class", "data.partition.classes=2"};

// A few clients on quadratics under one algorithm, with what it needs and nothing else.
config::Experiment few(const std::string& algorithm, const std::vector<std::string>& more = {}) {
  const std::string text = R"(
until = 40.5
[clients]
count = 6
[topology]
kind = "complete"
[algorithm]
name = ")" + algorithm + R"("
[data]
name = "quadratic"
dimension = 8
[model]
name = "quadratic"
[metrics]
every_events = 50
)";
  return experiment(more, text);
}

}  // namespace

TEST_CASE(
    "every algorithm with a continuous form has an example that gives one digest on 1 and 2 threads and beats being "
    "alone by 0.10") {
  std::map<std::string, double> accuracy;
  for (const auto& file : example_algorithms()) {
    CAPTURE(file);
    const config::Experiment with_two_classes = experiment_of(file, two_classes);
    const RunResult one = run(with_two_classes, on_threads(1)), two = run(with_two_classes, on_threads(2));
    CHECK(digests(one) == digests(two));
    accuracy[with_two_classes.algorithm.name] = one.samples.back().accuracy_mean;
  }
  for (const CatalogueEntry* entry : catalogue()) {
    CAPTURE(entry->name);
    const bool is_for_rounds_alone = entry->runs == Protocols{ProtocolKind::rounds};
    if (is_for_rounds_alone) continue;
    if (!is_nightly() && !accuracy.contains(std::string(entry->name))) continue;
    REQUIRE(accuracy.contains(std::string(entry->name)));
    if (entry->name != "local_only") CHECK(accuracy[std::string(entry->name)] >= accuracy["local_only"] + 0.10);
  }
}

TEST_CASE(
    "an example differs from the quick start in its algorithm, its graph, its clients and what the protocol cannot "
    "do") {
  const config::Experiment start = experiment_of(RUBATO_SOURCE_DIR "/examples/quickstart.toml");
  for (const auto& file : all_example_algorithms()) {
    CAPTURE(file);
    config::Experiment other = experiment_of(file);
    CHECK(other.clients.count == start.clients.count);
    CHECK(other.clients.compute == start.clients.compute);
    CHECK(other.channel == start.channel);
    CHECK(other.mailbox.window == start.mailbox.window);
    CHECK(other.mailbox.deadline == start.mailbox.deadline);
    CHECK(other.data == start.data);
    CHECK(other.model == start.model);
    CHECK(other.until == start.until);
    CHECK(other.protocol == start.protocol);
  }
}

TEST_CASE("every algorithm runs under every protocol it knows, watched, with equal digests on 1 and 3 threads") {
  for (const CatalogueEntry* entry : catalogue())
    for (const ProtocolKind protocol : every_protocol) {
      if (!entry->runs.has(protocol)) continue;
      if (entry->name == "kdpdfl") continue;  // needs classes: in the examples
      CAPTURE(entry->name);
      CAPTURE(word_of(protocol));
      const config::Experiment same =
          few(std::string(entry->name), {"protocol.kind=" + std::string(word_of(protocol)), "precision=float64"});
      RunOptions watched = on_threads(1);
      watched.checks = true;
      const RunResult result = run(same, watched);
      CHECK(result.messages.computations > 50);
      CHECK(digests(run(same, on_threads(3))) == digests(result));
    }
}

TEST_CASE("a protocol that an algorithm does not know is refused with those it knows") {
  CHECK(complaint<std::invalid_argument>([] { run(few("fedavg", {"protocol.kind=push"})); }) ==
        "experiment: algorithm.name = \"fedavg\" does not run under protocol.kind = \"push\"; it runs under: server");
  CHECK(contains(complaint<std::invalid_argument>([] { run(few("beer", {"protocol.kind=push"})); }), "it runs under: rounds"));
}

TEST_CASE(
    "graphs, weights and options that an algorithm cannot use are refused before the run with the condition that "
    "fails") {
  const auto refusal = [](const std::string& name, const std::vector<std::string>& more) {
    return complaint<std::invalid_argument>([&] { run(few(name, more)); });
  };
  CHECK(contains(refusal("choco", {"topology.kind=directed_ring"}), "needs an undirected graph"));
  CHECK(contains(refusal("swarm", {"topology.kind=ring"}), "needs a complete graph"));
  CHECK(contains(refusal("fedavg", {"topology.kind=ring"}), "linked with all others"));
  for (const char* name : {"fedavg", "swarm", "digest"})  // they would ask again at the same instant without end
    CHECK(contains(refusal(name, {"topology.kind=complete", "mailbox.deadline=0"}), "mailbox.deadline = 0: under"));
  CHECK(contains(refusal("pame", {"topology.kind=ring", "algorithm.nu=1.0"}), "bipartite"));
  CHECK(contains(refusal("depositum", {"algorithm.h=mcp", "algorithm.h_theta=0.01", "algorithm.alpha=0.05"}),
                 "must be less than 0.01"));
  CHECK(contains(refusal("sgp", {"unification.period=5.0"}), "must not be unified"));
  CHECK(contains(refusal("pame", {"algorithm.share=0"}), "greater than 0"));
  CHECK(contains(refusal("kdpdfl", {"algorithm.T_ex=1"}), "at least 2"));
  const std::string matrix =
      "[[0.5,0.5,0,0,0,0],[0.5,0.5,0,0,0,0],[0,0,0.5,0.5,0,0],[0,0,0.5,0.5,0,0],[0,0,0,0,0.5,0.5],[0,0,0,0,0.5,0.4]]";
  CHECK(contains(refusal("dpsgd", {"topology.mixing=explicit", "topology.mixing_matrix=" + matrix}),
                 "its rows do not sum to one: they are off by up to 0.1"));
}

// ---- schedules that ask the models ---------------------------------------------------------------------------------

TEST_CASE("who decides whether to send decides the same on any number of threads, and a record of it plays again") {
  Folder folder;
  const config::Experiment asking = few("event_triggered", {"algorithm.threshold=0.3"});
  RunOptions recorded = on_threads(2);
  recorded.record = folder / "timeline.rbt";
  const RunResult result = run(asking, recorded);
  CHECK(result.messages.sent > 0);
  CHECK(digests(run(asking, on_threads(1))) == digests(result));
  CHECK(digests(run(asking, on_threads(4))) == digests(result));
  CHECK(digests(replay(asking, recorded.record, on_threads(2))) == digests(result));
}

TEST_CASE("the higher the threshold the fewer messages, and beyond all moves none") {
  std::vector<std::uint64_t> sent;
  for (const char* threshold : {"0.0", "0.2", "1.0", "1000.0"})
    sent.push_back(run(few("event_triggered", {std::string("algorithm.threshold=") + threshold})).messages.sent);
  CHECK(std::is_sorted(sent.rbegin(), sent.rend()));
  CHECK(sent.front() > 2 * sent[2]);
  CHECK(sent.back() == 0);
}

TEST_CASE("a dry run of a schedule that asks the models is refused") {
  RunOptions dry;
  dry.dry_run = true;
  CHECK(contains(complaint<std::invalid_argument>([&] { run(few("event_triggered"), dry); }), "a dry run has no models"));
}

// ---- invariants ----------------------------------------------------------------------------------------------------

namespace {

// Gossip that says something sums to zero; from some computation on it does not.
class Leaky final : public Algorithm<double> {
 public:
  Leaky(const ClientView& client_view, ConstVectorRef<double> start) : client_{client_view.client}, x_{start} {}
  void compute(Work<double>&, const Step& step) override {
    if (client_ == ClientId{2} && step.index == 3) leak_ = 0.25;
  }
  Payload publish(Work<double>& work, const Step&) override {
    Payload payload;
    payload.common[0] = copy_of<double>(model(), work.pool);
    return payload;
  }
  void merge(Work<double>&, const Step&, std::span<const Received<double>>) override {}
  void adopt(ConstVectorRef<double>) override {}  // says yes and does nothing
  ConstVectorRef<double> model() const override { return view(x_); }
  void inspect(Probe&) const override {}
  void balance(Probe& probe) const override { show(probe, "water", leak_); }

 private:
  ClientId client_;
  Vector<double> x_;
  double leak_ = 0;
};

RunOptions leaking() {
  RunOptions options = on_threads(2);
  options.checks = true;
  options.own_double.algorithm = [](const ClientView& client_view, ConstVectorRef<double> start, TensorPool&) {
    return std::make_unique<Leaky>(client_view, start);
  };
  return options;
}

}  // namespace

TEST_CASE("a mass that leaks ends a watched run with the quantity, the time, the size and the client, and no other run") {
  const config::Experiment experiment = few("dpsgd", {"precision=float64", "metrics.every_events=1"});
  const std::string said = complaint<RunFailed>([&] { run(experiment, leaking()); });
  CAPTURE(said);
  CHECK(contains(said, "broken invariant at "));
  CHECK(contains(said, "the sum of \"water\" over all clients is off by 0.25"));
  CHECK(contains(said, "client 2 has the largest part"));
  RunOptions unwatched = leaking();
  unwatched.checks = false;
  CHECK(run(experiment, unwatched).samples.back().defect.size == 0.25);
}

TEST_CASE("a client without the hub's model right after a unification ends a watched run by name") {
  RunOptions options = leaking();
  options.own_double.algorithm = [](const ClientView& client_view, ConstVectorRef<double> start, TensorPool&) {
    Vector<double> own = start;
    own[0] += client_view.client.value == 4 ? 1 : 0;
    return std::make_unique<Leaky>(ClientView{.client = client_view.client.value == 2 ? ClientId{0} : client_view.client},
                                   view(std::as_const(own)));
  };
  const std::string said = complaint<RunFailed>([&] {
    run(few("draco", {"precision=float64", "unification.period=4.5", "metrics.every_events=0"}), options);
  });
  CHECK(said == "broken invariant at 4.5 s: client 4 has another model than client 0 right after a unification");
}

TEST_CASE("a timing that breaks the promises of the mailbox is named with the client and how far it is off") {
  const Graph graph = topologies::ring(3);
  ClientSettings settings;
  settings.graph = &graph;
  settings.limits = {from_seconds(0.5), from_seconds(1), 2};
  const auto message = [](double sent, double arrived) {
    return Arrival{{.id = {ClientId{1}, 0, 0}, .sent = Time{from_seconds(sent)}}, no_slot, Time{from_seconds(arrived)}};
  };
  const auto said = [&](auto act) {
    TimingCheck check(settings, true, true);
    return complaint<std::logic_error>([&] { act(check); });
  };
  CHECK(contains(said([&](TimingCheck& check) { check.on_arrival(message(0, 1.5), {0}, Offer::kept, 1); }),
                 "client 0 at 1.5 s keeps a message 0.5 s beyond the deadline"));
  CHECK(said([&](TimingCheck& check) { check.on_arrival(message(0, 1), {0}, Offer::kept, 1); }) == "nothing was thrown");
  CHECK(contains(said([&](TimingCheck& check) {
                   for (int i = 0; i < 3; ++i) check.on_arrival(message(0, 0.5), {2}, Offer::kept, 0);
                 }),
                 "client 2 at 0.5 s keeps 3 messages in a period, the cap is 2"));
  CHECK(said([&](TimingCheck& check) {
          for (int i = 0; i < 3; ++i) {
            check.on_arrival(message(0, 0.5), {2}, Offer::kept, 0);
            check.on_period({}, 1);
          }
        }) == "nothing was thrown");
  CHECK(contains(said([&](TimingCheck& check) { check.on_arrival(message(0, 0.5), {1}, Offer::capped, 1); }),
                 "refuses a message with 1 tokens left"));
  const Arrival first = message(0, 1);
  CHECK(contains(said([&](TimingCheck& check) {
                   check.on_window_close(Time{from_seconds(1.75)}, {1}, {&first, 1}, {});
                 }),
                 "closes a window of 0.75 s instead of 0.5 s"));
  const StepEntry heavy[] = {{.peer = {0}, .weight = 0.75}, {.peer = {2}, .weight = 0.5}};
  CHECK(contains(said([&](TimingCheck& check) {
                   check.on_window_close(Time{from_seconds(1.5)}, {1}, {&first, 1}, heavy);
                 }),
                 "gives weights that exceed one by 0.25"));
}

// ---- graphs that change --------------------------------------------------------------------------------------------

TEST_CASE("in a graph that changes a link carries messages in its rounds only, and the others train alone") {
  const auto changing = [](const std::vector<std::string>& more) {
    return few("decefl", std::vector<std::string>{"protocol.kind=rounds", "clients.compute.law=fixed", "clients.compute.period=1.0",
                                                  "topology.kind=edges", "topology.edges=[[0,1],[1,2],[2,3],[3,4],[4,5]]"} +
                             more);
  };
  RunOptions counting = on_threads(2);
  counting.counts_links = true;
  const auto sent = [&](const std::vector<std::string>& more) {
    const RunResult result = run(changing(more), counting);
    std::vector<std::uint32_t> by_edge;  // links come in the order of (sender, receiver): 01 10 12 21 23 ...
    for (const std::size_t link : {0u, 2u, 4u, 6u, 8u}) by_edge.push_back(result.by_link.at(link).sent);
    return by_edge;
  };
  // The first round of a fixed law takes no time, so there are 41.
  CHECK(sent({}) == std::vector<std::uint32_t>{41, 41, 41, 41, 41});
  CHECK(sent({"topology.cycle=[[[0,1],[1,2]],[[2,3],[3,4],[4,5]]]"}) == std::vector<std::uint32_t>{21, 21, 20, 20, 20});
  CHECK(sent({"topology.cycle=[[[0,1],[1,2]],[[2,3],[3,4],[4,5]]]", "topology.cycle_rounds=[3,1]"}) ==
        std::vector<std::uint32_t>{31, 31, 10, 10, 10});
  CHECK(contains(complaint<std::invalid_argument>([&] { run(changing({"topology.cycle=[[[0,5]]]"})); }),
                 "topology.cycle[0]: topology.edges has no edge from 0 to 5"));
}

TEST_CASE("in continuous time a graph that changes carries messages while a link is there, and no row weighs more than one") {
  const std::vector<std::string> fixed = {"clients.compute.law=fixed", "clients.compute.period=1.0", "topology.kind=edges",
                                          "topology.edges=[[0,1],[1,2],[2,3],[3,4],[4,5]]", "topology.change_every=2.0"};
  RunOptions counting = on_threads(1);
  counting.counts_links = true;
  const RunResult cycled =
      run(few("decefl", fixed + std::vector<std::string>{"topology.cycle=[[[0,1],[1,2]],[[2,3],[3,4],[4,5]]]"}), counting);
  std::uint32_t in_first = 0;
  for (int tick = 0; tick <= 40; ++tick) in_first += tick / 2 % 2 == 0;
  for (const std::size_t link : {0u, 1u, 2u, 3u}) CHECK(cycled.by_link.at(link).sent == in_first);
  for (const std::size_t link : {4u, 5u, 6u, 7u, 8u, 9u}) CHECK(cycled.by_link.at(link).sent == 41 - in_first);

  RunOptions watched = on_threads(1), on_two = on_threads(2);
  watched.checks = on_two.checks = true;
  for (const char* algorithm : {"decefl", "draco", "spodgt", "depositum", "sgp", "pame", "choco"})
    for (const char* change : {"edges", "clients", "redraw"}) {
      CAPTURE(algorithm);
      CAPTURE(change);
      const auto changing = few(algorithm, {"precision=float64", "topology.kind=erdos_renyi", "topology.probability=0.4",
                                            std::string("topology.change=") + change, "topology.change_every=1.5",
                                            "channel.kind=random", "channel.delay=0.7", "mailbox.window=0.3"});
      CHECK(digests(run(changing, watched)) == digests(run(changing, on_two)));
    }
  CHECK(contains(complaint<std::invalid_argument>([&] { run(few("fedavg", {"topology.change=edges"})); }),
                 "needs a graph that stays"));

  const std::vector<std::string> walking = {"topology.kind=random_geometric", "topology.radius=350.0",
                                            "topology.points=channel",        "topology.change=redraw",
                                            "topology.change_every=5.0",      "channel.kind=wireless"};
  const auto graphs =
      make_graphs(few("decefl", walking + std::vector<std::string>{"channel.speed_low=5.0", "channel.speed_high=20.0"}));
  REQUIRE(graphs.size() == 9);  // at 0, 5, ... 40 seconds
  CHECK(graphs[0].is_strongly_connected());
  CHECK(std::ranges::any_of(graphs, [&](const Graph& graph) { return graph.edges() != graphs[0].edges(); }));
  CHECK(contains(complaint<std::invalid_argument>([&] { make_graphs(few("decefl", walking)); }), "clients stay where they are"));
}

TEST_CASE("an algorithm that is exact only where nothing is missing refuses to drop messages") {
  CHECK(contains(complaint<std::invalid_argument>([] {
                   run(few("nids", {"protocol.kind=rounds", "protocol.missing=drop"}));
                 }),
                 "exact only where no message is missing"));
}
