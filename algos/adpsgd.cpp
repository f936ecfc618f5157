// AD-PSGD: asynchronous decentralised parallel SGD. Each client computes, and averages with one neighbour at a time.
// Source: Lian, Zhang, Zhang and Liu, "Asynchronous Decentralized Parallel Stochastic Gradient Descent"
// (docs/references.md#ad-psgd).
//
// x: model   g: gradient   eta: step size   xi: how far two models come together, 1/2: to their mean
// x_start: the model when the computation began   x_asked: the asker's model, with what it is owed
//
//   begin     remember x
//   compute   x <- x - eta g(x as remembered; batch)              with snapshot = "at_finish" g(x; batch)
//   publish   a request: x                                        a reply: d, or all that was decided for the asker
//   merge     a request, at j:  d = xi (x_j - x_asked);  x_j <- x_j - d
//             a reply, at the asker:  x <- x + d
//
// A meeting is at the instant at which the partner handles the request; steps that the asker makes until it hears of it commute
// with the increment. The mean of all models, with what is on its way, moves by gradients alone.
// Decisions AP-1 to AP-4: docs/references.md#ad-psgd.
#include "algos/entries.hpp"
#include "algos/pair_model.hpp"
#include "algos/snapshot.hpp"

namespace rubato {

namespace {

struct AdpsgdSettings {
  StepSize eta;
  double xi;
};

template <class Real>
class Adpsgd final : public PairModel<Real, AdpsgdSettings> {
  using Base = PairModel<Real, AdpsgdSettings>;

 public:
  using Base::Base;

  void compute(Work<Real>& work, const Step& step) override {
    this->step_by_itself([&] { this->descend(work, step); });
  }

 protected:
  void meet(const Step&, ConstVectorRef<Real> asked, VectorRef<Real> increment) override {
    const Real xi = static_cast<Real>(this->settings().xi);
    this->change_model([&](Index first, ConstVectorRef<Real> before, VectorRef<Real> x) {
      VectorRef<Real> d = part_of(increment, first, before.size());
      d = xi * (before - part_of(asked, first, before.size()));
      x = before - d;
    });
  }

  void take(const Step&, ConstVectorRef<Real> increment) override {
    this->change_model([&](Index first, ConstVectorRef<Real> before, VectorRef<Real> x) {
      x = before + part_of(increment, first, before.size());
    });
  }
};

constexpr OptionSpec adpsgd_own[] = {
    {"xi", OptionType::number, "0.5", "how far two models that meet come together; 0.5: to their mean", 0, 1, true},
    snapshot_option("at_start"),
};
constexpr auto adpsgd_table = combined(step_options(), adpsgd_own);

AdpsgdSettings read_adpsgd(const OptionReader& options) { return {StepSize(options), options.number("xi")}; }

}  // namespace

constinit const CatalogueEntry entries::adpsgd{
    .name = "adpsgd",
    .summary = "AD-PSGD: pairs of clients average their models, each in its own time",
    .options = adpsgd_table,
    .runs = {ProtocolKind::pair},
    .graphs = Graphs::undirected,
    .may_begin = true,
    .needs = needs_by<with_snapshot, adpsgd_table>,
    .make = made_by<Adpsgd, read_adpsgd, adpsgd_table>,
};

}  // namespace rubato
