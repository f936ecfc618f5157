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
// the clients sum to one (docs/references.md#fedavg-decisions). If no client answers the model stays.
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
class FedAvg final : public GlobalModel<Real, FedAvgSettings> {
 public:
  using GlobalModel<Real, FedAvgSettings>::GlobalModel;

  void compute(Work<Real>& work, const Step& step) override {
    Tensor mine = copy_of<Real>(this->model(), work.pool);
    descend_locally(work, numbers_of<Real>(mine), step.index * this->settings().local_steps, this->settings().local_steps,
                    this->settings().eta.at(this->client_view().client.value, this->round()));
    this->set_answer(std::move(mine));
  }

 private:
  void combine(Work<Real>& work, std::span<const Received<Real>> window) override {
    const auto weight = [&](ClientId client) { return this->settings().weighting(this->client_view(), client); };
    if (Tensor mean = this->mean_answer(window, work.pool, weight)) this->set_model(std::move(mean));
  }
};

constexpr OptionSpec own[] = {
    local_steps_option,
};
constexpr auto table =
    combined(step_options("eta", "0.05", "step size of the local steps", round_law), own, weighting_options("samples"));

FedAvgSettings read(const OptionReader& options) { return {StepSize(options), options.whole("local_steps"), Weighting(options)}; }

}  // namespace

constinit const CatalogueEntry entries::fedavg{
    .name = "fedavg",
    .summary = "a server averages the models that clients come to from its own",
    .options = table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .make = made_by<FedAvg, read, table>,
};

}  // namespace rubato
