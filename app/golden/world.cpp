// Golden cases about graphs, mixing matrices and partitions.
#include <algorithm>
#include <stdexcept>

#include "app/golden/cases.hpp"
#include "learning/data/partition.hpp"
#include "runtime/words.hpp"
#include "runtime/world/mixing.hpp"
#include "runtime/world/spectrum.hpp"
#include "runtime/world/topology.hpp"

namespace rubato::golden {

Graph to_graph(const Json& json) {
  return Graph(number_below(most_clients, json.at("m")), json.at("directed").get<bool>(),
               json.at("edges").get<std::vector<Edge>>());
}

namespace {

Json shown(const Graph& graph) { return {{"m", graph.clients()}, {"directed", graph.is_directed()}, {"edges", graph.edges()}}; }

double greatest_degree(const Graph& graph) {
  std::size_t greatest = 0;
  for (std::uint32_t i = 0; i < graph.clients(); ++i) greatest = std::max(greatest, graph.out_degree(ClientId{i}));
  return static_cast<double>(greatest);
}

// Matrices that a case may ask for besides those that it always has.
void add_wanted(const Graph& graph, const Json& wanted, Json& answer) {
  const double share = 1.0 / static_cast<double>(graph.clients());
  for (const char* name : {"draco_row", "pame_nbr"})
    if (wanted.contains(name)) answer[name] = weights::neighbours_only(graph).dense();
  if (wanted.contains("averaging")) answer["averaging"] = DenseMatrix(graph.clients(), std::vector<double>(graph.clients(), share));
  if (wanted.contains("max_degree")) answer["max_degree"] = weights::max_degree(graph).dense();
}

// The second tau of the Laplacian: the case's own, or twice the greatest degree.
double second_tau(const Json& golden_case, const Json& wanted, const Graph& graph) {
  if (golden_case.contains("tau")) return golden_case.at("tau").get<double>();
  if (wanted.contains("laplacian_tau")) return wanted.at("laplacian_tau").at(0).get<double>();
  return 2 * greatest_degree(graph);
}

Json describe_mixing(const Json& golden_case, const Json& declared, const Json& wanted) {
  const Graph graph = to_graph(declared);
  Json answer{{"graph", declared},
              {"uniform_row", weights::uniform_row(graph).dense()},
              {"uniform_col", weights::uniform_column(graph).dense()}};
  add_wanted(graph, wanted, answer);
  if (graph.is_directed()) {
    answer["strongly_connected"] = graph.is_strongly_connected();
    return answer;
  }
  const double tau = second_tau(golden_case, wanted, graph);
  const MixingMatrix metropolis = weights::metropolis(graph), laplacian = weights::laplacian(graph);
  answer["metropolis"] = metropolis.dense();
  answer["laplacian"] = laplacian.dense();
  answer["laplacian_tau"] = Json::array({tau, weights::laplacian(graph, tau).dense()});
  answer["lambda_metropolis"] = consensus_rate(metropolis);
  answer["lambda_laplacian"] = consensus_rate(laplacian);
  answer["bipartite"] = graph.is_bipartite();
  return answer;
}

constexpr std::size_t most_of_a_graph = 2'000;

// "knn(points,3,union)" or "knn(points,k=3,union)" as its name and its arguments.
struct Call {
  std::string name;
  std::vector<std::string> arguments;

  // Clients, steps and turns: more than any case has would take hours, or all memory.
  std::size_t whole(std::size_t i) const {
    const std::size_t value = std::stoul(arguments.at(i));
    if (value > most_of_a_graph) throw std::out_of_range(arguments[i] + " is more than any golden graph has");
    return value;
  }
  double number(std::size_t i) const { return std::stod(arguments.at(i)); }
};

Call parse_call(const std::string& text) {
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')') throw std::invalid_argument(text + " is not a generator call");
  Call call{text.substr(0, open), {""}};
  for (const char letter : text.substr(open + 1, text.size() - open - 2)) {
    if (letter == ',')
      call.arguments.emplace_back();
    else if (letter == '=')
      call.arguments.back().clear();
    else if (letter != ' ')
      call.arguments.back() += letter;
  }
  return call;
}

Symmetrise symmetrise_of(const std::string& word) {
  for (const Symmetrise choice : {Symmetrise::none, Symmetrise::either, Symmetrise::both})
    if (word_of(choice) == word) return choice;
  throw std::invalid_argument(word + " is no way to make a graph symmetric");
}

// By the engine's own generators; what erdos_renyi draws is given by the case.
Graph generate(const Call& call, const Json& golden_case) {
  if (call.name == "erdos_renyi") {
    const auto uniforms = golden_case.at("uniforms").get<std::vector<double>>();
    std::size_t next = 0;
    return topologies::erdos_renyi(call.whole(0), call.number(1), [&] { return uniforms.at(next++); });
  }
  TopologyOptions options{.kind = call.name, .file = {}, .points = {}, .allow_disconnected = true};
  const std::size_t second = call.arguments.size() > 1 && call.name != "rgg" ? call.whole(1) : 0;
  if (call.name == "grid" || call.name == "torus") {
    options.rows = call.whole(0);
    options.columns = second;
    if (options.rows * options.columns > most_of_a_graph) throw std::out_of_range("a golden graph of so many clients");
    return make_topology(options, options.rows * options.columns, 0);
  }
  if (call.name == "rgg" || call.name == "knn") {
    options.points = golden_case.at("points").get<std::vector<Point>>();
    options.k = second;
    if (call.name == "rgg") options.kind = "random_geometric", options.radius = call.number(1);
    if (call.arguments.size() > 2) options.symmetrise = symmetrise_of(call.arguments[2]);
    return make_topology(options, options.points.size(), 0);
  }
  options.center = options.step = second;
  return make_topology(options, call.whole(0), 0);
}

Json answer_sequence(const Call& call) {  // one_peer_exponential(8,t=0..3)
  const std::string& range = call.arguments.at(1);
  const std::size_t first = std::stoul(range), last = std::stoul(range.substr(range.find("..") + 2));
  if (last >= first + most_of_a_graph) throw std::out_of_range(range + " is more than any golden sequence has");
  return list_of(std::max(last + 1, first) - first,
                 [&](std::size_t k) { return shown(topologies::one_peer_exponential(call.whole(0), first + k)); });
}

Json answer_table3(std::size_t training_rows, const Json& golden) {
  Json answer = Json::object();
  for (const auto& [clients, counts] : golden.items()) {
    const auto of_clients = decefl_table3_counts(static_cast<std::uint32_t>(std::stoul(clients)), training_rows);
    answer[clients] = list_from(of_clients, [](const PositiveNegative& count) { return Json{count.positive, count.negative}; });
  }
  return answer;
}

Json answer_mixing(const Json& golden_case) {
  Json answer = Json::object();
  const Json& golden = golden_case.at("expect");
  for (const auto& [name, graph] : golden_case.at("graphs").items())
    answer[name] = describe_mixing(golden_case, graph, golden.value(name, Json::object()));
  return answer;
}

Json answer_topology(const Json& golden_case) {
  Json answer = Json::object();
  for (const auto& [text, golden] : golden_case.at("expect").items()) {
    const Call call = parse_call(text);
    answer[text] = golden.is_array() ? answer_sequence(call) : shown(generate(call, golden_case));
  }
  return answer;
}

Json answer_partition(const Json& golden_case) {
  const auto labels = golden_case.at("labels").get<std::vector<Label>>();
  const auto order = golden_case.at("perm").get<Rows>();
  const std::uint32_t clients = number_below(most_clients, golden_case.at("clients"));
  const std::uint32_t classes = number_below(most_classes, golden_case.at("n_classes"));
  const Deck deck{labels, classes, order};
  Json answer = Json::object();
  for (const auto& [key, golden] : golden_case.at("expect").items()) {
    const std::string table3 = "decefl_table3_counts_train";
    if (key == "iid") answer[key] = deal_iid(deck, clients).rows;
    if (key == "by_class") {
      const auto held = std::min(classes, golden_case.at("classes_per_client").get<std::uint32_t>());
      answer[key] = deal_by_class(deck, rotating_classes(clients, classes, held)).rows;
    }
    if (key == "dirichlet_by_class") answer[key] = deal_by_class_shares(deck, golden_case.at("dirichlet_rows").get<Shares>()).rows;
    if (key.starts_with(table3)) answer[key] = answer_table3(std::stoul(key.substr(table3.size())), golden);
  }
  return answer;
}

}  // namespace

std::vector<CaseKind> world_kinds() {
  return {{"mixing", "", answer_mixing}, {"topology", "", answer_topology}, {"partition", "", answer_partition}};
}

}  // namespace rubato::golden
