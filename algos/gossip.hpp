// Gossip: a client's own model, and what it means that models meet: each moves towards those it hears.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "algos/algorithm.hpp"
#include "algos/catalogue.hpp"
#include "algos/options.hpp"

namespace rubato {

/// x <- x + xi sum_j w_j (x_j - x); every message, a model, is compared with x as it was. Goes through the numbers in
/// parts that stay in the nearest cache.
template <class Real>
void mix(VectorRef<Real> x, double xi, std::span<const Received<Real>> window) {
  constexpr Index part_size = 2048;
  if (window.empty()) return;
  double heard = 0;
  for (const Received<Real>& message : window) heard += message.weight;
  for (Index first = 0; first < x.size(); first += part_size) {
    VectorRef<Real> part(x.data() + first, std::min(part_size, x.size() - first));
    part *= static_cast<Real>(1 - xi * heard);
    for (const Received<Real>& message : window)
      part += static_cast<Real>(xi * message.weight) * message.common().segment(first, part.size());
  }
}

/// An algorithm with one model x and local computations. Who derives from it says what a computation is and how models
/// meet.
template <class Real>
class LocalModel : public Algorithm<Real> {
 public:
  void begin(Work<Real>& work) override { begun_ = copy_of<Real>(model(), work.pool); }
  void adopt(ConstVectorRef<Real> model) override { x() = model; }
  ConstVectorRef<Real> model() const override { return numbers_of<Real>(x_); }
  void inspect(Probe& probe) const override { show(probe, "x", model()); }
  void archive(Archive& archive) override {
    archive.fixed(x_);
    archive.optional(begun_, scalar_of<Real>, x_.count());
  }

 protected:
  LocalModel(ConstVectorRef<Real> start, TensorPool& pool) : x_{copy_of<Real>(start, pool)} {}

  VectorRef<Real> x() { return numbers_of<Real>(x_); }

  /// Where computations start: at the model that begin fixed, else at the one of now.
  ConstVectorRef<Real> origin() const { return begun_ ? numbers_of<Real>(begun_) : model(); }

  /// x <- x - eta g(origin). Without a gradient nothing happens, and the origin stays.
  void descend(Work<Real>& work, const Step& step, double eta) {
    if (!step.with_gradient) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    const Picks picks = work.batch(step.index);
    if (begun_) {
      const VectorRef<Real> g = work.scratch.vector(x().size());
      work.learner.gradient(origin(), picks, g, work.scratch);
      x() -= static_cast<Real>(eta) * g;
    } else {
      work.learner.descend(x(), picks, static_cast<Real>(eta), work.scratch);
    }
    begun_ = {};
  }

  /// x <- x + mu (u - origin), where u starts at the origin and `local_steps` changes it. Without a gradient nothing
  /// happens, and the origin stays.
  template <class LocalSteps>
  void displace(Work<Real>& work, const Step& step, double mu, LocalSteps local_steps) {
    if (!step.with_gradient) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> u = work.scratch.vector(x().size());
    u = origin();
    local_steps(u);
    x() += static_cast<Real>(mu) * (u - origin());
    begun_ = {};
  }

 private:
  Tensor x_;
  Tensor begun_;  // empty: computations start at x
};

/// Its messages are models. Who derives from it says what a computation is.
template <class Real>
class Gossip : public LocalModel<Real> {
 public:
  Payload publish(Work<Real>& work, const Step&) override {
    Payload payload;
    payload.common[0] = copy_of<Real>(this->model(), work.pool);
    return payload;
  }
  void merge(Work<Real>&, const Step&, std::span<const Received<Real>> window) override { mix(this->x(), xi_, window); }

 protected:
  Gossip(ConstVectorRef<Real> start, TensorPool& pool, double xi = 1) : LocalModel<Real>(start, pool), xi_{xi} {}

 private:
  double xi_;
};

/// A round whose gradients belong to models that have not met yet: combine, then adapt.
inline constexpr RoundProgram combine_then_adapt{
    .round = {Phase{PhaseKind::begin}, Phase{PhaseKind::exchange}, Phase{PhaseKind::compute}}};

/// Options that many algorithms have.
namespace shared_option {

inline constexpr OptionSpec eta{"eta", OptionType::number, "0.05", "step size, for all or a list", 0, 1e9, true};
inline constexpr OptionSpec step{.name = "step",
                                 .type = OptionType::word,
                                 .fallback = "\"constant\"",
                                 .meaning = "diminishing: eta / (k + step_offset) in computation k = 0, 1, ...",
                                 .choices = "constant|diminishing"};
inline constexpr OptionSpec step_offset{"step_offset", OptionType::number, "1", "of a diminishing step", 0, 1e12, true};
inline constexpr OptionSpec local_steps{"local_steps", OptionType::whole, "1", "steps of one computation", 1, 1e6};

}  // namespace shared_option

/// A whole number that is at least `least`. Throws std::invalid_argument otherwise.
inline std::uint64_t whole_from(const AlgorithmOptions& options, const std::string& name, std::int64_t fallback,
                                std::int64_t least) {
  const std::int64_t value = options.whole(name, fallback);
  if (value < least) refuse_option(name, std::to_string(value), "must be at least " + std::to_string(least));
  return static_cast<std::uint64_t>(value);
}

/// A number greater than 0. Throws std::invalid_argument otherwise.
inline double positive(const AlgorithmOptions& options, const std::string& name, double fallback) {
  const double value = options.number(name, fallback);
  if (!(value > 0)) refuse_option(name, value, "must be greater than 0");
  return value;
}

/// A number greater than 0 and at most 1. Throws std::invalid_argument otherwise.
inline double proper_share(const AlgorithmOptions& options, const std::string& name, double fallback) {
  const double value = options.number(name, fallback);
  if (!(value > 0 && value <= 1)) refuse_option(name, value, "must be greater than 0 and at most 1");
  return value;
}

/// A number of at least 0. Throws std::invalid_argument otherwise.
inline double not_negative(const AlgorithmOptions& options, const std::string& name, double fallback) {
  const double value = options.number(name, fallback);
  if (!(value >= 0)) refuse_option(name, value, "must be at least 0");
  return value;
}

}  // namespace rubato
