// SwarmSGD: batches of local steps, and an average with one neighbour after each.
// Source: Nadiradze, Sabour, Davies, Li and Alistarh, "Asynchronous Decentralized SGD with Quantized and Local Updates"
// (docs/references.md#swarmsgd).
//
// x: live model   c: what others are told   s: c when the batch began   H: steps of a batch
// eta: step size  g: gradient               c_asked: the asker's, with what it is owed
//
//   compute   x <- x - eta g(x; batch);     after the H-th step:  u = x - s;  c <- c + u;  x = s = c
//   publish   a request: c, in the variant non_blocking at its first attempt as it was before u was added
//   merge     a request, at j:  d = (c_j - c_asked) / 2;  c_j <- c_j - d          blocking: c_j, s_j and x_j
//             a reply, at the asker:  c, s and x <- ... + d
//
// non_blocking: the partner lends what it told last and keeps the batch that it works at; x - s is that batch's own work at any
// time. blocking: a client rests after its batch until it has met one or has tried in vain, and at rest c = x = s.
// The mean of c, with what is on its way, moves by the sums u alone. Decisions SW-1 to SW-5: docs/references.md#swarmsgd.
#include <utility>

#include "algos/entries.hpp"
#include "algos/pair_model.hpp"

namespace rubato {

namespace {

struct SwarmSgdSettings {
  StepSize eta;
  bool blocks;
};

template <class Real>
class SwarmSgd final : public PairModel<Real, SwarmSgdSettings> {
  using Base = PairModel<Real, SwarmSgdSettings>;

 public:
  explicit SwarmSgd(const Setup<Real, SwarmSgdSettings>& setup)
      : Base(setup), told_{copy_of<Real>(setup.start, setup.pool)}, begun_{told_} {}

  void compute(Work<Real>& work, const Step& step) override {
    this->descend(work, step);
    if (step.phase != 0) end_batch();
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.fixed(told_);
    archive.fixed(begun_);
    archive.optional(before_, scalar_of<Real>, this->count());
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "c", numbers_of<Real>(told_));
    show(probe, "s", numbers_of<Real>(begun_));
  }

 protected:
  Tensor offered(const Step& step) override {
    Tensor before = std::exchange(before_, {});
    return step.phase == pair_request && before ? before : told_;
  }

  void meet(const Step&, ConstVectorRef<Real> asked, VectorRef<Real> increment) override {
    increment = static_cast<Real>(0.5) * (numbers_of<Real>(std::as_const(told_)) - asked);
    add(told_, -1, read_only(increment));
    if (!this->settings().blocks) return;
    begun_ = told_;
    this->x() = numbers_of<Real>(std::as_const(told_));
  }

  void take(const Step&, ConstVectorRef<Real> increment) override {
    add(told_, 1, increment);
    add(begun_, 1, increment);
    this->x() += increment;
  }

  Vector<double> mass() const override { return numbers_of<Real>(told_).template cast<double>(); }

  void overwrite(ConstVectorRef<Real> model) override {
    Base::overwrite(model);
    told_ = begun_ = this->shared_model();
    before_ = {};
  }

 private:
  static void add(Tensor& tensor, Real times, ConstVectorRef<Real> increment) {
    tensor.separate();
    numbers_of<Real>(tensor) += times * increment;
  }

  void end_batch() {
    if (!this->settings().blocks) before_ = told_;
    this->step_by_itself([&] {
      told_.separate();
      numbers_of<Real>(told_) += this->model() - numbers_of<Real>(std::as_const(begun_));
    });
    begun_ = told_;
    this->x() = numbers_of<Real>(std::as_const(told_));
  }

  Tensor told_;    // c
  Tensor begun_;   // s
  Tensor before_;  // c before the batch was added, for the request that follows; empty: there is none
};

constexpr OptionSpec swarm_sgd_own[] = {
    word_option("variant", "non_blocking",
                "blocking: a client rests after its batch until it has met another, or has tried in vain", "non_blocking|blocking"),
    {"local_steps", OptionType::number, "3", "computations of a batch, for all or a list; their mean where they are drawn", 1, 1e6},
    word_option("batch_law", "constant", "geometric: the computations of each batch are drawn", "constant|geometric"),
};
constexpr auto swarm_sgd_table = combined(step_options(), swarm_sgd_own);

SwarmSgdSettings read_swarm_sgd(const OptionReader& options) { return {StepSize(options), options.is("variant", "blocking")}; }

Needs swarm_sgd_needs(const OptionReader& options) {
  const bool is_drawn = options.is("batch_law", "geometric");
  return {.pairing = {.in_batches = true,
                      .blocks = options.is("variant", "blocking"),
                      .steps = is_drawn ? options.numbers("local_steps") : options.wholes("local_steps"),
                      .draws_steps = is_drawn}};
}

}  // namespace

constinit const CatalogueEntry entries::swarm_sgd{
    .name = "swarm_sgd",
    .summary = "SwarmSGD: local steps, then an average with one neighbour, blocking or not",
    .options = swarm_sgd_table,
    .runs = {ProtocolKind::pair},
    .graphs = Graphs::undirected,
    .needs = needs_by<swarm_sgd_needs, swarm_sgd_table>,
    .make = made_by<SwarmSgd, read_swarm_sgd, swarm_sgd_table>,
};

}  // namespace rubato
