// Gradient tracking: a model x and a tracker y of the mean gradient that travels as counted mass.
#pragma once

#include "algos/one_model.hpp"
#include "algos/tracking_mass.hpp"

namespace rubato {

/// y and g, what stands for the client's own gradient in y, are in float64. `part`: of g in y, so that
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
        y_{zeros<double>(this->count(), setup.pool)},
        g_{zeros<double>(this->count(), setup.pool)} {}

  /// Of messages that carry a model and a counter.
  bool fits(const Payload& payload, const Step& step, std::uint32_t place) const override {
    return Algorithm<Real>::fits(payload, step, place) && fits_mass(payload, place);
  }

  void reset(Work<Real>&) override {
    y() = part_ * g();
    mass_.reset();
  }

  void archive(Archive& archive) override {
    OneModel<Real, Settings>::archive(archive);
    archive.fixed(y_);
    archive.fixed(g_);
    mass_.archive(archive, y_.count());
  }

  void inspect(Probe& probe) const override {
    OneModel<Real, Settings>::inspect(probe);
    show(probe, "y", numbers_of<double>(y_));
    show(probe, g_name_, numbers_of<double>(g_));
    mass_.inspect(probe);
  }

  void balance(Probe& probe) const override {
    Vector<double> defect = numbers_of<double>(y_) - part_ * numbers_of<double>(g_);
    mass_.add_in_flight(defect);
    show(probe, "tracking", defect);
  }

 protected:
  VectorRef<double> y() { return numbers_of<double>(y_); }
  VectorRef<double> g() { return numbers_of<double>(g_); }
  bool fits_mass(const Payload& payload, std::uint32_t place) const { return TrackingMass::fits(payload, place, y_.count()); }

  /// g+ = scale g(x; batch);   y <- y + part (g+ - g);   g <- g+
  void track(Work<Real>& work, const Step& step, double scale = 1) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> gradient = work.scratch.vector(this->x().size());
    work.learner.gradient(this->model(), work.batch(step.index), gradient, work.scratch);
    y() += part_ * (scale * gradient.template cast<double>() - g());
    g() = scale * gradient.template cast<double>();
  }

  /// sigma_l <- sigma_l + b_l y for every receiver l of the message, which carries them;   y <- y - sum_l b_l y
  void push_mass(Work<Real>& work, const Step& step, Payload& payload) {
    const double shares = mass_.assign(read_only(y()), step, work.pool, payload);
    y() -= shares * y();
  }

  /// y <- y + sum_j (sigma_j - rho_j);   rho_j <- sigma_j
  void absorb_mass(std::span<const Received<Real>> window) {
    for (const Received<Real>& message : window) mass_.absorb(message, y());
  }

  /// x <- x + sum_j a_j (x_j - x); every sender is compared with the model as it was.
  void mix_models(Work<Real>& work, std::span<const Received<Real>> window) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> before = work.scratch.vector(this->x().size());
    before = this->x();
    this->add_differences(window, read_only(before));
  }

 private:
  double part_;
  const char* g_name_;
  TrackingMass mass_;
  Tensor y_, g_;
};

}  // namespace rubato
