// A fully connected layer inside a flat parameter vector: the products that models are made of.
#pragma once

#include "learning/types.hpp"

namespace rubato {

/// outputs x inputs weights row by row from `offset`, then the biases.
struct Layer {
  Index inputs;
  Index outputs;
  Index offset;

  Index bias() const { return offset + outputs * inputs; }
  Index size() const { return outputs * inputs + outputs; }
  Index end() const { return offset + size(); }
};

/// out <- inputs W^T + b, a row per sample.
template <class Real>
void apply(const Layer& layer, ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out);

/// out <- delta W: what flows back to the layer's inputs.
template <class Real>
void apply_backwards(const Layer& layer, ConstVectorRef<Real> x, ConstMatrixRef<Real> delta, MatrixRef<Real> out);

/// The layer's part of g <- (delta^T inputs, column sums of delta).
template <class Real>
void write_gradient(const Layer& layer, ConstMatrixRef<Real> delta, ConstMatrixRef<Real> inputs, VectorRef<Real> g);

/// The layer's part of x <- x - step (delta^T inputs, column sums of delta).
template <class Real>
void subtract_gradient(const Layer& layer, ConstMatrixRef<Real> delta, ConstMatrixRef<Real> inputs, Real step, VectorRef<Real> x);

/// g <- g + l2 x; returns l2/2 ||x||^2.
template <class Real>
Real add_l2(Real l2, ConstVectorRef<Real> x, VectorRef<Real> g);

}  // namespace rubato
