// A2CiD2: the constants of its flow for a graph whose edges meet at given rates (docs/references.md#a2cid2).
#pragma once

#include <cstddef>
#include <span>

#include "runtime/ids.hpp"

namespace rubato {

/// An edge and how often it meets per unit of time.
struct MeetingRate {
  ClientId one;     ///< an end
  ClientId other;   ///< the other end
  double rate = 0;  ///< meetings per unit of time, above 0
};

/// With the Laplacian L = sum r_ij (e_i - e_j)(e_i - e_j)^T of the rates.
struct AcidConstants {
  double chi1 = 0;         ///< 1 / lambda_2(L)
  double chi2 = 0;         ///< half of the greatest (e_i - e_j)^T L^+ (e_i - e_j) over edges
  double eta = 0;          ///< rate of the flow, 1 / (2 sqrt(chi1 chi2)) per unit of time
  double alpha = 0.5;      ///< weight of a meeting in x
  double alpha_tilde = 0;  ///< in x~, sqrt(chi1 / chi2) / 2
};

/// The paper's constants, by the first of the next two up to 1,000 clients, else by the second. Throws std::invalid_argument where
/// the edges do not connect so many clients.
AcidConstants acid_constants(std::size_t clients, std::span<const MeetingRate> rates);
/// From all eigenvalues of a dense matrix: time grows with the third power of the clients.
AcidConstants acid_constants_densely(std::size_t clients, std::span<const MeetingRate> rates);
/// By Lanczos' method, to a residual of 1e-12 relative to the eigenvalue, and sparse factors: time grows with what these fill in,
/// little on rings, tori and trees, and much on graphs that are drawn.
AcidConstants acid_constants_sparsely(std::size_t clients, std::span<const MeetingRate> rates);

}  // namespace rubato
