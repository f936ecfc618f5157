// FedAvg without a server: a client that wakes up takes the mean of its neighbours' models and its own.
// Source: what KD-PDFL is compared with in section 4.5 of Jeong's thesis, in the same exchange slots, after McMahan and others
// (docs/references.md#kd-pdfl, docs/references.md#fedavg).
//
// theta: model of a client   g: gradient   eta: step size   N: the peers of an exchange whose models have come
//
//   compute   theta <- theta - eta g(theta; batch)
//   merge 0   theta <- (theta + sum_{j in N} theta_j) / (|N| + 1)                                   (BA-3)
//   publish   send theta: on request (phase 0), and after a merge to the peers in N (phase 1)
//   merge 1   peers = "adopt": theta <- what the star has become, so that it was their server for once;  "keep": nothing
//
// Decision BA-3: docs/references.md#baseline-decisions.
#include "algos/entries.hpp"
#include "algos/exchange_slots.hpp"
#include "algos/local_solver.hpp"
#include "algos/star_average.hpp"

namespace rubato {

namespace {

struct DecentralisedFedAvgSettings {
  StepSize eta;
  bool peers_adopt;
};

template <class Real>
class DecentralisedFedAvg final : public StarAverage<Real, DecentralisedFedAvgSettings> {
 public:
  using StarAverage<Real, DecentralisedFedAvgSettings>::StarAverage;

  void compute(Work<Real>& work, const Step& step) override {
    descend_locally(work, this->x(), step.index, 1, this->settings().eta.at(this->client(), step.index));
  }
};

constexpr auto decentralised_fedavg_table = combined(step_options(), slot_options, star_average_options);

DecentralisedFedAvgSettings read_decentralised_fedavg(const OptionReader& options) {
  return {StepSize(options), options.is("peers", "adopt")};
}

}  // namespace

constinit const CatalogueEntry entries::decentralised_fedavg{
    .name = "decentralised_fedavg",
    .summary = "a client that wakes up averages its neighbours' models and its own",
    .options = decentralised_fedavg_table,
    .runs = {ProtocolKind::pull, ProtocolKind::rounds},
    .graphs = Graphs::undirected,
    .may_be_unified = true,
    .needs = needs_by<slot_needs, decentralised_fedavg_table>,
    .make = made_by<DecentralisedFedAvg, read_decentralised_fedavg, decentralised_fedavg_table>,
};

}  // namespace rubato
