// Local training: how many steps of gradient descent a computation consists of, and how their step size falls.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "algos/algorithm.hpp"
#include "algos/option_table.hpp"

namespace rubato {

/// What LocalTraining reads.
constexpr std::array<OptionSpec, 4> local_training_options(
    std::string_view steps = "steps of one computation, for all or a list",
    std::string_view epochs =
        "if not 0, instead of local_steps: how often a computation goes through as many batches as the client's "
        "rows fill, for all or a list") {
  return {OptionSpec{"local_steps", OptionType::number, "1", steps, 1, 1e6},
          OptionSpec{"local_epochs", OptionType::number, "0", epochs, 0, 1e6},
          OptionSpec{"lr_decay", OptionType::number, "1", "the step size of local steps is multiplied by it ...", 0, 1, true},
          OptionSpec{"lr_every", OptionType::whole, "0",
                     "... after every so many of them, or epochs where local_epochs counts; anew in every computation; 0: never", 0,
                     1e9}};
}

/// The steps of one computation; every computation of a client has the same.
class LocalTraining {
 public:
  explicit LocalTraining(const OptionReader& options)
      : steps_{options.wholes("local_steps")},
        epochs_{options.wholes("local_epochs")},
        decay_{options.number("lr_decay")},
        every_{options.whole("lr_every")} {
    if (epochs_.greatest() > 0 && steps_.greatest() > 1)
      refuse_option("local_epochs", epochs_.greatest(),
                    "must be 0 where local_steps is not 1: one of them says how long a client trains");
  }

  /// Whether the client trains for epochs, not steps.
  bool is_in_epochs(std::size_t client) const { return epochs_.of(client) > 0; }
  /// Whether any client does.
  bool is_in_epochs() const { return epochs_.greatest() > 0; }

  /// Of the client that the work belongs to, a mini-batch each: all that a computation has, local_batches included.
  template <class Real>
  std::uint64_t steps(const Work<Real>& work, std::size_t client) const {
    const std::uint64_t each = work.local_batches();
    if (is_in_epochs(client)) return each * static_cast<std::uint64_t>(epochs_.of(client)) * work.batches_in_epoch();
    return each * static_cast<std::uint64_t>(steps_.of(client));
  }

  /// take(batch number, step size) for each step of the client's `computation`-th computation, which begins with eta.
  template <class Real, class Take>
  void each_step(const Work<Real>& work, std::size_t client, std::uint64_t computation, double eta, Take take) const {
    const std::uint64_t count = steps(work, client);
    train(work, client, computation * count, count, eta, take);
  }

  /// The same with batches that are counted from `first`.
  template <class Real, class Take>
  void train(const Work<Real>& work, std::size_t client, std::uint64_t first, std::uint64_t count, double eta, Take take) const {
    const std::uint64_t every = every_ * work.local_batches() * (is_in_epochs(client) ? work.batches_in_epoch() : 1);
    for (std::uint64_t s = 0; s < count; ++s) {
      if (every > 0 && s > 0 && s % every == 0) eta *= decay_;
      take(first + s, eta);
    }
  }

 private:
  PerClientNumber steps_, epochs_;
  double decay_;
  std::uint64_t every_;  // 0: the step size stays
};

/// x <- x - eta g(x; batch) for each step of the client's `computation`-th computation.
template <class Real>
void train_locally(const LocalTraining& training, const Work<Real>& work, std::size_t client, std::uint64_t computation,
                   VectorRef<Real> x, double eta) {
  training.each_step(work, client, computation, eta, [&](std::uint64_t batch, double step_size) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    work.learner.descend(x, work.batch(batch), static_cast<Real>(step_size), work.scratch);
  });
}

}  // namespace rubato
