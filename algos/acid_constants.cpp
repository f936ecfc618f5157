// A2CiD2's constants: the least eigenvalue above 0 of the Laplacian of meeting rates, and the greatest resistance over an edge.
// Source: docs/references.md#a2cid2.
//
// With few clients all eigenvectors v_k of L are found: R_ij = sum_k (v_k,i - v_k,j)^2 / lambda_k. With many one client is tied
// down, and L without it is factored as F D F^T. Solving with it is L^+, whose greatest eigenvalue 1 / lambda_2 Lanczos' method
// finds; and those numbers of the inverse Z at which F has one follow from the last to the first (Takahashi's equations):
//   Z_ij = -sum_k>j F_kj Z_ki for i > j,   Z_jj = 1 / D_j - sum_k>j F_kj Z_kj;      R_ij = Z_ii + Z_jj - 2 Z_ij
#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "algos/acid.hpp"
#include "runtime/random.hpp"

namespace rubato {

namespace {

using Numbers = Eigen::VectorXd;
using Dense = Eigen::MatrixXd;
using Sparse = Eigen::SparseMatrix<double>;

constexpr double no_edge = 1e-12;      // an eigenvalue of a graph that falls apart, relative to the greatest
constexpr double close = 1e-12;        // of an eigenvalue of Lanczos' method: its residual, relative to it
constexpr Eigen::Index longest = 400;  // steps of it

[[noreturn]] void fall_apart() { throw std::invalid_argument("the edges do not connect all clients"); }

void check_edges(std::size_t clients, std::span<const MeetingRate> rates) {
  for (const MeetingRate& edge : rates)
    if (edge.one.value >= clients || edge.other.value >= clients || edge.one == edge.other)
      throw std::invalid_argument("an edge is not between two of the clients");
  if (clients < 2) fall_apart();
}

AcidConstants constants_of(double chi1, double chi2) {
  return {.chi1 = chi1, .chi2 = chi2, .eta = 1 / (2 * std::sqrt(chi1 * chi2)), .alpha_tilde = std::sqrt(chi1 / chi2) / 2};
}

// Client 0 is tied down; the places of the others are one lower.
class Factors {
 public:
  Factors(std::size_t clients, std::span<const MeetingRate> rates) : clients_{static_cast<Eigen::Index>(clients)} {
    std::vector<Eigen::Triplet<double>> numbers;
    for (const auto& [one, other, rate] : rates) {
      const auto i = static_cast<int>(one.value) - 1, j = static_cast<int>(other.value) - 1;
      if (i >= 0) numbers.emplace_back(i, i, rate);
      if (j >= 0) numbers.emplace_back(j, j, rate);
      if (i >= 0 && j >= 0) numbers.emplace_back(std::max(i, j), std::min(i, j), -rate);
    }
    Sparse laplacian(clients_ - 1, clients_ - 1);
    laplacian.setFromTriplets(numbers.begin(), numbers.end());
    const double greatest = laplacian.diagonal().maxCoeff();
    factors_.compute(laplacian);
    if (factors_.info() != Eigen::Success || !(factors_.vectorD().minCoeff() > no_edge * greatest)) fall_apart();
    invert();
  }

  /// L^+ x of numbers whose sum is 0.
  Numbers pseudo_inverse_times(const Numbers& x) const {
    Numbers solved(clients_);
    solved << 0, factors_.solve(x.tail(clients_ - 1));
    return solved.array() - solved.mean();
  }

  /// Over an edge.
  double resistance(ClientId one, ClientId other) const {
    if (one.value == 0 || other.value == 0) return diagonal_[place_of_client(std::max(one, other))];
    const auto [i, j] = std::minmax({place_of_client(one), place_of_client(other)});
    return diagonal_[i] + diagonal_[j] - 2 * inverse_.coeff(j, i);
  }

 private:
  Eigen::Index place_of_client(ClientId client) const { return factors_.permutationP().indices()[client.value - 1]; }

  // Where F has a number, in its order.
  void invert() {
    const Sparse factor = factors_.matrixL().nestedExpression();
    inverse_ = factor;
    diagonal_ = Numbers(factor.cols());
    Numbers column(factor.cols());
    std::vector<Eigen::Index> place(static_cast<std::size_t>(factor.cols()), -1);  // in the column that is worked at
    for (Eigen::Index j = factor.cols() - 1; j >= 0; --j) {
      const Eigen::Index begin = factor.outerIndexPtr()[j], length = factor.outerIndexPtr()[j + 1] - begin;
      const auto* rows = factor.innerIndexPtr() + begin;
      const double* is = factor.valuePtr() + begin;
      for (Eigen::Index k = 0; k < length; ++k) place[static_cast<std::size_t>(rows[k])] = k;
      column.head(length).setZero();
      for (Eigen::Index k = 0; k < length; ++k) {
        column[k] -= is[k] * diagonal_[rows[k]];
        for (Sparse::InnerIterator other(inverse_, rows[k]); other; ++other) {
          const Eigen::Index at = place[static_cast<std::size_t>(other.row())];
          if (at < 0) continue;
          column[at] -= is[k] * other.value();
          column[k] -= is[at] * other.value();
        }
      }
      diagonal_[j] = 1 / factors_.vectorD()[j];
      for (Eigen::Index k = 0; k < length; ++k) {
        inverse_.valuePtr()[begin + k] = column[k];
        diagonal_[j] -= is[k] * column[k];
        place[static_cast<std::size_t>(rows[k])] = -1;
      }
    }
  }

  Eigen::Index clients_;
  Eigen::SimplicialLDLT<Sparse> factors_;
  Sparse inverse_;    // below the diagonal
  Numbers diagonal_;  // of the inverse
};

// Lanczos' method, each vector orthogonal to all before it and to the ones.
double greatest_eigenvalue(const Factors& factors, Eigen::Index clients) {
  const Eigen::Index most = std::min(clients - 1, longest);
  Dense basis(clients, most);
  Numbers diagonal(most), beside(most), next(clients);
  Stream draws(1, no_client, Purpose::noise);
  for (double& number : next) number = draws.uniform();
  next.array() -= next.mean();
  double greatest = 0;
  for (Eigen::Index k = 0; k < most; ++k) {
    basis.col(k) = next.normalized();
    next = factors.pseudo_inverse_times(basis.col(k));
    diagonal[k] = basis.col(k).dot(next);
    for (int twice = 0; twice < 2; ++twice) next -= basis.leftCols(k + 1) * (basis.leftCols(k + 1).transpose() * next);
    next.array() -= next.mean();
    beside[k] = next.norm();
    Eigen::SelfAdjointEigenSolver<Dense> small;
    small.computeFromTridiagonal(diagonal.head(k + 1), beside.head(k));
    greatest = small.eigenvalues()[k];
    if (beside[k] * std::abs(small.eigenvectors()(k, k)) <= close * greatest) return greatest;
  }
  if (most == clients - 1) return greatest;
  throw std::invalid_argument("the eigenvalues of this graph lie too close together");
}

}  // namespace

AcidConstants acid_constants_densely(std::size_t clients, std::span<const MeetingRate> rates) {
  check_edges(clients, rates);
  const auto m = static_cast<Eigen::Index>(clients);
  Dense laplacian = Dense::Zero(m, m);
  for (const auto& [one, other, rate] : rates) {
    const Eigen::Index i = one.value, j = other.value;
    laplacian(i, i) += rate, laplacian(j, j) += rate;
    laplacian(i, j) -= rate, laplacian(j, i) -= rate;
  }
  const Eigen::SelfAdjointEigenSolver<Dense> spectrum(laplacian);
  const Numbers& values = spectrum.eigenvalues();
  if (values[1] <= no_edge * values[m - 1]) fall_apart();
  double most = 0;
  for (const MeetingRate& edge : rates) {
    double resistance = 0;
    for (Eigen::Index k = 1; k < m; ++k) {
      const double gap = spectrum.eigenvectors()(edge.one.value, k) - spectrum.eigenvectors()(edge.other.value, k);
      resistance += gap * gap / values[k];
    }
    most = std::max(most, resistance / 2);
  }
  return constants_of(1 / values[1], most);
}

AcidConstants acid_constants_sparsely(std::size_t clients, std::span<const MeetingRate> rates) {
  check_edges(clients, rates);
  const Factors factors(clients, rates);
  double most = 0;
  for (const MeetingRate& edge : rates) most = std::max(most, factors.resistance(edge.one, edge.other) / 2);
  return constants_of(greatest_eigenvalue(factors, static_cast<Eigen::Index>(clients)), most);
}

AcidConstants acid_constants(std::size_t clients, std::span<const MeetingRate> rates) {
  constexpr std::size_t few = 1000;
  return clients <= few ? acid_constants_densely(clients, rates) : acid_constants_sparsely(clients, rates);
}

}  // namespace rubato
