// Gradient tracking: a model x and a tracker y of the mean gradient that travels as counted mass.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "algos/one_model.hpp"
#include "algos/tracking_mass.hpp"

namespace rubato {

/// y is in float64; g is what stands for the client's own gradient in y. `part`: of g in y, so that
///   sum y + sum over links (sigma - rho) = part sum g
/// at every instant, whatever is lost. A reset is y <- part g; sigma, rho <- 0. `g_name`: how a probe knows g.
template <class Real, class Settings>
class GradientTracking : public OneModel<Real, Settings> {
 public:
  explicit GradientTracking(const Setup<Real, Settings>& setup, double part = 1, const char* g_name = "g")
      : OneModel<Real, Settings>(setup),
        part_{part},
        g_name_{g_name},
        mass_{setup.client_view},
        y_{zeros<double>(this->count(), setup.pool)} {}

  void adopt(ConstVectorRef<Real> model) override {
    settle();
    OneModel<Real, Settings>::adopt(model);
  }

  ConstVectorRef<Real> model() const override {
    if (!heard_.empty()) settle();
    return OneModel<Real, Settings>::model();
  }

  /// Of messages that carry a model and a counter.
  bool fits(const Payload& payload, const Step& step, std::uint32_t place) const override {
    return Algorithm<Real>::fits(payload, step, place) && fits_mass(payload, place);
  }

  void reset(Work<Real>&) override {
    y() = part_ * own();
    mass_.reset();
  }

  void archive(Archive& archive) override {
    if (!archive.is_reading()) settle();
    heard_.clear();
    caught_up();
    OneModel<Real, Settings>::archive(archive);
    archive.fixed(y_);
    archive.optional(gradient_, scalar_of<Real>, this->count());
    mass_.archive(archive, y_.count());
  }

  void inspect(Probe& probe) const override {
    settle();
    OneModel<Real, Settings>::inspect(probe);
    show(probe, "y", numbers_of<double>(y_));
    show(probe, g_name_, own());
    mass_.inspect(probe);
  }

  void balance(Probe& probe) const override {
    settle();
    Vector<double> defect = numbers_of<double>(y_) - part_ * own();
    mass_.add_in_flight(defect);
    show(probe, "tracking", defect);
  }

 protected:
  VectorRef<double> y() {
    settle();
    return numbers_of<double>(y_);
  }
  bool fits_mass(const Payload& payload, std::uint32_t place) const {
    return mass_.template fits<Real>(payload, place, y_.count());
  }

  /// What a gradient counts in g; 1 unless it is set before the first of them.
  void set_scale(double scale) { scale_ = scale; }

  /// g+ = scale g(x; batch);   y <- y + part (g+ - g);   g <- g+
  void track(Work<Real>& work, const Step& step) {
    settle();
    const typename Scratch<Real>::Frame frame(work.scratch);
    Tensor next = work.pool.template make<Real>(this->count());
    work.gradient(this->model(), step.index, numbers_of<Real>(next));
    counted_ = std::exchange(gradient_, std::move(next));
    is_tracked_ = false;
  }

  /// y <- y - part g;   g <- 0
  void forget_gradient() {
    if (gradient_) y() -= part_ * (scale_ * last().template cast<double>());
    gradient_ = {};
  }

  /// x <- x - eta d, for a direction d in float64 other than y.
  void descend(double eta, ConstVectorRef<double> d) {
    settle();
    this->change_model([&](Index first, ConstVectorRef<Real> before, VectorRef<Real> x) {
      x = before - (eta * part_of(d, first, x.size())).template cast<Real>();
    });
  }

  /// Assigns to every receiver of the message, which carries it, its share b_l y;   y <- y - sum_l b_l y
  void push_mass(Work<Real>& work, const Step& step, Payload& payload) {
    if (!heard_.empty() || !mass_.is_settled()) settle();
    const Real* const counted = counted_numbers();  // a share may take its place
    mass_.template assign_for_later<Real>(
        numbers_of<double>(y_), [&](Index first, VectorRef<double> y) { track_part(first, y, counted); }, step, work.pool, payload,
        &counted_);
    tracked();
  }

  /// y <- y + what the messages carry
  void absorb_mass(std::span<const Received<Real>> window) {
    mass_.receive(window);
    settle();
  }

  /// x <- x + sum_j w_j (x_j - x);   y <- y + what the messages carry. Both happen in the pass of the next descend_along_y, or when
  /// x or y is looked at.
  void merge_for_later(std::span<const Received<Real>> window) {
    if (!heard_.empty()) settle();
    for (const Received<Real>& message : window) heard_.push_back({message.payload.common[0], static_cast<Real>(message.weight)});
    mass_.receive(window);
  }

  /// x <- x - eta y
  void descend_along_y(double eta) {
    const auto step_along = [&](Index first, ConstVectorRef<Real> before, VectorRef<Real> x) {
      VectorRef<double> y = part_of(numbers_of<double>(y_), first, x.size());
      if (eta != 0 && is_tracked_ && mass_.has_arrivals(heard_.size()) &&
          with_few(heard_.size(), [&](auto count) { merge_part<count>(first, eta, y.data(), before, x.data()); }))
        return;
      catch_up_part(first, y);
      if (eta != 0 && with_few(heard_.size(), [&](auto count) { step_part<count>(first, eta, y.data(), before, x.data()); }))
        return;
      x = before;
      for (const Heard& other : heard_)
        x += other.weight * (part_of(numbers_of<Real>(std::as_const(other.model)), first, x.size()) - before);
      if (eta != 0) x -= (eta * y).template cast<Real>();
    };
    this->change_model(step_along, mass_.spare());
    heard_.clear();
    caught_up();
  }

  /// g, or what else stands for the client's own part in y.
  virtual Vector<double> own() const {
    if (!gradient_) return Vector<double>::Zero(static_cast<Index>(this->count()));
    return scale_ * last().template cast<double>();
  }

 private:
  // Of a message that was merged.
  struct Heard {
    Tensor model;
    Real weight;
  };

  // So many models, and what each counts.
  template <std::size_t Count>
  struct Models {
    std::array<const Real*, Count> of;
    std::array<Real, Count> weights;

    Real mixed_with(Real was, Index i) const {
      Real sum = was;
      for (std::size_t j = 0; j < Count; ++j) sum += weights[j] * (of[j][i] - was);
      return sum;
    }
  };
  template <std::size_t Count>
  Models<Count> models(Index first) const {
    Models<Count> all;
    for (std::size_t j = 0; j < Count; ++j) {
      all.of[j] = heard_[j].model.template data<Real>() + first;
      all.weights[j] = heard_[j].weight;
    }
    return all;
  }

  // What descend_along_y does, in one loop.
  template <std::size_t Count>
  void step_part(Index first, double eta, const double* __restrict y, ConstVectorRef<Real> before, Real* __restrict x) const {
    const Models<Count> others = models<Count>(first);
    const Real* const __restrict was = before.data();
    for (Index i = 0; i < before.size(); ++i) x[i] = others.mixed_with(was[i], i) - static_cast<Real>(eta * y[i]);
  }
  // And what add_part does before it.
  template <std::size_t Count>
  void merge_part(Index first, double eta, double* __restrict y, ConstVectorRef<Real> before, Real* __restrict x) const {
    const Models<Count> others = models<Count>(first);
    const auto arrived = mass_.template arrivals<Real, Count>(first);
    const Real* const __restrict was = before.data();
    for (Index i = 0; i < before.size(); ++i) {
      y[i] = arrived.added_to(y[i], i);
      x[i] = others.mixed_with(was[i], i) - static_cast<Real>(eta * y[i]);
    }
  }

  // Brings x and y up to date. They are the same to the caller as if every merge had done so at once, so const members may.
  void settle() const {
    if (!heard_.empty() || !mass_.is_settled() || !is_tracked_) const_cast<GradientTracking*>(this)->catch_up();
  }
  void catch_up() {
    if (!heard_.empty()) return descend_along_y(0);
    VectorRef<double> y = numbers_of<double>(y_);
    for_each_part(y.size(), [&](Index first, Index length) { catch_up_part(first, part_of(y, first, length)); });
    caught_up();
  }
  void catch_up_part(Index first, VectorRef<double> y) {
    track_part(first, y, counted_numbers());
    mass_.template add_part<Real>(first, y);
  }
  void caught_up() {
    mass_.settled();
    tracked();
  }

  // Null: 0.
  const Real* counted_numbers() const { return counted_ ? counted_.template data<Real>() : nullptr; }
  // y <- y + part (g - counted)
  void track_part(Index first, VectorRef<double> y, const Real* counted) const {
    if (is_tracked_) return;
    const Index length = y.size();
    const ConstVectorRef<Real> g = part_of(last(), first, length);
    if (counted)
      y += part_ *
           (scale_ * g.template cast<double>() - scale_ * ConstVectorRef<Real>(counted + first, length).template cast<double>());
    else
      y += part_ * (scale_ * g.template cast<double>());
  }
  void tracked() {
    counted_ = {};
    is_tracked_ = true;
  }

  ConstVectorRef<Real> last() const { return numbers_of<Real>(gradient_); }

  double part_;
  double scale_ = 1;
  const char* g_name_;
  TrackingMass mass_;
  Tensor y_;
  std::vector<Heard> heard_;  // messages whose models are still to be mixed
  Tensor gradient_;           // the last one, as it was computed; empty: 0
  bool is_tracked_ = true;    // y counts that gradient, or else still the one before
  Tensor counted_;            // the one before; empty: 0
};

}  // namespace rubato
