// Proximal training: local steps that are held near the model that they began at.
//
//   x <- x - eta (g(x; batch) + rho (x - x_start))
#pragma once

#include "algos/algorithm.hpp"
#include "algos/local_training.hpp"

namespace rubato {

/// What the workers of FedAsync and FedBuff are told.
struct ProximalTraining {
  StepSize eta;
  double rho;
  LocalTraining training;
};

constexpr OptionSpec rho_option(std::string_view fallback) {
  return {"rho", OptionType::number, fallback, "how strongly local steps are held near the model that they began at", 0, 1e9};
}

/// What read_proximal reads.
constexpr auto proximal_options(std::string_view rho) {
  return combined(step_options("eta", "0.05", "step size of the local steps", "diminishing: eta / (job + step_offset)"),
                  std::array{rho_option(rho)}, local_training_options());
}
inline ProximalTraining read_proximal(const OptionReader& options) {
  return {StepSize(options), options.number("rho"), LocalTraining(options)};
}

/// x begins as the model; `computation` counts the jobs of the client.
template <class Real>
void train_near(const ProximalTraining& how, Work<Real>& work, std::size_t client, std::uint64_t computation, VectorRef<Real> x) {
  const typename Scratch<Real>::Frame outer(work.scratch);
  VectorRef<Real> start = work.scratch.vector(x.size()), g = work.scratch.vector(x.size());
  start = x;
  how.training.each_step(work, client, computation, how.eta.at(client, computation), [&](std::uint64_t batch, double step_size) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    work.learner.gradient(read_only(x), work.batch(batch), g, work.scratch);
    if (how.rho > 0) g += static_cast<Real>(how.rho) * (x - start);
    x -= static_cast<Real>(step_size) * g;
  });
}

}  // namespace rubato
