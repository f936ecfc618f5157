// A2CiD2: AD-PSGD with a second model and a flow between the two, which makes pairwise averages spread faster.
// Source: Nabli, Belilovsky and Oyallon, "A2CiD2: Accelerating Asynchronous Communication in Decentralized Deep Learning"
// (docs/references.md#a2cid2).
//
// x: model   x~: the second one   gamma: step size   eta: rate of the flow, per second   alpha, alpha~: weights of a meeting
//
//   before every event, dt seconds after the client's last:
//             (x, x~) <- (m + e (x - x~) / 2, m - e (x - x~) / 2)   with m = (x + x~) / 2 and e = exp(-2 eta dt)
//   compute   s = -gamma g(x; batch);  x <- x + s;  x~ <- x~ + s     with snapshot = "at_start" g of x when the computation began
//   publish   a request: x                                            a reply: the increment D below
//   merge     a request, at j:  d = x_j - x_asked;  x_j <- x_j - alpha d;  x~_j <- x~_j - alpha~ d;  D = (alpha + alpha~) d
//             a reply, at the asker:  d = D / (alpha + alpha~);  x <- x + alpha d;  x~ <- x~ + alpha~ d
//
// x~ never travels. What an asker is owed counts with its model as alpha / (alpha + alpha~) of it. The sum of x + x~ over all
// clients, with what is on its way, moves by gradients alone. Without delays this is the paper's event; with them an increment is
// that of the request, applied after the flow at the reply (AC-1). With constants = "graph" eta and alpha~ follow from the graph
// and from how often its edges meet (acid.hpp), and alpha is 1/2. Decisions AC-1 to AC-4: docs/references.md#a2cid2.
#include "algos/acid.hpp"

#include <utility>

#include "algos/entries.hpp"
#include "algos/pair_model.hpp"
#include "algos/snapshot.hpp"
#include "runtime/elementary.hpp"

namespace rubato {

namespace {

struct AcidSettings {
  StepSize gamma;
  double eta, alpha, alpha_tilde;
  double both() const { return alpha + alpha_tilde; }
};

template <class Real>
class Acid final : public PairModel<Real, AcidSettings> {
  using Base = PairModel<Real, AcidSettings>;

 public:
  explicit Acid(const Setup<Real, AcidSettings>& setup) : Base(setup), second_{copy_of<Real>(setup.start, setup.pool)} {
    this->set_start(mass());
  }

  void compute(Work<Real>& work, const Step& step) override {
    flow(step.at);
    if (!step.with_gradient) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> change = work.scratch.vector(static_cast<Index>(this->count()));
    this->step_by_itself([&] {
      change = this->model();
      this->descend(work, step, this->settings().gamma.at(this->client(), step.index));
      change = this->model() - change;
      second() += change;
    });
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.fixed(second_);
    archive(last_);
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "xt", numbers_of<Real>(second_));
    show(probe, "last", to_seconds(last_));
  }

 protected:
  Tensor offered(const Step& step) override {
    flow(step.at);
    return this->shared_model();
  }
  double owed_share() const override { return this->settings().alpha / this->settings().both(); }

  void meet(const Step& step, ConstVectorRef<Real> asked, VectorRef<Real> increment) override {
    flow(step.at);
    increment = this->model() - asked;
    add(-1, read_only(increment));
    increment *= static_cast<Real>(this->settings().both());
  }

  void take(const Step& step, ConstVectorRef<Real> increment) override {
    flow(step.at);
    add(1 / this->settings().both(), increment);
  }

  Vector<double> mass() const override {
    return this->model().template cast<double>() + numbers_of<Real>(second_).template cast<double>();
  }

  void overwrite(ConstVectorRef<Real> model) override {
    Base::overwrite(model);
    second() = model;
  }

 private:
  VectorRef<Real> second() { return numbers_of<Real>(second_); }

  void add(double times, ConstVectorRef<Real> d) {
    this->x() += static_cast<Real>(times * this->settings().alpha) * d;
    second() += static_cast<Real>(times * this->settings().alpha_tilde) * d;
  }

  void flow(Time now) {
    const Duration since = now - std::exchange(last_, now);
    if (since == Duration::zero()) return;
    const auto share = static_cast<Real>(0.5 - 0.5 * elementary::exp(-2 * this->settings().eta * to_seconds(since)));
    this->change_model([&](Index first, ConstVectorRef<Real> before, VectorRef<Real> x) {
      alignas(buffer_alignment) Real moved[part_size];
      VectorRef<Real> h(moved, before.size()), other = part_of(second(), first, before.size());
      h = share * (other - before);
      x = before + h;
      other -= h;
    });
  }

  Tensor second_;  // x~; never shared
  Time last_{};    // of the client's last event
};

constexpr OptionSpec acid_own[] = {
    word_option(
        "constants", "given",
        "given: eta, alpha and alpha_tilde as they stand; graph: the paper's, of the graph and of how often its edges meet by "
        "the timers, in place of the three",
        "given|graph"),
    {"eta", OptionType::number, "0.2", "rate at which x and x~ come together, per second", 0, 1e12},
    {"alpha", OptionType::number, "0.5", "weight of a meeting in x", 0, 1, true},
    {"alpha_tilde", OptionType::number, "0.8", "weight of a meeting in x~", 0, 1e6, true},
    snapshot_option("at_finish"),
};
constexpr auto acid_table = combined(step_options("gamma"), acid_own);

AcidSettings read_acid(const OptionReader& options) {
  return {StepSize(options, "gamma"), options.number("eta"), options.number("alpha"), options.number("alpha_tilde")};
}

}  // namespace

constinit const CatalogueEntry entries::acid{
    .name = "acid",
    .summary = "A2CiD2: AD-PSGD with a second model and a flow between the two",
    .options = acid_table,
    .runs = {ProtocolKind::pair},
    .graphs = Graphs::undirected,
    .may_begin = true,
    .needs = needs_by<with_snapshot, acid_table>,
    .make = made_by<Acid, read_acid, acid_table>,
};

}  // namespace rubato
