// The operations that networks are built of: dense layers, convolutions, normalisations, poolings, and those that treat every
// number, or every pixel, alone. Parameters begin at `offset` of the network's vector.
#pragma once

#include "learning/activation.hpp"
#include "learning/network/network.hpp"
#include "learning/network/operation.hpp"

namespace rubato {

// Fully connected.

/// Parameters: outputs x inputs weights row by row, then the biases.
template <class Real>
OperationPtr<Real> make_dense(Index inputs, Index outputs, bool has_relu, Index offset);

// Convolutions of images that lie pixel by pixel.

/// Windows are square, or one row high. Parameters: outputs x inputs x rows of a window x kernel weights, then a bias per
/// output if it has one.
struct ConvolutionForm {
  Shape in;
  Index outputs = 1;
  Index kernel = 3;
  Index stride = 1;
  Index padding = 0;    ///< pixels of zeros around the image, or before and behind each row
  bool is_row = false;  ///< windows are one row high
  bool has_bias = true;
  bool has_relu = false;  ///< max(0, .) right after it
  bool masks = true;      ///< with ReLU: the gradient that flows back is still to be set to 0 where the output is 0
  Index offset = 0;       ///< of its parameters

  Index kernel_rows() const { return is_row ? 1 : kernel; }
  Index padding_rows() const { return is_row ? 0 : padding; }
  Index stride_rows() const { return is_row ? 1 : stride; }
  Shape out() const {
    return {outputs, (in.height + 2 * padding_rows() - kernel_rows()) / stride_rows() + 1,
            (in.width + 2 * padding - kernel) / stride + 1};
  }
  Index weights() const { return outputs * in.channels * kernel_rows() * kernel; }
  Index parameters() const { return weights() + (has_bias ? outputs : 0); }
};

/// The fastest there is for this scalar.
template <class Real>
OperationPtr<Real> make_convolution(const ConvolutionForm& form);

/// Rows of windows times weights: slower, for every scalar, and a second opinion about the first.
template <class Real>
OperationPtr<Real> make_plain_convolution(const ConvolutionForm& form);

// Normalisation, with what follows it in a residual block.

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

// Pooling.

struct PoolingForm {
  Shape in;
  Index size = 2;
  Index stride = 2;
  Index padding = 0;        ///< less than size; what lies outside never is the largest
  bool is_row = false;      ///< windows are one row high
  bool masks_relu = false;  ///< the input is max(0, .): nothing flows back to where it is 0

  Index rows() const { return is_row ? 1 : size; }
  Index padding_rows() const { return is_row ? 0 : padding; }
  Index stride_rows() const { return is_row ? 1 : stride; }
  Shape out() const {
    return {in.channels, (in.height + 2 * padding_rows() - rows()) / stride_rows() + 1,
            (in.width + 2 * padding - size) / stride + 1};
  }
};

/// Of equal numbers the first in a window's row order is the largest.
template <class Real>
OperationPtr<Real> make_max_pooling(const PoolingForm& form);

/// A number per channel: the mean of all its pixels.
template <class Real>
OperationPtr<Real> make_mean_pooling(const Shape& in);

// Number by number, pixel by pixel.

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
