// Golden cases of bounds in seconds and of the settings that theorems name.
#include "runtime/world/bounds.hpp"

#include <cmath>
#include <limits>

#include "algos/noloco.hpp"
#include "app/golden/cases.hpp"

namespace rubato::golden {

namespace {

// What is null never comes.
double seconds_from(const Json& json) { return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>(); }
Json to_json(double seconds) { return std::isinf(seconds) ? Json() : Json(seconds); }

std::vector<double> list_of_seconds(const Json& list) {
  std::vector<double> seconds;
  for (const Json& entry : list) seconds.push_back(seconds_from(entry));
  return seconds;
}

StationarityGoal goal_from(const Json& world) {
  return {world.at("L").get<double>(), world.at("Delta").get<double>(), world.at("eps").get<double>(),
          world.at("sigma2").get<double>()};
}

// rho[i][j]: seconds of the link from i to j.
std::vector<std::vector<double>> travel_from(const Json& rho) {
  std::vector<Edge> links;
  std::vector<double> seconds;
  const auto clients = static_cast<std::uint32_t>(rho.size());
  for (std::uint32_t i = 0; i < clients; ++i) {
    for (std::uint32_t j = 0; j < clients; ++j) {
      if (i == j || rho.at(i).at(j).is_null()) continue;
      links.push_back({{i}, {j}});
      seconds.push_back(rho[i][j].get<double>());
    }
  }
  return travel_seconds(Graph(clients, true, links), seconds);
}

Json bounds_of(const Json& world) {
  const std::vector<double> h = list_of_seconds(world.at("h"));
  const StationarityGoal goal = goal_from(world);
  const ServerBounds server = server_bounds(h, goal);
  Json answer{{"single", to_json(server.single)}, {"minibatch", to_json(server.minibatch)}, {"m_sync", to_json(server.m_sync)},
              {"asgd", to_json(server.asgd)},     {"rennala", to_json(server.rennala)},     {"malenia", to_json(server.malenia)}};
  const Json* rho = given(world, "rho");
  if (!rho) return answer;
  if (rho->size() != h.size()) throw std::invalid_argument("rho has not one row a client");
  const auto travel = travel_from(*rho);
  answer["tau"] = list_from(travel, [](const std::vector<double>& row) { return list_from(row, to_json); });
  const LinkBounds links = link_bounds(h, travel, goal);
  answer["lower_homogeneous"] = to_json(links.lower_homogeneous);
  answer["fragile"] = to_json(links.fragile);
  answer["pivot"] = links.pivot;
  answer["minibatch_links"] = to_json(links.minibatch);
  answer["amelie"] = to_json(links.amelie);
  return answer;
}

Json answer_bounds(const Json& golden_case) {
  Json answer = Json::object();
  for (const auto& [name, world] : golden_case.at("worlds").items()) answer[name] = bounds_of(world);
  return answer;
}

Json answer_equilibrium(const Json& golden_case) {
  return {{"t", list_from(golden_case.at("rows"), [](const Json& row) {
             return to_json(
                 equilibrium_seconds(row.at("s").get<double>(), list_of_seconds(row.at("h")), list_of_seconds(row.at("tau"))));
           })}};
}

Json settings_of(const Json& row) {
  const StationarityGoal goal = goal_from(row);
  const auto tree = [](const TreeSettings& settings) -> Json {
    return {{"S", settings.gradients}, {"gamma", settings.step}, {"K", settings.steps}};
  };
  const RingmasterSettings ringmaster = ringmaster_settings(goal);
  return {{"ringmaster", {{"R", ringmaster.largest_delay}, {"gamma", ringmaster.step}, {"K", ringmaster.steps}}},
          {"fragile", tree(fragile_settings(goal))},
          {"amelie", tree(amelie_settings(goal, row.at("n").get<std::size_t>()))},
          {"noloco_gamma", Json(noloco_gamma_range(row.at("group").get<std::size_t>(), row.at("alpha").get<double>()))}};
}

}  // namespace

std::vector<CaseKind> bounds_kinds() {
  return {{"bounds", "", answer_bounds},
          {"equilibrium_time", "", answer_equilibrium},
          {"optimal_settings", "", [](const Json& golden_case) -> Json {
             return {{"rows", list_from(golden_case.at("rows"), settings_of)}};
           }}};
}

}  // namespace rubato::golden
