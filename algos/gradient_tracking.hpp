// Gradient tracking: a model x and a tracker y of the mean gradient that travels as counted mass.
#pragma once

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
    mass_.settled();
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
    const typename Scratch<Real>::Frame frame(work.scratch);
    Tensor next = work.pool.template make<Real>(this->count());
    work.gradient(this->model(), step.index, numbers_of<Real>(next));
    const ConstVectorRef<Real> g_next = numbers_of<Real>(std::as_const(next));
    if (gradient_)
      y() += part_ * (scale_ * g_next.template cast<double>() - scale_ * last().template cast<double>());
    else
      y() += part_ * (scale_ * g_next.template cast<double>());
    gradient_ = std::move(next);
  }

  /// y <- y - part g;   g <- 0
  void forget_gradient() {
    if (gradient_) y() -= part_ * (scale_ * last().template cast<double>());
    gradient_ = {};
  }

  /// x <- x - eta d, for a direction d in float64 other than y.
  void descend(double eta, ConstVectorRef<double> d) {
    settle();
    this->change_model([&](Index first, ConstVectorRef<Real>, VectorRef<Real> x) {
      x -= (eta * part_of(d, first, x.size())).template cast<Real>();
    });
  }

  /// Assigns to every receiver of the message, which carries it, its share b_l y;   y <- y - sum_l b_l y
  void push_mass(Work<Real>& work, const Step& step, Payload& payload) {
    mass_.template assign_for_later<Real>(read_only(y()), numbers_of<double>(y_), step, work.pool, payload);
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
    this->change_model([&](Index first, ConstVectorRef<Real> before, VectorRef<Real> x) {
      VectorRef<double> y = part_of(numbers_of<double>(y_), first, x.size());
      mass_.template add_part<Real>(first, y);
      for (const Heard& other : heard_)
        x += other.weight * (part_of(numbers_of<Real>(std::as_const(other.model)), first, x.size()) - before);
      if (eta != 0) x -= (eta * y).template cast<Real>();
    });
    heard_.clear();
    mass_.settled();
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

  // Brings x and y up to date. They are the same to the caller as if every merge had done so at once, so const members may.
  void settle() const {
    if (!heard_.empty() || !mass_.is_settled()) const_cast<GradientTracking*>(this)->catch_up();
  }
  void catch_up() {
    if (!heard_.empty()) return descend_along_y(0);
    mass_.template add_all<Real>(numbers_of<double>(y_));
  }

  ConstVectorRef<Real> last() const { return numbers_of<Real>(gradient_); }

  double part_;
  double scale_ = 1;
  const char* g_name_;
  TrackingMass mass_;
  Tensor y_;
  std::vector<Heard> heard_;  // messages whose models are still to be mixed
  Tensor gradient_;           // the last one, as it was computed; empty: 0
};

}  // namespace rubato
