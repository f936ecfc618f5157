// Small losses with known answers: for golden cases, convergence studies and very many clients.
#pragma once

#include <memory>
#include <vector>

#include "learning/learner.hpp"

namespace rubato {

/// f(x) = 1/2 (x - c)^T A (x - c). A is square and used as it is given: the gradient is (A + A^T)/2 (x - c).
template <class Real>
std::unique_ptr<Learner<Real>> make_quadratic(const Matrix<Real>& a, Vector<Real> centre);

/// Samples: a row of inputs and a target each.
template <class Real>
struct Examples {
  Matrix<Real> inputs{};
  Vector<Real> targets{};
};

/// f(x) = ||X x - b||^2 / (2 N) + l2/2 ||x||^2. `test` has the columns of X and is what scores it; none: X and b.
template <class Real>
std::unique_ptr<Learner<Real>> make_least_squares(Matrix<Real> inputs, Vector<Real> targets, Real l2 = 0, Examples<Real> test = {});

/// f(x) = mean(ln(1 + e^{a.x}) - b a.x) + l2/2 ||x||^2 with b in {0, 1}; classifies as 1 where a.x > 0. `test` likewise.
template <class Real>
std::unique_ptr<Learner<Real>> make_logistic(Matrix<Real> inputs, Vector<Real> targets, Real l2 = 0, Examples<Real> test = {});

/// The softmax model of model.hpp on samples of its own, which also score it.
template <class Real>
std::unique_ptr<Learner<Real>> make_softmax_problem(Matrix<Real> inputs, std::vector<Label> labels, std::uint32_t classes,
                                                    Real l2 = 0);

/// The centres of f_i(x) = 1/2 ||x - c_i||^2 for many clients, in one block of memory: c_i is the first `dimension`
/// normal numbers of Stream(seed, client i, Purpose::init), which have this deviation.
template <class Real>
class Centres {
 public:
  Centres(std::uint64_t seed, std::uint32_t clients, Index dimension, double deviation = 1);

  std::uint32_t clients() const { return static_cast<std::uint32_t>(numbers_.rows()); }
  Index dimension() const { return dimension_; }
  ConstVectorRef<Real> operator[](std::uint32_t client) const { return {numbers_.row(client).data(), dimension_}; }

 protected:
  Index dimension_;
  Matrix<Real> numbers_;  // rows are padded to whole cache lines
};

/// f(x) = 1/2 ||x - c||^2 with c of a client of `centres`; itself a few words.
template <class Real>
std::unique_ptr<Learner<Real>> make_centre_learner(std::shared_ptr<const Centres<Real>> centres, std::uint32_t client);

/// u_i of the tridiagonal losses: such numbers less their mean over all clients.
template <class Real>
class Shifts : public Centres<Real> {
 public:
  Shifts(std::uint64_t seed, std::uint32_t clients, Index dimension, double deviation);
};

/// f_i(x) = 1/2 x^T A x + x_1/4 + <u_i, x> with A = tridiag(-1, 2, -1)/4, begun at x = (sqrt(d), 0, ..., 0). A gradient that has
/// random numbers has `noise` times a standard normal in each of its own; the loss and a gradient without them have none. No
/// `shifts`: all u_i are 0.
template <class Real>
std::unique_ptr<Learner<Real>> make_tridiagonal(Index dimension, std::shared_ptr<const Shifts<Real>> shifts, std::uint32_t client,
                                                Real noise);

extern template class Centres<float>;
extern template class Centres<double>;

}  // namespace rubato
