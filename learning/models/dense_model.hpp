// Dense models: fully connected layers, and what their last numbers cost. Regressions, linear classifiers, perceptrons.
#pragma once

#include <memory>
#include <vector>

#include "learning/activation.hpp"
#include "learning/choices.hpp"
#include "learning/model.hpp"
#include "learning/models/loss.hpp"

namespace rubato {

struct DenseForm {
  Index inputs = 0;
  std::vector<Index> hidden{};      ///< widths of the hidden layers; empty: a linear model
  std::uint32_t classes = 0;        ///< 0: a number is learned, which needs Loss::squared
  Loss loss = Loss::cross_entropy;  ///< logistic is for two classes
  Activation activation = Activation::relu;
  double dropout = 0;  ///< chance of a hidden number to be left out of a gradient
  double l2 = 0;
  double label_smoothing = 0;  ///< of the cross-entropy
  Start start = Start::zero;
};

/// Parameters, layer by layer from the input: out x in weights row by row, then the biases. The last layer has a row
/// per class, but only one where the loss is logistic or a number is learned. Throws std::invalid_argument with all
/// faults of the form.
template <class Real>
std::shared_ptr<const Model<Real>> make_dense_model(const DenseForm& form);

}  // namespace rubato
