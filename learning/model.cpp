#include "learning/model.hpp"

#include <algorithm>

#include "learning/cross_entropy.hpp"

namespace rubato {

namespace {

// Rows scored at once. Blocks of so many rows start at whole cache lines, whatever the row's length.
constexpr Index block_rows = 256;

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
void Model<Real>::predict(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out,
                          Scratch<Real>& scratch) const {
  logits(x, inputs, out, scratch);
  softmax_rows(out);
}

template <class Real>
Score Model<Real>::score(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, std::span<const Label> labels,
                         Scratch<Real>& scratch) const {
  Score score = empty_score(classes());
  for (Index first = 0; first < inputs.rows(); first += block_rows) {
    typename Scratch<Real>::Frame frame(scratch);
    const Index rows = std::min(block_rows, inputs.rows() - first);
    const MatrixRef<Real> out = scratch.matrix(rows, classes());
    logits(x, {inputs.row(first).data(), rows, inputs.cols()}, out, scratch);
    for (Index row = 0; row < rows; ++row) {
      const Real* const numbers = out.row(row).data();
      const Label truth = labels[static_cast<std::size_t>(first + row)];
      score.count(truth, static_cast<Label>(std::max_element(numbers, numbers + out.cols()) - numbers));
      score.loss_sum += cross_entropy(numbers, out.cols(), truth);
    }
  }
  return score;
}

template class Model<float>;
template class Model<double>;

}  // namespace rubato
