// FedAvg: the selected clients train from the server's model, the server takes the mean of what they come to.
// Source: McMahan and others, "Communication-Efficient Learning of Deep Networks from Decentralized Data"
// (docs/references.md#fedavg), algorithm 1 of Jeong's thesis (docs/references.md#jeong-2024).
//
// x: model of the server   x_i: model of client i   S: clients that answered in time   n_i: samples of client i
// eta: step size           E: local steps
//
//   compute   x_i <- x;  E times: x_i <- x_i - eta g_i(x_i; batch);  answer x_i
//   combine   x <- sum_{i in S} n_i x_i / sum_{i in S} n_i     (weighting = "uniform": the plain mean)
//
// Where we differ from the printed algorithm (FA-1): gradients are means over the batch, and the weights of a subset of
// the clients sum to one (docs/references.md#fedavg-decisions). If nobody answers the model stays.
#include <utility>

#include "algos/entries.hpp"
#include "algos/global_model.hpp"
#include "algos/local_solver.hpp"

namespace rubato {

namespace {

struct FedAvgSettings {
  StepSize eta;
  std::uint64_t local_steps;
  Weighting weighting;
};

template <class Real>
class FedAvg final : public GlobalModel<Real> {
 public:
  FedAvg(std::shared_ptr<const FedAvgSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
         TensorPool& pool)
      : GlobalModel<Real>(client_view, start, pool), settings_{std::move(settings)} {}

  void compute(Work<Real>& work, const Step& step) override {
    Tensor mine = copy_of<Real>(this->model(), work.pool);
    descend_locally(work, numbers_of<Real>(mine), step.index * settings_->local_steps, settings_->local_steps,
                    settings_->eta.at(this->client_view().client.value, this->round()));
    this->set_answer(std::move(mine));
  }

 private:
  void combine(Work<Real>& work, std::span<const Received<Real>> window) override {
    const auto weight = [&](ClientId client) { return settings_->weighting(this->client_view(), client); };
    if (Tensor mean = this->mean_answer(window, work.pool, weight)) this->set_model(std::move(mean));
  }

  std::shared_ptr<const FedAvgSettings> settings_;
};

FedAvgSettings read(const AlgorithmOptions& options) {
  return {StepSize(options, "eta", 0.05), positive_whole(options, "local_steps", 1), Weighting(options, "samples")};
}

Needs needs(const AlgorithmOptions&) { return {}; }

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<FedAvg, Real>(read(options));
}

constexpr OptionSpec options[] = {
    {"eta", OptionType::number, "0.05", "step size of the local steps", 0, 1e9, true},
    {.name = "step",
     .type = OptionType::word,
     .fallback = "\"constant\"",
     .meaning = "constant, or diminishing: eta / (round + step_offset)",
     .choices = "constant|diminishing"},
    {"step_offset", OptionType::number, "1", "offset of the diminishing step", 0, 1e9, true},
    {"local_steps", OptionType::whole, "1", "steps of one computation", 1, 1e6},
    {.name = "weighting",
     .type = OptionType::word,
     .fallback = "\"samples\"",
     .meaning = "how much a client counts: as much as its samples, or as much as any other",
     .choices = "samples|uniform"},
};

}  // namespace

constinit const CatalogueEntry entries::fedavg{
    .name = "fedavg",
    .summary = "a server averages the models that clients come to from its own",
    .options = options,
    .runs = only(ProtocolKind::server),
    .usual = ProtocolKind::server,
    .graphs = Graphs::centred,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
