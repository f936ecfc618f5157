// What never changes while clients meet in pairs or push without rounds, played through the golden harness over links that delay,
// lose and reorder. Where there is a second, duller road the test takes it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "runtime/random.hpp"
#include "tests/app/pair_cases.hpp"

using namespace rubato;
using namespace rubato::test;
using nlohmann::json;

namespace {

using Numbers = Vector<double>;

json complete_graph(std::size_t clients) {
  json edges = json::array();
  for (std::size_t i = 0; i < clients; ++i)
    for (std::size_t j = i + 1; j < clients; ++j) edges.push_back({i, j});
  return {{"m", clients}, {"directed", false}, {"edges", edges}};
}

json sequence_of(const std::string& algorithm, std::size_t clients, const json& parameters, const json& schedule) {
  return answer_to({{"kind", "sync"},
                    {"algorithm", algorithm},
                    {"problem", problem_of(clients)},
                    {"params", parameters},
                    {"schedule", schedule}});
}

Numbers numbers(const json& list) { return list.get<Numbers>(); }

void check_equal(const json& left, const json& right) { CHECK(golden::difference(left, right, 0, 0, "left") == ""); }

void check_near(const Numbers& left, const Numbers& right) { CHECK((left - right).cwiseAbs().maxCoeff() < exactly); }

// Whether clients compute, and what becomes of messages.
struct Drawn {
  std::size_t clients = 4;
  std::uint64_t seed = 1;
  double until = 24;
  double loss = 0.2;
  std::size_t attempts = 2;  // of each exchange
  bool with_exchanges = true;
};

// Computations and exchanges at instants that nothing else shares, delays in 4096ths of a second.
json drawn_events(const Drawn& is) {
  Stream chance(is.seed, {0}, Purpose::noise);
  const auto delay = [&]() -> json {
    if (chance.uniform() < is.loss) return nullptr;
    return static_cast<double>(1 + chance.below(3000)) / 4096;
  };
  json events = json::array();
  std::set<std::uint64_t> taken;
  const auto instant = [&] {
    std::uint64_t at = 0;
    do at = 1 + chance.below(static_cast<std::uint64_t>(is.until * 1024));
    while (!taken.insert(at).second);
    return static_cast<double>(at) / 1024;
  };
  const auto count = static_cast<int>(is.until * 1.2);
  for (std::size_t i = 0; i < is.clients; ++i)
    for (int k = 0; k < count; ++k) {
      events.push_back({{"t", instant()}, {"type", "compute"}, {"client", i}});
      if (!is.with_exchanges) continue;
      json attempts = json::array();
      for (std::size_t a = 0; a < is.attempts; ++a) attempts.push_back({delay(), delay()});
      const std::size_t partner = (i + 1 + chance.below(is.clients - 1)) % is.clients;
      events.push_back({{"t", instant()}, {"type", "exchange"}, {"client", i}, {"partner", partner}, {"attempts", attempts}});
    }
  std::sort(events.begin(), events.end(), [](const json& left, const json& right) { return left.at("t") < right.at("t"); });
  return events;
}

// Where both halves of an exchange are known the reply's fate is, too; a meeting that is counted wants a deadline all the same.
json pair_config(const Drawn& is, const std::string& commit, const json& more) {
  json config = {{"m", is.clients}, {"x0", starts_of(is.clients)}, {"deadline", 1.25},     {"busy", "wait"}, {"commit", commit},
                 {"retries", 1},    {"retry_after", 0.125},        {"t_end", is.until + 4}};
  config.update(more);
  return config;
}

json play(const std::string& algorithm, const Drawn& is, const std::string& commit, const json& more) {
  return answer_to({{"kind", "events"},
                    {"algorithm", algorithm},
                    {"problem", problem_of(is.clients)},
                    {"graph", complete_graph(is.clients)},
                    {"config", pair_config(is, commit, more)},
                    {"events", drawn_events(is)}});
}

// SwarmSGD and NoLoCo exchange after batches: these are the exchanges, in order.
json play_in_batches(const std::string& algorithm, Drawn is, json more) {
  json exchanges(is.clients, json::array());
  for (const json& event : drawn_events(is))
    if (event.at("type") == "exchange")
      exchanges[event.at("client").get<std::size_t>()].push_back(
          {{"partner", event.at("partner")}, {"attempts", event.at("attempts")}});
  more["exchanges"] = exchanges;
  more["local_steps"] = json(is.clients, {3, 1, 2});
  is.with_exchanges = false;
  return play(algorithm, is, "known", more);
}

struct Spread {
  Numbers mean = Numbers::Zero(2);
  double sum = 0;

  explicit Spread(const json& models) {
    for (const json& x : models) mean += numbers(x) / static_cast<double>(models.size());
    for (const json& x : models) sum += (numbers(x) - mean).squaredNorm();
  }
};

}  // namespace

TEST_CASE("invariant: models and what is in flight are the start and all own steps, at every event of every method of pairs") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (const std::string commit : {"known", "counted"})
      for (const auto& [algorithm, more] :
           {std::pair<std::string, json>{"adpsgd", {{"eta", 0.1}, {"xi", 0.3}}},
            std::pair<std::string, json>{"acid", {{"gamma", 0.1}, {"eta", 0.4}, {"alpha_tilde", 0.7}}}}) {
        CAPTURE(seed);
        CAPTURE(commit);
        CAPTURE(algorithm);
        const json answer = play(algorithm, {.seed = seed}, commit, more);
        Numbers start = Numbers::Zero(2);
        for (const json& x : starts_of(4)) start += (algorithm == "acid" ? 2 : 1) * numbers(x);
        bool was_in_flight = false;
        for (const json& record : answer.at("trace")) {
          const Numbers in_flight = numbers(record.at("in_flight"));
          check_near(numbers(record.at("mass_x")) + in_flight, start + numbers(record.at("sum_steps")));
          was_in_flight |= in_flight.norm() > 1e-3;
        }
        CHECK(was_in_flight);
      }
}

TEST_CASE("invariant: of every exchange both halves happen once or neither, in time, and only older ones wait for who asks") {
  std::size_t met = 0, queued = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    const json answer = play("pair", {.seed = seed}, "known", json::object());
    using Exchange = std::pair<std::size_t, std::size_t>;  // client, number
    std::map<Exchange, double> born;                       // its first attempt
    std::map<std::pair<Exchange, int>, double> asked;      // each of them
    std::map<std::size_t, std::optional<Exchange>> asks;
    std::set<Exchange> at_partner, at_asker;
    for (const json& record : answer.at("trace")) {
      const std::string event = record.at("ev");
      const auto client = record.at("client").get<std::size_t>();
      const double t = record.at("t");
      if (event == "exchange" && record.at("begun") == true) {
        const Exchange its{client, record.at("seq")};
        CHECK_FALSE(asks[client]);
        asks[client] = its, asked[{its, record.at("attempt")}] = t;
        born.try_emplace(its, t);
      } else if (event == "request" || event == "serve") {
        const Exchange its{record.at("src"), record.at("seq")};
        const std::string outcome = record.at("outcome");
        if (outcome == "queued") {
          ++queued;
          REQUIRE(asks[client]);
          CHECK(std::pair(born.at(its), its.first) < std::pair(born.at(*asks[client]), client));
        }
        if (outcome == "refused") {
          REQUIRE(asks[client]);
          CHECK(std::pair(born.at(its), its.first) > std::pair(born.at(*asks[client]), client));
        }
        if (outcome == "late") CHECK(t - asked.at({its, record.at("attempt")}) > 1.25);
        if (outcome != "met") continue;
        ++met;
        CHECK(t - asked.at({its, record.at("attempt")}) <= 1.25);
        CHECK_FALSE(asks[client]);
        CHECK(at_partner.insert(its).second);
      } else if (event == "reply") {
        const Exchange its{client, record.at("seq")};
        if (record.at("ended") == true) asks[client].reset();
        if (record.at("kind") != "met") continue;
        CHECK(at_partner.contains(its));
        CHECK(at_asker.insert(its).second);
        CHECK(t - asked.at({its, record.at("attempt")}) <= 1.25);
      } else if (event == "wait_over") {
        asks[client].reset();
      }
    }
    CHECK(at_asker == at_partner);  // nothing is under way any more
  }
  CHECK(met > 200);
  CHECK(queued > 20);
}

TEST_CASE("invariant: the events of a method of pairs are those of the protocol without models") {
  const json without = play("pair", {}, "known", json::object()).at("trace");
  std::size_t k = 0;
  const json with = play("adpsgd", {}, "known", {{"eta", 0.1}}).at("trace");
  for (const json& record : with) {
    if (record.at("ev") == "compute") continue;
    while (without.at(k).at("ev") == "compute") ++k;
    for (const auto& [key, value] : without.at(k).items()) CHECK(record.at(key) == value);
    ++k;
  }
  CHECK(k > 100);
}

TEST_CASE("invariant: other numbers for the clients lead to the same models under other numbers") {
  const Drawn is{.seed = 5};
  const std::vector<std::size_t> other{2, 0, 3, 1};
  json events = drawn_events(is), starts(4, json()), problem = problem_of(4), renamed_problem = problem;
  const json plain = play("adpsgd", is, "known", {{"eta", 0.1}}).at("final").at("x");
  for (json& event : events) {
    event["client"] = other[event.at("client").get<std::size_t>()];
    if (event.contains("partner")) event["partner"] = other[event.at("partner").get<std::size_t>()];
  }
  for (std::size_t i = 0; i < 4; ++i) {
    starts[other[i]] = starts_of(4)[i];
    for (const char* part : {"A", "c"}) renamed_problem[part][other[i]] = problem[part][i];
  }
  const json renamed = answer_to({{"kind", "events"},
                                  {"algorithm", "adpsgd"},
                                  {"problem", renamed_problem},
                                  {"graph", complete_graph(4)},
                                  {"config", pair_config(is, "known", {{"eta", 0.1}, {"x0", starts}})},
                                  {"events", events}})
                           .at("final")
                           .at("x");
  for (std::size_t i = 0; i < 4; ++i) check_near(numbers(plain[i]), numbers(renamed[other[i]]));
}

TEST_CASE(
    "invariant: AD-PSGD without steps: on a complete graph a meeting takes 1 / (m - 1) off the spread in the mean over pairs") {
  for (const std::size_t m : {3, 4, 6}) {
    double left = 0;
    int pairs = 0;
    const Spread before(starts_of(m));
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = i + 1; j < m; ++j, ++pairs)
        left +=
            Spread(sequence_of("adpsgd", m, {{"x0", starts_of(m)}, {"eta", 0}}, {{"steps", {{{"i", i}, {"j", j}}}}}).at("x").at(1))
                .sum;
    CHECK(left / pairs == doctest::Approx(before.sum * (1 - 1 / static_cast<double>(m - 1))).epsilon(exactly));
  }
}

TEST_CASE("invariant: AD-PSGD without steps: whatever part of the way a pair goes, the spread never grows and the mean stays") {
  for (const double xi : {0.05, 0.3, 0.5, 0.8, 0.99}) {
    CAPTURE(xi);
    json steps = json::array();
    for (int k = 0; k < 14; ++k) steps.push_back({{"i", k % 4}, {"j", (k % 4 + 1 + k % 3) % 4}});
    const json x = sequence_of("adpsgd", 4, {{"x0", starts_of(4)}, {"eta", 0}, {"xi", xi}}, {{"steps", steps}}).at("x");
    for (std::size_t k = 1; k < x.size(); ++k) {
      const Spread before(x.at(k - 1)), after(x.at(k));
      CHECK(after.sum <= before.sum * (1 + exactly));
      check_near(after.mean, before.mean);
    }
  }
}

TEST_CASE("invariant: SwarmSGD without blocking: the live model less the batch's start is what the batch has learnt by itself") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const json answer = play_in_batches("swarm_sgd", {.seed = seed}, {{"eta", 0.1}, {"variant", "non_blocking"}});
    std::map<std::size_t, Numbers> live, learnt;
    for (std::size_t i = 0; i < 4; ++i) live[i] = numbers(starts_of(4)[i]), learnt[i] = Numbers::Zero(2);
    for (const json& record : answer.at("trace")) {
      if (!record.contains("x")) continue;
      const auto client = record.at("client").get<std::size_t>();
      const Numbers x = numbers(record.at("x"));
      if (record.at("ev") == "compute") {
        learnt[client] += x - live[client];
        if (record.at("steps") == 0) {
          learnt[client].setZero();
          CHECK(record.at("x") == record.at("c"));
        }
      } else if (record.at("ev") != "reply") {
        check_near(x, live[client]);  // a partner's live model goes on untouched
      }
      live[client] = x;
    }
    const json& last = answer.at("final");
    for (std::size_t i = 0; i < 4; ++i) check_near(numbers(last.at("x")[i]) - numbers(last.at("s")[i]), learnt[i]);
  }
}

TEST_CASE("invariant: SwarmSGD that blocks: a client at rest has one model") {
  const json answer = play_in_batches("swarm_sgd", {.seed = 3}, {{"eta", 0.1}, {"variant", "blocking"}});
  std::size_t at_rest = 0;
  for (const json& record : answer.at("trace")) {
    if (!record.contains("x") || (record.at("ev") == "compute" && record.at("steps") != 0)) continue;
    CHECK(record.at("x") == record.at("c"));
    ++at_rest;
  }
  CHECK(at_rest > 30);
}

TEST_CASE("invariant: A2CiD2's flow in two parts is the flow of the sum, and moves no sum of the two models") {
  const auto at_three = [](const json& between) {
    json events = {{{"t", 1.0}, {"type", "pair"}, {"i", 0}, {"j", 1}}};
    for (const json& t : between) events.push_back({{"t", t}, {"type", "gradient"}, {"i", 0}});
    events.push_back({{"t", 3.0}, {"type", "gradient"}, {"i", 0}});
    return sequence_of("acid", 3, {{"x0", starts_of(3)}, {"gamma", 0}, {"eta", 0.4}, {"alpha", 0.5}, {"alpha_tilde", 0.9}},
                       {{"events", events}});
  };
  const json once = at_three(json::array()), often = at_three({1.25, 2.0, 2.75});
  for (const char* model : {"x", "xt"})
    for (std::size_t i = 0; i < 3; ++i) check_near(numbers(once.at(model).back()[i]), numbers(often.at(model).back()[i]));
  for (std::size_t k = 2; k < often.at("x").size(); ++k)
    for (std::size_t i = 0; i < 3; ++i)
      check_near(numbers(often.at("x")[k][i]) + numbers(often.at("xt")[k][i]),
                 numbers(often.at("x")[1][i]) + numbers(often.at("xt")[1][i]));
  CHECK((numbers(often.at("x")[2][0]) - numbers(often.at("x")[1][0])).norm() > 1e-3);  // there is a flow
}

TEST_CASE("invariant: A2CiD2 without delays has one mean of both its models") {
  json events = json::array();
  double t = 0;
  for (int k = 0; k < 14; ++k) {
    events.push_back({{"t", t += 0.3}, {"type", "pair"}, {"i", k % 4}, {"j", (k % 4 + 1 + k % 3) % 4}});
    events.push_back({{"t", t += 0.4}, {"type", "gradient"}, {"i", (k + 2) % 4}});
  }
  const json answer = sequence_of(
      "acid", 4, {{"x0", starts_of(4)}, {"gamma", 0.1}, {"eta", 0.6}, {"alpha", 0.5}, {"alpha_tilde", 0.9}}, {{"events", events}});
  for (std::size_t k = 0; k < answer.at("x").size(); ++k)
    check_near(Spread(answer.at("x")[k]).mean, Spread(answer.at("xt")[k]).mean);
}

TEST_CASE("invariant: NoLoCo: alone gamma is without effect, phi moves by delta, and one group from equal phi has one delta") {
  const auto rounds = [](const json& groups, double gamma) {
    json all = json::array();
    for (int round = 0; round < 6; ++round) all.push_back(groups);
    return sequence_of("noloco", 4,
                       {{"x0", {0.5, -0.5}},
                        {"rounds", 6},
                        {"H", 3},
                        {"inner", {{"kind", "sgd"}, {"lr", 0.1}}},
                        {"alpha", 0.5},
                        {"beta", 0.7},
                        {"gamma", gamma}},
                       {{"groups", all}});
  };
  const json alone = {{0}, {1}, {2}, {3}};
  check_equal(rounds(alone, 0.2).at("x"), rounds(alone, 0.9).at("x"));
  const json paired = rounds({{0, 2}, {1, 3}}, 0.9), together = rounds({{0, 1, 2, 3}}, 0.9);
  for (std::size_t r = 1; r < 7; ++r)
    for (std::size_t i = 0; i < 4; ++i) {
      check_near(numbers(paired.at("x")[r][i]) - numbers(paired.at("x")[r - 1][i]), numbers(paired.at("delta")[r][i]));
      check_near(numbers(together.at("delta")[r][i]), numbers(together.at("delta")[r][0]));
    }
}

namespace {

// Transmissions after computations over links of a digraph that lose, delay and reorder.
json drawn_pushes(const json& edges, std::size_t clients, std::uint64_t seed, double until, double loss, bool with_transmissions) {
  Stream chance(seed, {0}, Purpose::noise);
  json events = json::array();
  for (std::size_t i = 0; i < clients; ++i) {
    double t = 0;
    while ((t += (0.25 + 0.25 * static_cast<double>(i)) * (0.5 + chance.uniform())) < until) {
      json delays = json::object();
      for (const json& edge : edges)
        if (edge.at(0) == i)
          delays[std::to_string(edge.at(1).get<std::size_t>())] =
              chance.uniform() < loss ? json() : json(static_cast<double>(1 + chance.below(4000)) / 4096);
      const double at = (std::round(t * 1000) * 100 + static_cast<double>(i)) / 1e5;
      events.push_back({{"t", at}, {"type", "compute"}, {"client", i}});
      if (!with_transmissions) {
        events.back()["delays"] = delays;
        continue;
      }
      events.push_back({{"t", at + 0.0005}, {"type", "transmit"}, {"client", i}, {"delays", delays}});
    }
  }
  std::sort(events.begin(), events.end(), [](const json& left, const json& right) { return left.at("t") < right.at("t"); });
  return events;
}

// Each sends to the next two; the last of five also to the one before it.
json digraph_of_five() { return {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}, {2, 4}, {3, 4}, {3, 0}, {4, 0}, {4, 1}, {4, 3}}; }

// Column- or row-stochastic: what a client keeps and what its neighbours get, or give.
json stochastic(const json& edges, std::size_t clients, bool by_sender) {
  json matrix(clients, json(clients, 0.0));
  for (std::size_t i = 0; i < clients; ++i) {
    std::vector<std::size_t> others;
    for (const json& edge : edges)
      if (edge.at(by_sender ? 0 : 1) == i) others.push_back(edge.at(by_sender ? 1 : 0));
    const double share = 1 / static_cast<double>(others.size() + 1);
    matrix[i][i] = share;
    for (const std::size_t other : others) (by_sender ? matrix[other][i] : matrix[i][other]) = share;
  }
  return matrix;
}

}  // namespace

TEST_CASE("invariant: overlap SGP computes only with news of all in-neighbours, and none is more than tau + 1 steps ahead") {
  const json edges = digraph_of_five();
  for (const int tau : {0, 1, 3}) {
    CAPTURE(tau);
    const json answer = answer_to({{"kind", "events"},
                                   {"algorithm", "osgp"},
                                   {"problem", problem_of(5)},
                                   {"graph", {{"m", 5}, {"directed", true}, {"edges", edges}}},
                                   {"config",
                                    {{"m", 5},
                                     {"x0", starts_of(5)},
                                     {"eta", 0.05},
                                     {"P", stochastic(edges, 5, true)},
                                     {"tau", tau},
                                     {"snapshot", "at_start"},
                                     {"window", 0.125},
                                     {"deadline", nullptr},
                                     {"psi", nullptr},
                                     {"t_end", 60.0}}},
                                   {"events", drawn_pushes(edges, 5, 7, 56, 0.2, true)}});
    std::map<std::pair<std::size_t, std::size_t>, int> heard;
    std::map<std::size_t, int> done;
    int skipped = 0;
    for (const json& record : answer.at("trace")) {
      const auto i = record.at("client").get<std::size_t>();
      if (record.at("ev") == "window_close")
        for (const json& news : record.at("heard")) heard[{i, news[0]}] = news[1];
      if (record.at("ev") != "compute") continue;
      bool may = true;
      for (const json& edge : edges)
        if (edge.at(1) == i) may &= heard[{i, edge.at(0)}] >= done[i] - tau;
      CHECK(record.at("skipped") == !may);
      skipped += !may;
      if (may) ++done[i];
      CHECK(record.at("done") == done[i]);
      for (const json& edge : edges) CHECK(done[edge.at(1)] <= done[edge.at(0)] + tau + 1);
      check_near(numbers(record.at("mass_x")) + numbers(record.at("x_in_flight")) - numbers(record.at("sum_steps")),
                 Numbers(5 * Spread(starts_of(5)).mean));
      CHECK(record.at("mass_w").get<double>() + record.at("w_in_flight").get<double>() == doctest::Approx(5).epsilon(exactly));
    }
    CHECK(skipped > 0);
    CHECK(done[4] > 10);
  }
}

TEST_CASE("invariant: R-FAST's trackers and what is in flight are the gradients at every event, and it ends at the optimum") {
  const json edges = digraph_of_five(), problem = problem_of(5);
  const json answer = answer_to({{"kind", "events"},
                                 {"algorithm", "rfast"},
                                 {"problem", problem},
                                 {"config",
                                  {{"m", 5},
                                   {"x0", {0.5, -0.5}},
                                   {"gamma", 0.15},
                                   {"W", stochastic(edges, 5, false)},
                                   {"A", stochastic(edges, 5, true)},
                                   {"deadline", 0.75},
                                   {"psi", nullptr},
                                   {"t_end", 1000.0}}},
                                 {"events", drawn_pushes(edges, 5, 11, 996, 0.3, false)}});
  Matrix<double> curvature = Matrix<double>::Zero(2, 2);
  Numbers pull = Numbers::Zero(2);
  for (std::size_t i = 0; i < 5; ++i) {
    const auto A = problem.at("A")[i].get<Matrix<double>>();
    curvature += A, pull += A * numbers(problem.at("c")[i]);
  }
  Matrix<double> adjugate(2, 2);
  adjugate << curvature(1, 1), -curvature(0, 1), -curvature(1, 0), curvature(0, 0);
  const Numbers optimum = adjugate * pull / (curvature(0, 0) * curvature(1, 1) - curvature(0, 1) * curvature(1, 0));
  std::size_t lost = 0, late = 0, older = 0;
  for (const json& record : answer.at("trace")) {
    if (record.at("ev") == "arrival") {
      late += record.at("accepted") == false;
      older += record.at("accepted") == true && record.at("newest") == false;
    }
    if (record.at("ev") != "compute") continue;
    lost += record.at("lost").size();
    const Numbers sum = numbers(record.at("mass_z")) + numbers(record.at("mass_in_flight"));
    CHECK((sum - numbers(record.at("mass_g"))).norm() < 1e-11);  // of thousands of additions
  }
  CHECK(lost > 1000);
  CHECK(late > 100);
  CHECK(older > 100);
  double furthest = 0;
  for (const json& x : answer.at("final").at("x")) furthest = std::max(furthest, (numbers(x) - optimum).norm());
  MESSAGE("distance to the optimum " << furthest);
  CHECK(furthest < 1e-7);
}
