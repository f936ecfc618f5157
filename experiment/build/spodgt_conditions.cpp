// The conditions of Spod-GT and of the methods that are special cases of it: (14) to (16) with lemmas B.3 and B.4 and table 2 of
// Zehtabi and others, "Sporadic Gradient Tracking over Directed Graphs" (docs/references.md#spod-gt).
//
// a, b: weights and shares   p_i: chance of a gradient   q_ij: chance of a link (the paper's p-hat)
// A, B: their means, with what is left on the diagonal   phi' A = phi', B pi = pi   D: diameter   K: maximal edge utility
//   rho_A  = 1 - min phi min(A+)^2 / (max phi^2 D K)          rho_0A = 4 (m - 1) max phi / min phi max(a^2 q (1 - q))
//   rho_B  = 1 - min pi^2 min(B+)^2 / (max pi^3 D K)          rho_0B = 2 (m - 1) max pi / min pi max(b^2 q (1 - q))
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "experiment/build/conditions.hpp"
#include "experiment/build/expected_weights.hpp"
#include "runtime/world/spectrum.hpp"

namespace rubato {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

struct Distances {
  double diameter = 0;
  double edge_utility = 0;  // the most pairs of clients for which some shortest path goes through one link
};

std::vector<std::uint32_t> distances_from(const Graph& graph, ClientId start) {
  std::vector<std::uint32_t> far(graph.clients(), ~0u);
  std::vector<ClientId> front{start};
  far[start.value] = 0;
  while (!front.empty()) {
    std::vector<ClientId> next;
    for (const ClientId i : front)
      for (const ClientId j : graph.receivers_of(i))
        if (far[j.value] == ~0u) far[j.value] = far[i.value] + 1, next.push_back(j);
    front = std::move(next);
  }
  return far;
}

Distances distances_of(const Graph& graph) {
  const std::size_t m = graph.clients();
  std::vector<std::vector<std::uint32_t>> far;
  for (std::uint32_t i = 0; i < m; ++i) far.push_back(distances_from(graph, {i}));
  Distances all;
  for (const auto& row : far) all.diameter = std::max(all.diameter, static_cast<double>(std::ranges::max(row)));
  for (LinkIndex link = 0; link < graph.links(); ++link) {
    const Edge ends = graph.ends_of(link);
    std::size_t pairs = 0;
    for (std::size_t s = 0; s < m; ++s)
      for (std::size_t t = 0; t < m; ++t) pairs += s != t && far[s][ends.source.value] + 1 + far[ends.target.value][t] == far[s][t];
    all.edge_utility = std::max(all.edge_utility, static_cast<double>(pairs));
  }
  return all;
}

double least_positive(const DenseMatrix& matrix) {
  double least = infinite;
  for (const auto& row : matrix)
    for (const double entry : row)
      if (entry > 0) least = std::min(least, entry);
  return least;
}

DenseMatrix transposed(const DenseMatrix& matrix) {
  DenseMatrix other(matrix.size(), std::vector<double>(matrix.size()));
  for (std::size_t i = 0; i < matrix.size(); ++i)
    for (std::size_t j = 0; j < matrix.size(); ++j) other[j][i] = matrix[i][j];
  return other;
}

/// One side of the matrices: A with phi, or B with pi.
struct Side {
  MixingMatrix plain;  // without chances
  DenseMatrix expected;
  std::vector<double> vector{};  // phi, pi
  double least = 0, most = 0;    // of the vector
  double rho = 0, rho_0 = 0;

  // max(w^2 q (1 - q)) over links
  double variance(const std::vector<double>& chances) const {
    double largest = 0;
    for (std::size_t link = 0; link < chances.size(); ++link) {
      const double w = plain.link_weights()[link], q = chances[link];
      largest = std::max(largest, w * w * q * (1 - q));
    }
    return largest;
  }
};

struct Constants {
  double m;
  Distances graph;
  Side a, b;
  std::vector<double> compute, links;                     // chances; links: empty where all are 1
  double rho_a = 0, rho_b = 0;                            // with the links' chances: rho-tilde
  double k2 = 0, k3 = 0, k4 = 0, k5 = 0, k6 = 0, k7 = 0;  // k2 to k5 with L; NaN where it is not known
  double least = infinite, most = 0;                      // phi_i pi_i
};

Side side_of(const TheoryInput& input, const std::vector<double>& links, bool is_share) {
  const Graph& graph = input.graphs.front();
  Side side{expected_weights(graph, input.experiment, input.resolved, {}, is_share),
            expected_weights(graph, input.experiment, input.resolved, links, is_share).dense()};
  side.vector = left_eigenvector(is_share ? transposed(side.expected) : side.expected);
  side.least = std::ranges::min(side.vector);
  side.most = std::ranges::max(side.vector);
  return side;
}

// What the losses say, or do not.
struct Losses {
  std::optional<double> L, diversity, variance;
  double batch_share;  // (1 - B/D) / B, at most: D is not known before data are read
};

double mean_over(const std::vector<double>& values, auto term) {
  double sum = 0;
  for (const double value : values) sum += term(value);
  return sum / static_cast<double>(values.size());
}

void fill_constants(Constants& is, const Losses& losses) {
  const double s = losses.variance.value_or(0) * losses.variance.value_or(0) * losses.batch_share;
  const double d = losses.diversity.value_or(0) * losses.diversity.value_or(0);
  const double L = losses.L.value_or(std::numeric_limits<double>::quiet_NaN()), square = L * L;
  is.k2 = mean_over(is.compute, [&](double p) { return 2 * s * p + 3 * (1 - p) * d; }) + 3;
  double spread = 0;
  for (LinkIndex link = 0; link < is.links.size(); ++link) {
    const double w = is.b.plain.link_weights()[link], q = is.links[link];
    spread = std::max(spread, is.b.vector[is.b.plain.graph().ends_of(link).source.value] * w * w * q * (1 - q));
  }
  is.k3 = is.a.most * (is.b.most * is.b.most / is.b.least + 2 * is.m * spread);
  for (std::size_t i = 0; i < is.compute.size(); ++i) {
    is.k4 = std::max(is.k4, is.compute[i] / is.a.vector[i] * (2 * s * square + 5 * square));
    is.least = std::min(is.least, is.a.vector[i] * is.b.vector[i]);
    is.most = std::max(is.most, is.a.vector[i] * is.b.vector[i]);
  }
  if (!losses.L) is.k4 = L;
  is.k5 = mean_over(is.compute, [&](double p) { return 2 * p * (2 * s + 5 * (1 - p) * d) * square + 5 * p * p * square; });
  is.k6 = (1 + is.rho_a) / (1 - is.rho_a);
  is.k7 = 2 * (is.m + 1) * (1 + is.rho_b) / (1 - is.rho_b);
}

double bound_14(const Constants& is) {
  const double m = is.m, a = (1 - is.rho_a) / std::sqrt(1 + is.rho_a), b = (1 - is.rho_b) / std::sqrt(1 + is.rho_b);
  return std::min({a * b / (4 * std::sqrt(m + 1)), 1 / std::sqrt(2 * is.k4 + m * is.k5 * is.a.rho_0),
                   std::sqrt((1 - is.rho_a) / is.k5), b / (2 * std::sqrt(m * (m + 1))) / std::sqrt(is.k5)}) /
         (2 * std::sqrt(is.k3));
}

// Of Psi in (13), with the largest step.
double transition_radius(const Constants& is, double eta) {
  const double k1 = is.k4;  // at most
  const double p12 = is.k6 * is.k3 * eta * eta, p11 = (1 + is.rho_a) / 2 + is.m * k1 * p12;
  const double p21 = is.k7 * is.k4 * (1 + p11) + is.k7 * is.k5 * is.k3 * k1 * eta * eta + is.m * is.k7 * is.k5 * is.a.rho_0;
  const double p22 = (1 + is.rho_b) / 2 + is.k7 * is.k4 * p12 + is.m * is.k7 * is.k5 * is.k3 * eta * eta;
  return (p11 + p22 + std::sqrt((p11 - p22) * (p11 - p22) + 4 * p12 * p21)) / 2;
}

// 1 - r, r the solution of x^k + tau x - tau = 0 in (0, 1): tau may be so large that r is 1 in doubles.
double distance_to_solution(double k, double log_tau) {
  double low = 0, high = 1;
  for (int step = 0; step < 2000 && low < high; ++step) {
    const double middle = low == 0 ? std::min(high / 2, high * 1e-3) : std::sqrt(low * high);
    if (middle <= low || middle >= high) break;
    (k * std::log1p(-middle) > log_tau + std::log(middle) ? low : high) = middle;
    if (high < 1e-300) return 0;
  }
  return high;
}

// (15): what the chances of links must at least be, and those of gradients.
Condition links_of_15(const Constants& is) {
  constexpr std::string_view name = "(15), links";
  if (is.links.empty()) return judged(name, true, "all links are up in every round");
  const double least = std::ranges::min(is.links), m = is.m;
  const auto log_tau = [&](const Side& side, double factor, double power) {
    double most = 0;
    for (const auto& row : side.plain.dense())
      for (const double entry : row) most = std::max(most, entry);
    return std::log(factor * is.graph.diameter * is.graph.edge_utility) + 2 * std::log(most) -
           power * std::log(least_positive(side.plain.dense()));
  };
  const double by_a = distance_to_solution(2 * (m + 1), log_tau(is.a, 16 * m * m * (m - 1), 2 * (m + 1)));
  const double by_b = distance_to_solution(3 * m + 2, log_tau(is.b, 4 * m * m * m * (m - 1), 3 * m + 2));
  const double allowed = std::min(by_a, by_b);
  return judged(name, 1 - least <= allowed, "the lowest chance of a link is {:.4g}; it must be at least 1 - {:.2g}", least,
                allowed);
}

// Gamma_1 = 1 + this Gamma_3, which is at least 1.
double per_gamma_3(const Constants& is, double radius) { return 8 / is.m * is.most / is.least * is.k7 * is.rho_b / (1 - radius); }

Condition gradients_of_15(const Constants& is, const Losses& losses, double radius) {
  constexpr std::string_view name = "(15), gradients";
  if (std::ranges::min(is.compute) >= 1) return judged(name, true, "all clients compute a gradient in every round");
  if (!losses.diversity) return unknown(name, "theory.diversity does not say delta_1");
  if (!losses.L) return unknown(name, "metrics.smoothness does not say L of the losses");
  if (!(radius < 1)) return unknown(name, "Gamma_1 needs (14)");
  const double gamma_1 = 1 + per_gamma_3(is, radius);
  double worst = -infinite;
  for (std::size_t i = 0; i < is.compute.size(); ++i)
    worst = std::max(worst, 1 - is.m * is.b.vector[i] / (9 * gamma_1 * *losses.diversity * *losses.diversity) - is.compute[i]);
  return judged(name, worst <= 0,
                "the lowest p is {:.4g}; a p is {:.4g} {} 1 - m pi / (9 Gamma_1 delta_1^2), Gamma_1 = {:.4g} at its least",
                std::ranges::min(is.compute), std::abs(worst), worst <= 0 ? "or more above" : "below", gamma_1);
}

Condition condition_16(const Constants& is, double eta, double radius) {
  constexpr std::string_view name = "(16)";
  if (!(radius < 1)) return unknown(name, "its bound needs (14)");
  const double per_3 = per_gamma_3(is, radius);
  const double gamma_3 = 1 + std::sqrt(1 + 1 / per_3);  // where (1 - 1/Gamma_3) / Gamma_1 is largest
  const double k9 = (is.m * (1 + 3 * is.b.rho_0) / (3 * is.k7 * is.rho_b) + 1) * is.k4 * is.k6 + is.k5 / is.m;
  const double k10 = 8 / (3 * is.k2 * is.k3) * is.most / is.a.most;
  const double bound = std::sqrt((1 - 1 / gamma_3) / (1 + per_3 * gamma_3) * k10 / k9 * (1 - radius));
  return judged(name, eta < bound, "eta = {:g}; its bound is {:.4g} with the best Gamma_3 = {:.4g}", eta, bound, gamma_3);
}

}  // namespace

std::vector<Condition> spodgt_conditions(const TheoryInput& input) {
  constexpr std::size_t most_clients = 200;
  const Graph& graph = input.graphs.front();
  if (input.graphs.size() > 1) return {unknown("(14) to (16)", "the graph changes")};
  if (graph.clients() > most_clients) return {unknown("(14) to (16)", "all pairs of so many clients take too long")};
  if (graph.clients() < 2) return {unknown("(14) to (16)", "there is one client")};
  const config::Experiment& experiment = input.experiment;
  const Sporadic& sporadic = input.resolved.needs.sporadic;
  const std::vector<double> links = sporadic.links ? input.link_chances : std::vector<double>{};
  Constants is{static_cast<double>(graph.clients()),
               distances_of(graph),
               side_of(input, links, false),
               side_of(input, links, true),
               std::vector<double>(graph.clients(), 1),
               links};
  if (sporadic.computes && !input.compute_chances.empty()) is.compute = input.compute_chances;
  const double paths = is.graph.diameter * is.graph.edge_utility;
  const double a = least_positive(is.a.expected), b = least_positive(is.b.expected);
  is.a.rho = 1 - is.a.least * a * a / (is.a.most * is.a.most * paths);
  is.b.rho = 1 - is.b.least * is.b.least * b * b / (is.b.most * is.b.most * is.b.most * paths);
  is.a.rho_0 = 4 * (is.m - 1) * is.a.most / is.a.least * is.a.variance(links);
  is.b.rho_0 = 2 * (is.m - 1) * is.b.most / is.b.least * is.b.variance(links);
  is.rho_a = is.a.rho + 2 * is.a.rho_0, is.rho_b = is.b.rho + is.b.rho_0;

  std::vector<Condition> all;
  const bool is_small = is.rho_a < 1 && is.rho_b < 1;
  all.push_back(judged("phi, pi", true, "phi from {:.4g} to {:.4g}, pi from {:.4g} to {:.4g}; diameter {:g}, edge utility {:g}",
                       is.a.least, is.a.most, is.b.least, is.b.most, is.graph.diameter, is.graph.edge_utility));
  all.push_back(judged("lemma B.4", is_small,
                       "rho_A = {:.6g}, with chances of links {:.6g}; rho_B = {:.6g}, with them {:.6g}; both must be below 1",
                       is.a.rho, is.rho_a, is.b.rho, is.rho_b));
  const Losses losses{experiment.metrics.smoothness, experiment.theory.diversity, experiment.theory.variance,
                      experiment.model.batch > 0      ? 1 / static_cast<double>(experiment.model.batch)
                      : experiment.model.client_batch ? 1
                                                      : 0};
  fill_constants(is, losses);
  const std::vector<double> etas = experiment.algorithm.options.numbers("eta", 0);
  const double eta = std::ranges::max(etas);
  const bool needs_diversity = std::ranges::min(is.compute)<1, needs_variance = losses.batch_share> 0;
  std::string why;
  if (!losses.L) why = "metrics.smoothness does not say L of the losses";
  if (needs_diversity && !losses.diversity) why += (why.empty() ? "" : ", ") + std::string("theory.diversity does not say delta_1");
  if (needs_variance && !losses.variance) why += (why.empty() ? "" : ", ") + std::string("theory.variance does not say sigma_1");
  double radius = infinite;
  if (!is_small) {
    all.push_back(
        judged("(14)", false, "no step is small enough: its bound has 1 - rho_A and 1 - rho_B with the chances of links"));
  } else if (!why.empty()) {
    all.push_back(unknown("(14)", why));
  } else {
    const double bound = bound_14(is);
    if (eta < bound) radius = transition_radius(is, eta);
    all.push_back(judged("(14)", eta < bound, "eta = {:g}; its bound is {:.4g}", eta, bound));
  }
  all.push_back(links_of_15(is));
  all.push_back(gradients_of_15(is, losses, radius));
  all.push_back(condition_16(is, eta, radius));
  return all;
}

}  // namespace rubato
