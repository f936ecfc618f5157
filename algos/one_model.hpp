// What most algorithms begin with: settings that all clients share, and one model.
#pragma once

#include "algos/catalogue.hpp"

namespace rubato {

/// A client's model x, which unification overwrites. A derived class says what happens to it.
template <class Real, class Settings>
class OneModel : public Algorithm<Real> {
 public:
  explicit OneModel(const Setup<Real, Settings>& setup)
      : settings_{setup.settings},
        client_{setup.client_view.client},
        in_rounds_{setup.client_view.in_rounds},
        x_{copy_of<Real>(setup.start, setup.pool)} {}

  void adopt(ConstVectorRef<Real> model) override { x() = model; }
  ConstVectorRef<Real> model() const override { return numbers_of<Real>(x_); }
  void inspect(Probe& probe) const override { show(probe, "x", model()); }
  void archive(Archive& archive) override { archive.fixed(x_); }

 protected:
  const Settings& settings() const { return *settings_; }
  ClientId client_id() const { return client_; }
  std::size_t client() const { return client_.value; }
  bool in_rounds() const { return in_rounds_; }
  VectorRef<Real> x() { return numbers_of<Real>(x_); }
  /// Of the model.
  std::size_t count() const { return x_.count(); }

  /// A message that is the model.
  Payload model_message(Work<Real>& work) const {
    Payload payload;
    payload.common[0] = copy_of<Real>(model(), work.pool);
    return payload;
  }

  /// x <- x + sum_j w_j (x_j - base).
  void add_differences(std::span<const Received<Real>> window, ConstVectorRef<Real> base) {
    for (const Received<Real>& message : window) x() += static_cast<Real>(message.weight) * (message.common() - base);
  }

 private:
  std::shared_ptr<const Settings> settings_;
  ClientId client_;
  bool in_rounds_;
  Tensor x_;
};

}  // namespace rubato
