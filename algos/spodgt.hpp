// Spod-GT and those that are Spod-GT with another schedule of links and gradients: one class, one set of options.
#pragma once

#include "algos/catalogue.hpp"

namespace rubato {

/// What all of them need, but for their schedule.
constexpr Needs spodgt_needs(Sporadic sporadic) {
  return {.keep = Keep::newest_ever,
          .may_pause = true,
          .partial = Partial::senders,
          .sporadic = sporadic,
          .program = {.opening = {Phase{PhaseKind::compute}}, .round = {Phase{PhaseKind::exchange}, Phase{PhaseKind::compute}}}};
}

template <class Real>
AlgorithmFactory<Real> make_spodgt(const AlgorithmOptions& options);
inline constexpr AlgorithmMaker spodgt_maker{make_spodgt<float>, make_spodgt<double>};

/// The options that all of them have.
inline constexpr auto spodgt_step_options = step_options("eta", "0.01", "step size", "diminishing: eta / (k + step_offset)");

/// The entry of one that has no others, with these needs.
constexpr CatalogueEntry spodgt_entry(std::string_view name, std::string_view summary, Needs (*needs)(const AlgorithmOptions&)) {
  return {.name = name,
          .summary = summary,
          .options = spodgt_step_options,
          .merge = Weights::row,
          .share = Weights::column,
          .tracks = "y",
          .needs = needs,
          .message_bytes = model_and_mass_bytes,
          .make = spodgt_maker};
}

}  // namespace rubato
