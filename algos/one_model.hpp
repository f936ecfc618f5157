// What most algorithms begin with: settings that all clients share, and one model.
#pragma once

#include "algos/catalogue.hpp"
#include "algos/parts.hpp"

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
  /// To be written: messages that are the model keep the one that they were made of.
  VectorRef<Real> x() {
    x_.separate();
    return numbers_of<Real>(x_);
  }
  /// Of the model.
  std::size_t count() const { return x_.count(); }

  /// The model as it is now, for messages: it is not copied before it changes.
  const Tensor& shared_model() const { return x_; }
  /// A message that is the model.
  Payload model_message() const {
    Payload payload;
    payload.common[0] = x_;
    return payload;
  }

  /// Changes the model in one pass over memory, also where a message still holds it: change(first, before, x) is called for each
  /// part, with the part of the model as it was, and with x, which is to be written. `spare`: a tensor like the model that nothing
  /// else holds. Then the new model may take its place, part by part, once change() has read that part, and the old one is left
  /// there.
  template <class Change>
  void change_model(Change change, Tensor* spare = nullptr) {
    Tensor next;
    Tensor* place = &x_;
    if (x_.is_shared()) place = spare ? spare : &(next = x_.another());
    bool are_finite = true;
    for_each_part(static_cast<Index>(count()), [&](Index first, Index length) {
      const ConstVectorRef<Real> before = part_of(numbers_of<Real>(std::as_const(x_)), first, length);
      are_finite &= write_part<Real>(*place, !next, first, length, [&](VectorRef<Real> x) { change(first, before, x); });
    });
    if (place != &x_) std::swap(x_, *place);
    x_.note_finite(are_finite);
  }

  /// x <- x + sum_j w_j (x_j - base), where the base is the model as it was, or the one that is given.
  void add_differences(std::span<const Received<Real>> window, const Tensor& base = {}) {
    if (window.empty()) return;
    change_model([&](Index first, ConstVectorRef<Real> before, VectorRef<Real> x) {
      const ConstVectorRef<Real> from = base ? part_of(numbers_of<Real>(base), first, before.size()) : before;
      x = before;
      for (const Received<Real>& message : window)
        x += static_cast<Real>(message.weight) * (part_of(message.common(), first, before.size()) - from);
    });
  }

 private:
  std::shared_ptr<const Settings> settings_;
  ClientId client_;
  bool in_rounds_;
  Tensor x_;
};

}  // namespace rubato
