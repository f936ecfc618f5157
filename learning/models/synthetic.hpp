// Synthetic problems: samples made up from a seed around a sparse solution, each client's own. The two of PaME's paper
// (docs/references.md#pame).
#pragma once

#include <memory>

#include "learning/learner.hpp"

namespace rubato {

/// What clients share: w, of whose numbers the share `support` (at least one) is not 0 but uniform in [0.5, 2] with
/// either sign, at places drawn alike. From Stream(seed, no client, Purpose::init, 1).
template <class Real>
Vector<Real> sparse_solution(std::uint64_t seed, Index dimension, double support);

/// Least squares over samples (a, b) with a standard normal and b = <a, w> + noise e, e standard normal.
/// Rows come from Stream(seed, client, Purpose::init, 1), a before e. So many `tests` likewise from detail 3 score it; none: the
/// samples do.
template <class Real>
std::unique_ptr<Learner<Real>> make_sparse_regression(std::uint64_t seed, ClientId client, const Vector<Real>& solution,
                                                      std::uint32_t samples, double noise, Real l2 = 0, std::uint32_t tests = 0);

/// Logistic regression without a bias over samples (a, b) with a standard normal and b = 1 with the chance
/// 1 / (1 + e^{-<a, w>}), else 0. Drawn likewise, b after a.
template <class Real>
std::unique_ptr<Learner<Real>> make_sparse_classification(std::uint64_t seed, ClientId client, const Vector<Real>& solution,
                                                          std::uint32_t samples, Real l2 = 0, std::uint32_t tests = 0);

}  // namespace rubato
