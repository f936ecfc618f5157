#include "learning/model.hpp"

#include <algorithm>
#include <stdexcept>

#include "learning/cross_entropy.hpp"

namespace rubato {

namespace {

// Rows scored at once. Blocks of so many rows start at whole cache lines, whatever the row's length.
constexpr Index scored_rows = 256;

}  // namespace

template <class Real>
void Model<Real>::initialise(VectorRef<Real> x, Stream&) const {
  x.setZero();
}

template <class Real>
Real Model<Real>::descend(VectorRef<Real> x, const Batch<Real>& batch, Real step, Scratch<Real>& scratch) const {
  typename Scratch<Real>::Frame frame(scratch);
  const VectorRef<Real> g = scratch.vector(dimension());
  const Real loss = gradient(read_only(x), batch, g, scratch);
  x -= step * g;
  return loss;
}

template <class Real>
void Model<Real>::predict(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out, Scratch<Real>& scratch) const {
  logits(x, inputs, out, scratch);
  softmax_rows(out);
}

template <class Real>
double Model<Real>::cost(const Batch<Real>& batch, Index row, Real* logits) const {
  const auto place = static_cast<std::size_t>(row);
  if (classes() > 0) return cross_entropy(logits, outputs(), batch.labels[place]);
  const double error = static_cast<double>(logits[0] - batch.targets[place]);
  return error * error / 2;
}

template <class Real>
Score Model<Real>::score(ConstVectorRef<Real> x, const Batch<Real>& samples, Scratch<Real>& scratch) const {
  Score score = empty_score(classes());
  const Index all = samples.inputs.rows();
  for (Index first = 0; first < all; first += scored_rows) {
    typename Scratch<Real>::Frame frame(scratch);
    const Index rows = std::min(scored_rows, all - first);
    MatrixRef<Real> out = scratch.matrix(rows, outputs());
    logits(x, {samples.inputs.row(first).data(), rows, samples.inputs.cols()}, out, scratch);
    for (Index row = 0; row < rows; ++row) {
      Real* const numbers = out.row(row).data();
      if (classes() > 0)
        score.count(samples.labels[static_cast<std::size_t>(first + row)],
                    static_cast<Label>(std::max_element(numbers, numbers + out.cols()) - numbers));
      else
        ++score.samples;
      score.loss_sum += cost(samples, first + row, numbers);
    }
  }
  return score;
}

template <class Real>
void Model<Real>::hidden_outputs(std::size_t, ConstVectorRef<Real>, ConstMatrixRef<Real>, MatrixRef<Real>, Scratch<Real>&) const {
  throw std::logic_error("this model has no hidden layers");
}

template class Model<float>;
template class Model<double>;

}  // namespace rubato
