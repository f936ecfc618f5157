// Inner optimiser: the local steps of DiLoCo and NoLoCo. Its state stays with the client over the whole run.
//
//   sgd     x <- x - lr g
//   adamw   m <- b1 m + (1 - b1) g,   v <- b2 v + (1 - b2) g^2,   k counts from 1 over the whole run
//           x <- x - lr decay x - lr (m / (1 - b1^k)) / (sqrt(v / (1 - b2^k)) + eps)
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "algos/algorithm.hpp"
#include "algos/option_table.hpp"

namespace rubato {

/// How an inner step is made.
enum class InnerKind : std::uint8_t { sgd, adamw };
constexpr std::string_view word_list(InnerKind) { return "sgd|adamw"; }

/// Its numbers, the same for all clients.
struct InnerSettings {
  InnerKind kind = InnerKind::adamw;
  double lr = 4e-4;
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, decay = 0.1;  ///< of adamw
};

/// What read_inner reads.
constexpr std::array<OptionSpec, 6> inner_options() {
  return {word_option("inner", "adamw", "the optimiser of the local steps", word_list(InnerKind{})),
          OptionSpec{"lr", OptionType::number, "4e-4", "step size of the local steps", 0, 1e9, true},
          OptionSpec{"beta1", OptionType::number, "0.9", "of inner = \"adamw\": how much of its mean gradient is kept", 0, 1, false,
                     true},
          OptionSpec{"beta2", OptionType::number, "0.95", "of inner = \"adamw\": how much of its mean square is kept", 0, 1, false,
                     true},
          OptionSpec{"eps", OptionType::number, "1e-8", "of inner = \"adamw\": added to the root of the mean square", 0, 1e9},
          OptionSpec{"weight_decay", OptionType::number, "0.1", "of inner = \"adamw\": decay of the weights, times lr", 0, 1e9}};
}
inline InnerSettings read_inner(const OptionReader& options) {
  return {options.choice<InnerKind>("inner"),
          options.number("lr"),
          options.number("beta1"),
          options.number("beta2"),
          options.number("eps"),
          options.number("weight_decay")};
}

/// One client's.
template <class Real>
class InnerOptimiser {
 public:
  /// x <- one step from it, along the gradient at x of these samples.
  void step(const InnerSettings& settings, Work<Real>& work, Picks samples, VectorRef<Real> x) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    if (settings.kind == InnerKind::sgd) {
      work.learner.descend(x, samples, static_cast<Real>(settings.lr), work.scratch);
      return;
    }
    VectorRef<Real> g = work.scratch.vector(x.size());
    work.learner.gradient(read_only(x), samples, g, work.scratch);
    adamw(settings, read_only(g), x);
  }

  void archive(Archive& archive, std::size_t dimension) {
    archive.optional(mean_, scalar_of<Real>, dimension);
    archive.optional(square_, scalar_of<Real>, dimension);
    archive(steps_);
  }
  /// Makes the memory of adamw.
  void open(const InnerSettings& settings, std::size_t dimension, TensorPool& pool) {
    if (settings.kind != InnerKind::adamw) return;
    mean_ = zeros<Real>(dimension, pool);
    square_ = zeros<Real>(dimension, pool);
  }

 private:
  void adamw(const InnerSettings& settings, ConstVectorRef<Real> g, VectorRef<Real> x) {
    const auto steps = static_cast<double>(++steps_);
    const auto b1 = static_cast<Real>(settings.beta1), b2 = static_cast<Real>(settings.beta2);
    const auto lr = static_cast<Real>(settings.lr);
    const auto mean_scale = static_cast<Real>(1 / (1 - std::pow(settings.beta1, steps)));
    const auto square_scale = static_cast<Real>(1 / (1 - std::pow(settings.beta2, steps)));
    VectorRef<Real> m = numbers_of<Real>(mean_), v = numbers_of<Real>(square_);
    m = b1 * m + (1 - b1) * g;
    v = (b2 * v.array() + (1 - b2) * g.array().square()).matrix();
    x = ((1 - lr * static_cast<Real>(settings.decay)) * x.array() -
         lr * (mean_scale * m.array()) / ((square_scale * v.array()).sqrt() + static_cast<Real>(settings.epsilon)))
            .matrix();
  }

  Tensor mean_, square_;  // empty: not of adamw
  std::uint64_t steps_ = 0;
};

}  // namespace rubato
