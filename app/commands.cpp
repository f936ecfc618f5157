#include "app/commands.hpp"

#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>

#include "actors/config.hpp"
#include "actors/timing.hpp"
#include "algos/catalogue.hpp"
#include "learning/named_sets.hpp"
#include "runtime/world/report.hpp"
#include "runtime/world/topology.hpp"

namespace rubato::app {

namespace {

void row(std::string_view name, std::string_view meaning) {
  std::printf("  %-22.*s %.*s\n", static_cast<int>(name.size()), name.data(), static_cast<int>(meaning.size()),
              meaning.data());
}

void list_algorithms() {
  for (const CatalogueEntry* entry : catalogue()) row(entry->name, entry->summary);
}

void list_models() {
  row("softmax", "multinomial logistic regression; model.l2");
  row("mlp", "ReLU layers of model.hidden widths; model.l2");
  row("quadratic", "f_i(x) = 1/2 |x - c_i|^2, with data.name = \"quadratic\" and data.dimension");
}

void list_datasets() {
  for (const std::string& name : dataset_names()) {
    const auto folder = find_dataset(name);
    row(name, folder.empty() ? "not found here" : "found in " + folder.string());
  }
  row("quadratic", "made up from the seed: data.dimension numbers a client");
}

// The experiment file has one word per kind.
void list_topologies() {
  for (const TopologyKind& kind : topology_kinds())
    if (kind.name != "cycle" && kind.name != "mesh")
      row(kind.name == "rgg" ? "random_geometric" : kind.name, kind.meaning);
  row("edges", "topology.edges = [[source, target], ...]");
}

void list_protocols() {
  row("push", "independent compute and transmit timers, nothing waits for anybody");
  row("rounds", "barriers: all compute, all exchange, all combine");
}

const std::map<std::string, std::function<void()>>& lists() {
  static const std::map<std::string, std::function<void()>> all{{"algorithms", list_algorithms},
                                                                {"datasets", list_datasets},
                                                                {"models", list_models},
                                                                {"protocols", list_protocols},
                                                                {"topologies", list_topologies}};
  return all;
}

}  // namespace

int topology(const std::filesystem::path& file, const std::vector<std::string>& set) {
  const config::Experiment experiment = config::read_experiment(file, set, std::cerr);
  const Graph graph = make_graph(experiment);
  std::cout << describe(graph) << std::flush;
  const auto fault = connection_fault(graph);
  if (!fault || experiment.topology.kind == config::TopologyKind::one_peer_exponential) return ok;
  std::cerr << *fault << "\n";
  return bad_input;
}

int list(const std::string& what, bool keys) {
  if (keys) {
    std::cout << config::describe_keys() << std::flush;
    return ok;
  }
  if (!what.empty() && !lists().contains(what)) {
    std::string known;
    for (const auto& [name, print] : lists()) known += (known.empty() ? "" : ", ") + name;
    throw std::invalid_argument("there is no list \"" + what + "\"; there are: " + known + "; and --keys");
  }
  for (const auto& [name, print] : lists()) {
    if (!what.empty() && what != name) continue;
    std::printf("%s\n", name.c_str());
    print();
  }
  return ok;
}

}  // namespace rubato::app
