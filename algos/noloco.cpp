// NoLoCo: slow weights that small groups of clients bring together after many local steps; no client gathers them all.
// Source: Kolehmainen, Blagoev, Donaghy, Ersoy and Nies, "NoLoCo: No-all-reduce Low Communication Training Method for Large
// Models", equations 1 to 3 (docs/references.md#noloco).
//
// theta: live model   phi: slow weights   delta: their momentum   Delta = theta - phi: what a client has learnt since
// alpha: momentum     beta: how far a group follows what it has learnt   gamma: how far it comes together
//
//   compute   theta <- an inner step of theta           (inner_optimiser.hpp; its memory stays with the client)
//   publish   phi and Delta
//   merge     of a group, the client itself included:
//             delta <- alpha delta + beta mean Delta - gamma (phi - mean phi);   phi <- phi + delta;   theta <- phi
//             alone, where a client has met none: the same with the group of itself
//
// In pairs a client rests after H computations until it has met another, so that both halves use the same four vectors. The sign
// of beta is that of equation 32 (NL-1). Stability asks gamma to lie in noloco_gamma_range(). No sum is conserved, so in real time,
// where a reply may be lost, a client may act on a meeting that its asker has not heard of (NL-3).
// Decisions NL-1 to NL-4: docs/references.md#noloco.
#include "algos/noloco.hpp"

#include <sstream>
#include <utility>

#include "algos/entries.hpp"
#include "algos/inner_optimiser.hpp"
#include "algos/one_model.hpp"

namespace rubato {

namespace {

struct NolocoSettings {
  InnerSettings inner;
  double alpha, beta, gamma;
};

template <class Real>
class Noloco final : public OneModel<Real, NolocoSettings> {
  using Base = OneModel<Real, NolocoSettings>;

 public:
  explicit Noloco(const Setup<Real, NolocoSettings>& setup)
      : Base(setup), slow_{copy_of<Real>(setup.start, setup.pool)}, momentum_{Vector<Real>::Zero(setup.start.size())} {
    inner_.open(this->settings().inner, this->count(), setup.pool);
  }

  void compute(Work<Real>& work, const Step& step) override {
    if (!step.with_gradient) return;
    const std::uint64_t first = step.index * work.local_batches();
    for (std::uint64_t b = 0; b < work.local_batches(); ++b)
      inner_.step(this->settings().inner, work, work.batch(first + b), this->x());
  }

  // A reply says what its client was before it met the asker.
  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload = step.phase == pair_reply && before_.common[0] ? std::exchange(before_, {}) : state(work.pool);
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    if (step.phase == pair_request) before_ = state(work.pool);
    if (window.empty() && step.phase != pair_alone) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    const NolocoSettings& is = this->settings();
    VectorRef<Real> learnt = work.scratch.vector(momentum_.size()), met = work.scratch.vector(momentum_.size());
    const ConstVectorRef<Real> slow = numbers_of<Real>(std::as_const(slow_));
    learnt = this->model() - slow;
    met = slow;
    for (const Received<Real>& other : window) met += other.common(0), learnt += other.common(1);
    const auto share = static_cast<Real>(1 / static_cast<double>(window.size() + 1));
    momentum_ = static_cast<Real>(is.alpha) * momentum_ + static_cast<Real>(is.beta) * share * learnt -
                static_cast<Real>(is.gamma) * (slow - share * met);
    slow_.separate();
    numbers_of<Real>(slow_) += momentum_;
    this->x() = numbers_of<Real>(std::as_const(slow_));
  }

  bool fits(const Payload& payload, const Step&, std::uint32_t) const override {
    return holds<Real>(payload.common[0], this->count()) && holds<Real>(payload.common[1], this->count());
  }

  void adopt(ConstVectorRef<Real> model) override {
    Base::adopt(model);
    slow_ = this->shared_model();
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    inner_.archive(archive, this->count());
    archive.fixed(slow_);
    archive.fixed(momentum_);
    for (Tensor* tensor : {&before_.common[0], &before_.common[1]}) archive.optional(*tensor, scalar_of<Real>, this->count());
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "theta", this->model());
    show(probe, "phi", numbers_of<Real>(slow_));
    show(probe, "delta", momentum_);
  }

 private:
  // phi and Delta.
  Payload state(TensorPool& pool) const {
    Payload payload;
    payload.common[0] = slow_;
    payload.common[1] = pool.make<Real>(this->count());
    numbers_of<Real>(payload.common[1]) = this->model() - numbers_of<Real>(slow_);
    return payload;
  }

  InnerOptimiser<Real> inner_;
  Tensor slow_;            // phi
  Vector<Real> momentum_;  // delta
  Payload before_;         // of the meeting whose reply is to come
};

constexpr OptionSpec noloco_own[] = {
    {"alpha", OptionType::number, "0.5", "momentum of the slow weights", 0, 1, false, true},
    {"beta", OptionType::number, "0.7", "how far a group follows what it has learnt", 0, 1e6},
    {"gamma", OptionType::number, "0.7", "how far a group comes together", 0, 1e6},
    {"local_steps", OptionType::number, "50", "computations between two exchanges, for all or a list", 1, 1e6},
};
constexpr auto inner_table = inner_options();
constexpr auto noloco_table = combined(noloco_own, inner_table);

NolocoSettings read_noloco(const OptionReader& options) {
  return {read_inner(options), options.number("alpha"), options.number("beta"), options.number("gamma")};
}

Needs noloco_needs(const AlgorithmOptions& given) {
  return {.pairing = {.in_batches = true,
                      .blocks = true,
                      .acts_alone = true,
                      .in_increments = false,
                      .steps = OptionReader{given, noloco_table}.wholes("local_steps")}};
}

std::string noloco_warning(const AlgorithmOptions& given, const RunFacts&) {
  const NolocoSettings is = read_noloco({given, noloco_table});
  const auto [low, high] = noloco_gamma_range(2, is.alpha);
  if (is.gamma > low && is.gamma < high) return {};
  std::ostringstream text;
  text << "noloco with gamma = " << is.gamma << ": pairs stay together between " << low << " and " << high
       << " alone; slow weights drift apart or swing";
  return text.str();
}

double two_models(const AlgorithmOptions&, const MessageForm& form) {
  return static_cast<double>(2 * form.numbers * form.scalar_bytes);
}

}  // namespace

constinit const CatalogueEntry entries::noloco{
    .name = "noloco",
    .summary = "NoLoCo: many local steps, then pairs bring their slow weights together",
    .options = noloco_table,
    .runs = {ProtocolKind::pair},
    .graphs = Graphs::undirected,
    .needs = noloco_needs,
    .message_bytes = two_models,
    .make = made_by<Noloco, read_noloco, noloco_table>,
    .warning = noloco_warning,
};

}  // namespace rubato
