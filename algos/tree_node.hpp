// TreeNode: what the nodes of a tree have in common (runtime/protocols/tree.hpp). Each holds the newest point that has come down
// and the sum of what has come up since; the pivot moves.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "algos/catalogue.hpp"

namespace rubato {

/// The step size of the pivot.
struct PivotStep {
  double gamma;
};

/// A step of the pivot goes along the mean of the gradients, unless a derived class divides the sum by something else. How many
/// gradients a sum has is the weight of its message.
template <class Real>
class TreeNode : public Algorithm<Real> {
 public:
  explicit TreeNode(const Setup<Real, PivotStep>& setup)
      : settings_{setup.settings},
        nodes_{setup.client_view.samples.size()},
        x_{copy_of<Real>(setup.start, setup.pool)},
        sum_{zeros<Real>(x_.count(), setup.pool)} {}

  void compute(Work<Real>& work, const Step& step) override {
    if (step.phase == in_tree::in_vain) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> g = work.scratch.vector(static_cast<Index>(x_.count()));
    work.gradient(model(), step.index, g);
    sum() += g;
    ++count_;
  }

  /// A sum is empty once it has gone.
  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload;
    payload.common[0] = step.phase == point_down ? x_ : std::exchange(sum_, zeros<Real>(x_.count(), work.pool));
    if (step.phase != point_down) count_ = 0;
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    if (step.phase & in_tree::forgets) forget();
    if (step.phase & in_tree::takes_point && !window.empty()) x_ = window.back().payload.common[0];
    if (step.phase & in_tree::adds)
      for (const Received<Real>& message : window) sum() += message.common(), count_ += message.weight;
    if (step.phase & in_tree::freezes && count_ > 0) sum() *= static_cast<Real>(1 / count_);
    if (step.phase & in_tree::moves) move(work);
  }

  ConstVectorRef<Real> model() const override { return numbers_of<Real>(x_); }
  void inspect(Probe& probe) const override { show(probe, "x", model()); }
  void archive(Archive& archive) override {
    archive.fixed(x_);
    archive.fixed(sum_);
    archive(count_);
  }

 protected:
  std::size_t nodes() const { return nodes_; }

 private:
  /// What the pivot divides its sum by; `gradients`: that are in it.
  virtual double divisor(double gradients) const { return gradients; }

  VectorRef<Real> sum() {
    sum_.separate();
    return numbers_of<Real>(sum_);
  }
  void forget() {
    sum().setZero();
    count_ = 0;
  }
  void move(Work<Real>& work) {
    const double by = divisor(count_);
    Tensor next = work.pool.template make<Real>(x_.count());
    numbers_of<Real>(next) = model() - static_cast<Real>(by > 0 ? settings_->gamma / by : 0) * sum();
    x_ = std::move(next);
    forget();
  }

  std::shared_ptr<const PivotStep> settings_;
  std::size_t nodes_;
  Tensor x_;  // immutable: it is handed out as it is
  Tensor sum_;
  double count_ = 0;  // gradients in it
};

/// The step size of the pivot as an option.
constexpr OptionSpec pivot_option{"gamma", OptionType::number, "0.05", "step size of the pivot", 0, 1e9, true};
inline PivotStep read_pivot_step(const OptionReader& options) { return {options.number("gamma")}; }

}  // namespace rubato
