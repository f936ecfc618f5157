// FedAsync. A worker trains from the model that it was given and answers what it has come to; the centre mixes every answer in at
// once, the less the more versions it is old (tau).
//
//   worker    x_i <- x;   local steps  x_i <- x_i - eta (g_i(x_i; batch) + rho (x_i - x))
//   centre    w = alpha s(tau);   x <- (1 - w) x + w x_i          s: algos/staleness.hpp
//
// Source: C. Xie, S. Koyejo, I. Gupta, "Asynchronous federated optimization", algorithm 1 (docs/references.md#fedasync; how the
// delay is counted: FY-1; all workers always work: FY-2).
#include "algos/answering.hpp"
#include "algos/entries.hpp"
#include "algos/proximal_training.hpp"
#include "algos/staleness.hpp"

namespace rubato {

namespace {

struct FedAsyncSettings {
  ProximalTraining training;
  double alpha;
  StalenessWeight weight;
};

template <class Real>
class FedAsync final : public Answering<Real, FedAsyncSettings> {
  using Base = Answering<Real, FedAsyncSettings>;

 public:
  using Base::Base;

  void compute(Work<Real>& work, const Step& step) override {
    Tensor mine = copy_of<Real>(this->held(), work.pool);
    train_near(this->settings().training, work, this->client_view().client.value, step.index, numbers_of<Real>(mine));
    this->set_answer(std::move(mine));
  }

 private:
  void collect(Work<Real>& work, ClientId, const Tensor& answer, const typename Base::Circumstances& how) override {
    const double w = this->settings().alpha * this->settings().weight(how.delay);
    Tensor next = work.pool.template make<Real>(this->dimension());
    numbers_of<Real>(next) = static_cast<Real>(1 - w) * this->x() + static_cast<Real>(w) * numbers_of<Real>(answer);
    this->set_x(std::move(next));
  }
};

constexpr OptionSpec fedasync_own[] = {
    {"alpha", OptionType::number, "0.6", "weight of an answer without delay", 0, 1, true},
};
constexpr auto fedasync_table =
    combined(proximal_options("0.005"), fedasync_own, staleness_options("polynomial"), answer_options());

FedAsyncSettings read_fedasync(const OptionReader& options) {
  return {read_proximal(options), options.number("alpha"), read_staleness(options)};
}

Needs fedasync_needs(const AlgorithmOptions& given) { return needs_of_answers({given, fedasync_table}); }

}  // namespace

constinit const CatalogueEntry entries::fedasync{
    .name = "fedasync",
    .summary = "a server mixes every model in as it comes, the less the older it is",
    .options = fedasync_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .needs = fedasync_needs,
    .make = made_by<FedAsync, read_fedasync, fedasync_table>,
};

}  // namespace rubato
