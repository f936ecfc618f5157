// Graphs and golden files for the tests of the modelled world.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/random.hpp"
#include "runtime/world/graph.hpp"

namespace rubato::test {

using Json = nlohmann::json;

inline Json golden(const std::string& name) {
  std::ifstream file(std::string(RUBATO_SOURCE_DIR) + "/tests/golden/" + name + ".json");
  return Json::parse(file);
}

inline std::vector<Edge> edges_of(const Json& list) {
  std::vector<Edge> edges;
  for (const Json& edge : list) edges.push_back({{edge[0].get<std::uint32_t>()}, {edge[1].get<std::uint32_t>()}});
  return edges;
}

inline Graph graph_of(const Json& json) {
  return Graph(json.at("m").get<std::size_t>(), json.at("directed").get<bool>(), edges_of(json.at("edges")));
}

/// Each possible edge with this probability: connected or not.
inline Graph random_graph(std::uint64_t seed, std::uint32_t clients, bool is_directed, double probability) {
  Stream stream(seed, {clients}, Purpose::topology);
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < clients; ++i)
    for (std::uint32_t j = is_directed ? 0 : i + 1; j < clients; ++j)
      if (i != j && stream.uniform() < probability) edges.push_back({{i}, {j}});
  return Graph(clients, is_directed, edges);
}

/// can[i][j]: a path leads from i to j. Warshall's way, on a dense table.
inline std::vector<std::vector<bool>> paths(const Graph& graph, bool ignore_directions = false) {
  const auto m = static_cast<std::uint32_t>(graph.clients());
  std::vector<std::vector<bool>> can(m, std::vector<bool>(m));
  for (const Edge& e : graph.edges()) {
    can[e.source.value][e.target.value] = true;
    if (ignore_directions || !graph.is_directed()) can[e.target.value][e.source.value] = true;
  }
  for (std::uint32_t i = 0; i < m; ++i) can[i][i] = true;
  for (std::uint32_t k = 0; k < m; ++k)
    for (std::uint32_t i = 0; i < m; ++i)
      for (std::uint32_t j = 0; j < m; ++j)
        if (can[i][k] && can[k][j]) can[i][j] = true;
  return can;
}

/// The sentence of the std::invalid_argument that this throws; empty if it does not.
template <class Act>
std::string refusal(const Act& act) {
  try {
    act();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace rubato::test
