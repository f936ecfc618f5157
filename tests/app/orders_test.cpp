// Servers without rounds and trees as the golden harness plays them: what is equal to what, what never changes, and numbers that a
// reader can compute. Where there is a second, duller road the test takes it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "app/golden/cases.hpp"
#include "runtime/random.hpp"
#include "runtime/world/bounds.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using nlohmann::json;

namespace {

json answer(const std::string& algorithm, const std::string& kind, const json& golden_case) {
  for (const auto& table : {golden::order_kinds, golden::tree_kinds})
    for (const golden::CaseKind& each : table())
      if (each.algorithm == algorithm && each.kind == kind) return each.answer(golden_case);
  throw std::logic_error("no kind of case is called " + algorithm);
}

// f_i = (x - c_i)^2 / 2 of one number; the last client is the centre.
json spread_problem(const std::vector<double>& c) {
  json problem{{"kind", "quadratic"}, {"A", json::array()}, {"c", json::array()}};
  for (const double each : c) problem["A"].push_back({{1.0}}), problem["c"].push_back({each});
  return problem;
}

// Of two numbers, with curvatures that differ.
json bent_problem(std::size_t clients) {
  json problem{{"kind", "quadratic"}, {"A", json::array()}, {"c", json::array()}};
  for (std::size_t i = 0; i < clients; ++i) {
    const auto k = static_cast<double>(i);
    problem["A"].push_back({{1.0 + 0.2 * k, 0.1}, {0.1, 0.8 + 0.1 * k}});
    problem["c"].push_back({k - 1, 2 - 0.5 * k});
  }
  return problem;
}

json filled(std::size_t count, double value) { return json(count, value); }

// A world of constant times: `work` of the workers, links of a sixteenth of a second, the centre last.
json constant_world(std::vector<double> work, double until) {
  work.push_back(1);
  json config{{"m", work.size()},      {"centre", work.size() - 1}, {"x0", {0.5, -0.5}},  {"t_end", until},
              {"work", json::array()}, {"down", json::array()},     {"up", json::array()}};
  for (const double each : work) {
    config["work"].push_back({each});
    config["down"].push_back({0.0625});
    config["up"].push_back({0.0625});
  }
  return config;
}

// The same with tables that are drawn, in 32nds of a second.
json drawn_world(std::size_t workers, std::uint64_t seed, double until) {
  json config = constant_world(std::vector<double>(workers, 1), until);
  Stream draws(seed, no_client, Purpose::noise);
  const auto row = [&](std::uint64_t least, std::uint64_t span) {
    json list = json::array();
    for (int k = 0; k < 24; ++k) list.push_back(static_cast<double>(least + draws.below(span)) / 32);
    return list;
  };
  for (std::size_t i = 0; i < workers; ++i) {
    config["work"][i] = row(8 + 12 * i, 24);
    config["down"][i] = row(1, 5);
    config["up"][i] = row(1, 5);
  }
  return config;
}

json with(json config, const json& more) {
  config.update(more);
  return config;
}

json play(const std::string& algorithm, const json& config, const json& problem) {
  return answer(algorithm, "events", {{"config", config}, {"problem", problem}});
}
json play(const std::string& algorithm, const json& config) {
  return play(algorithm, config, bent_problem(config.at("m").get<std::size_t>()));
}

std::vector<json> records(const json& answer, const std::string& event) {
  std::vector<json> found;
  for (const json& record : answer.at("trace"))
    if (record.at("ev") == event) found.push_back(record);
  return found;
}

// The models after the updates, and when these were.
struct Path {
  std::vector<double> at;
  std::vector<Vector<double>> x;
};
Path path_of(const json& answer) {
  Path path;
  std::uint64_t version = 0;
  for (const json& record : records(answer, "answer")) {
    if (record.at("version") == version) continue;
    version = record.at("version");
    path.at.push_back(record.at("t"));
    path.x.push_back(record.at("x").get<Vector<double>>());
  }
  for (const json& record : records(answer, "step")) {
    path.at.push_back(record.at("t"));
    path.x.push_back(record.at("x").get<Vector<double>>());
  }
  return path;
}

void check_equal(const Path& one, const Path& other, std::size_t at_least) {
  REQUIRE(one.x.size() >= at_least);
  REQUIRE(other.x.size() >= at_least);
  for (std::size_t k = 0; k < std::min(one.x.size(), other.x.size()); ++k) {
    CAPTURE(k);
    CHECK((one.x[k] - other.x[k]).cwiseAbs().maxCoeff() < 1e-12);
  }
}

// The duller road.
Vector<double> gradient(const json& problem, std::size_t client, const Vector<double>& x) {
  return problem.at("A")[client].get<Matrix<double>>() * (x - problem.at("c")[client].get<Vector<double>>());
}

// Gradient descent on the mean of the first so many losses.
std::vector<Vector<double>> centralised(const json& problem, std::size_t clients, double gamma, std::size_t steps) {
  std::vector<Vector<double>> models;
  Vector<double> x(2);
  x << 0.5, -0.5;
  for (std::size_t k = 0; k < steps; ++k) {
    Vector<double> sum = Vector<double>::Zero(2);
    for (std::size_t i = 0; i < clients; ++i) sum += gradient(problem, i, x);
    x -= gamma / static_cast<double>(clients) * sum;
    models.push_back(x);
  }
  return models;
}

// The plain mean of what clients come to in `local` steps of eta.
std::vector<Vector<double>> averaged(const json& problem, std::size_t clients, double eta, int local, std::size_t rounds) {
  std::vector<Vector<double>> models;
  Vector<double> x(2);
  x << 0.5, -0.5;
  for (std::size_t k = 0; k < rounds; ++k) {
    Vector<double> sum = Vector<double>::Zero(2);
    for (std::size_t i = 0; i < clients; ++i) {
      Vector<double> mine = x;
      for (int step = 0; step < local; ++step) mine -= eta * gradient(problem, i, mine);
      sum += mine;
    }
    x = sum / static_cast<double>(clients);
    models.push_back(x);
  }
  return models;
}

void check_path(const Path& path, const std::vector<Vector<double>>& models, std::size_t at_least) {
  REQUIRE(path.x.size() >= at_least);
  for (std::size_t k = 0; k < std::min(path.x.size(), models.size()); ++k) {
    CAPTURE(k);
    CHECK((path.x[k] - models[k]).cwiseAbs().maxCoeff() < 1e-12);
  }
}

json line_of(std::size_t nodes, double h, double link, double until) {
  const std::size_t pivot = nodes / 2;
  json config{{"m", nodes},     {"pivot", pivot},          {"x0", {0.5, -0.5}},
              {"t_end", until}, {"parent", json::array()}, {"h", filled(nodes, h)}};
  for (std::size_t i = 0; i < nodes; ++i) config["parent"].push_back(i == pivot ? json() : json(i < pivot ? i + 1 : i - 1));
  config["bc_parent"] = config["parent"];
  for (const char* table : {"up", "down", "up_count", "down_control"}) config[table] = filled(nodes, link);
  return config;
}

const double step = 0.1;

}  // namespace

TEST_CASE("identity: Ringmaster without a largest delay, FedBuff with K = 1 and a long mishchenko are vanilla") {
  const json world = drawn_world(4, 1, 12);
  const Path vanilla = path_of(play("asgd", with(world, {{"gamma", step}, {"law", {{"kind", "constant"}}}})));
  check_equal(vanilla, path_of(play("asgd", with(world, {{"gamma", step}, {"law", {{"kind", "mishchenko"}, {"n", 1000}}}}))), 15);
  for (const json& R : {json(), json(100000)})
    check_equal(vanilla, path_of(play("ringmaster", with(world, {{"gamma", step}, {"R", R}}))), 15);
  const json buffered = {
      {"eta", step}, {"local_steps", {1, 1, 1, 1, 1}}, {"K", 1}, {"eta_g", 1.0}, {"staleness", {{"kind", "constant"}}}};
  check_equal(vanilla, path_of(play("fedbuff", with(world, buffered))), 15);
}

TEST_CASE("identity: Rennala with B = 1 is Ringmaster with R = 1") {
  const json world = constant_world({1, 1.5, 4}, 20);
  const Path rennala = path_of(play("rennala", with(world, {{"gamma", step}, {"B", 1}})));
  const Path ringmaster = path_of(play("ringmaster", with(world, {{"gamma", step}, {"R", 1}, {"stops", true}})));
  check_equal(rennala, ringmaster, 15);
  CHECK(rennala.at == ringmaster.at);
}

TEST_CASE("identity: all workers at equal times are minibatch SGD, in whichever way they are waited for") {
  const json world = constant_world({1, 1, 1}, 20);
  const json problem = bent_problem(4);
  const auto minibatch = centralised(problem, 3, step, 30);
  check_path(path_of(play("m_sync", with(world, {{"gamma", step}, {"M", 3}}))), minibatch, 15);
  check_path(path_of(play("rennala", with(world, {{"gamma", step}, {"B", 3}}))), minibatch, 15);
  check_path(path_of(play("malenia", with(world, {{"gamma", step}, {"S", 3}}))), minibatch, 15);
  const json buffered = {{"eta", step},  {"local_steps", {1, 1, 1, 1}}, {"K", 3},
                         {"eta_g", 1.0}, {"redispatch", "at_update"},   {"staleness", {{"kind", "constant"}}}};
  check_path(path_of(play("fedbuff", with(world, buffered))), minibatch, 15);
  check_path(path_of(play("m_sync", with(drawn_world(3, 2, 30), {{"gamma", step}, {"M", 3}}))), minibatch, 10);
}

TEST_CASE("identity: FedBuff with K = n that hands out at updates, and DiLoCo with a plain outer step, are FedAvg") {
  const json problem = bent_problem(4);
  const json world = drawn_world(3, 3, 30);
  const auto fedavg = averaged(problem, 3, step, 4, 30);
  const json buffered = {{"eta", step},  {"local_steps", {4, 4, 4, 4}}, {"K", 3},
                         {"eta_g", 1.0}, {"redispatch", "at_update"},   {"staleness", {{"kind", "constant"}}}};
  check_path(path_of(play("fedbuff", with(world, buffered))), fedavg, 10);
  const json plain = {{"H", 4}, {"inner", {{"kind", "sgd"}, {"lr", step}}}, {"outer", {{"kind", "sgd"}, {"lr", 1.0}}}};
  check_path(path_of(play("diloco", with(world, plain))), fedavg, 10);
  check_path(path_of(play("diloco", with(world, with(plain, {{"H", 1}})))), centralised(problem, 3, step, 30), 10);
}

TEST_CASE("identity: DiLoCo by messages, where all answer, is DiLoCo in rounds, with any optimisers") {
  const json problem = bent_problem(4);
  for (const std::string outer : {"sgd", "heavy_ball", "nesterov"})
    for (const std::string inner : {"sgd", "adamw"}) {
      CAPTURE(outer);
      CAPTURE(inner);
      const json parts = {
          {"H", 3},
          {"inner", {{"kind", inner}, {"lr", 0.05}, {"beta1", 0.9}, {"beta2", 0.95}, {"eps", 1e-8}, {"weight_decay", 0.1}}},
          {"outer", {{"kind", outer}, {"lr", 0.7}, {"momentum", 0.8}}}};
      json world = with(drawn_world(3, 4, 30), parts);
      world["centre_works"] = true;
      const Path events = path_of(play("diloco", world, problem));
      const json rounds =
          answer("diloco", "sync", {{"problem", problem}, {"params", with(parts, {{"x0", {0.5, -0.5}}, {"rounds", 8}})}});
      REQUIRE(events.x.size() >= 8);
      for (std::size_t k = 0; k < 8; ++k)
        CHECK((events.x[k] - rounds.at("x")[k + 1].get<Vector<double>>()).cwiseAbs().maxCoeff() < 1e-12);
    }
}

TEST_CASE("identity: one worker of FedAsync with alpha = 1, and of Ringleader, is SGD") {
  const json world = constant_world({1}, 20);
  const auto alone = centralised(bent_problem(2), 1, step, 30);
  const json mixing = {
      {"eta", step}, {"rho", 0.0}, {"local_steps", {1, 1}}, {"alpha", 1.0}, {"staleness", {{"kind", "polynomial"}, {"a", 0.5}}}};
  check_path(path_of(play("fedasync", with(world, mixing))), alone, 15);
  check_path(path_of(play("ringleader", with(world, {{"gamma", step}}))), alone, 15);
}

TEST_CASE("identity: asynchronous SGD by messages is its sequence with the recorded workers and delays") {
  const json world = with(drawn_world(4, 5, 14), {{"gamma", step}, {"law", {{"kind", "inverse"}}}});
  const json problem = bent_problem(5);
  const json events = play("asgd", world, problem);
  json answers = json::array();
  for (const json& record : records(events, "answer")) answers.push_back({{"i", record.at("client")}, {"tau", record.at("tau")}});
  REQUIRE(answers.size() > 15);
  const json sequence = answer("asgd", "sync",
                               {{"problem", problem},
                                {"params", {{"x0", {0.5, -0.5}}, {"gamma", step}, {"law", {{"kind", "inverse"}}}}},
                                {"schedule", {{"answers", answers}}}});
  const Path path = path_of(events);
  for (std::size_t k = 0; k < path.x.size(); ++k)
    CHECK((path.x[k] - sequence.at("x")[k + 1].get<Vector<double>>()).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("identity: a minibatch over a tree, and Amelie with full gradients, are centralised descent") {
  const json problem = bent_problem(7);
  const auto descent = centralised(problem, 7, step, 30);
  check_path(path_of(play("minibatch_tree", with(line_of(7, 1, 0.25, 60), {{"gamma", step}}), problem)), descent, 15);
  check_path(path_of(play("amelie", with(line_of(7, 1, 0.25, 90), {{"gamma", step}, {"S", 20.0}}), problem)), descent, 10);
}

TEST_CASE("identity: Fragile with S = 1 where the pivot alone computes is the pivot's own SGD") {
  json world = with(line_of(5, 1, 0.25, 20), {{"gamma", step}, {"S", 1}});
  for (std::size_t i = 0; i < 5; ++i)
    if (i != 2) world["h"][i] = nullptr;
  json problem = bent_problem(5);
  json alone = problem;
  alone["A"][0] = problem["A"][2], alone["c"][0] = problem["c"][2];
  check_path(path_of(play("fragile", world, problem)), centralised(alone, 1, step, 30), 15);
}

TEST_CASE("invariant: the delays of all answers and the ages of all models that are out add up to (n - 1) versions") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    const std::uint64_t n = 2 + seed % 4;
    const json result = play("asgd", with(drawn_world(n, seed, 14), {{"gamma", 0.01}, {"law", {{"kind", "constant"}}}}));
    std::uint64_t delays = 0, ages = 0;
    for (const json& record : records(result, "answer")) delays += record.at("tau").get<std::uint64_t>();
    const auto version = result.at("final").at("version").get<std::uint64_t>();
    for (const json& order : result.at("final").at("outstanding")) ages += version - order[2].get<std::uint64_t>();
    CHECK(version > 5);
    CHECK(delays + ages == (n - 1) * version);
  }
}

TEST_CASE("invariant: a version grows by at most one an answer, and the model moves with it alone") {
  const std::map<std::string, json> rules = {
      {"asgd", {{"gamma", step}, {"law", {{"kind", "constant"}}}}},
      {"ringmaster", {{"gamma", step}, {"R", 2}}},
      {"m_sync", {{"gamma", step}, {"M", 2}}},
      {"rennala", {{"gamma", step}, {"B", 5}}},
      {"malenia", {{"gamma", step}, {"S", 4.0}}},
      {"ringleader", {{"gamma", step}}},
      {"fedbuff",
       {{"eta", step},
        {"local_steps", {1, 1, 1, 1, 1}},
        {"K", 3},
        {"eta_g", 1.0},
        {"max_staleness", 1},
        {"staleness", {{"kind", "constant"}}}}},
  };
  for (const auto& [name, rule] : rules)
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      CAPTURE(name);
      CAPTURE(seed);
      json world = with(drawn_world(4, seed, 16), rule);
      world["patience"] = 2.5;
      for (auto& row : world["up"]) row[2] = nullptr;
      const json result = play(name, world);
      std::uint64_t version = 0;
      json x = world.at("x0");
      std::map<std::uint32_t, std::uint64_t> open;
      for (const json& record : records(result, "answer")) {
        const auto now = record.at("version").get<std::uint64_t>();
        CHECK((now == version || now == version + 1));
        if (now == version) CHECK(record.at("x") == x);
        if (record.at("reason") == "superseded") CHECK(record.at("used") == false);
        version = now, x = record.at("x");
      }
      const json& counters = result.at("final").at("counters");
      CHECK(counters.at("answers") == records(result, "answer").size());
      CHECK(counters.at("dispatched") == records(result, "dispatch").size());
      CHECK(counters.at("patience") == records(result, "patience").size());
      if (name != "ringmaster" && name != "fedbuff") CHECK(version > 0);
      for (const json& order : result.at("final").at("outstanding")) CHECK(++open[order[0].get<std::uint32_t>()] == 1);
    }
}

TEST_CASE("invariant: the answers that m-synchronous SGD, Rennala and Malenia use are at the present model, as many as asked for") {
  const json world = drawn_world(4, 7, 20);
  for (const auto& [name, rule, count] :
       {std::tuple{"m_sync", json{{"gamma", step}, {"M", 3}}, 3}, std::tuple{"rennala", json{{"gamma", step}, {"B", 6}}, 6}}) {
    int used = 0;
    std::uint64_t version = 0;
    for (const json& record : records(play(name, with(world, rule)), "answer")) {
      if (record.at("used") == false) continue;
      CHECK(record.at("tau") == 0);
      ++used;
      if (record.at("version") == version) continue;
      version = record.at("version");
      CHECK(std::exchange(used, 0) == count);
    }
    CHECK(version > 3);
  }
  std::map<std::uint32_t, double> b;
  std::uint64_t version = 0;
  for (const json& record : records(play("malenia", with(world, {{"gamma", step}, {"S", 8.0}})), "answer")) {
    if (record.at("used") == false) continue;
    CHECK(record.at("tau") == 0);
    ++b[record.at("client").get<std::uint32_t>()];
    double inverse = 0;
    for (const auto& [worker, count] : b) inverse += 1 / count;
    const bool is_enough = b.size() == 4 && 4 / inverse >= 8.0 / 4 * (1 - 1e-12);
    CHECK((record.at("version") != version) == is_enough);
    if (is_enough) b.clear();
    version = record.at("version");
  }
  CHECK(version > 2);
}

TEST_CASE("invariant: Ringmaster uses what is younger than R, and with stops nothing that is out is older") {
  for (const std::uint64_t R : {1, 2, 3, 5}) {
    CAPTURE(R);
    const json result = play("ringmaster", with(drawn_world(5, R, 16), {{"gamma", 0.02}, {"R", R}, {"stops", true}}));
    for (const json& record : records(result, "answer"))
      if (record.at("reason") != "superseded") CHECK(record.at("used") == (record.at("tau").get<std::uint64_t>() < R));
    const json& last = result.at("final");
    for (const json& order : last.at("outstanding"))
      CHECK(last.at("version").get<std::uint64_t>() - order[2].get<std::uint64_t>() < R);
    CHECK(last.at("version") > 4);
  }
}

TEST_CASE("invariant: with stops Ringmaster hands out a new model the moment an order has R versions behind it, and never before") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::uint64_t workers = 3 + seed % 5, R = 1 + seed % 7;
    CAPTURE(seed);
    json world = with(drawn_world(workers, seed, 20), {{"gamma", 0.001}, {"R", R}, {"stops", true}});
    const json result = play("ringmaster", world);
    // The orders that are out, by worker: a worker has one, and a new one takes its place.
    std::map<std::uint32_t, std::uint64_t> out;
    std::uint64_t version = 0, stopped = 0;
    double t = 0;
    for (const json& record : result.at("trace")) {
      if (record.at("t") != t)
        for (const auto& [worker, given] : out) CHECK(version - given < R);
      t = record.at("t");
      const auto client = [&] { return record.at("client").get<std::uint32_t>(); };
      if (record.at("ev") == "answer") {
        version = record.at("version");
        if (record.at("reason") != "superseded") out.erase(client());
      } else if (record.at("ev") == "dispatch") {
        if (const auto before = out.find(client()); before != out.end()) {
          CHECK(version - before->second == R);
          ++stopped;
        }
        out[client()] = record.at("version");
      }
    }
    CHECK(version > 4);
    if (R < workers) CHECK(stopped > 0);
  }
}

TEST_CASE("lemma: with stops and links that take no time any R updates of Ringmaster take at most t(R)") {
  const std::vector<double> h{1, 2.5, 4, 10};
  for (const std::size_t R : {1, 2, 4, 7}) {
    json world = with(constant_world(h, 60), {{"gamma", 0.001}, {"R", R}, {"stops", true}});
    for (const char* table : {"down", "up"})
      for (auto& row : world[table]) row = {1e-9};
    const Path path = path_of(play("ringmaster", world));
    double least = INFINITY, rate = 0;
    for (std::size_t m = 1; m <= h.size(); ++m) {
      rate += 1 / h[m - 1];
      const auto workers = static_cast<double>(m);
      least = std::min(least, workers / rate * (1 + static_cast<double>(R) / workers));
    }
    REQUIRE(path.at.size() > R);
    for (std::size_t k = 0; k + R <= path.at.size(); ++k)
      CHECK(path.at[k + R - 1] - (k == 0 ? 0 : path.at[k - 1]) <= 2 * least + 1e-6);
  }
}

TEST_CASE("invariant: every worker of Ringleader makes one update a round, from rows of one model each that are young enough") {
  for (const std::uint64_t n : {2, 3, 5}) {
    CAPTURE(n);
    const json result = play("ringleader", with(drawn_world(n, n, 30), {{"gamma", 0.02}}));
    std::map<std::uint32_t, int> updates;
    for (const json& record : records(result, "answer")) {
      if (record.at("reason") != "update") continue;
      ++updates[record.at("client").get<std::uint32_t>()];
      const auto [least, most] = std::ranges::minmax_element(updates, {}, [](const auto& each) { return each.second; });
      CHECK(most->second - (updates.size() == n ? least->second : 0) <= 1);
    }
    CHECK(updates.size() == n);
    CHECK(result.at("final").at("largest_delay").get<std::uint64_t>() <= 2 * n - 2);
  }
}

TEST_CASE("invariant: every step of Fragile uses at least S gradients, and a constant world is periodic") {
  for (const std::size_t S : {1, 4, 9, 20}) {
    const json result = play("fragile", with(line_of(7, 1, 0.5, 60), {{"gamma", step}, {"S", S}}));
    for (const json& record : records(result, "step")) CHECK(record.at("count").get<std::size_t>() >= S);
    const Path path = path_of(result);
    REQUIRE(path.at.size() > 4);
    for (std::size_t k = 3; k < path.at.size(); ++k)
      CHECK(path.at[k] - path.at[k - 1] == doctest::Approx(path.at[2] - path.at[1]).epsilon(1e-9));
  }
}

TEST_CASE("invariant: Malenia with full gradients is centralised descent, whatever it waits for") {
  const auto descent = centralised(bent_problem(5), 4, step, 60);
  for (const double S : {1.0, 4.0, 9.0, 20.0}) {
    CAPTURE(S);
    check_path(path_of(play("malenia", with(drawn_world(4, 7, 40), {{"gamma", step}, {"S", S}}))), descent, 4);
  }
}

TEST_CASE("invariant: as many updates of Ringleader as it has workers take at most twice the slowest gradient") {
  const std::vector<double> h{1, 2.5, 4, 10};
  json world = with(constant_world(h, 200), {{"gamma", 0.001}});
  for (const char* table : {"down", "up"})
    for (auto& row : world[table]) row = {1e-9};
  const Path path = path_of(play("ringleader", world));
  REQUIRE(path.at.size() > 40);
  for (std::size_t k = 0; k + h.size() <= path.at.size(); ++k)
    CHECK(path.at[k + h.size() - 1] - (k == 0 ? 0 : path.at[k - 1]) <= 20 + 1e-6);
}

TEST_CASE("invariant: Fragile on equal losses is gradient descent, whatever S is") {
  json problem = bent_problem(7);
  for (const char* part : {"A", "c"}) problem[part] = json(7, problem[part][3]);
  const auto descent = centralised(problem, 1, step, 80);
  for (const std::size_t S : {1, 4, 9, 20}) {
    CAPTURE(S);
    check_path(path_of(play("fragile", with(line_of(7, 1, 0.5, 60), {{"gamma", step}, {"S", S}}), problem)), descent, 5);
  }
}

TEST_CASE("an iteration of Fragile takes less than twice its equilibrium time on trees that are drawn") {
  double longest = 0;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    CAPTURE(seed);
    Stream draws(seed, no_client, Purpose::noise);
    const std::size_t m = 5 + draws.below(8), S = 1 + draws.below(30);
    json config{{"m", m}, {"pivot", 0}, {"x0", {0.5, -0.5}}, {"t_end", 400.0}, {"gamma", 0.01}, {"S", S}};
    std::vector<double> h, travel;
    for (const char* table : {"parent", "h", "up", "down"}) config[table] = json::array();
    for (std::size_t i = 0; i < m; ++i) {
      const double up = 0.125 + draws.uniform(), down = 0.125 + draws.uniform();
      const std::size_t parent = i > 0 ? draws.below(i) : 0;
      config["parent"].push_back(i > 0 ? json(parent) : json());
      h.push_back(0.5 + 3 * draws.uniform());
      travel.push_back(i > 0 ? travel[parent] + up + down : 0);
      config["h"].push_back(h.back()), config["up"].push_back(up), config["down"].push_back(down);
    }
    config["bc_parent"] = config["parent"];
    const Path path = path_of(play("fragile", config));
    REQUIRE(path.at.size() > 4);
    const double best = equilibrium_seconds(static_cast<double>(S), h, travel);
    for (std::size_t k = 0; k < path.at.size(); ++k)
      longest = std::max(longest, (path.at[k] - (k == 0 ? 0 : path.at[k - 1])) / best);
  }
  MESSAGE("at most " << longest << " equilibrium times");
  CHECK(longest < 2);
}

TEST_CASE(
    "invariant: for Amelie one gradient of each is enough where S is at most the number of nodes, and each makes one at least") {
  for (const double S : {3.0, 7.0, 20.0}) {
    CAPTURE(S);
    const auto collected =
        records(play("amelie", with(line_of(7, 1, 1e-9, 40), {{"gamma", step}, {"S", S}}), bent_problem(7)), "collect");
    REQUIRE(collected.size() > 70);
    for (const json& record : collected) CHECK((S > 7 ? record.at("count") >= 1 : record.at("count") == 1));
  }
}

TEST_CASE("an order that is not answered is given up, and its worker gets a fresh model") {
  json world = with(constant_world({1, 1}, 9), {{"gamma", step}, {"law", {{"kind", "constant"}}}, {"arriving", "cancel"}});
  world["patience"] = 2.0;
  world["up"][1] = {nullptr, 0.0625};
  const json result = play("asgd", world);
  const auto given_up = records(result, "patience");
  REQUIRE(given_up.size() == 1);
  CHECK(given_up[0].at("t") == 2.0);
  CHECK(given_up[0].at("client") == 1);
  CHECK(result.at("final").at("counters").at("lost") == 1);
  const auto dispatched = records(result, "dispatch");
  const auto fresh = std::ranges::find_if(dispatched, [](const json& each) { return each.at("t") == 2.0; });
  REQUIRE(fresh != dispatched.end());
  CHECK(fresh->at("version") == 1);
}

TEST_CASE("a centre that works begins a job that waited at the model that it had when it was ordered") {
  json world = with(constant_world({1, 1}, 6), {{"gamma", step}, {"law", {{"kind", "constant"}}}, {"centre_works", true}});
  world["work"][2] = {2.5};
  world["next"] = {2};  // whoever answers, the centre gets the next order
  const json problem = bent_problem(3), result = play("asgd", world, problem);
  const auto answers = records(result, "answer");
  REQUIRE(answers.size() >= 4);
  // The answers of the centre are gradients at the models of their orders' versions.
  std::vector<Vector<double>> versions{json({0.5, -0.5}).get<Vector<double>>()};
  for (const json& record : answers) {
    const auto used = versions.size() - 1 - record.at("tau").get<std::size_t>();
    versions.push_back(versions.back() - step * gradient(problem, record.at("client").get<std::size_t>(), versions.at(used)));
    CHECK((versions.back() - record.at("x").get<Vector<double>>()).cwiseAbs().maxCoeff() < 1e-12);
  }
}

TEST_CASE("the step of mishchenko goes by the number of workers, the centre among them where it works") {
  const auto digest = [](const std::string& n, const std::string& works) {
    return run(test::experiment(
                   {"clients.count=4", "clients.compute.rate=[4.0, 2.0, 1.0, 0.1]", "until=60.0", "algorithm.name=asgd",
                    "algorithm.law=mishchenko", "algorithm.n=" + n, "algorithm.center_works=" + works},
                   test::plain_text),
               test::on_threads(1))
        .digests.model;
  };
  CHECK(digest("0", "true") == digest("4", "true"));
  CHECK(digest("3", "true") != digest("4", "true"));
  CHECK(digest("0", "false") == digest("3", "false"));
}

TEST_CASE("on unlike data who is fast counts more, unless every worker counts the same") {
  const json problem = spread_problem({-1, 1, 5, 0});
  const auto limit = [&](const std::string& name, const json& rule) {
    json world = with(constant_world({0.5, 1, 4}, 1500), rule);
    world["x0"] = {0.0};
    for (const char* table : {"down", "up"})
      for (auto& row : world[table]) row = {0.001};
    const auto answers = records(play(name, world, problem), "answer");
    double sum = 0;
    for (std::size_t k = answers.size() / 2; k < answers.size(); ++k) sum += answers[k].at("x")[0].get<double>();
    return sum / static_cast<double>(answers.size() - answers.size() / 2);
  };
  CHECK(limit("asgd", {{"gamma", 0.02}, {"law", {{"kind", "constant"}}}}) == doctest::Approx(0.079).epsilon(0.01));
  // Handed out evenly, whichever worker answers, orders weigh every worker the same.
  Stream draws(1, no_client, Purpose::noise);
  json next = json::array();
  for (int k = 0; k < 6000; ++k) next.push_back(draws.below(3));
  CHECK(limit("asgd", {{"gamma", 0.02}, {"law", {{"kind", "constant"}}}, {"arriving", "queue"}, {"next", next}}) ==
        doctest::Approx(1.667).epsilon(0.1));
  CHECK(limit("ringmaster", {{"gamma", 0.02}, {"R", 3}, {"stops", true}}) == doctest::Approx(-0.332).epsilon(0.005));
  CHECK(limit("ringleader", {{"gamma", 0.02}}) == doctest::Approx(1.667).epsilon(0.001));
  CHECK(limit("fedasync", {{"alpha", 0.2},
                           {"eta", 0.1},
                           {"rho", 0.0},
                           {"local_steps", {1, 1, 1, 1}},
                           {"staleness", {{"kind", "polynomial"}, {"a", 0.5}}}}) == doctest::Approx(-0.346).epsilon(0.005));
  CHECK(limit("m_sync", {{"gamma", 0.2}, {"M", 3}}) == doctest::Approx(1.667).epsilon(0.001));
  CHECK(limit("malenia", {{"gamma", 0.2}, {"S", 6.0}}) == doctest::Approx(1.667).epsilon(0.001));
}
