// FedAvg: the selected clients train from the server's model, the server takes the mean of what they come to.
// Source: McMahan and others, "Communication-Efficient Learning of Deep Networks from Decentralized Data"
// (docs/references.md#fedavg), algorithm 1 of Jeong's thesis (docs/references.md#jeong-2024).
//
// x: model of the server   x_i: model of client i   S: clients that answered in time   n_i: samples of client i
// eta: step size           E: local steps
//
//   compute   x_i <- x;  E times: x_i <- x_i - eta g_i(x_i; batch);  answer x_i      E: steps, or those of some epochs
//   combine   x <- sum_{i in S} n_i x_i / sum_{i in S} n_i     (weighting = "uniform": the plain mean)
//
// Where we differ from the printed algorithm (FA-1): gradients are means over the batch, and the weights of a subset of
// the clients sum to one (docs/references.md#fedavg-decisions). If no client answers the model stays. With
// lr_decay the step size falls within a round, as in DeceFL's experiments, and begins anew with the next.
#include "algos/entries.hpp"
#include "algos/global_model.hpp"
#include "algos/local_training.hpp"

namespace rubato {

namespace {

struct FedAvgSettings {
  StepSize eta;
  LocalTraining training;
  Weighting weighting;
};

template <class Real>
class FedAvg final : public GlobalModel<Real, FedAvgSettings> {
 public:
  using GlobalModel<Real, FedAvgSettings>::GlobalModel;

  void compute(Work<Real>& work, const Step& step) override {
    Tensor mine = copy_of<Real>(this->model(), work.pool);
    const std::size_t client = this->client_view().client.value;
    train_locally(this->settings().training, work, client, step.index, numbers_of<Real>(mine),
                  this->settings().eta.at(client, this->round()));
    this->set_answer(std::move(mine));
  }

 private:
  void combine(Work<Real>& work, std::span<const Received<Real>> window) override {
    const auto weight = [&](ClientId client) { return this->settings().weighting(this->client_view(), client); };
    if (Tensor mean = this->mean_answer(window, work.pool, weight)) this->set_model(std::move(mean));
  }
};

constexpr auto fedavg_table = combined(step_options("eta", "0.05", "step size of the local steps", round_law),
                                       local_training_options(), weighting_options("samples"));

FedAvgSettings read_fedavg(const OptionReader& options) { return {StepSize(options), LocalTraining(options), Weighting(options)}; }

}  // namespace

constinit const CatalogueEntry entries::fedavg{
    .name = "fedavg",
    .summary = "a server averages the models that clients come to from its own",
    .options = fedavg_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .make = made_by<FedAvg, read_fedavg, fedavg_table>,
};

}  // namespace rubato
