// Normalisation over groups of channels or over the batch, with what follows it in a residual block.
#pragma once

#include "learning/network/network.hpp"
#include "learning/network/operation.hpp"

namespace rubato {

/// Parameters: a scale and a shift per channel; with `batch` then the running mean and the running variance.
struct NormalisationForm {
  Shape shape;
  Normalisation kind = Normalisation::group;
  Index groups = 8;  ///< group: must divide the channels
  bool has_relu = false;
  Index offset = 0;  ///< of its parameters
};

/// out <- relu?(scale (in - mean) / sqrt(variance + 1e-5) + shift + other?) in one sweep. `other` is added if it is
/// given. Outside training `batch` uses its running statistics.
template <class Real>
OperationPtr<Real> make_normalisation(const NormalisationForm& form);

}  // namespace rubato
