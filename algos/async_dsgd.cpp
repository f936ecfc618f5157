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
// for the slowest client; sync_barrier_dsgd throws away what is late, and all clients begin anew.
// equalise divides the step of a client by its chance to be in time, eta_i = eta min_j(1 - nu_j) / (1 - nu_i), so that
// all go equally far in the mean; with straggling = "law" nu_i follows from the client's law of computations and
// protocol.compute_phase. theorem_rounds = R takes eta = 1 / sqrt(4 L R) and xi = R^(-3/8), the steps of theorem 2.1. The noise is
// added to the consensus term: what is sent in the AirComp phase is equation 2.3 (C2-3,
// docs/references.md#asynchronous-dsgd-decisions).
#include "algos/entries.hpp"
#include "algos/gossip.hpp"
#include "runtime/elementary.hpp"

namespace rubato {

namespace {

struct AsyncDsgdSettings {
  StepSize eta;
  PerClientNumber part;  // of the step, by which all go equally far
  double xi;
  double noise;
};

template <class Real>
class AsyncDsgd final : public Gossip<Real, AsyncDsgdSettings> {
  using Base = Gossip<Real, AsyncDsgdSettings>;

 public:
  explicit AsyncDsgd(const Setup<Real, AsyncDsgdSettings>& setup) : Base(setup, setup.settings->xi) {}

  void compute(Work<Real>& work, const Step& step) override { this->descend(work, step, eta(step)); }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload = Base::publish(work, step);
    if (this->in_rounds()) half_ = payload.common[0];
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    const typename Scratch<Real>::Frame frame(work.scratch);
    Base::merge(work, step, window);
    const AsyncDsgdSettings& settings = this->settings();
    this->x() += static_cast<Real>(settings.xi) * work.noise(exchanges_++, this->x().size(), settings.noise);
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive(exchanges_);
    archive.optional(half_, scalar_of<Real>, this->count());
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    if (half_) show(probe, "half", numbers_of<Real>(half_));
  }

 private:
  // A straggler's steps go on with the rounds, not with its own computations.
  double eta(const Step& step) const {
    const std::uint64_t number = this->in_rounds() ? exchanges_ : step.index;
    return this->settings().eta.at(this->client(), number) * this->settings().part.of(this->client());
  }

  std::uint64_t exchanges_ = 0;
  Tensor half_;  // the model right before the exchange of this round
};

// min_j(1 - nu_j) / (1 - nu_i), for steps of so many clients.
std::vector<double> equalising(std::size_t steps, const std::vector<double>& nu) {
  const double least = 1 - *std::ranges::max_element(nu);
  if (steps > 1 && nu.size() > 1 && steps != nu.size())
    refuse_option("nu", std::to_string(nu.size()) + " numbers", "must be as many as in eta");
  std::vector<double> parts;
  for (const double chance : nu) parts.push_back(least / (1 - chance));
  return parts;
}

constexpr OptionSpec async_dsgd_own[] = {
    {"xi", OptionType::number, "1", "consensus step", 0, 1, true},
    {"noise", OptionType::number, "0", "standard deviation of what a consensus step adds to a coordinate", 0, 1e9},
    {"equalise", OptionType::flag, "false", "larger steps for clients that straggle more often"},
    {"nu", OptionType::number, "0", "chance that a client is not done in time, for all or a list", 0, 1, false, true},
    word_option(
        "straggling", "nu",
        "equalise goes by nu, or by the chance that follows from the client's law of computations and protocol.compute_phase",
        "nu|law"),
    {"theorem_rounds", OptionType::whole, "0",
     "R of the convergence theorem: eta = 1 / sqrt(4 smoothness R) and xi = R^(-3/8) take the places of eta and xi; 0: they stay",
     0, 1e12},
    {"smoothness", OptionType::number, "1", "L of the losses, for theorem_rounds", 0, 1e12, true},
};
constexpr auto async_dsgd_table = combined(step_options(), async_dsgd_own);

// Theorem 2.1: eta_i = min_j(1 - nu_j) / (sqrt(4 L R) (1 - nu_i)), of which equalise is the part that differs, and xi = R^(-3/8).
AsyncDsgdSettings by_theorem(const OptionReader& options, std::vector<double> part, std::uint64_t rounds) {
  const double log_rounds = elementary::log(static_cast<double>(rounds));
  AlgorithmOptions given;
  given.set("eta", elementary::exp(-0.5 * (elementary::log(4 * options.number("smoothness")) + log_rounds)));
  return {StepSize({given, async_dsgd_table}), std::move(part), elementary::exp(-3.0 / 8 * log_rounds), options.number("noise")};
}

AsyncDsgdSettings read_async_dsgd(const OptionReader& options) {
  std::vector<double> part{1.0};
  if (options.flag("equalise")) part = equalising(options.numbers("eta").size(), options.numbers("nu"));
  if (const std::uint64_t rounds = options.whole("theorem_rounds"); rounds > 0) return by_theorem(options, std::move(part), rounds);
  return {StepSize(options), std::move(part), options.number("xi"), options.number("noise")};
}

// The entry of a baseline.
constexpr CatalogueEntry synchronous(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .options = async_dsgd_table,
          .runs = {ProtocolKind::rounds},
          .merge = Weights::doubly,
          .may_be_unified = true,
          .may_begin = true,
          .needs =
              [](const AlgorithmOptions&) { return Needs{.keep = Keep::newest, .may_pause = true, .partial = Partial::receivers}; },
          .make = made_by<AsyncDsgd, read_async_dsgd, async_dsgd_table>};
}

}  // namespace

constinit const CatalogueEntry entries::async_dsgd{
    .name = "async_dsgd",
    .summary = "stale gradients, unreliable links, a consensus step",
    .options = async_dsgd_table,
    .merge = Weights::doubly,
    .may_be_unified = true,
    .may_begin = true,
    .needs =
        [](const AlgorithmOptions&) {
          return Needs{.keep = Keep::newest, .may_pause = true, .partial = Partial::receivers, .fixes_model_at_start = true};
        },
    .make = made_by<AsyncDsgd, read_async_dsgd, async_dsgd_table>,
};

constinit const CatalogueEntry entries::sync_dsgd = synchronous("sync_dsgd", "async_dsgd that waits for the slowest client");
constinit const CatalogueEntry entries::sync_barrier_dsgd =
    synchronous("sync_barrier_dsgd", "async_dsgd without the work that is late");

}  // namespace rubato
