// Swarm learning: a leader that changes from round to round gathers all models and hands out their mean.
// Source: Warnat-Herresthal and others, "Swarm Learning for decentralized and confidential clinical machine learning"
// (docs/references.md#swarm-learning), in the form of DeceFL's supplement, equations 24 to 26
// (docs/references.md#decefl).
//
// w_i: model of client i   u_i: model of its local training   eta: step size
// p_j: weight of client j, summing to one over those heard; as it is where it is given
//
//   publish 0   send w_i to the leader
//   merge 0     avg <- sum_j p_j w_j        at the leader, which only routes: its own model counts as any other
//   publish 1   send avg to all
//   merge 1     avg <- what the leader sent
//   compute     u_i <- w_i;  for each local step: u_i <- u_i - eta g_i(u_i; batch);  w_i <- avg + u_i - w_i
//
// One local step is w_i <- avg - eta g_i(w_i; batch), equation 25: the gradient is that of the model before the mean. The
// leaders come in turn, or are drawn (leader = "random"), which changes who routes and nothing else.
//
// With equal weights this is DeceFL on the averaging matrix, and what DeceFL's supplement calls FedAvg (equation 17).
#include <utility>

#include "algos/entries.hpp"
#include "algos/global_model.hpp"
#include "algos/local_training.hpp"

namespace rubato {

namespace {

constexpr std::uint8_t gather = 0, scatter = 1;

struct SwarmSettings {
  StepSize eta;
  LocalTraining training;
  Weighting weighting;
};

template <class Real>
class Swarm final : public Algorithm<Real> {
 public:
  explicit Swarm(const Setup<Real, SwarmSettings>& setup)
      : settings_{setup.settings},
        client_view_{setup.client_view},
        pool_{setup.pool},
        w_{copy_of<Real>(setup.start, setup.pool)},
        average_{w_} {}

  void compute(Work<Real>& work, const Step& step) override {
    const typename Scratch<Real>::Frame frame(work.scratch);
    Tensor next = work.pool.template make<Real>(w_.count());
    VectorRef<Real> w = numbers_of<Real>(next);
    const std::size_t client = client_view_.client.value;
    const double eta = settings_->eta.at(client, step.index);
    if (settings_->training.steps(work, client) == 1) {
      work.learner.gradient(model(), work.batch(step.index), w, work.scratch);
      w = numbers_of<Real>(std::as_const(average_)) - static_cast<Real>(eta) * w;
    } else {
      w = model();
      train_locally(settings_->training, work, client, step.index, w, eta);
      w += numbers_of<Real>(std::as_const(average_)) - model();
    }
    average_ = w_ = std::move(next);
  }

  Payload publish(Work<Real>&, const Step& step) override {
    Payload payload;
    payload.common[0] = step.phase == scatter ? average_ : w_;
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    if (step.phase == gather) return average(work, window);
    if (!window.empty()) average_ = window.back().payload.common[0];
  }

  void adopt(ConstVectorRef<Real> model) override { average_ = w_ = copy_of<Real>(model, pool_); }

  void archive(Archive& archive) override {
    archive.fixed(w_);
    archive.fixed(average_);
  }

  ConstVectorRef<Real> model() const override { return numbers_of<Real>(w_); }
  void inspect(Probe& probe) const override { show(probe, "x", model()); }

 private:
  void average(Work<Real>& work, std::span<const Received<Real>> window) {
    const auto weight = [&](ClientId client) { return settings_->weighting(client_view_, client); };
    double total = weight(client_view_.client);
    for (const Received<Real>& message : window) total += weight(message.sender);
    if (settings_->weighting.is_given()) total = 1;
    average_ = zeros<Real>(w_.count(), work.pool);
    VectorRef<Real> sum = numbers_of<Real>(average_);
    sum = static_cast<Real>(weight(client_view_.client) / total) * model();
    for (const Received<Real>& message : window) sum += static_cast<Real>(weight(message.sender) / total) * message.common();
  }

  std::shared_ptr<const SwarmSettings> settings_;
  ClientView client_view_;
  TensorPool& pool_;
  Tensor w_;        // immutable, like the mean: both are handed out as they are
  Tensor average_;  // the client's own model where no mean is newer
};

constexpr OptionSpec swarm_own[] = {
    word_option("leader", "in_turn", "who gathers and scatters: one client after the other, or one that is drawn for every turn",
                "in_turn|random"),
};
constexpr auto swarm_table = combined(step_options(), local_training_options(), weighting_options("uniform"), swarm_own);

SwarmSettings read_swarm(const OptionReader& options) { return {StepSize(options), LocalTraining(options), Weighting(options)}; }

// The computation stands at the end: all clients hand in first.
Needs swarm_needs(const AlgorithmOptions& given) {
  return {.draws_leaders = OptionReader(given, swarm_table).is("leader", "random"),
          .program = {.round = {Phase{.kind = PhaseKind::exchange, .number = gather},
                                Phase{.kind = PhaseKind::exchange, .number = scatter}, Phase{.kind = PhaseKind::compute}}}};
}

}  // namespace

constinit const CatalogueEntry entries::swarm{
    .name = "swarm",
    .summary = "a changing leader gathers all models and scatters their mean",
    .options = swarm_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::complete,
    .needs = swarm_needs,
    .make = made_by<Swarm, read_swarm, swarm_table>,
};

}  // namespace rubato
