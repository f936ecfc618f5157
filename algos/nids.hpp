// NidsStep: the local half of NIDS, which its quantised form shares.
#pragma once

#include <cstdint>
#include <utility>

#include "algos/algorithm.hpp"
#include "runtime/protocols/needs.hpp"

namespace rubato {

/// With s^k = x^k - eta g(x^k) it turns x^k into c^k = x^k + s^k - s^{k-1}, the first time into s^0.
template <class Real>
class NidsStep {
 public:
  void advance(Work<Real>& work, std::uint64_t number, double eta, VectorRef<Real> x) {
    Tensor stepped = copy_of<Real>(read_only(x), work.pool);
    VectorRef<Real> s = numbers_of<Real>(stepped);
    const typename Scratch<Real>::Frame frame(work.scratch);
    if (work.local_batches() == 1) {
      work.descend(s, number, static_cast<Real>(eta));
    } else {  // the corrections are those of a gradient at x
      VectorRef<Real> g = work.scratch.vector(x.size());
      work.gradient(read_only(x), number, g);
      s -= static_cast<Real>(eta) * g;
    }
    if (s_)
      x += s - numbers_of<Real>(std::as_const(s_));
    else
      x = s;
    s_ = std::move(stepped);
  }

  /// x - s: after an exchange of all it sums to zero over all clients.
  void show_balance(Probe& probe, ConstVectorRef<Real> x) const {
    if (s_) show(probe, "mean of x", x - numbers_of<Real>(s_));
  }

  /// The next step is a first one again.
  void restart() { s_ = {}; }

  /// Of a model with this many numbers.
  void archive(Archive& archive, std::size_t numbers) { archive.optional(s_, scalar_of<Real>, numbers); }

 private:
  Tensor s_;  // empty before the first step
};

/// Compute, exchange; nothing is sent after the first computation.
inline constexpr RoundProgram nids_program{.round = {Phase{PhaseKind::compute}, Phase{.kind = PhaseKind::exchange, .first = 1}}};

}  // namespace rubato
