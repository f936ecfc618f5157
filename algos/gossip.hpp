// Gossip: a client's own model, and what it means that models meet: each moves towards those it hears.
#pragma once

#include <span>

#include "algos/one_model.hpp"

namespace rubato {

/// x <- x + xi sum_j w_j (x_j - x); every message, a model, is compared with x as it was. Goes through the numbers in
/// parts that stay in the nearest cache.
template <class Real>
void mix(VectorRef<Real> x, double xi, std::span<const Received<Real>> window) {
  if (window.empty()) return;
  double heard = 0;
  for (const Received<Real>& message : window) heard += message.weight;
  for_each_part(x.size(), [&](Index first, Index length) {
    VectorRef<Real> part = part_of(x, first, length);
    part *= static_cast<Real>(1 - xi * heard);
    for (const Received<Real>& message : window)
      part += static_cast<Real>(xi * message.weight) * part_of(message.common(), first, length);
  });
}

/// An algorithm with one model x and local computations. A derived class says what a computation is and how models
/// meet.
template <class Real, class Settings>
class LocalModel : public OneModel<Real, Settings> {
 public:
  using OneModel<Real, Settings>::OneModel;

  void begin(Work<Real>& work) override { begun_ = copy_of<Real>(this->model(), work.pool); }
  void archive(Archive& archive) override {
    OneModel<Real, Settings>::archive(archive);
    archive.optional(begun_, scalar_of<Real>, this->count());
  }

 protected:
  /// Where computations start: at the model that begin fixed, else at the one of now.
  ConstVectorRef<Real> origin() const { return begun_ ? numbers_of<Real>(begun_) : this->model(); }
  /// The next computation has a start of its own.
  void forget_origin() { begun_ = {}; }

  /// x <- x - eta g(origin), or the sum of so many steps from there as a computation has mini-batches. Without a gradient nothing
  /// happens, and the origin stays.
  void descend(Work<Real>& work, const Step& step, double eta) {
    if (!step.with_gradient) return;
    if (begun_ && work.local_batches() > 1)
      return displace(work, step, 1, [&](VectorRef<Real> u) { work.descend(u, step.index, static_cast<Real>(eta)); });
    const typename Scratch<Real>::Frame frame(work.scratch);
    if (begun_) {
      const VectorRef<Real> g = work.scratch.vector(this->x().size());
      work.gradient(origin(), step.index, g);
      this->x() -= static_cast<Real>(eta) * g;
    } else {
      work.descend(this->x(), step.index, static_cast<Real>(eta));
    }
    forget_origin();
  }
  /// The same with the step size `eta` of the settings.
  void descend(Work<Real>& work, const Step& step) { descend(work, step, this->settings().eta.at(this->client(), step.index)); }

  /// x <- x + mu (u - origin), where u starts at the origin and `local_steps` changes it. Without a gradient nothing
  /// happens, and the origin stays.
  template <class LocalSteps>
  void displace(Work<Real>& work, const Step& step, double mu, LocalSteps local_steps) {
    if (!step.with_gradient) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> u = work.scratch.vector(this->x().size());
    u = origin();
    local_steps(u);
    this->x() += static_cast<Real>(mu) * (u - origin());
    forget_origin();
  }

 private:
  Tensor begun_;  // empty: computations start at x
};

/// Its messages are models, and a computation is a step of the settings' eta unless a derived class says otherwise.
template <class Real, class Settings>
class Gossip : public LocalModel<Real, Settings> {
 public:
  explicit Gossip(const Setup<Real, Settings>& setup, double xi = 1) : LocalModel<Real, Settings>(setup), xi_{xi} {}

  void compute(Work<Real>& work, const Step& step) override { this->descend(work, step); }
  Payload publish(Work<Real>&, const Step&) override { return this->model_message(); }
  void merge(Work<Real>&, const Step&, std::span<const Received<Real>> window) override { mix(this->x(), xi_, window); }

 private:
  double xi_;
};

/// The settings of an algorithm that has a step size alone.
struct OnlyStepSize {
  StepSize eta;
};
inline constexpr auto only_step_options = step_options();
inline OnlyStepSize read_step_size(const OptionReader& options) { return {StepSize(options)}; }

/// A round whose gradients belong to models that have not met yet: combine, then adapt.
inline constexpr RoundProgram combine_then_adapt{
    .round = {Phase{PhaseKind::begin}, Phase{PhaseKind::exchange}, Phase{PhaseKind::compute}}};

}  // namespace rubato
