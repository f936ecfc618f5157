// Asynchronous DSGD over unreliable links, and its two synchronous baselines.
// Source: Jeong, Zecchin and Kountouris, "Asynchronous Decentralized Learning over Unreliable Wireless Networks",
// algorithm 2 and equations 2.2 to 2.9 of Jeong's thesis (docs/references.md#asynchronous-dsgd).
//
// theta: model   g: gradient   eta_i: step size   xi: consensus step   z: noise of the channel
// nu_i: chance of client i to straggle
//
//   begin     a computation starts: remember theta
//   compute   theta <- theta - eta_i g(theta as remembered; batch)           without a gradient, a straggler: nothing
//   publish   send theta to every receiver
//   merge     theta <- theta + xi (sum_j w_ij (theta_j - theta) + z)
//
// A round is compute, exchange. In async_dsgd a client that is not done by the end of the computation phase goes on in
// the next one and steps, in the round in which it is done, along a gradient of the model at its start. sync_dsgd waits
// for the slowest client; sync_barrier_dsgd throws away what is late, and everybody begins anew.
// equalise divides the step of a client by its chance to be in time, eta_i = eta min_j(1 - nu_j) / (1 - nu_i), so that
// all go equally far in the mean. The noise is added to the consensus term: what is sent in the AirComp phase is
// equation 2.3 (C2-3, docs/references.md#asynchronous-dsgd-decisions).
#include <algorithm>
#include <utility>

#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

struct AsyncDsgdSettings {
  StepSize eta;
  PerClientNumber part;  // of the step, by which all go equally far
  double xi;
  double noise;
};

template <class Real>
class AsyncDsgd final : public Gossip<Real> {
 public:
  AsyncDsgd(std::shared_ptr<const AsyncDsgdSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
            TensorPool& pool)
      : Gossip<Real>(start, pool, settings->xi),
        settings_{std::move(settings)},
        client_{client_view.client.value},
        in_rounds_{client_view.in_rounds} {}

  void compute(Work<Real>& work, const Step& step) override { this->descend(work, step, eta(step)); }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload = Gossip<Real>::publish(work, step);
    if (in_rounds_) half_ = payload.common[0];
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    const typename Scratch<Real>::Frame frame(work.scratch);
    Gossip<Real>::merge(work, step, window);
    this->x() += static_cast<Real>(settings_->xi) * work.noise(exchanges_++, this->x().size(), settings_->noise);
  }

  void archive(Archive& archive) override {
    Gossip<Real>::archive(archive);
    archive(exchanges_);
    archive.optional(half_, scalar_of<Real>, static_cast<std::size_t>(this->model().size()));
  }

  void inspect(Probe& probe) const override {
    Gossip<Real>::inspect(probe);
    if (half_) show(probe, "half", numbers_of<Real>(half_));
  }

 private:
  // A straggler's steps go on with the rounds, not with its own computations.
  double eta(const Step& step) const {
    return settings_->eta.at(client_, in_rounds_ ? exchanges_ : step.index) * settings_->part.of(client_);
  }

  std::shared_ptr<const AsyncDsgdSettings> settings_;
  std::size_t client_;
  bool in_rounds_;
  std::uint64_t exchanges_ = 0;
  Tensor half_;  // the model right before the exchange of this round
};

// min_j(1 - nu_j) / (1 - nu_i), for steps of so many clients.
std::vector<double> equalising(std::size_t steps, const std::vector<double>& nu) {
  double least = 1;
  for (const double chance : nu) {
    if (!(chance >= 0 && chance < 1)) refuse_option("nu", chance, "must be at least 0 and less than 1");
    least = std::min(least, 1 - chance);
  }
  if (steps > 1 && nu.size() > 1 && steps != nu.size())
    refuse_option("nu", std::to_string(nu.size()) + " numbers", "must be as many as in eta");
  std::vector<double> parts;
  for (const double chance : nu) parts.push_back(least / (1 - chance));
  return parts;
}

AsyncDsgdSettings read(const AlgorithmOptions& options) {
  StepSize eta(options, "eta", 0.05);
  std::vector<double> part{1.0};
  if (options.flag("equalise", false)) part = equalising(options.numbers("eta", 0.05).size(), options.numbers("nu", 0));
  return {std::move(eta), std::move(part), proper_share(options, "xi", 1), not_negative(options, "noise", 0)};
}

Needs asynchronous(const AlgorithmOptions&) { return {.keep = Keep::newest, .fixes_model_at_start = true}; }
Needs synchronous(const AlgorithmOptions&) { return {.keep = Keep::newest}; }

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<AsyncDsgd, Real>(read(options));
}

constexpr OptionSpec options[] = {
    shared_option::eta,
    shared_option::step,
    shared_option::step_offset,
    {"xi", OptionType::number, "1", "consensus step", 0, 1, true},
    {"noise", OptionType::number, "0", "standard deviation of what a consensus step adds to a coordinate", 0, 1e9},
    {"equalise", OptionType::flag, "false", "larger steps for clients that straggle more often"},
    {"nu", OptionType::number, "0", "chance that a client is not done in time, for all or a list", 0, 1, false, true},
};

}  // namespace

constinit const CatalogueEntry entries::async_dsgd{
    .name = "async_dsgd",
    .summary = "stale gradients, unreliable links, a consensus step",
    .options = options,
    .merge = Weights::doubly,
    .may_be_unified = true,
    .may_begin = true,
    .needs = asynchronous,
    .make_float = make<float>,
    .make_double = make<double>,
};

constinit const CatalogueEntry entries::sync_dsgd{
    .name = "sync_dsgd",
    .summary = "async_dsgd that waits for the slowest client",
    .options = options,
    .runs = only(ProtocolKind::rounds),
    .usual = ProtocolKind::rounds,
    .merge = Weights::doubly,
    .may_be_unified = true,
    .may_begin = true,
    .needs = synchronous,
    .make_float = make<float>,
    .make_double = make<double>,
};

constinit const CatalogueEntry entries::sync_barrier_dsgd{
    .name = "sync_barrier_dsgd",
    .summary = "async_dsgd without the work that is late",
    .options = options,
    .runs = only(ProtocolKind::rounds),
    .usual = ProtocolKind::rounds,
    .merge = Weights::doubly,
    .may_be_unified = true,
    .may_begin = true,
    .needs = synchronous,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
