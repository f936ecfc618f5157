// OSGP: push-sum SGD whose messages travel while clients compute, at most so many computations behind.
// Source: Assran, Loizou, Ballas and Rabbat, "Stochastic Gradient Push for Distributed Deep Learning", overlap SGP
// (docs/references.md#sgp).
//
// x, w: mass of the model and of one   z = x / w: the model   eta: step size   b_l: share of receiver l
//
//   begin     remember z
//   compute   x <- x - eta g(z as remembered; batch)              with snapshot = "at_finish" g(x / w; batch)
//   publish, merge   as in sgp.cpp; a message says how often its sender has computed
//
// With tau a computation is left out while any in-neighbour has been heard of fewer than done - tau times, done being the client's
// own computations; it still sends, so the client that has computed least is never held up for long. Outside rounds the literal
// steps of x divide by small weights, as in SGP: weigh_step. Decisions OS-1 to OS-3: docs/references.md#sgp.

#include "algos/entries.hpp"
#include "algos/push_sum.hpp"
#include "algos/snapshot.hpp"

namespace rubato {

namespace {

template <class Real>
class Osgp final : public PushSum<Real> {
  using Base = PushSum<Real>;

 public:
  using Base::Base;

  void begin(Work<Real>& work) override { begun_ = copy_of<Real>(this->model(), work.pool); }

  void compute(Work<Real>& work, const Step& step) override {
    ++done_;
    if (!step.with_gradient) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> g = work.scratch.vector(this->model().size());
    work.gradient(begun_ ? numbers_of<Real>(std::as_const(begun_)) : this->model(), step.index, g);
    this->descend(this->step_size(step), read_only(g));
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive(done_);
    archive.optional(begun_, scalar_of<Real>, this->count());
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "done", static_cast<double>(done_));
  }

 private:
  Tensor begun_;  // z when the computation began; empty: gradients are those of the model of now
  std::uint64_t done_ = 0;
};

constexpr OptionSpec osgp_own[] = {
    {"tau", OptionType::whole, "1", "computations that a client may be ahead of what it has heard of an in-neighbour's", 0, 1e9},
    {"bounded", OptionType::flag, "true", "false: no bound, whatever tau says"},
    snapshot_option("at_start"),
};
constexpr auto osgp_table = combined(step_options(), osgp_own, push_sum_options);

Needs osgp_needs(const OptionReader& options) {
  Needs needs = with_snapshot(options);
  needs.keep = Keep::newest_ever;
  if (options.flag("bounded")) needs.most_ahead = options.whole("tau");
  return needs;
}

}  // namespace

constinit const CatalogueEntry entries::osgp{
    .name = "osgp",
    .summary = "overlap SGP: push-sum whose messages travel while clients compute, with a bound on their lag",
    .options = osgp_table,
    .runs = {ProtocolKind::push},
    .share = Weights::column,
    .may_begin = true,
    .needs = needs_by<osgp_needs, osgp_table>,
    .message_bytes = push_sum_bytes,
    .make = made_by<Osgp, read_push_sum, osgp_table>,
};

}  // namespace rubato
