// Convolution of images that lie pixel by pixel: float through oneDNN, any scalar through products of matrices.
#pragma once

#include "learning/network/operation.hpp"

namespace rubato {

/// Square windows. Parameters: outputs x inputs x kernel x kernel weights, then a bias per output if it has one.
struct ConvolutionForm {
  Shape in;
  Index outputs = 1;
  Index kernel = 3;
  Index stride = 1;
  Index padding = 0;  ///< pixels of zeros around the image
  bool has_bias = true;
  bool has_relu = false;  ///< max(0, .) right after it
  bool masks = true;      ///< with ReLU: the gradient that flows back is still to be set to 0 where the output is 0
  Index offset = 0;       ///< of its parameters

  Shape out() const {
    return {outputs, (in.height + 2 * padding - kernel) / stride + 1, (in.width + 2 * padding - kernel) / stride + 1};
  }
  Index weights() const { return outputs * in.channels * kernel * kernel; }
  Index parameters() const { return weights() + (has_bias ? outputs : 0); }
};

/// The fastest there is for this scalar.
template <class Real>
OperationPtr<Real> make_convolution(const ConvolutionForm& form);

/// Rows of windows times weights: slower, for every scalar, and a second opinion about the first.
template <class Real>
OperationPtr<Real> make_plain_convolution(const ConvolutionForm& form);

}  // namespace rubato
