// Model: a classifier over one flat parameter vector. It holds no parameters: they belong to the clients.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "learning/metrics.hpp"
#include "learning/scratch.hpp"
#include "learning/types.hpp"
#include "runtime/random.hpp"

namespace rubato {

/// Samples ready for arithmetic: one row of inputs and one label (or, where nothing is classified, one target) each.
template <class Real>
struct Batch {
  ConstMatrixRef<Real> inputs;
  std::span<const Label> labels;
  std::span<const Real> targets{};
  /// Of a gradient. None: nothing is random, so nothing is dropped out.
  std::optional<Chance> chance{};
};

/// Numbers `first` to `first + count - 1` of a parameter vector.
struct Range {
  Index first;
  Index count;
  bool operator==(const Range&) const = default;
};

/// Calls act(first, count) for what lies between the exempt ranges, which ascend, of a vector with `dimension` numbers.
template <class Act>
void for_each_between(std::span<const Range> exempt, Index dimension, const Act& act) {
  Index first = 0;
  for (const Range& range : exempt) {
    act(first, range.first - first);
    first = range.first + range.count;
  }
  act(first, dimension - first);
}

/// l2/2 ||x||^2 of what is learned, all but `measured`; adds its gradient to g.
template <class Real>
Real add_penalty(Real l2, std::span<const Range> measured, ConstVectorRef<Real> x, VectorRef<Real> g) {
  Real loss = 0;
  if (l2 == 0) return loss;
  for_each_between(measured, x.size(), [&](Index first, Index count) {
    loss += l2 / 2 * x.segment(first, count).squaredNorm();
    g.segment(first, count) += l2 * x.segment(first, count);
  });
  return loss;
}

/// A layer of a model below its output.
struct HiddenLayer {
  std::string name;      ///< its words, such as "dense 64"
  Index outputs = 0;     ///< numbers of a sample behind it, its activation included
  Index parameters = 0;  ///< the first ones of the model, on which they depend
  std::string base{};    ///< equal where these parameters mean the same in two models, number by number
};

/// Immutable; all threads may use one model at once, each with its own scratch.
/// x is a parameter vector of dimension() numbers throughout. A batch is never empty and its labels are below
/// classes(). A model must define dimension(), inputs(), classes(), gradient() and logits().
/// Where classes() is 0, a number is learned: batches have targets instead of labels.
template <class Real>
class Model {
 public:
  virtual ~Model() = default;

  virtual Index dimension() const = 0;
  /// Those of them that mean anything: less where zeros follow, so that models of several architectures have one dimension.
  virtual Index own_dimension() const { return dimension(); }
  virtual Index inputs() const = 0;
  virtual std::uint32_t classes() const = 0;
  /// Numbers that logits() writes per row.
  Index outputs() const { return classes() == 0 ? 1 : static_cast<Index>(classes()); }

  /// Writes the starting point: zeros unless the model says otherwise. The draws come from `stream` alone.
  virtual void initialise(VectorRef<Real> x, Stream& stream) const;

  /// Parameters that are measured, not learned: running statistics of batch normalisation. Their gradient is their
  /// distance to what the batch shows, so that every descent moves them there; no penalty and no clipping concerns
  /// them.
  virtual std::vector<Range> statistics() const { return {}; }

  /// The most rows of a batch that gradient() is asked for; larger batches are taken in blocks of so many. A model that
  /// needs much memory for a row says less; one with statistics takes those of each block.
  virtual Index block_rows() const { return 1024; }

  /// Returns the mean loss over the batch and writes its gradient to g (which must not overlap x).
  /// Both include l2/2 ||x||^2 if the model was built with an l2.
  virtual Real gradient(ConstVectorRef<Real> x, const Batch<Real>& batch, VectorRef<Real> g, Scratch<Real>& scratch) const = 0;

  /// x <- x - step * gradient(x); returns the loss before the step. The same mathematics as gradient(), but a model may
  /// write it without an intermediate g: equal to rounding, not to the bit.
  virtual Real descend(VectorRef<Real> x, const Batch<Real>& batch, Real step, Scratch<Real>& scratch) const;

  /// One row of outputs() numbers per input row; the place of the largest is the predicted class. Where a number is
  /// learned, its prediction.
  virtual void logits(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out, Scratch<Real>& scratch) const = 0;

  /// From the input to the output; none unless the model says otherwise.
  virtual std::vector<HiddenLayer> hidden_layers() const { return {}; }

  /// Writes what comes out of the hidden layer of this place, one row of its outputs per input row; x needs its parameters
  /// only. The default throws std::logic_error.
  virtual void hidden_outputs(std::size_t layer, ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out,
                              Scratch<Real>& scratch) const;

  /// What one sample costs that has these logits, without penalties; they may be overwritten. By default the
  /// cross-entropy or, where a number is learned, half the square of its error.
  virtual double cost(const Batch<Real>& batch, Index row, Real* logits) const;

  /// The class probabilities: the softmax of the logits.
  void predict(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out, Scratch<Real>& scratch) const;

  /// Loss and predictions on any number of samples. Equal logits predict the lowest class.
  Score score(ConstVectorRef<Real> x, const Batch<Real>& samples, Scratch<Real>& scratch) const;
  Score score(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, std::span<const Label> labels, Scratch<Real>& scratch) const {
    return score(x, {inputs, labels}, scratch);
  }
};

/// Multinomial logistic regression. Parameters: classes x inputs weights row by row, then the biases. Starts at zero.
template <class Real>
std::shared_ptr<const Model<Real>> make_softmax(Index inputs, std::uint32_t classes, Real l2 = 0);

/// A multilayer perceptron with ReLU between its layers. Parameters, layer by layer from the input: out x in weights
/// row by row, then the biases. Starts at He's normal weights (variance 2 / in) and zero biases. `hidden` may be empty;
/// its entries are the widths of the hidden layers.
template <class Real>
std::shared_ptr<const Model<Real>> make_mlp(Index inputs, const std::vector<Index>& hidden, std::uint32_t classes, Real l2 = 0);

extern template class Model<float>;
extern template class Model<double>;

}  // namespace rubato
