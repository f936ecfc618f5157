// MixingMatrix: the weight W[receiver][sender] that each client gives to itself and to the senders that it hears.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/world/graph.hpp"

namespace rubato {

using DenseMatrix = std::vector<std::vector<double>>;

/// Sparse on its graph and immutable: one weight a client for itself, one weight a link.
class MixingMatrix {
 public:
  /// `own` has a number for each client, `links` one for each LinkIndex; all finite (std::invalid_argument).
  MixingMatrix(Graph graph, std::vector<double> own, std::vector<double> links);

  const Graph& graph() const { return graph_; }
  double own(ClientId client) const { return own_[client.value]; }
  double link(LinkIndex link) const { return links_[link]; }
  std::span<const double> own_weights() const { return own_; }
  std::span<const double> link_weights() const { return links_; }

  /// 0 where there is no link.
  double at(ClientId receiver, ClientId sender) const;
  std::vector<double> row_sums() const;
  std::vector<double> column_sums() const;
  /// [receiver][sender]; takes the square of the clients in memory.
  DenseMatrix dense() const;

 private:
  Graph graph_;
  std::vector<double> own_, links_;
};

/// Largest distance of a row sum, a column sum from 1, and of a weight from the one opposite.
double row_defect(const MixingMatrix& matrix);
double column_defect(const MixingMatrix& matrix);
double symmetry_defect(const MixingMatrix& matrix);
/// Below 0 for `laplacian` with a small tau; the sums of its rows and columns are 1 all the same.
double smallest_weight(const MixingMatrix& matrix);

/// The defect is at most this: rows are sums of rounded numbers.
inline constexpr double sum_tolerance = 1e-9;
bool is_row_stochastic(const MixingMatrix& matrix);
bool is_column_stochastic(const MixingMatrix& matrix);
bool is_symmetric(const MixingMatrix& matrix);

struct MixingOptions {
  std::string kind = "metropolis";
  /// laplacian: greater than half the largest eigenvalue of the Laplacian; absent: largest degree + 1.
  std::optional<double> tau;
  /// explicit: [receiver][sender], 0 where the graph has no link.
  DenseMatrix weights;
};

/// Throws std::invalid_argument, with the reason, where the graph does not allow this kind.
MixingMatrix make_mixing(const MixingOptions& options, const Graph& graph);

struct MixingKind {
  std::string_view name, meaning;
};

std::span<const MixingKind> mixing_kinds();

/// One number a link from (sender, receiver), in the order of LinkIndex.
template <class Rule>
std::vector<double> weigh_links(const Graph& graph, const Rule& rule) {
  std::vector<double> weights;
  weights.reserve(graph.links());
  for (ClientId sender; sender.value < graph.clients(); ++sender.value)
    for (ClientId receiver : graph.receivers_of(sender)) weights.push_back(rule(sender, receiver));
  return weights;
}

/// The rules themselves; d_i is the degree of client i. Refusals are std::invalid_argument.
namespace weights {

/// 1 / (1 + senders of the receiver): rows sum to 1.
MixingMatrix uniform_row(const Graph& graph);
/// 1 / (1 + receivers of the sender): columns sum to 1.
MixingMatrix uniform_column(const Graph& graph);
/// 1 / (1 + max(d_i, d_j)), the rest on itself: symmetric. Undirected graphs only.
MixingMatrix metropolis(const Graph& graph);
/// I - L / tau. Undirected graphs only.
MixingMatrix laplacian(const Graph& graph, std::optional<double> tau = std::nullopt);
/// laplacian with tau = largest degree + 1.
MixingMatrix max_degree(const Graph& graph);
/// 1 / senders of the receiver and nothing on itself: rows sum to 1 where anyone is heard, else to 0.
MixingMatrix neighbours_only(const Graph& graph);
/// 1/m everywhere. Complete graphs only.
MixingMatrix averaging(const Graph& graph);
/// Refuses other sizes than m x m, numbers that are not finite, and weights where there is no link.
MixingMatrix from_dense(const Graph& graph, const DenseMatrix& dense);

}  // namespace weights
}  // namespace rubato
