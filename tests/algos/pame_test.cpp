// Partial message exchange (docs/references.md#pame): the operator by hand and by enumeration, the algorithm against a
// dense loop.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "algos/entries.hpp"
#include "algos/pme.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/quadratic_world.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

using Whole = std::int64_t;

struct Sent {
  Rows coordinates;
  Vector<double> values;
};

struct Outcome {
  Vector<double> mean;
  std::vector<std::uint32_t> lambda;
};

Outcome pme(const Vector<double>& own, const std::vector<Sent>& parts) {
  Scratch<double> scratch;
  const Scratch<double>::Frame frame(scratch);
  PartialMean<double> operation(own.size(), scratch);
  for (const Sent& part : parts) operation.add(part.coordinates, view(part.values));
  Outcome outcome{Vector<double>(own.size()), {operation.lambda().begin(), operation.lambda().end()}};
  operation.fill(view(own), view(outcome.mean));
  return outcome;
}

Sent whole(const Vector<double>& values) {
  Rows coordinates(static_cast<std::size_t>(values.size()));
  for (std::uint32_t l = 0; l < coordinates.size(); ++l) coordinates[l] = l;
  return {coordinates, values};
}

Graph graph_of(const char* kind, std::size_t clients) {
  TopologyOptions options;
  options.kind = kind;
  return make_topology(options, clients, 1);
}

std::string refusal(const Graph& graph, double nu) {
  try {
    entries::pame.check(options_of({{"nu", nu}}), graph);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

}  // namespace

// ---- the operator

TEST_CASE("the worked example of the paper: a value of zero has arrived, and the own value only fills in") {
  const Outcome outcome =
      pme(numbers({2, 8, 3, 6}), {{{0, 3}, numbers({2, 4})}, {{2, 3}, numbers({2, 5})}, {{2, 3}, numbers({0, 6})}});
  CHECK(outcome.mean == numbers({2, 8, 1, 5}));
  CHECK(outcome.lambda == std::vector<std::uint32_t>{1, 0, 2, 3});
}

TEST_CASE("the worked example, message after message") {
  const std::vector<Sent> parts{{{0, 3}, numbers({2, 4})}, {{2, 3}, numbers({2, 5})}, {{2, 3}, numbers({0, 6})}};
  const Vector<double> own = numbers({2, 8, 3, 6});
  const auto after = [&](std::size_t count) {
    return pme(own, {parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count)}).mean;
  };
  CHECK(after(0) == own);
  CHECK(after(1) == numbers({2, 8, 3, 4}));
  CHECK(after(2) == numbers({2, 8, 2, 4.5}));
  CHECK(after(3) == numbers({2, 8, 1, 5}));
}

TEST_CASE("where everything arrives the operator is the mean of the neighbours, without the own model") {
  const Vector<double> a = numbers({1, -2, 4}), b = numbers({3, 5, -1});
  CHECK(pme(numbers({100, 100, 100}), {whole(a), whole(b)}).mean == (a + b) / 2);
}

TEST_CASE("own and result may be the same vector") {
  Scratch<double> scratch;
  const Scratch<double>::Frame frame(scratch);
  PartialMean<double> operation(3, scratch);
  const Vector<double> value = numbers({7});
  operation.add(Rows{1}, view(value));
  Vector<double> own = numbers({1, 2, 3});
  operation.fill(view(std::as_const(own)), view(own));
  CHECK(own == numbers({1, 7, 3}));
}

TEST_CASE("over all choices the mean of what arrived, given that something did, is the mean of all senders") {
  const std::vector<Vector<double>> senders{numbers({1, -2, 4}), numbers({3, 5, -1})};
  const Vector<double> own = numbers({50, 60, 70});
  Vector<double> sum = Vector<double>::Zero(3), times = Vector<double>::Zero(3);
  for (std::uint32_t i = 0; i < 3; ++i)
    for (std::uint32_t j = 0; j < 3; ++j) {
      const Outcome outcome = pme(own, {{{i}, senders[0].segment(i, 1)}, {{j}, senders[1].segment(j, 1)}});
      for (Index l = 0; l < 3; ++l)
        if (outcome.lambda[static_cast<std::size_t>(l)] > 0) {
          sum[l] += outcome.mean[l];
          ++times[l];
        }
    }
  CHECK(times == numbers({5, 5, 5}));
  CHECK(distance((sum.array() / times.array()).matrix(), (senders[0] + senders[1]) / 2) < 1e-15);
}

TEST_CASE("a message costs a value for each coordinate it has and a bit for each it has not") {
  CHECK(pme_message_bits(4, 2, 64) == 130);
  CHECK(pme_message_bits(100, 20, 64) == 63 * 20 + 100);
  CHECK(pme_message_bits(10, 10, 32) == 320);
}

// ---- the algorithm

TEST_CASE("PaME is what its equations say, with periods, choices and coordinates that are given") {
  constexpr std::uint32_t m = 6;
  const QuadraticWorld world(m, 5, 31);
  const std::uint64_t kappa[m] = {1, 2, 3, 1, 2, 4};
  const std::vector<double> sigma0{1, 2, 3, 4, 5, 6}, gamma{1.01, 1.02, 1.03, 1, 1, 1.1};
  LockStepWorld lock_step{.graph = world.graph, .program = entries::pame.needs({}).program};
  lock_step.uses_link = [&](std::uint64_t round, std::uint8_t, ClientId receiver, ClientId sender) {
    return round % kappa[receiver.value] == 0 && (round + receiver.value + sender.value) % 3 != 0;
  };
  lock_step.choices.resize(m);
  for (std::uint32_t j = 0; j < m; ++j)
    for (std::uint64_t round = 0; round < 20; ++round)
      for (std::uint32_t i = 0; i < m; ++i)
        lock_step.choices[j].coordinates[{round, i}] = {static_cast<std::uint32_t>((round + i + 2 * j) % 4), 4};
  const auto uses_link = lock_step.uses_link;
  const auto choices = lock_step.choices;
  LockStep run = world.lock_step(entries::pame, options_of({{"nu", 0.5}, {"share", 0.4}, {"sigma0", sigma0}, {"gamma", gamma}}),
                                 std::move(lock_step));

  Matrix<double> w = world.start;
  std::vector<double> sigma = sigma0, chosen(m);
  for (std::uint32_t i = 0; i < m; ++i) chosen[i] = std::ceil(0.5 * static_cast<double>(world.graph.in_degree({i})));
  run.run(20, [&](std::uint64_t rounds) {
    if (rounds > 0) {
      const std::uint64_t round = rounds - 1;
      Matrix<double> v = w;
      for (std::uint32_t i = 0; i < m; ++i) {
        std::vector<Sent> parts;
        for (const ClientId j : world.graph.senders_to({i}))
          if (uses_link(round, 0, {i}, j)) {
            const Rows& at = choices[j.value].coordinates.at({round, i});
            parts.push_back({at, numbers({w(j.value, at[0]), w(j.value, at[1])})});
          }
        if (parts.empty()) continue;
        v.row(i) = pme(w.row(i).transpose(), parts).mean.transpose();
        chosen[i] = static_cast<double>(parts.size());
      }
      w = v;
      for (std::uint32_t i = 0; i < m; ++i) {
        w.row(i) -= (world.gradient(i, v.row(i).transpose()) / (sigma[i] * chosen[i])).transpose();
        sigma[i] *= gamma[i];
        REQUIRE(run.shown(i, "sigma")[0] == doctest::Approx(sigma[i]).epsilon(1e-14));
        REQUIRE(run.shown(i, "m_i")[0] == chosen[i]);
      }
      REQUIRE(distance(shown(run, m, "vbar"), v) < 1e-12);
    }
    REQUIRE(distance(models(run, m), w) < 1e-12);
  });
}

TEST_CASE("sigma grows by gamma with every computation, and local computations keep the number of neighbours") {
  LoneClient client(entries::pame, options_of({{"nu", 1.0}, {"sigma0", 2.0}, {"gamma", 1.5}}), numbers({12}), pull_to_zero(1));
  CHECK(client.shown("m_i") == numbers({2}));  // t = ceil(nu |N|)
  client.compute(0);                           // 12 - 12/4
  CHECK(client.model() == numbers({9}));
  client.compute(1);  // 9 - 9/6
  CHECK(client.model() == numbers({7.5}));
  CHECK(client.shown("sigma") == numbers({4.5}));
  CHECK(client.shown("m_i") == numbers({2}));
}

TEST_CASE("what was merged is used by the next computation, once") {
  LoneClient sender(entries::pame, options_of({{"share", 1.0}}), numbers({4, 6}), pull_to_zero(2), false, {1});
  LoneClient client(entries::pame, options_of({{"share", 1.0}, {"gamma", 1.0}}), numbers({1, 1}), pull_to_zero(2));
  const Payload message = sender.publish(0);
  client.merge({{{1}, 1, message, 0}});
  CHECK(client.model() == numbers({1, 1}));
  client.compute(0);  // v = (4, 6), minus v / (1 x 1)
  CHECK(client.model() == numbers({0, 0}));
  CHECK(client.shown("vbar") == numbers({4, 6}));
  client.compute(1);
  CHECK(client.shown("vbar") == numbers({0, 0}));
}

TEST_CASE("every receiver is sent its own choice of s coordinates, ascending, with their values; anew every time") {
  const Vector<double> model = Vector<double>::LinSpaced(50, 0, 49);
  LoneClient sender(entries::pame, options_of({{"share", 0.1}}), model, pull_to_zero(50));
  std::set<Rows> seen;
  for (std::uint64_t number = 0; number < 5; ++number) {
    const Payload payload = sender.publish(number);
    REQUIRE(payload.own.size() == 4);
    REQUIRE(payload.own_each == 2);
    CHECK(payload.message_paper_bits() == 63 * 5 + 50);
    CHECK(payload.message_bytes() == 5 * 4 + 5 * 8);
    for (std::size_t place = 0; place < 2; ++place) {
      const Tensor& chosen = payload.own[2 * place];
      REQUIRE(chosen.count() == 5);
      const Rows coordinates(chosen.data<std::uint32_t>(), chosen.data<std::uint32_t>() + 5);
      REQUIRE(std::set<std::uint32_t>(coordinates.begin(), coordinates.end()).size() == 5);
      REQUIRE(std::is_sorted(coordinates.begin(), coordinates.end()));
      for (std::size_t i = 0; i < 5; ++i) REQUIRE(payload.own[2 * place + 1].data<double>()[i] == coordinates[i]);
      seen.insert(coordinates);
    }
  }
  CHECK(seen.size() == 10);
}

TEST_CASE("with shared_coords all receivers get one message, and take it as they would their own") {
  LoneClient sender(entries::pame, options_of({{"share", 0.5}, {"shared_coords", true}}), numbers({5, 6, 7, 8}), pull_to_zero(4),
                    false, {1});
  LoneClient client(entries::pame, options_of({{"share", 0.5}, {"shared_coords", true}}), numbers({0, 0, 0, 0}), pull_to_zero(4));
  sender.choices.coordinates[{0, 1}] = {1, 3};
  const Payload payload = sender.publish(0);
  CHECK(payload.own.empty());
  CHECK(payload.message_paper_bits() == 63 * 2 + 4);
  client.merge({{{1}, 1, payload}});
  CHECK(client.shown("vbar") == numbers({0, 6, 0, 8}));
}

TEST_CASE("a message has at least one coordinate, however small the share") {
  LoneClient sender(entries::pame, options_of({{"share", 0.01}}), numbers({1, 2, 3}), pull_to_zero(3));
  CHECK(sender.publish(0).own[0].count() == 1);
}

TEST_CASE("m0 says by how many messages the steps before the first exchange are divided") {
  LoneClient client(entries::pame, options_of({{"m0", std::vector<double>{3, 2, 2}}}), numbers({12}), pull_to_zero(1));
  client.compute();  // 12 - 12/3
  CHECK(client.model() == numbers({8}));
}

TEST_CASE("an empty window is no exchange") {
  LoneClient client(entries::pame, options_of({{"nu", 1.0}}), numbers({12}), pull_to_zero(1));
  client.merge({});
  CHECK(client.shown("m_i") == numbers({2}));
  CHECK(client.shown("vbar") == numbers({12}));
}

TEST_CASE("full exchange on a bipartite graph swaps the two sides for ever, and is refused") {
  const std::string reason = refusal(graph_of("ring", 6), 1);
  CHECK(reason.find("algorithm.nu = 1: takes all neighbours of every client, and the graph is bipartite") == 0);
  CHECK_FALSE(refusal(graph_of("star", 6), 1).empty());
  CHECK_FALSE(refusal(graph_of("ring", 6), 0.6).empty());  // ceil(0.6 x 2) = 2: all as well
  CHECK(refusal(graph_of("ring", 6), 0.5).empty());
  CHECK(refusal(graph_of("ring", 5), 1).empty());
  CHECK(refusal(graph_of("complete", 4), 1).empty());
}

TEST_CASE("PaME tells its protocol whom to ask and how often") {
  const Needs one = entries::pame.needs(options_of({{"nu", 0.5}, {"kappa", Whole{3}}, {"kappa_high", Whole{7}}}));
  CHECK(one.asks_every.low == 3);
  CHECK(one.asks_every.high == 7);
  CHECK(one.asks_every.list.empty());
  CHECK(one.fanout.share == 0.5);
  CHECK(one.fanout.chosen_by_receiver);
  CHECK(one.absorb == AbsorbAt::compute);
  CHECK(one.keep == Keep::newest);
  const Needs listed = entries::pame.needs(options_of({{"kappa", std::vector<double>{1, 2, 3}}}));
  CHECK(listed.asks_every.list == std::vector<std::uint32_t>{1, 2, 3});
}

TEST_CASE("options of PaME that cannot be are refused with the condition that fails") {
  const auto complaint = [](const char* name, AlgorithmOptions::Value value) {
    return complaint_about(entries::pame, options_of({{name, std::move(value)}}));
  };
  CHECK(complaint("share", 0.0) == "algorithm.share = 0: must be greater than 0 and at most 1");
  CHECK(complaint("nu", 1.5) == "algorithm.nu = 1.5: must be greater than 0 and at most 1");
  CHECK(complaint("gamma", 0.9) == "algorithm.gamma = 0.9: must be at least 1");
  CHECK(complaint("sigma0", std::vector<double>{1, 0}) == "algorithm.sigma0 = 0: must be greater than 0");
  CHECK(complaint("kappa", 1.5) == "algorithm.kappa = 1.5: must be a whole number");
  CHECK(complaint("kappa", std::vector<double>{2, 0}) == "algorithm.kappa = 0: must be at least 1");
  CHECK(complaint("m0", 0.5) == "algorithm.m0 = 0.5: must be a whole number");
  CHECK(complaint("value_bits", Whole{65}) == "algorithm.value_bits = 65: must be at least 1 and at most 64");
  CHECK(complaint_about(entries::pame, options_of({{"kappa", Whole{4}}, {"kappa_high", Whole{3}}})) ==
        "algorithm.kappa_high = 3: must be 0, or at least kappa and at most 1000000");
  CHECK(complaint_about(entries::pame, options_of({{"kappa", std::vector<double>{1, 2}}, {"kappa_high", Whole{3}}})) ==
        "algorithm.kappa_high = 3: must be 0 where kappa is a list");
}
