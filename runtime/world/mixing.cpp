#include "runtime/world/mixing.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/sentence.hpp"
#include "runtime/world/spectrum.hpp"

namespace rubato {
namespace {

constexpr std::array mixing_table{
    MixingKind{"metropolis", "1/(1 + larger degree of both ends), the rest on itself; symmetric, undirected graphs"},
    MixingKind{"laplacian", "I - L/tau; symmetric, undirected graphs"},
    MixingKind{"max_degree", "laplacian with tau = largest degree + 1"},
    MixingKind{"uniform_row", "1/(1 + senders); rows sum to 1"},
    MixingKind{"uniform_col", "1/(1 + receivers); columns sum to 1"},
    MixingKind{"draco_row", "1/senders and nothing on itself; rows sum to 1"},
    MixingKind{"pame_nbr", "the mean of the neighbours without oneself; rows sum to 1"},
    MixingKind{"averaging", "1/m everywhere; complete graphs"},
    MixingKind{"explicit", "the weights as given, [receiver][sender]"},
};

double inverse(std::size_t count) { return 1.0 / static_cast<double>(count); }

template <class Rule>
std::vector<double> weigh_clients(const Graph& graph, const Rule& rule) {
  std::vector<double> weights;
  weights.reserve(graph.clients());
  for (ClientId client; client.value < graph.clients(); ++client.value) weights.push_back(rule(client));
  return weights;
}

double heard(const Graph& graph, ClientId receiver, const std::vector<double>& links) {
  double sum = 0;
  for (std::size_t k = 0; k < graph.in_degree(receiver); ++k) sum += links[graph.in_link(receiver, k)];
  return sum;
}

MixingMatrix with_rest_on_itself(const Graph& graph, std::vector<double> links) {
  auto own = weigh_clients(graph, [&](ClientId i) { return 1 - heard(graph, i, links); });
  return {graph, std::move(own), std::move(links)};
}

void require_undirected(const Graph& graph, std::string_view kind) {
  if (!graph.is_directed()) return;
  refuse("topology.mixing = \"", kind, "\" needs an undirected graph, because its weights are symmetric; ",
         "a directed graph takes uniform_row or uniform_col");
}

std::size_t largest_degree(const Graph& graph) {
  std::size_t largest = 0;
  for (ClientId i; i.value < graph.clients(); ++i.value) largest = std::max(largest, graph.out_degree(i));
  return largest;
}

// No eigenvalue of a Laplacian exceeds twice the largest degree: mostly there is nothing to compute. At half the
// largest eigenvalue W has an eigenvalue -1, so a tau within rounding of it is refused too.
void check_tau(const Graph& graph, double tau) {
  if (tau > static_cast<double>(largest_degree(graph)) && std::isfinite(tau)) return;
  const double least = largest_laplacian_eigenvalue(graph) / 2;
  if (!(tau > least * (1 + 1e-9) && tau > 0 && std::isfinite(tau)))
    refuse("topology.mixing = \"laplacian\" with tau = ", tau, " is not possible; tau must be greater than ", least,
           ", half the largest eigenvalue of this graph's Laplacian");
}

void check_shape(const Graph& graph, const DenseMatrix& dense) {
  const auto is_row = [&](const auto& row) { return row.size() == graph.clients(); };
  if (dense.size() == graph.clients() && std::ranges::all_of(dense, is_row)) return;
  const std::size_t m = graph.clients();
  refuse("topology.mixing_matrix has ", dense.size(), " rows",
         std::ranges::all_of(dense, is_row) ? "" : sentence(", not all of length ", m), "; needed are ", m, " rows of ", m,
         " numbers");
}

std::string entry(ClientId i, ClientId j, double weight) {
  return sentence("topology.mixing_matrix[", i.value, "][", j.value, "] = ", weight);
}

void check_support(const Graph& graph, const DenseMatrix& dense) {
  for (ClientId i; i.value < graph.clients(); ++i.value)
    for (ClientId j; j.value < graph.clients(); ++j.value) {
      const double weight = dense[i.value][j.value];
      if (!std::isfinite(weight)) refuse(entry(i, j, weight), " is not possible; weights are finite numbers");
      if (weight != 0 && i != j && !graph.find_link(j, i))
        refuse(entry(i, j, weight), " needs a link ", j.value, " -> ", i.value, ", which the graph does not have; it must be 0");
    }
}

double largest_distance_from_one(const std::vector<double>& sums) {
  double largest = 0;
  for (double sum : sums) largest = std::max(largest, std::abs(sum - 1));
  return largest;
}

}  // namespace

MixingMatrix::MixingMatrix(Graph graph, std::vector<double> own, std::vector<double> links)
    : graph_{std::move(graph)}, own_{std::move(own)}, links_{std::move(links)} {
  if (own_.size() != graph_.clients() || links_.size() != graph_.links())
    refuse("topology.mixing_matrix: ", own_.size(), " clients and ", links_.size(), " links are weighed; the graph has ",
           graph_.clients(), " and ", graph_.links());
  const auto is_finite = [](double weight) { return std::isfinite(weight); };
  if (!std::ranges::all_of(own_, is_finite) || !std::ranges::all_of(links_, is_finite))
    refuse("topology.mixing_matrix: one of them is not finite; weights are finite numbers");
}

double MixingMatrix::at(ClientId receiver, ClientId sender) const {
  if (receiver == sender) return own(receiver);
  const auto found = graph_.find_link(sender, receiver);
  return found ? link(*found) : 0;
}

std::vector<double> MixingMatrix::row_sums() const {
  return weigh_clients(graph_, [&](ClientId i) { return own(i) + heard(graph_, i, links_); });
}

std::vector<double> MixingMatrix::column_sums() const {
  return weigh_clients(graph_, [&](ClientId j) {
    double sum = 0;
    for (std::size_t k = 0; k < graph_.out_degree(j); ++k) sum += links_[graph_.first_link(j) + k];
    return own(j) + sum;
  });
}

DenseMatrix MixingMatrix::dense() const {
  DenseMatrix dense(graph_.clients(), std::vector<double>(graph_.clients()));
  for (ClientId i; i.value < graph_.clients(); ++i.value) {
    dense[i.value][i.value] = own(i);
    const auto senders = graph_.senders_to(i);
    for (std::size_t k = 0; k < senders.size(); ++k) dense[i.value][senders[k].value] = link(graph_.in_link(i, k));
  }
  return dense;
}

double row_defect(const MixingMatrix& matrix) { return largest_distance_from_one(matrix.row_sums()); }
double column_defect(const MixingMatrix& matrix) { return largest_distance_from_one(matrix.column_sums()); }

double symmetry_defect(const MixingMatrix& matrix) {
  double largest = 0;
  for (ClientId j; j.value < matrix.graph().clients(); ++j.value)
    for (ClientId i : matrix.graph().receivers_of(j)) largest = std::max(largest, std::abs(matrix.at(i, j) - matrix.at(j, i)));
  return largest;
}

double smallest_weight(const MixingMatrix& matrix) {
  const double own = std::ranges::min(matrix.own_weights());
  return matrix.link_weights().empty() ? own : std::min(own, std::ranges::min(matrix.link_weights()));
}

bool is_row_stochastic(const MixingMatrix& matrix) { return row_defect(matrix) <= sum_tolerance; }
bool is_column_stochastic(const MixingMatrix& matrix) { return column_defect(matrix) <= sum_tolerance; }
bool is_symmetric(const MixingMatrix& matrix) { return symmetry_defect(matrix) <= sum_tolerance; }

std::span<const MixingKind> mixing_kinds() { return mixing_table; }

MixingMatrix make_mixing(const MixingOptions& options, const Graph& graph) {
  const std::string& kind = options.kind;
  if (kind == "metropolis") return weights::metropolis(graph);
  if (kind == "laplacian") return weights::laplacian(graph, options.tau);
  if (kind == "max_degree") return weights::max_degree(graph);
  if (kind == "uniform_row") return weights::uniform_row(graph);
  if (kind == "uniform_col") return weights::uniform_column(graph);
  if (kind == "draco_row" || kind == "pame_nbr") return weights::neighbours_only(graph);
  if (kind == "averaging") return weights::averaging(graph);
  if (kind == "explicit") return weights::from_dense(graph, options.weights);
  refuse("topology.mixing = \"", kind, "\" is not possible; allowed are ", names_of(mixing_table));
}

namespace weights {

MixingMatrix uniform_row(const Graph& graph) {
  const auto share = [&](ClientId receiver) { return inverse(1 + graph.in_degree(receiver)); };
  return {graph, weigh_clients(graph, share), weigh_links(graph, [&](ClientId, ClientId receiver) { return share(receiver); })};
}

MixingMatrix uniform_column(const Graph& graph) {
  const auto share = [&](ClientId sender) { return inverse(1 + graph.out_degree(sender)); };
  return {graph, weigh_clients(graph, share), weigh_links(graph, [&](ClientId sender, ClientId) { return share(sender); })};
}

MixingMatrix metropolis(const Graph& graph) {
  require_undirected(graph, "metropolis");
  return with_rest_on_itself(graph, weigh_links(graph, [&](ClientId i, ClientId j) {
                               return inverse(1 + std::max(graph.out_degree(i), graph.out_degree(j)));
                             }));
}

MixingMatrix laplacian(const Graph& graph, std::optional<double> tau) {
  require_undirected(graph, "laplacian");
  const double divisor = tau.value_or(static_cast<double>(largest_degree(graph) + 1));
  check_tau(graph, divisor);
  return with_rest_on_itself(graph, std::vector<double>(graph.links(), 1 / divisor));
}

MixingMatrix max_degree(const Graph& graph) {
  require_undirected(graph, "max_degree");
  return laplacian(graph);
}

MixingMatrix neighbours_only(const Graph& graph) {
  return {graph, std::vector<double>(graph.clients()),
          weigh_links(graph, [&](ClientId, ClientId receiver) { return inverse(graph.in_degree(receiver)); })};
}

MixingMatrix averaging(const Graph& graph) {
  for (ClientId i; i.value < graph.clients(); ++i.value)
    if (graph.in_degree(i) + 1 != graph.clients())
      refuse("topology.mixing = \"averaging\" needs the complete graph; client ", i.value, " hears only ", graph.in_degree(i),
             " of ", graph.clients() - 1, " others");
  const double share = inverse(graph.clients());
  return {graph, std::vector<double>(graph.clients(), share), std::vector<double>(graph.links(), share)};
}

MixingMatrix from_dense(const Graph& graph, const DenseMatrix& dense) {
  check_shape(graph, dense);
  check_support(graph, dense);
  return {graph, weigh_clients(graph, [&](ClientId i) { return dense[i.value][i.value]; }),
          weigh_links(graph, [&](ClientId sender, ClientId receiver) { return dense[receiver.value][sender.value]; })};
}

}  // namespace weights
}  // namespace rubato
