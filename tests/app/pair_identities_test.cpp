// Algorithms of pairs and pushes that are others in a special case (docs/references.md#meetings): played through the golden
// harness, and their answers compared.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/pair_cases.hpp"

using namespace rubato;
using namespace rubato::test;
using nlohmann::json;

namespace {

json answer_of(const std::string& algorithm, std::size_t clients, json parameters, const json& schedule) {
  if (!parameters.contains("x0")) parameters["x0"] = starts_of(clients);
  return answer_to({{"kind", "sync"},
                    {"algorithm", algorithm},
                    {"problem", problem_of(clients)},
                    {"params", parameters},
                    {"schedule", schedule}});
}

json golden_case(const std::string& id) { return json::parse(text_of(RUBATO_SOURCE_DIR "/tests/golden/" + id + ".json")); }

void check_same(const json& left, const json& right) { CHECK(golden::difference(left, right, exactly, exactly, "left") == ""); }

// Who asks whom: all pairs of four, several times over.
std::vector<std::pair<int, int>> pairs() {
  std::vector<std::pair<int, int>> all;
  for (int k = 0; k < 14; ++k) all.emplace_back(k % 4, (k % 4 + 1 + k % 3) % 4);
  return all;
}

json matrix_of(std::size_t clients, double value) { return json(clients, json(clients, value)); }

}  // namespace

TEST_CASE(
    "SwarmSGD without blocking and one step a batch is AD-PSGD that averages first, its gradients those after the own last step") {
  json interactions = json::array(), steps = json::array();
  std::vector<int> after(4, 0);  // the iteration behind a client's last step
  int k = 0;
  for (const auto& [i, j] : pairs()) {
    interactions.push_back({{"i", i}, {"j", j}, {"H_i", 1}, {"H_j", 1}});
    steps.push_back({{"i", i}, {"j", j}, {"start", after[static_cast<std::size_t>(i)]}});
    after[static_cast<std::size_t>(i)] = ++k;
  }
  const json swarm = answer_of("swarm_sgd", 4, {{"eta", 0.1}, {"variant", "non_blocking"}}, {{"interactions", interactions}});
  const json adpsgd = answer_of("adpsgd", 4, {{"eta", 0.1}, {"order", "average_first"}}, {{"steps", steps}});
  // The partner's live model is untouched by a meeting until its own: its gradient is that of s.
  check_same(swarm.at("x"), adpsgd.at("x"));
}

TEST_CASE("blocking SwarmSGD with one step a batch averages X - eta G over the pair") {
  json interactions = json::array();
  for (const auto& [i, j] : pairs()) interactions.push_back({{"i", i}, {"j", j}, {"H_i", 1}, {"H_j", 1}});
  const json swarm = answer_of("swarm_sgd", 4, {{"eta", 0.1}, {"variant", "blocking"}}, {{"interactions", interactions}}).at("x");
  const json problem = problem_of(4);
  int k = 0;
  for (const auto& [i, j] : pairs()) {
    Vector<double> mean = Vector<double>::Zero(2);
    for (const int one : {i, j}) {
      const auto at = static_cast<std::size_t>(one);
      const auto x = swarm.at(static_cast<std::size_t>(k)).at(at).get<Vector<double>>();
      const Vector<double> g = problem.at("A").at(at).get<Matrix<double>>() * (x - problem.at("c").at(at).get<Vector<double>>());
      mean += 0.5 * (x - 0.1 * g);
    }
    ++k;
    for (const int one : {i, j})
      CHECK((swarm.at(static_cast<std::size_t>(k)).at(static_cast<std::size_t>(one)).get<Vector<double>>() - mean).norm() <
            exactly);
  }
}

TEST_CASE("AD-PSGD of two that compute and then meet is D-PSGD that adapts and then averages with J") {
  json steps = json::array();
  for (int round = 0; round < 6; ++round) {
    steps.push_back({{"i", 1}, {"j", nullptr}});
    steps.push_back({{"i", 0}, {"j", 1}});
  }
  const json adpsgd = answer_of("adpsgd", 2, {{"eta", 0.1}, {"order", "gradient_first"}}, {{"steps", steps}}).at("x");
  const json dpsgd =
      answer_of("dpsgd", 2, {{"eta", 0.1}, {"variant", "atc"}, {"rounds", 6}, {"W", matrix_of(2, 0.5)}}, json::object());
  for (std::size_t round = 0; round <= 6; ++round) check_same(dpsgd.at("x").at(round), adpsgd.at(2 * round));
}

TEST_CASE("AD-PSGD without partners is every client alone") {
  json steps = json::array();
  for (int k = 0; k < 12; ++k) steps.push_back({{"i", k % 3}, {"j", nullptr}});
  const json adpsgd = answer_of("adpsgd", 3, {{"eta", 0.1}}, {{"steps", steps}}).at("x");
  const json alone = answer_of("local_only", 3, {{"eta", 0.1}, {"rounds", 4}}, json::object()).at("x");
  for (std::size_t round = 0; round <= 4; ++round) check_same(alone.at(round), adpsgd.at(3 * round));
}

TEST_CASE("AD-PSGD without steps: a meeting takes exactly half of the squared distance off the spread, and the mean stays") {
  json steps = json::array();
  for (const auto& [i, j] : pairs()) steps.push_back({{"i", i}, {"j", j}});
  const json x = answer_of("adpsgd", 4, {{"eta", 0}}, {{"steps", steps}}).at("x");
  const auto at = [&](std::size_t k, int i) { return x.at(k).at(static_cast<std::size_t>(i)).get<Vector<double>>(); };
  const auto mean = [&](std::size_t k) { return Vector<double>((at(k, 0) + at(k, 1) + at(k, 2) + at(k, 3)) / 4); };
  const auto spread = [&](std::size_t k) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += (at(k, i) - mean(k)).squaredNorm();
    return sum;
  };
  std::size_t k = 0;
  for (const auto& [i, j] : pairs()) {
    CHECK(spread(k + 1) == doctest::Approx(spread(k) - 0.5 * (at(k, i) - at(k, j)).squaredNorm()).epsilon(exactly));
    CHECK((mean(k + 1) - mean(k)).norm() < exactly);
    ++k;
  }
}

TEST_CASE("A2CiD2 without a flow and with equal weights is AD-PSGD with the same events, and its two models are one") {
  json events = json::array();
  double t = 0;
  for (const auto& [i, j] : pairs()) {
    events.push_back({{"t", t += 0.5}, {"type", "pair"}, {"i", i}, {"j", j}});
    events.push_back({{"t", t += 0.5}, {"type", "gradient"}, {"i", i}});
  }
  const json acid =
      answer_of("acid", 4, {{"gamma", 0.1}, {"eta", 0}, {"alpha", 0.5}, {"alpha_tilde", 0.5}, {"snapshot", "at_finish"}},
                {{"events", events}});
  check_same(acid.at("x"), acid.at("xt"));
  const json problem = problem_of(4);
  std::size_t k = 0;
  for (const auto& [i, j] : pairs()) {
    const auto x = [&](std::size_t at, int of) {
      return acid.at("x").at(at).at(static_cast<std::size_t>(of)).get<Vector<double>>();
    };
    const Vector<double> mean = 0.5 * (x(k, i) + x(k, j));
    CHECK((x(k + 1, i) - mean).norm() < exactly);
    CHECK((x(k + 1, j) - mean).norm() < exactly);
    const auto of = static_cast<std::size_t>(i);
    const Vector<double> g = problem.at("A").at(of).get<Matrix<double>>() * (mean - problem.at("c").at(of).get<Vector<double>>());
    CHECK((x(k + 2, i) - (mean - 0.1 * g)).norm() < exactly);
    k += 2;
  }
}

TEST_CASE("NoLoCo with one group is DiLoCo with heavy ball, whatever gamma is") {
  json groups = json::array();
  for (int round = 0; round < 6; ++round) groups.push_back({{0, 1, 2}});
  const json x0 = {0.5, -0.5};
  const json inner = {{"kind", "sgd"}, {"lr", 0.1}};
  const json noloco =
      answer_of("noloco", 3, {{"x0", x0}, {"rounds", 6}, {"H", 3}, {"inner", inner}, {"alpha", 0.4}, {"beta", 0.6}, {"gamma", 0.8}},
                {{"groups", groups}});
  const json diloco = answer_of(
      "diloco", 3,
      {{"x0", x0}, {"rounds", 6}, {"H", 3}, {"inner", inner}, {"outer", {{"kind", "heavy_ball"}, {"lr", 0.6}, {"momentum", 0.4}}}},
      {{"selected", json::array()}});
  for (std::size_t round = 0; round <= 6; ++round)
    for (std::size_t i = 0; i < 3; ++i) check_same(diloco.at("x").at(round), noloco.at("x").at(round).at(i));
}

TEST_CASE("R-FAST of one client is gradient descent") {
  json events = json::array();
  for (int k = 1; k <= 8; ++k) events.push_back({{"t", 0.5 * k}, {"type", "compute"}, {"client", 0}, {"delays", json::object()}});
  const json answer = answer_to({{"kind", "events"},
                                 {"algorithm", "rfast"},
                                 {"problem", problem_of(1)},
                                 {"config",
                                  {{"m", 1},
                                   {"x0", {0.4, 0.9}},
                                   {"gamma", 0.1},
                                   {"W", {{1.0}}},
                                   {"A", {{1.0}}},
                                   {"deadline", nullptr},
                                   {"psi", nullptr},
                                   {"t_end", 9.0}}},
                                 {"events", events}});
  Vector<double> x(2);
  x << 0.4, 0.9;
  const json problem = problem_of(1);
  for (const json& record : answer.at("trace")) {
    x -= 0.1 * problem.at("A").at(0).get<Matrix<double>>() * (x - problem.at("c").at(0).get<Vector<double>>());
    CHECK((record.at("x").get<Vector<double>>() - x).norm() < exactly);
  }
}

TEST_CASE("overlap SGP without a bound is SGP in continuous time, event by event, also where messages are lost") {
  const json sgp = golden_case("sgp_async_a");
  json osgp = sgp;
  osgp["algorithm"] = "osgp";
  osgp["config"]["tau"] = nullptr;
  osgp["config"]["snapshot"] = "at_finish";
  const json left = answer_to(osgp), right = answer_to(sgp);
  REQUIRE(left.at("trace").size() == right.at("trace").size());
  CHECK(right.at("trace").size() > 30);
  for (std::size_t k = 0; k < right.at("trace").size(); ++k)
    for (const char* key : {"t", "ev", "client", "x", "w"})
      if (right.at("trace").at(k).contains(key)) check_same(left.at("trace").at(k).at(key), right.at("trace").at(k).at(key));
  for (const char* key : {"x", "w", "z", "mass_w", "mass_x"}) check_same(left.at("final").at(key), right.at("final").at(key));
}

TEST_CASE("overlap SGP with tau = 0 in lock step is SGP in rounds, and no client is ever skipped") {
  const json sgp = golden_case("sgp_digraph");
  const std::size_t clients = sgp.at("graph").at("m"), rounds = sgp.at("params").at("rounds");
  json events = json::array();
  for (std::size_t k = 1; k <= rounds; ++k)
    for (std::size_t i = 0; i < clients; ++i) {
      json delays = json::object();
      for (const json& edge : sgp.at("graph").at("edges"))
        if (edge.at(0) == i) delays[std::to_string(edge.at(1).get<std::size_t>())] = 0.25;
      events.push_back({{"t", k}, {"type", "compute"}, {"client", i}});
      events.push_back({{"t", k}, {"type", "transmit"}, {"client", i}, {"delays", delays}});
    }
  const json left = answer_to({{"kind", "events"},
                               {"algorithm", "osgp"},
                               {"problem", sgp.at("problem")},
                               {"graph", sgp.at("graph")},
                               {"config",
                                {{"m", clients},
                                 {"x0", sgp.at("params").at("x0")},
                                 {"eta", sgp.at("params").at("eta")},
                                 {"P", sgp.at("params").at("P_cycle").at(0)},
                                 {"tau", 0},
                                 {"snapshot", "at_finish"},
                                 {"window", 0.125},
                                 {"deadline", nullptr},
                                 {"psi", nullptr},
                                 {"t_end", static_cast<double>(rounds) + 0.9}}},
                               {"events", events}});
  const json right = answer_to(sgp);
  std::vector<std::size_t> closed(clients);  // windows, one a round
  for (const json& record : left.at("trace")) {
    if (record.at("ev") != "window_close") continue;
    const std::size_t i = record.at("client"), round = ++closed.at(i);
    check_same(record.at("x"), right.at("x").at(round).at(i));
    check_same(record.at("w"), right.at("w").at(round).at(i));
  }
  CHECK(closed == std::vector<std::size_t>(clients, rounds));
  CHECK(left.at("final").at("skipped") == 0);
  CHECK(left.at("final").at("done") == json(clients, rounds));
}

TEST_CASE("two clients without steps that meet, counted, have the mean as soon as a reply gets through, whatever was lost before") {
  const json starts = starts_of(2);
  const Vector<double> mean = 0.5 * (starts.at(0).get<Vector<double>>() + starts.at(1).get<Vector<double>>());
  for (const int lost : {0, 1, 2, 5}) {
    CAPTURE(lost);
    json attempts(static_cast<std::size_t>(lost), json{0.25, nullptr});  // replies; the meetings happen at the partner
    attempts.push_back({0.25, 0.25});
    const json answer =
        answer_to({{"kind", "events"},
                   {"algorithm", "adpsgd"},
                   {"problem", problem_of(2)},
                   {"graph", {{"m", 2}, {"directed", false}, {"edges", {{0, 1}}}}},
                   {"config",
                    {{"m", 2},
                     {"x0", starts},
                     {"eta", 0.0},
                     {"snapshot", "at_finish"},
                     {"deadline", 1.0},
                     {"busy", "wait"},
                     {"retries", 8},
                     {"retry_after", 0.125},
                     {"commit", "counted"},
                     {"t_end", 20.0}}},
                   {"events", {{{"t", 1.0}, {"type", "exchange"}, {"client", 0}, {"partner", 1}, {"attempts", attempts}}}}});
    std::size_t met = 0;
    for (const json& record : answer.at("trace")) met += record.at("ev") == "request" && record.at("outcome") == "met";
    CHECK(met == attempts.size());
    for (const json& x : answer.at("final").at("x")) CHECK((x.get<Vector<double>>() - mean).norm() < exactly);
  }
}
