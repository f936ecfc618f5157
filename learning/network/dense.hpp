// A fully connected layer as an operation of a network.
#pragma once

#include "learning/network/operation.hpp"

namespace rubato {

/// Parameters: outputs x inputs weights row by row, then the biases.
template <class Real>
OperationPtr<Real> make_dense(Index inputs, Index outputs, bool has_relu, Index offset);

}  // namespace rubato
