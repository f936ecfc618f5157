// PairModel: a client's model and what it means that two clients meet: the partner decides an increment, takes it off its own
// model, and the asker adds it.
#pragma once

#include <utility>

#include "algos/gossip.hpp"
#include "algos/pair_accounts.hpp"

namespace rubato {

/// A derived class says what is sent, how two models meet and what an increment changes. In what it conserves, mass(), a meeting
/// takes off the partner's what it adds to the asker's.
template <class Real, class Settings>
class PairModel : public LocalModel<Real, Settings> {
  using Base = LocalModel<Real, Settings>;

 public:
  explicit PairModel(const Setup<Real, Settings>& setup) : Base(setup), accounts_{setup.client_view, this->count()} {
    if (!setup.client_view.keeps_balance) return;
    own_ = setup.start.template cast<double>();
    given_ = taken_ = Vector<double>::Zero(own_.size());
  }

  Payload publish(Work<Real>& work, const Step& step) final {
    const ClientId other = step.entries.front().peer;
    if (step.phase == pair_reply) return accounts_.reply(other, std::exchange(told_, {}), step.incarnation, work.pool);
    Payload payload;
    payload.common[0] = offered(step);
    accounts_.address(payload, other, work.pool);
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    if (window.empty()) return;
    const Received<Real>& message = window.front();
    if (step.phase == pair_request)
      be_asked(work, step, message);
    else
      heard_ += accounts_.hear(message, work, [&](ConstVectorRef<Real> increment) {
        if (taken_.size() > 0) taken_ += increment.template cast<double>();
        take(step, increment);
      });
  }

  bool fits(const Payload& payload, const Step& step, std::uint32_t) const override {
    return accounts_.fits(payload, step.phase == pair_reply);
  }

  void adopt(ConstVectorRef<Real> model) override {
    const Vector<double> before = own_.size() > 0 ? mass() : Vector<double>();
    overwrite(model);
    if (own_.size() > 0) own_ += mass() - before;
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    accounts_.archive(archive);
    archive(heard_);
    archive.optional(told_, scalar_of<Real>, this->count());
    for (Vector<double>* sum : {&own_, &given_, &taken_}) archive.fixed(*sum);
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "start", this->origin());
    show(probe, "heard", static_cast<double>(heard_));
    if (own_.size() == 0) return;
    accounts_.inspect(probe);
    show(probe, "mass", mass());
    show(probe, "own", own_);
    show(probe, "given", given_);
    show(probe, "taken", taken_);
  }

  void balance(Probe& probe) const override {
    if (sizeof(Real) == sizeof(double) && own_.size() > 0) show(probe, "mass", mass() + given_ - taken_ - own_);
  }
  void round_balance(Probe& probe) const override {
    if (sizeof(Real) != sizeof(double) && own_.size() > 0) show(probe, "mass", mass() + given_ - taken_ - own_);
  }
  void owed(Probe& probe) const override {
    if (own_.size() > 0) show(probe, "mass", given_ - taken_);
  }

 protected:
  /// What a request carries.
  virtual Tensor offered(const Step&) { return this->shared_model(); }
  /// How often what an asker is owed counts with its model.
  virtual double owed_share() const { return 1; }
  /// The partner's half: fills in the increment of mass() that it decides for the asker, and takes it off its own.
  virtual void meet(const Step& step, ConstVectorRef<Real> asked, VectorRef<Real> increment) = 0;
  /// The asker's half.
  virtual void take(const Step& step, ConstVectorRef<Real> increment) = 0;
  /// What meetings conserve.
  virtual Vector<double> mass() const { return this->model().template cast<double>(); }
  virtual void overwrite(ConstVectorRef<Real> model) { Base::adopt(model); }
  /// The client's own steps, whatever `change` does to its mass.
  template <class Change>
  void step_by_itself(Change change) {
    const Vector<double> before = own_.size() > 0 ? mass() : Vector<double>();
    change();
    if (own_.size() > 0) own_ += mass() - before;
  }
  /// Where x~ starts as a copy of x the mass is more than the model.
  void set_start(Vector<double> mass) {
    if (own_.size() > 0) own_ = std::move(mass);
  }

 private:
  void be_asked(Work<Real>& work, const Step& step, const Received<Real>& request) {
    told_ = {};
    if (!accounts_.note_heard(request, step.incarnation)) return;
    Tensor increment = work.pool.template make<Real>(this->count());
    const typename Scratch<Real>::Frame frame(work.scratch);
    if (accounts_.is_owed(request.sender)) {
      VectorRef<Real> asked = work.scratch.vector(static_cast<Index>(this->count()));
      asked = request.common();
      accounts_.add_owed(request.sender, owed_share(), asked);
      meet(step, read_only(asked), numbers_of<Real>(increment));
    } else {
      meet(step, request.common(), numbers_of<Real>(increment));
    }
    if (given_.size() > 0) given_ += numbers_of<Real>(std::as_const(increment)).template cast<double>();
    accounts_.decide(request.sender, increment, work.pool);
    told_ = std::move(increment);
  }

  PairAccounts<Real> accounts_;
  Tensor told_;              // the increment that the reply to come will tell; empty: none
  std::uint64_t heard_ = 0;  // replies with news
  // In float64, of mass(): its start and all own steps, and what was decided for others and taken; empty where the balance is not
  // asked for.
  Vector<double> own_, given_, taken_;
};

}  // namespace rubato
