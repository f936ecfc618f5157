// Stochastic gradient push: push-sum SGD over column-stochastic networks.
// Source: Assran, Loizou, Ballas and Rabbat, "Stochastic Gradient Push for Distributed Deep Learning"
// (docs/references.md#sgp), a baseline of DRACO; in continuous time with counters (docs/references.md#tracking-mass).
//
// x: mass of the model, w: mass of one, both float64   z = x / w: the model   eta: step size   b_l: share of receiver l
//
//   compute   x <- x - eta g(z; batch)
//   publish   for every receiver sigma_l <- sigma_l + b_l (x, w);   (x, w) <- (x, w) - sum_l b_l (x, w)
//   merge     (x, w) <- (x, w) + sum_j (sigma_j - rho_j);   rho_j <- sigma_j
//   reset     x <- z;   w <- 1;   sigma, rho <- 0
//
// In rounds this is x <- P (x - eta g), w <- P w, with P the matrix of the shares. At every instant the clients' w and
// what is in flight sum to m, and x sums to its start and all steps, whatever is lost; w stays above 0, because a
// client never gives all of it away.
// Failure mode of the literal continuous form: the step of z is eta / w, and a client that happens to send several times
// before it hears anything has little w left. With Poisson clocks that happens sooner or later, and z then overshoots. So
// outside rounds the step is eta w (weigh_step): z moves by eta g whatever w is, and clients count by their mean w.
// A neighbour that takes and never gives drains the mass of all: w would run to 0, and z to 0 / 0. With weigh_step a client
// keeps its last millionth of a weight: it sends its counters as they are until it is given something. Sums of counters near 1
// have room for smaller shares of such a rest only with an error that z would show.
#include "algos/entries.hpp"
#include "algos/push_sum.hpp"

namespace rubato {

namespace {

template <class Real>
class Sgp final : public PushSum<Real> {
 public:
  using PushSum<Real>::PushSum;

  void compute(Work<Real>& work, const Step& step) override {
    if (!step.with_gradient) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> g = work.scratch.vector(this->model().size());
    const double eta = this->step_size(step);
    for (std::uint64_t b = 0; b < work.local_batches(); ++b) {
      work.learner.gradient(this->model(), work.batch(step.index * work.local_batches() + b), g, work.scratch);
      this->descend(eta, read_only(g));
    }
  }
};

constexpr auto sgp_table = combined(step_options(), push_sum_options);

std::string sgp_warning(const AlgorithmOptions& given, const RunFacts& facts) {
  if (facts.in_rounds || read_push_sum({given, sgp_table}).weighs_step) return {};
  return "sgp with weigh_step = false: outside rounds a client that sends often before it hears of others has a weight near 0, and "
         "steps of eta divided by that; weigh_step = true is stable";
}

}  // namespace

constinit const CatalogueEntry entries::sgp{
    .name = "sgp",
    .summary = "push-sum SGD on digraphs",
    .options = sgp_table,
    .share = Weights::column,
    .needs =
        [](const AlgorithmOptions&) { return Needs{.keep = Keep::newest_ever, .may_pause = true, .partial = Partial::senders}; },
    .message_bytes = push_sum_bytes,
    .make = made_by<Sgp, read_push_sum, sgp_table>,
    .warning = sgp_warning,
};

}  // namespace rubato
