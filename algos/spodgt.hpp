// Spod-GT and those that are Spod-GT with another schedule of links and gradients: one class, one set of options.
#pragma once

#include "algos/algorithm.hpp"
#include "algos/catalogue.hpp"
#include "algos/options.hpp"

namespace rubato {

/// What stands for the gradient of a client in its tracker y.
enum class GradientMode : std::uint8_t {
  paper,      ///< the gradient, or nothing in a computation without one
  memory,     ///< the last gradient
  inverse_p,  ///< the gradient / p, or nothing in a computation without one
};

struct SpodgtSettings {
  StepSize eta;
  bool opens = false;   ///< in continuous time too a first computation only opens, as it always does in rounds
  bool by_form = true;  ///< paper in rounds, memory in continuous time, whatever `mode` says
  GradientMode mode = GradientMode::paper;
  PerClientNumber p{std::vector<double>{1.0}};
};

/// Reads eta, gradient_mode and p. Throws std::invalid_argument with the condition that fails.
SpodgtSettings read_spodgt(const AlgorithmOptions& options);

/// What all of them need, but for their schedule.
constexpr Needs spodgt_needs(Sporadic sporadic) {
  return {.keep = Keep::newest_ever,
          .sporadic = sporadic,
          .program = {.opening = {Phase{PhaseKind::compute}}, .round = {Phase{PhaseKind::exchange}, Phase{PhaseKind::compute}}}};
}

template <class Real>
AlgorithmFactory<Real> make_spodgt(const AlgorithmOptions& options);

extern template AlgorithmFactory<float> make_spodgt<float>(const AlgorithmOptions&);
extern template AlgorithmFactory<double> make_spodgt<double>(const AlgorithmOptions&);

/// The options that all of them have.
inline constexpr OptionSpec spodgt_step_options[] = {
    {"eta", OptionType::number, "0.01", "step size", 0, 1e9, true},
    {.name = "step",
     .type = OptionType::word,
     .fallback = "\"constant\"",
     .meaning = "diminishing: eta / (k + step_offset)",
     .choices = "constant|diminishing"},
    {"step_offset", OptionType::number, "1", "of a diminishing step", 0, 1e9, true},
};

}  // namespace rubato
