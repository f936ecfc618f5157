// Device classes: whom they fall to, that their clients tick as fast as they say, and what they spend.
#include "experiment/build/devices.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/file/experiment_file.hpp"
#include "results/run_folder.hpp"
#include "results/summary.hpp"
#include "runtime/elementary.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

const std::string many_text = R"(
until = 200.5
[clients]
count = 40
[clients.compute]
law = "poisson"
rate = 1.0
[[clients.classes]]
name = "phone"
share = 0.5
rate = 0.5
[[clients.classes]]
name = "board"
share = 0.25
rate = { law = "uniform", low = 3.0, high = 5.0 }
[algorithm]
name = "decefl"
[data]
name = "quadratic"
dimension = 4
[model]
name = "quadratic"
)";

std::size_t members(const std::vector<std::optional<std::size_t>>& classes, std::optional<std::size_t> of) {
  return static_cast<std::size_t>(std::ranges::count(classes, of));
}

config::Clients of_shares(std::int64_t count, std::vector<double> shares) {
  config::Clients clients;
  clients.count = count;
  for (const double share : shares)
    clients.classes.push_back({.name = "class " + std::to_string(share), .share = share, .rate = {}, .transmit_rate = {}});
  return clients;
}

}  // namespace

TEST_CASE("classes get their shares to within a client, drawn from the seed alone") {
  for (const std::int64_t count : {1, 3, 10, 41, 1000}) {
    const config::Clients clients = of_shares(count, {0.3, 0.3, 0.15});
    const auto classes = classes_of(clients, 5);
    REQUIRE(classes.size() == static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(std::abs(static_cast<double>(members(classes, k)) - clients.classes[k].share * static_cast<double>(count)) <= 1);
    CHECK(std::abs(static_cast<double>(members(classes, {})) - 0.25 * static_cast<double>(count)) <= 1);
  }
  CHECK(members(classes_of(of_shares(7, {0.5, 0.5}), 1), {}) == 0);
  CHECK(classes_of(of_shares(100, {0.5}), 1) == classes_of(of_shares(100, {0.5}), 1));
  CHECK(classes_of(of_shares(100, {0.5}), 1) != classes_of(of_shares(100, {0.5}), 2));
}

TEST_CASE("a law keeps its shape when its rate changes") {
  const auto mean = [](const TimerLaw& law) { return law.mean_rate(1000); };
  CHECK(mean(with_rate(TimerLaw::poisson(1), 4)) == doctest::Approx(4));
  CHECK(mean(with_rate(TimerLaw::fixed(1, 0.5), 4)) == doctest::Approx(4));
  CHECK(mean(with_rate(TimerLaw::lognormal(1, 0.5), 4)) == doctest::Approx(4));
  CHECK(with_rate(TimerLaw::shifted_exponential(0.25, 1), 4).first == 0.25);
  CHECK(with_rate(TimerLaw::shifted_exponential(0.25, 1), 4).second == 4);
  CHECK(with_rate(TimerLaw::gamma(3, 1), 4).first == 3);
  CHECK(
      contains(complaint<std::invalid_argument>([] { with_rate(TimerLaw::coupled(1, 1), 4); }), "a rate of a class needs a timer"));
}

TEST_CASE("clients of a class compute as often as it says, and those without one as all") {
  const config::Experiment many = experiment({}, many_text);
  const RunResult result = run(many, on_threads(1));
  const auto classes = classes_of(many.clients, 1);
  double computed[3] = {}, clients[3] = {};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::size_t k = classes[i].value_or(2);
    computed[k] += static_cast<double>(result.by_client[i].computations) / 200.5;
    ++clients[k];
    if (k == 1) CHECK(static_cast<double>(result.by_client[i].computations) / 200.5 == doctest::Approx(4).epsilon(0.4));
  }
  CHECK(clients[0] == 20);
  CHECK(clients[1] == 10);
  CHECK(computed[0] / clients[0] == doctest::Approx(0.5).epsilon(0.06));  // 2,000 ticks: 2 % is one standard error
  CHECK(computed[1] / clients[1] == doctest::Approx(4).epsilon(0.1));
  CHECK(computed[2] / clients[2] == doctest::Approx(1).epsilon(0.07));
  CHECK(digests(result) == digests(run(many, on_threads(2))));
  CHECK(digests(result) != digests(run(experiment({"clients.classes=[]"}, many_text), on_threads(1))));
}

TEST_CASE("what a run spends is power times airtime and so much a computation, of every client by its class") {
  std::string text = many_text;
  text.insert(text.find("[[clients.classes]]\nname = \"board\""), "transmit_watts = 10.0\n");
  text.insert(text.find("[algorithm]"), "compute_joules = 3.0\n");
  const config::Experiment many =
      experiment({"energy.transmit_watts=2.0", "energy.compute_joules=0.5", "energy.bits_per_second=1e3"}, text);
  const RunResult result = run(many, on_threads(1));
  const auto classes = classes_of(many.clients, 1);
  const double message = 8 * 4 * 4 / 1e3;  // four numbers of four bytes at 1 kbit/s
  double transmitting = 0, computing = 0, airtime = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const double seconds = message * static_cast<double>(result.by_client[i].publications);
    airtime += seconds;
    transmitting += seconds * (classes[i] == 0u ? 10 : 2);
    computing += static_cast<double>(result.by_client[i].computations) * (classes[i] == 1u ? 3 : 0.5);
  }
  REQUIRE(result.energy);
  CHECK(result.energy->airtime == doctest::Approx(airtime));
  CHECK(result.energy->transmitting == doctest::Approx(transmitting));
  CHECK(result.energy->computing == doctest::Approx(computing));
  CHECK(result.samples.back().header.energy.joules() == doctest::Approx(transmitting + computing));
  CHECK(contains(summary_json(many, result), "\"airtime_seconds\""));
  CHECK_FALSE(run(experiment({}, many_text), on_threads(1)).energy);
}

TEST_CASE("devices of a class send and receive as fast as it says, the others as the channel says") {
  std::string text = many_text;
  text.insert(text.find("[[clients.classes]]\nname = \"board\""), "up = 1e5\n");
  text.insert(text.find("[algorithm]"), "down = 1e9\nup = { law = \"uniform\", low = 4e5, high = 4e5 }\n");
  const config::Experiment many = experiment({"channel.kind=bandwidth", "channel.up=1e6", "channel.down=1e8"}, text);
  const RunResult result = run(many, on_threads(1));
  const auto classes = classes_of(many.clients, 1);
  double airtime = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const double bits = 2 * 8 * 4 * 4 * static_cast<double>(result.by_client[i].publications);  // to both neighbours on the ring
    airtime += bits / (classes[i] == 0u ? 1e5 : classes[i] == 1u ? 4e5 : 1e6);
  }
  REQUIRE(airtime > 1);
  double measured = 0;
  for (const auto& client : result.by_client) measured += to_seconds(client.airtime);
  CHECK(measured == doctest::Approx(airtime).epsilon(1e-4));
  CHECK(contains(complaint<std::invalid_argument>([&] { experiment({}, text); }), "needs channel.kind = \"bandwidth\""));
}

TEST_CASE("the example of devices runs, and says what it has spent") {
  std::ostringstream notes;
  const config::Experiment example =
      config::read_experiment(RUBATO_SOURCE_DIR "/examples/devices.toml", std::vector<std::string>{"until=20.5"}, notes);
  const RunResult result = run(example, on_threads(1));
  REQUIRE(result.energy);
  CHECK(result.energy->joules() > 0);
  CHECK(notes.str().empty());
}

TEST_CASE("classes that cannot be are refused with a sentence") {
  const auto said = [](const std::string& more) {
    return complaint<std::invalid_argument>([&] { run(experiment({}, many_text + more), on_threads(1)); });
  };
  CHECK(contains(said("[[clients.classes]]\nname = \"phone\"\nshare = 0.1\n"), "is the name of two classes"));
  CHECK(contains(said("[[clients.classes]]\nname = \"server\"\nshare = 0.3\n"), "has shares of more than 1 together"));
  CHECK(contains(said("[[clients.classes]]\nname = \"server\"\nshare = 0.1\ntransmit_rate = 2.0\n"),
                 "a rate of a class needs a timer"));
  CHECK(contains(said("[[clients.classes]]\nname = \"server\"\nshare = 0.1\nspeed = 2.0\n"), "speed"));
}

// Section 2.4.2 of the thesis: eta_i = eta min_j(1 - nu_j) / (1 - nu_i); nu of T = 0.25 + Exp(rate) against a phase of 1.25 s.
TEST_CASE("the chance to straggle follows from a client's law of computations, class by class") {
  const std::string text = R"(
until = 400.5
[clients]
count = 4
[clients.compute]
law = "shifted_exp"
min = 0.25
rate = [1.0, 2.0, 0.5, 4.0]
[topology]
kind = "complete"
[protocol]
kind = "rounds"
compute_phase = 1.25
[algorithm]
name = "async_dsgd"
equalise = true
straggling = "law"
[data]
name = "quadratic"
dimension = 2
[model]
name = "quadratic"
)";
  const std::vector<double> chances = straggler_chances(experiment({}, text));
  REQUIRE(chances.size() == 4);
  const double rates[] = {1, 2, 0.5, 4};
  for (std::size_t i = 0; i < 4; ++i) CHECK(chances[i] == doctest::Approx(std::exp(-rates[i])).epsilon(1e-12));
  CHECK(chances[0] == doctest::Approx(0.368).epsilon(1e-3));
  const auto model = [&](const std::vector<std::string>& overrides) {
    return run(experiment(overrides, text), on_threads(1)).digests.model;
  };
  std::string listed = "algorithm.nu=[";
  for (const double chance : chances) listed += fmt::format("{}{:.17g}", listed.back() == '[' ? "" : ",", chance);
  CHECK(model({}) == model({"algorithm.straggling=nu", listed + "]"}));
  CHECK(model({}) != model({"algorithm.equalise=false"}));
  const auto refusal = [&](const std::vector<std::string>& overrides) {
    return complaint<std::invalid_argument>([&] { model(overrides); });
  };
  CHECK(contains(refusal({"protocol.compute_phase=none"}), "needs protocol.compute_phase"));
  CHECK(contains(refusal({"protocol.compute_phase=0.2"}), "no computation of client 0 is ever done"));
  CHECK(contains(refusal({"clients.compute={law=\"gamma\",shape=2.0,rate=1.0}"}), "needs clients.compute.law"));
  // Theorem 2.1: eta = 1 / sqrt(4 L R), xi = R^(-3/8).
  CHECK(model({"algorithm.theorem_rounds=4096", "algorithm.smoothness=4.0"}) ==
        model({fmt::format("algorithm.eta={:.17g}", elementary::exp(-0.5 * (elementary::log(16) + elementary::log(4096)))),
               fmt::format("algorithm.xi={:.17g}", elementary::exp(-3.0 / 8 * elementary::log(4096)))}));
  CHECK(elementary::exp(-0.5 * (elementary::log(16) + elementary::log(4096))) == doctest::Approx(1.0 / 256).epsilon(1e-12));
}
