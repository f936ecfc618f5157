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
// Where each link has a transmit timer of its own (lambda_ij of algorithm 5) it has a Delta of its own, too: what one link has
// sent the others have still to send, so each of them carries every increment once (lemma B.1; DR-17).
//
// Where we differ from the printed algorithm: what has been sent is sent once (DR-4), and the weights of one receiver sum
// to one over its senders (DR-2). Algorithm 3 never applies a client's own increment to its own model (DR-1): literal by
// default, and then clients of a ring drift apart between unifications; self_apply mends it. Weights by age are Rubato's
// own (DR-16). Decisions: docs/references.md#draco-decisions.
#include <algorithm>
#include <numbers>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "algos/entries.hpp"
#include "algos/gossip.hpp"
#include "runtime/elementary.hpp"

namespace rubato {

namespace {

struct DracoSettings {
  StepSize eta;
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
  explicit Draco(const Setup<Real, DracoSettings>& setup)
      : Base(setup),
        receivers_{setup.client_view.sends_per_link ? setup.client_view.receivers : std::span<const ClientId>{}},
        outboxes_(std::max<std::size_t>(1, receivers_.size())) {}

  void compute(Work<Real>& work, const Step& step) override {
    const typename Scratch<Real>::Frame frame(work.scratch);
    const DracoSettings& settings = this->settings();
    Tensor increment = copy_of<Real>(this->origin(), work.pool);  // made where the message will lie: usually it becomes the outbox
    VectorRef<Real> y = numbers_of<Real>(increment);
    const auto eta = static_cast<Real>(settings.eta.at(this->client(), step.index));
    work.descend(y, step.index, eta);
    y -= this->origin();  // from here on y is the increment d
    if (settings.applies_own) this->x() += y;
    if (!settings.accumulates) std::ranges::fill(outboxes_, Tensor{});
    add(std::move(increment), work.pool);
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload;
    Tensor* outbox = outbox_of(step);
    if (outbox) payload.common[0] = std::exchange(*outbox, {});
    if (!payload.common[0]) payload.common[0] = zeros<Real>(this->count(), work.pool);
    return payload;
  }

  void merge(Work<Real>&, const Step&, std::span<const Received<Real>> window) override {
    for (const Received<Real>& message : window)
      this->x() += static_cast<Real>(message.weight * this->settings().weight_at(message.age)) * message.common();
  }

  void reclaim(Work<Real>& work, const Step& step, const Payload& payload) override {
    Tensor back = copy_of<Real>(numbers_of<Real>(payload.common[0]), work.pool);
    if (is_one()) return add(std::move(back), work.pool);
    Tensor& outbox = outboxes_.at(step.entries.front().place);
    if (outbox) numbers_of<Real>(back) += numbers_of<Real>(std::as_const(outbox));
    outbox = std::move(back);
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    for (Tensor& outbox : outboxes_) archive.optional(outbox, scalar_of<Real>, this->count());
  }

  void inspect(Probe& probe) const override {
    show(probe, "theta", this->model());
    for (std::size_t place = 0; place < outboxes_.size(); ++place) {
      const std::string name = is_one() ? "outbox" : "outbox" + std::to_string(place);
      if (outboxes_[place])
        show(probe, name, numbers_of<Real>(outboxes_[place]));
      else
        show(probe, name, Vector<double>::Zero(this->model().size()));
    }
  }

 private:
  bool is_one() const { return receivers_.empty(); }
  // Null: no receiver is here.
  Tensor* outbox_of(const Step& publish) {
    if (is_one()) return &outboxes_.front();
    return publish.entries.empty() ? nullptr : &outboxes_[place_of(receivers_, publish.entries.front().peer)];
  }

  // The outbox is the payload to come: an empty one takes the first increment as it is.
  void add(Tensor increment, TensorPool& pool) {
    if (!is_one()) return add_to_each(increment, pool);
    Tensor& outbox = outboxes_.front();
    if (outbox)
      numbers_of<Real>(outbox) += numbers_of<Real>(std::as_const(increment));
    else
      outbox = std::move(increment);
  }

  // Links that have the same to send share it: there are as many sums as links that have sent last at different times.
  void add_to_each(const Tensor& increment, TensorPool& pool) {
    const std::vector<Tensor> before = outboxes_;
    const auto holds_same = [](const Tensor& a, const Tensor& b) {
      return a && b ? a.template data<Real>() == b.template data<Real>() : !a && !b;
    };
    for (std::size_t place = 0; place < outboxes_.size(); ++place) {
      const auto same = std::ranges::find_if(before, [&](const Tensor& other) { return holds_same(other, before[place]); });
      const auto first = static_cast<std::size_t>(same - before.begin());
      if (!before[place]) {
        outboxes_[place] = increment;
      } else if (first < place) {
        outboxes_[place] = outboxes_[first];
      } else {
        outboxes_[place] = copy_of<Real>(numbers_of<Real>(before[place]), pool);
        numbers_of<Real>(outboxes_[place]) += numbers_of<Real>(increment);
      }
    }
  }

  std::span<const ClientId> receivers_;  // of links with timers of their own; else empty
  std::vector<Tensor> outboxes_;         // one, or one for each of these links; empty: Delta = 0
};

constexpr OptionSpec draco_own[] = {
    word_option("outbox", "accumulate", "accumulate sends all increments since the last transmission, latest the newest one",
                "accumulate|latest"),
    {"self_apply", OptionType::flag, "false",
     "a client adds its own increment to its model; without it a ring diverges between unifications"},
    {"age_half_life", OptionType::number, "0",
     "seconds after which an increment weighs half as much when it is merged; 0: it weighs the same at any age", 0, 9e9},
};
constexpr auto draco_table = combined(step_options(), draco_own);

DracoSettings read_draco(const OptionReader& options) {
  return {StepSize(options), options.is("outbox", "accumulate"), options.flag("self_apply"), options.number("age_half_life")};
}

// Without a client's own increments disagreement grows at rate lambda B eta L |mu| between unifications; L = 1 if unknown.
std::string draco_warning(const AlgorithmOptions& given, const RunFacts& facts) {
  const DracoSettings settings = read_draco({given, draco_table});
  if (settings.applies_own) return {};
  const double growth =
      facts.compute_rate * static_cast<double>(local_batches_of(given)) * settings.eta.greatest() * -facts.lowest_eigenvalue;
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
    .options = draco_table,
    .merge = Weights::neighbours,
    .may_be_unified = true,
    .may_begin = true,
    .needs = [](const AlgorithmOptions&) { return Needs{.send_only_if_computed = true, .may_pause = true}; },
    .make = made_by<Draco, read_draco, draco_table>,
    .warning = draco_warning,
};

}  // namespace rubato
