// Local solvers: what a client does with its own loss alone, between two messages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "algos/catalogue.hpp"

namespace rubato {

/// `count` times x <- x - eta g(x; batch), with the batches first, first + 1, ...; each of these times for every mini-batch of a
/// computation where it has more than one.
template <class Real>
void descend_locally(const Work<Real>& work, VectorRef<Real> x, std::uint64_t first, std::uint64_t count, double eta) {
  for (std::uint64_t s = 0; s < count; ++s) work.descend(x, first + s, static_cast<Real>(eta));
}

/// The keys of [algorithm] that ProximalSolver reads.
inline constexpr std::array solver_options{
    word_option("local", "gd", "gd takes local_steps steps; exact solves the local problem (quadratic losses)", "gd|exact"),
    OptionSpec{"local_steps", OptionType::whole, "10", "steps of one computation", 1, 1e6},
    OptionSpec{"local_lr", OptionType::number, "0.05", "step size of the local steps", 0, 1e9, true},
};

/// x <- argmin f(x) + |x - v|^2 / (2 eta), from the x that is given; f is this client's loss.
class ProximalSolver {
 public:
  explicit ProximalSolver(const OptionReader& options)
      : is_exact_{options.is("local", "exact")}, steps_{options.whole("local_steps")}, rate_{options.number("local_lr")} {}

  /// `number` counts the calls of this client: it names the batches.
  template <class Real>
  void operator()(const Work<Real>& work, std::uint64_t number, VectorRef<Real> x, ConstVectorRef<Real> v, double eta) const {
    if (is_exact_) return conjugate_gradients(work, x, v, eta);
    for (std::uint64_t s = 0; s < steps_; ++s) {
      const typename Scratch<Real>::Frame frame(work.scratch);
      VectorRef<Real> g = work.scratch.vector(x.size());
      work.gradient(read_only(x), number * steps_ + s, g);
      g += static_cast<Real>(1 / eta) * (x - v);
      x -= static_cast<Real>(rate_) * g;
    }
  }

 private:
  // Conjugate gradients that know the Hessian only through differences of full gradients, so a quadratic loss is
  // minimised to rounding within as many steps as it has dimensions. On other losses they are those of Polak and
  // Ribiere.
  template <class Real>
  static void conjugate_gradients(const Work<Real>& work, VectorRef<Real> x, ConstVectorRef<Real> v, double eta) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    const Index n = x.size();
    VectorRef<Real> loss_gradient = work.scratch.vector(n), ahead = work.scratch.vector(n);
    VectorRef<Real> residual = work.scratch.vector(n), before = work.scratch.vector(n);
    VectorRef<Real> direction = work.scratch.vector(n), there = work.scratch.vector(n);
    const Real pull = static_cast<Real>(1 / eta);
    const auto find_residual = [&] {
      work.learner.gradient(read_only(x), {}, loss_gradient, work.scratch);
      residual = -loss_gradient - pull * (x - v);
    };
    find_residual();
    direction = residual;
    const Index most = std::min<Index>(4 * n + 20, 1000);
    for (Index step = 0; step < most; ++step) {
      const double scale = loss_gradient.norm() + pull * (x - v).norm();
      if (residual.norm() <= 8 * std::numeric_limits<Real>::epsilon() * scale) return;
      there = x + direction;
      work.learner.gradient(read_only(there), {}, ahead, work.scratch);
      ahead += pull * direction - loss_gradient;  // the Hessian times the direction
      const double curvature = direction.dot(ahead);
      if (!(curvature > 0)) return;
      x += static_cast<Real>(residual.dot(direction) / curvature) * direction;
      before = residual;
      find_residual();
      const double beta = residual.dot(residual - before) / before.squaredNorm();
      direction = residual + static_cast<Real>(std::max(beta, 0.0)) * direction;
      if (!(residual.dot(direction) > 0)) direction = residual;
    }
  }

  bool is_exact_;
  std::uint64_t steps_;
  double rate_;
};

}  // namespace rubato
