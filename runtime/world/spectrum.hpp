// Spectra: how fast repeated mixing brings clients together.
#pragma once

#include <cstddef>

#include "runtime/world/graph.hpp"
#include "runtime/world/mixing.hpp"

namespace rubato {

/// Up to here values are computed from the dense matrix, to about 1e-13 of the largest entry. Above, a Lanczos
/// iteration from a fixed start approaches the value from below.
inline constexpr std::size_t largest_dense = 400;

struct SpectralValue {
  double value;
  /// False: the iteration came to its limit of steps while still rising, as it does where the gap is far below the
  /// inverse square of the steps (a ring of a million). The value is then a lower bound, typically good to 1e-5 of
  /// itself.
  bool is_settled;
};

/// ||W - J||_2, the largest singular value, J = 1/m everywhere. One step of mixing shrinks the distance from the mean
/// to this fraction or less, if W is doubly stochastic; the spectral gap is 1 minus this. Settled values above
/// largest_dense are good to about 1e-9. Deterministic; time is that of a few thousand products with W at most.
SpectralValue find_consensus_rate(const MixingMatrix& matrix);
double consensus_rate(const MixingMatrix& matrix);

/// Of L = D - A; undirected graphs only (std::invalid_argument).
SpectralValue find_largest_laplacian_eigenvalue(const Graph& graph);
double largest_laplacian_eigenvalue(const Graph& graph);

/// The largest singular value of a square matrix. Time grows with the cube of its size.
double spectral_norm(const DenseMatrix& matrix);
/// a b
DenseMatrix product_of(const DenseMatrix& a, const DenseMatrix& b);

/// phi >= 0 with phi' A = phi' and sum phi = 1, of a square matrix without negative entries whose rows sum to one and whose graph
/// is strongly connected: what repeated mixing makes of client i counts phi_i. By elimination without subtractions (Grassmann,
/// Taksar and Heyman), so to a few units in the last place of every entry, however small; what is on the diagonal is not looked at.
/// Of a column-stochastic matrix the right eigenvector is that of its transpose. Time grows with the cube of the clients.
std::vector<double> left_eigenvector(DenseMatrix row_stochastic);

}  // namespace rubato
