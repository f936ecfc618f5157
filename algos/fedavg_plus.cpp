// FedAvg+: FedAvg first, then Reptile, which looks for a model that a few steps make personal.
// Source: Jiang, Konečný, Rush and Kannan, "Improving federated learning personalization via model agnostic meta
// learning", with Reptile of Nichol, Achiam and Schulman (docs/references.md#fedavg-plus), a baseline of KD-PDFL.
//
// theta: model of the server   S: clients that answered in time   n_i: samples of client i   r: round, from 0
// eta, E: step size and number of local steps before round `switch`;  alpha, k: of those behind it
// eps: step of the server      beta, q: step size and number of steps of the fine-tuning
//
//   compute   theta_i <- theta;  r < switch: E times  theta_i <- theta_i - eta g_i(theta_i; batch)
//                                else:       k times  theta_i <- theta_i - alpha g_i(theta_i; batch);  answer theta_i
//   combine   r < switch: theta <- sum_{i in S} n_i theta_i / sum_{i in S} n_i
//             else:       theta <- theta + eps (mean_{i in S} theta_i - theta)
//   snapshot  theta_i <- theta;  q times: theta_i <- theta_i - beta g_i(theta_i; batch)
//
// KD-PDFL's text does not define the fine-tuning (BA-3, docs/references.md#baseline-decisions). It is done on a copy,
// for evaluation alone, with the batches 0 to q - 1.
#include "algos/entries.hpp"
#include "algos/global_model.hpp"
#include "algos/local_solver.hpp"
#include "algos/local_training.hpp"

namespace rubato {

namespace {

// Local steps of one kind.
struct Steps {
  double eta;
  std::uint64_t count;
};

struct FedAvgPlusSettings {
  double eta;
  LocalTraining training;
  Steps inner, fine;
  std::uint64_t first_reptile_round;
  double epsilon;
  Weighting weighting;

  bool is_reptile(std::uint64_t round) const { return round >= first_reptile_round; }
};

template <class Real>
class FedAvgPlus final : public GlobalModel<Real, FedAvgPlusSettings> {
 public:
  using GlobalModel<Real, FedAvgPlusSettings>::GlobalModel;

  void compute(Work<Real>& work, const Step&) override {
    const FedAvgPlusSettings& settings = this->settings();
    const std::size_t client = this->client_view().client.value;
    Tensor mine = copy_of<Real>(this->model(), work.pool);
    const VectorRef<Real> theta = numbers_of<Real>(mine);
    const auto take = [&](std::uint64_t batch, double eta) {
      const typename Scratch<Real>::Frame frame(work.scratch);
      work.learner.descend(theta, work.batch(batch), static_cast<Real>(eta), work.scratch);
    };
    if (settings.is_reptile(this->round())) {
      const std::uint64_t count = settings.inner.count * work.local_batches();
      for (std::uint64_t s = 0; s < count; ++s) take(batches_ + s, settings.inner.eta);
      batches_ += count;
    } else {
      const std::uint64_t count = settings.training.steps(work, client);
      settings.training.train(work, client, batches_, count, settings.eta, take);
      batches_ += count;
    }
    this->set_answer(std::move(mine));
  }

  void archive(Archive& archive) override {
    GlobalModel<Real, FedAvgPlusSettings>::archive(archive);
    archive(batches_);
  }

  Tensor snapshot(Work<Real>& work) const override {
    Tensor personal = copy_of<Real>(this->model(), work.pool);
    descend_locally(work, numbers_of<Real>(personal), 0, this->settings().fine.count, this->settings().fine.eta);
    return personal;
  }

 private:
  void combine(Work<Real>& work, std::span<const Received<Real>> window) override {
    const bool is_reptile = this->settings().is_reptile(this->round());
    const auto weight = [&](ClientId client) { return is_reptile ? 1 : this->settings().weighting(this->client_view(), client); };
    Tensor mean = this->mean_answer(window, work.pool, weight);
    if (!mean) return;
    if (is_reptile) {
      const Real epsilon = static_cast<Real>(this->settings().epsilon);
      VectorRef<Real> theta = numbers_of<Real>(mean);
      theta = this->model() + epsilon * (theta - this->model());
    }
    this->set_model(std::move(mean));
  }

  std::uint64_t batches_ = 0;  // used so far: the number of local steps changes once
};

constexpr OptionSpec fedavg_plus_own[] = {
    {"eta", OptionType::number, "0.05", "step size of the local steps before the switch", 0, 1e9, true},
    {"switch", OptionType::whole, "150", "the first round of Reptile", 0, 1e15},
    {"inner_lr", OptionType::number, "0", "step size of the local steps of Reptile; 0: eta", 0, 1e9},
    {"inner_steps", OptionType::whole, "5", "steps of one computation of Reptile", 1, 1e6},
    {"epsilon", OptionType::number, "0.5", "how far the server goes towards the mean", 0, 1e9, true},
    {"ft_lr", OptionType::number, "0", "step size of the fine-tuning; 0: eta", 0, 1e9},
    {"ft_steps", OptionType::whole, "5", "steps of the fine-tuning", 1, 1e6},
};
constexpr auto fedavg_plus_table = combined(
    fedavg_plus_own,
    local_training_options(
        "steps of one computation before the switch, for all or a list",
        "if not 0, instead of local_steps: how often a computation before the switch goes through as many batches "
        "as the client's rows fill, for all or a list"),
    weighting_options("samples", "how much a client counts before the switch: as much as its samples, or as much as any other"));

FedAvgPlusSettings read_fedavg_plus(const OptionReader& options) {
  const double eta = options.number("eta");
  const auto or_eta = [&](const char* name) { return options.number(name) > 0 ? options.number(name) : eta; };
  return {.eta = eta,
          .training = LocalTraining(options),
          .inner = {or_eta("inner_lr"), options.whole("inner_steps")},
          .fine = {or_eta("ft_lr"), options.whole("ft_steps")},
          .first_reptile_round = options.whole("switch"),
          .epsilon = options.number("epsilon"),
          .weighting = Weighting(options)};
}

}  // namespace

constinit const CatalogueEntry entries::fedavg_plus{
    .name = "fedavg_plus",
    .summary = "FedAvg, then Reptile; scored after a few personal steps",
    .options = fedavg_plus_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .make = made_by<FedAvgPlus, read_fedavg_plus, fedavg_plus_table>,
};

}  // namespace rubato
