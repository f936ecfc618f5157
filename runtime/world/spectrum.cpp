#include "runtime/world/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "runtime/random.hpp"

namespace rubato {
namespace {

using Values = std::vector<double>;
/// out = M in for a symmetric M without negative eigenvalues.
using Product = std::function<void(const Values& in, Values& out)>;

constexpr std::size_t most_steps = 1000;
constexpr std::size_t steps_between_looks = 20;
constexpr double settled = 1e-13;  // relative rise between two looks

struct Tridiagonal {
  Values diagonal, beside;  // beside[k] joins k and k + 1
};

double dot(const Values& a, const Values& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

// a += factor * b
void add(Values& a, double factor, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}

// Sturm's count: an eigenvalue is above x unless every pivot of T - x is negative.
bool has_eigenvalue_above(const Tridiagonal& t, double x) {
  double pivot = t.diagonal[0] - x;
  for (std::size_t k = 0; pivot < 0 && k + 1 < t.diagonal.size(); ++k)
    pivot = t.diagonal[k + 1] - x - t.beside[k] * t.beside[k] / pivot;
  return pivot >= 0;
}

double beside_or_zero(const Tridiagonal& t, std::size_t k) { return k < t.beside.size() ? std::abs(t.beside[k]) : 0; }

double largest_eigenvalue(const Tridiagonal& t) {
  double low = *std::ranges::max_element(t.diagonal), high = low;
  for (std::size_t k = 0; k < t.diagonal.size(); ++k)
    high = std::max(high, t.diagonal[k] + beside_or_zero(t, k) + (k > 0 ? beside_or_zero(t, k - 1) : 0));
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (!(low < middle && middle < high)) return low;
    (has_eigenvalue_above(t, middle) ? low : high) = middle;
  }
}

// Householder's reduction of a symmetric matrix: reflect each column onto its first two entries.
Tridiagonal tridiagonalise(DenseMatrix a) {
  const std::size_t n = a.size();
  Tridiagonal t;
  for (std::size_t k = 0; k + 1 < n; ++k) {
    t.diagonal.push_back(a[k][k]);
    Values v(n);
    for (std::size_t i = k + 1; i < n; ++i) v[i] = a[k][i];
    const double length = std::sqrt(dot(v, v)), goal = v[k + 1] > 0 ? -length : length;
    t.beside.push_back(goal);
    v[k + 1] -= goal;
    const double squared = dot(v, v);
    if (squared == 0) continue;
    // A <- H A H, H = I - 2 v v' / v'v, is A - v w' - w v' with w = p - (p'v / v'v) v and p = 2 A v / v'v.
    Values w(n);
    for (std::size_t i = k + 1; i < n; ++i) w[i] = 2 * dot(a[i], v) / squared;
    add(w, -dot(w, v) / squared, v);
    for (std::size_t i = k + 1; i < n; ++i) {
      add(a[i], -v[i], w);
      add(a[i], -w[i], v);
    }
  }
  t.diagonal.push_back(a[n - 1][n - 1]);
  return t;
}

// The same numbers in every run: no eigenvector of interest is orthogonal to them.
Values fixed_start(std::size_t size) {
  Stream stream(0, no_client, Purpose::evaluation);
  Values start(size);
  for (double& x : start) x = stream.uniform() - 0.5;
  const double length = std::sqrt(dot(start, start));
  for (double& x : start) x /= length;
  return start;
}

// Lanczos without reorthogonalisation: rounding only repeats eigenvalues already found, which leaves the largest alone.
SpectralValue largest_by_lanczos(const Product& multiply, std::size_t size) {
  Values now = fixed_start(size), before(size), next(size);
  Tridiagonal t;
  double found = 0;
  for (std::size_t step = 1; step <= most_steps; ++step) {
    multiply(now, next);
    t.diagonal.push_back(dot(now, next));
    add(next, -t.diagonal.back(), now);
    if (step > 1) add(next, -t.beside.back(), before);
    const double length = std::sqrt(dot(next, next));
    const bool is_exhausted = length <= 1e-15 * std::abs(t.diagonal.front());
    if (is_exhausted || step % steps_between_looks == 0) {
      const double larger = largest_eigenvalue(t);
      if (is_exhausted || larger - found <= settled * larger) return {larger, true};
      found = larger;
    }
    t.beside.push_back(length);
    for (double& x : next) x /= length;
    std::swap(before, now);
    std::swap(now, next);
  }
  return {found, false};
}

enum class Which : bool { itself, transposed };

// out = (W - J) in, or (W - J)' in
void apply(const MixingMatrix& w, Which which, const Values& in, Values& out) {
  const Graph& graph = w.graph();
  const double mean = std::accumulate(in.begin(), in.end(), 0.0) / static_cast<double>(in.size());
  for (ClientId i; i.value < in.size(); ++i.value) {
    const auto others = which == Which::itself ? graph.senders_to(i) : graph.receivers_of(i);
    double mixed = w.own(i) * in[i.value];
    for (std::uint32_t k = 0; k < others.size(); ++k)
      mixed += w.link(which == Which::itself ? graph.in_link(i, k) : graph.first_link(i) + k) * in[others[k].value];
    out[i.value] = mixed - mean;
  }
}

// (W - J)' (W - J), summed one row of W - J at a time.
DenseMatrix squared_distance_from_mean(const MixingMatrix& w) {
  const std::size_t m = w.graph().clients();
  DenseMatrix product(m, Values(m));
  for (Values row : w.dense()) {
    for (double& x : row) x -= 1 / static_cast<double>(m);
    for (std::size_t i = 0; i < m; ++i) add(product[i], row[i], row);
  }
  return product;
}

DenseMatrix laplacian_of(const Graph& graph) {
  DenseMatrix l(graph.clients(), Values(graph.clients()));
  for (ClientId i; i.value < graph.clients(); ++i.value) {
    l[i.value][i.value] = static_cast<double>(graph.out_degree(i));
    for (ClientId j : graph.receivers_of(i)) l[i.value][j.value] = -1;
  }
  return l;
}

// out = (D - A) in
void apply_laplacian(const Graph& graph, const Values& in, Values& out) {
  for (ClientId i; i.value < in.size(); ++i.value) {
    double sum = 0;
    for (ClientId j : graph.receivers_of(i)) sum += in[i.value] - in[j.value];
    out[i.value] = sum;
  }
}

SpectralValue root(SpectralValue square) { return {std::sqrt(std::max(0.0, square.value)), square.is_settled}; }

}  // namespace

SpectralValue find_consensus_rate(const MixingMatrix& matrix) {
  const std::size_t m = matrix.graph().clients();
  if (m <= largest_dense) return root({largest_eigenvalue(tridiagonalise(squared_distance_from_mean(matrix))), true});
  Values mixed(m);
  return root(largest_by_lanczos(
      [&](const Values& in, Values& out) {
        apply(matrix, Which::itself, in, mixed);
        apply(matrix, Which::transposed, mixed, out);
      },
      m));
}

SpectralValue find_largest_laplacian_eigenvalue(const Graph& graph) {
  if (graph.is_directed())
    throw std::invalid_argument("largest_laplacian_eigenvalue: the graph is directed; only undirected graphs have one");
  if (graph.clients() <= largest_dense) return {largest_eigenvalue(tridiagonalise(laplacian_of(graph))), true};
  return largest_by_lanczos([&](const Values& in, Values& out) { apply_laplacian(graph, in, out); }, graph.clients());
}

double consensus_rate(const MixingMatrix& matrix) { return find_consensus_rate(matrix).value; }
double largest_laplacian_eigenvalue(const Graph& graph) { return find_largest_laplacian_eigenvalue(graph).value; }

double spectral_norm(const DenseMatrix& matrix) {
  DenseMatrix square(matrix.size(), Values(matrix.size()));
  for (const Values& row : matrix)
    for (std::size_t i = 0; i < row.size(); ++i) add(square[i], row[i], row);
  return std::sqrt(std::max(0.0, largest_eigenvalue(tridiagonalise(square))));
}

DenseMatrix product_of(const DenseMatrix& a, const DenseMatrix& b) {
  DenseMatrix product(a.size(), Values(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a.size(); ++k)
      if (a[i][k] != 0) add(product[i], a[i][k], b[k]);
  return product;
}

std::vector<double> left_eigenvector(DenseMatrix a) {
  const std::size_t m = a.size();
  for (std::size_t n = m; n-- > 1;) {
    const double leaving = std::accumulate(a[n].begin(), a[n].begin() + static_cast<std::ptrdiff_t>(n), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      a[i][n] /= leaving;
      if (a[i][n] == 0) continue;
      for (std::size_t j = 0; j < n; ++j) a[i][j] += a[i][n] * a[n][j];
    }
  }
  std::vector<double> phi(m, 1);
  double sum = 1;
  for (std::size_t n = 1; n < m; ++n) {
    phi[n] = 0;
    for (std::size_t i = 0; i < n; ++i) phi[n] += phi[i] * a[i][n];
    sum += phi[n];
  }
  for (double& weight : phi) weight /= sum;
  return phi;
}

}  // namespace rubato
