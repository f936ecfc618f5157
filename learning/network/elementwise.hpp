// Operations that treat every number, or every pixel, alone.
#pragma once

#include "learning/activation.hpp"
#include "learning/network/operation.hpp"

namespace rubato {

template <class Real>
OperationPtr<Real> make_activation(Activation kind, Index size);

/// Sets every number to 0 with this chance and divides the others by 1 - chance; only where a pass has a chance.
/// `layer` tells the dropouts of one network apart.
template <class Real>
OperationPtr<Real> make_dropout(double chance, Index size, std::uint32_t layer);

/// From planes, as data sets have them, to pixels with their channels side by side.
template <class Real>
OperationPtr<Real> make_to_pixels(const Shape& shape);

/// The image with so many pixels of zeros around it.
template <class Real>
OperationPtr<Real> make_framing(const Shape& in, Index width);

/// Every `stride`-th pixel of every `stride`-th row, with zeros for channels in front of and behind those of the input.
template <class Real>
OperationPtr<Real> make_thinning(const Shape& in, Index stride, Index channels);

}  // namespace rubato
