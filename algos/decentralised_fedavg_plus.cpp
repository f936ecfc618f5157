// FedAvg+ without a server: FedAvg among neighbours first, then Reptile among neighbours, scored after a few personal steps.
// Source: what KD-PDFL is compared with in section 4.5 of Jeong's thesis, in the same exchange slots, after Jiang, Konečný,
// Rush and Kannan (docs/references.md#kd-pdfl, docs/references.md#fedavg-plus).
//
// theta: model of a client   g: gradient   eta: step size   N: the peers of an exchange whose models have come
// r: round, from 1   eps: step towards the mean   beta, q: step size and number of steps of the fine-tuning
//
//   compute   theta <- theta - eta g(theta; batch)
//   merge 0   r < switch: theta <- (theta + sum_{j in N} theta_j) / (|N| + 1)
//             else:       theta <- theta + eps ((theta + sum_{j in N} theta_j) / (|N| + 1) - theta)
//   publish   send theta: on request (phase 0), and after a merge to the peers in N (phase 1)
//   merge 1   peers = "adopt": theta <- what the star has become;  "keep": nothing
//   snapshot  r < switch: theta;  else: q times theta <- theta - beta g(theta; batch), on a copy
//
// The inner steps of Reptile are the computations between two exchanges, as many as every other algorithm in these slots has.
// The source does not define the fine-tuning (BA-3, docs/references.md#baseline-decisions): it is done for evaluation alone,
// with the batches 0 to q - 1. Under pull, where there are no rounds, r is the number of computations.
#include "algos/entries.hpp"
#include "algos/exchange_slots.hpp"
#include "algos/local_solver.hpp"
#include "algos/star_average.hpp"

namespace rubato {

namespace {

struct DecentralisedFedAvgPlusSettings {
  StepSize eta;
  ExchangeSlots slots;
  bool peers_adopt;
  std::uint64_t first_reptile_round;
  double epsilon, fine_rate;
  std::uint64_t fine_steps;
};

template <class Real>
class DecentralisedFedAvgPlus final : public StarAverage<Real, DecentralisedFedAvgPlusSettings> {
  using Base = StarAverage<Real, DecentralisedFedAvgPlusSettings>;

 public:
  using Base::Base;

  void compute(Work<Real>& work, const Step& step) override {
    descend_locally(work, this->x(), step.index, 1, this->settings().eta.at(this->client(), step.index));
    computations_ = step.index + 1;
  }

  Tensor snapshot(Work<Real>& work) const override {
    Tensor personal = copy_of<Real>(this->model(), work.pool);
    if (is_reptile()) descend_locally(work, numbers_of<Real>(personal), 0, this->settings().fine_steps, this->settings().fine_rate);
    return personal;
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive(computations_);
  }

 private:
  bool is_reptile() const {
    const std::uint64_t round = this->in_rounds() ? this->settings().slots.round_of_exchange(computations_) : computations_;
    return round >= this->settings().first_reptile_round;
  }
  double towards_mean() const override { return is_reptile() ? this->settings().epsilon : 1; }

  std::uint64_t computations_ = 0;
};

constexpr OptionSpec decentralised_fedavg_plus_own[] = {
    {"switch", OptionType::whole, "150", "the first round of Reptile; under pull, the first computation", 0, 1e15},
    {"epsilon", OptionType::number, "0.5", "how far an exchange of Reptile goes towards the mean", 0, 1, true},
    {"ft_lr", OptionType::number, "0", "step size of the fine-tuning; 0: the first eta", 0, 1e9},
    {"ft_steps", OptionType::whole, "5", "steps of the fine-tuning", 1, 1e6},
};
constexpr auto decentralised_fedavg_plus_table =
    combined(step_options(), slot_options, star_average_options, decentralised_fedavg_plus_own);

DecentralisedFedAvgPlusSettings read_decentralised_fedavg_plus(const OptionReader& options) {
  const StepSize eta(options);
  return {.eta = eta,
          .slots = ExchangeSlots(options),
          .peers_adopt = options.is("peers", "adopt"),
          .first_reptile_round = options.whole("switch"),
          .epsilon = options.number("epsilon"),
          .fine_rate = options.number("ft_lr") > 0 ? options.number("ft_lr") : eta.at(0, 0),
          .fine_steps = options.whole("ft_steps")};
}

}  // namespace

constinit const CatalogueEntry entries::decentralised_fedavg_plus{
    .name = "decentralised_fedavg_plus",
    .summary = "the same, then Reptile among neighbours; scored after a few personal steps",
    .options = decentralised_fedavg_plus_table,
    .runs = {ProtocolKind::pull, ProtocolKind::rounds},
    .graphs = Graphs::undirected,
    .may_be_unified = true,
    .needs = needs_by<slot_needs, decentralised_fedavg_plus_table>,
    .make = made_by<DecentralisedFedAvgPlus, read_decentralised_fedavg_plus, decentralised_fedavg_plus_table>,
};

}  // namespace rubato
