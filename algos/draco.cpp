// DRACO: decentralised asynchronous learning over row-stochastic networks.
// Source: Jeong and Kountouris, "DRACO: Decentralized Asynchronous Federated Learning over Row-Stochastic Wireless
// Networks", algorithms 3 and 5 of Jeong's thesis (docs/references.md#draco).
//
// theta: reference model   Delta: outbox, what the client learnt since it last sent   q_j: weight of sender j
// eta: step size           B: local batches per computation
//
//   compute   y <- theta;  B times: y <- y - eta g(y; batch);  d = y - theta
//             Delta <- Delta + d   (outbox = "latest": Delta <- d)
//             theta <- theta + d   only with self_apply
//   publish   send Delta to every receiver;  Delta <- 0
//   merge     theta <- theta + sum_j q_j Delta_j      every message counts: they are increments
//             q_j 2^(-age_j / h) in place of q_j        only with age_half_life = h
//   adopt     theta <- theta of the hub
//   reclaim   Delta <- Delta + the increment that was not acknowledged       only with retain_on_loss
//
// Where we differ from the printed algorithm: what has been sent is sent once (DR-4), and the weights of one receiver sum
// to one over its senders (DR-2). Algorithm 3 never applies a client's own increment to its own model (DR-1): literal by
// default, and then clients of a ring drift apart between unifications; self_apply mends it. Weights by age are Rubato's
// own (DR-16). Decisions: docs/references.md#draco-decisions.
#include <numbers>
#include <sstream>
#include <utility>

#include "algos/entries.hpp"
#include "algos/gossip.hpp"
#include "runtime/elementary.hpp"

namespace rubato {

namespace {

struct DracoSettings {
  StepSize eta;
  std::uint64_t local_batches;
  bool accumulates;
  bool applies_own;
  double age_half_life;  // seconds; 0: every age weighs the same

  double weight_at(Duration age) const {
    return age_half_life > 0 ? elementary::exp(-std::numbers::ln2 * to_seconds(age) / age_half_life) : 1;
  }
};

template <class Real>
class Draco final : public LocalModel<Real, DracoSettings> {
  using Base = LocalModel<Real, DracoSettings>;

 public:
  using Base::Base;

  void compute(Work<Real>& work, const Step& step) override {
    const typename Scratch<Real>::Frame frame(work.scratch);
    const DracoSettings& settings = this->settings();
    Tensor increment = copy_of<Real>(this->origin(), work.pool);  // made where the message will lie: usually it becomes the outbox
    VectorRef<Real> y = numbers_of<Real>(increment);
    const auto eta = static_cast<Real>(settings.eta.at(this->client(), step.index));
    const std::uint64_t first = step.index * settings.local_batches;
    for (std::uint64_t b = 0; b < settings.local_batches; ++b) work.learner.descend(y, work.batch(first + b), eta, work.scratch);
    y -= this->origin();  // from here on y is the increment d
    if (settings.applies_own) this->x() += y;
    if (!settings.accumulates) outbox_ = {};
    add(std::move(increment));
  }

  Payload publish(Work<Real>& work, const Step&) override {
    Payload payload;
    if (!outbox_) outbox_ = zeros<Real>(this->count(), work.pool);
    payload.common[0] = std::exchange(outbox_, {});
    return payload;
  }

  void merge(Work<Real>&, const Step&, std::span<const Received<Real>> window) override {
    for (const Received<Real>& message : window)
      this->x() += static_cast<Real>(message.weight * this->settings().weight_at(message.age)) * message.common();
  }

  void reclaim(Work<Real>& work, const Payload& payload) override {
    add(copy_of<Real>(numbers_of<Real>(payload.common[0]), work.pool));
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.optional(outbox_, scalar_of<Real>, this->count());
  }

  void inspect(Probe& probe) const override {
    show(probe, "theta", this->model());
    if (outbox_)
      show(probe, "outbox", numbers_of<Real>(outbox_));
    else
      show(probe, "outbox", Vector<double>::Zero(this->model().size()));
  }

 private:
  // The outbox is the payload to come: an empty one takes the first increment as it is.
  void add(Tensor increment) {
    if (outbox_)
      numbers_of<Real>(outbox_) += numbers_of<Real>(std::as_const(increment));
    else
      outbox_ = std::move(increment);
  }

  Tensor outbox_;  // empty: Delta = 0
};

constexpr OptionSpec own[] = {
    {"local_batches", OptionType::whole, "1", "steps of one computation", 1, 1e6},
    word_option("outbox", "accumulate", "accumulate sends all increments since the last transmission, latest the newest one",
                "accumulate|latest"),
    {"self_apply", OptionType::flag, "false",
     "a client adds its own increment to its model; without it a ring diverges between unifications"},
    {"age_half_life", OptionType::number, "0",
     "seconds after which an increment weighs half as much when it is merged; 0: it weighs the same at any age", 0, 9e9},
};
constexpr auto table = combined(step_options(), own);

DracoSettings read(const OptionReader& options) {
  return {StepSize(options), options.whole("local_batches"), options.is("outbox", "accumulate"), options.flag("self_apply"),
          options.number("age_half_life")};
}

// Without a client's own increments disagreement grows at rate lambda B eta L |mu| between unifications; L = 1 if unknown.
std::string warning(const AlgorithmOptions& given, const RunFacts& facts) {
  const DracoSettings settings = read({given, table});
  if (settings.applies_own) return {};
  const double growth =
      facts.compute_rate * static_cast<double>(settings.local_batches) * settings.eta.greatest() * -facts.lowest_eigenvalue;
  if (facts.unification_period > 0 && growth * facts.unification_period <= 1) return {};
  std::ostringstream text;
  text << "draco with self_apply = false drifts apart between unifications: period x rate x local_batches x eta x |mu| is ";
  if (facts.unification_period > 0)
    text << growth * facts.unification_period;
  else
    text << "without bound, because nothing unifies";
  text << ", above 1; set algorithm.self_apply = true or unify more often";
  return text.str();
}

}  // namespace

constinit const CatalogueEntry entries::draco{
    .name = "draco",
    .summary = "increments over a row-stochastic graph, window, deadline, reception cap, unification",
    .options = table,
    .merge = Weights::neighbours,
    .may_be_unified = true,
    .may_begin = true,
    .needs = [](const AlgorithmOptions&) { return Needs{.send_only_if_computed = true, .may_pause = true}; },
    .make = made_by<Draco, read, table>,
    .warning = warning,
};

}  // namespace rubato
