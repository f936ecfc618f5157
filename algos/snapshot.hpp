// Snapshot: where a gradient is taken of a model that others change while it is computed.
#pragma once

#include "algos/option_table.hpp"
#include "runtime/protocols/needs.hpp"

namespace rubato {

/// At the model as it was when the computation began, or as it is when the gradient is there.
constexpr OptionSpec snapshot_option(std::string_view fallback) {
  return word_option("snapshot", fallback, "gradients are those of the model when their computation began, or when it is finished",
                     "at_start|at_finish");
}
/// What follows for the protocol: the model is fixed at the start, or not.
inline Needs with_snapshot(const OptionReader& options) {
  Needs needs;
  needs.fixes_model_at_start = options.is("snapshot", "at_start");
  return needs;
}

}  // namespace rubato
