// Least squares.  X: inputs, b: targets, N samples, r = X x - b.
//   f(x) = ||r||^2 / (2 N) + l2/2 ||x||^2      gradient: X^T r / N + l2 x
#include <utility>

#include "learning/gather.hpp"
#include "learning/layer.hpp"
#include "learning/models/problems.hpp"
#include "runtime/sentence.hpp"

namespace rubato {

namespace {

template <class Real>
class LeastSquares final : public Learner<Real> {
 public:
  LeastSquares(Matrix<Real> inputs, Vector<Real> targets, Real l2, Examples<Real> test)
      : inputs_{std::move(inputs)}, targets_{std::move(targets)}, l2_{l2}, test_{std::move(test)} {}

  Index dimension() const override { return inputs_.cols(); }
  std::uint32_t samples() const override { return static_cast<std::uint32_t>(inputs_.rows()); }

  Real gradient(ConstVectorRef<Real> x, Picks picks, VectorRef<Real> g, Scratch<Real>& scratch) const override {
    typename Scratch<Real>::Frame frame(scratch);
    const ConstMatrixRef<Real> inputs = gather_rows(inputs_, picks, scratch);
    const VectorRef<Real> residual = residual_of(x, inputs, picks, scratch);
    const Real count = static_cast<Real>(inputs.rows());
    g.noalias() = inputs.transpose() * residual;  // g is no input here
    g /= count;
    return residual.squaredNorm() / (2 * count) + add_l2(l2_, x, g);
  }

  Score score(ConstVectorRef<Real> x, Part part, Scratch<Real>& scratch) const override {
    typename Scratch<Real>::Frame frame(scratch);
    const bool is_own = is_tested_on_own(part);
    const Matrix<Real>& inputs = is_own ? inputs_ : test_.inputs;
    VectorRef<Real> residual = scratch.vector(inputs.rows());
    residual.noalias() = inputs * x;  // fresh scratch
    residual -= is_own ? targets_ : test_.targets;
    Score score;
    score.samples = static_cast<std::uint64_t>(inputs.rows());
    score.loss_sum = static_cast<double>(residual.squaredNorm()) / 2;
    return score;
  }

 private:
  VectorRef<Real> residual_of(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, Picks picks, Scratch<Real>& scratch) const {
    VectorRef<Real> residual = scratch.vector(inputs.rows());
    residual.noalias() = inputs * x;  // fresh scratch
    for (Index i = 0; i < residual.size(); ++i)
      residual[i] -= targets_[picks.empty() ? i : static_cast<Index>(picks[static_cast<std::size_t>(i)])];
    return residual;
  }

  bool is_tested_on_own(Part part) const { return part == Part::train || test_.inputs.rows() == 0; }

  Matrix<Real> inputs_;
  Vector<Real> targets_;
  Real l2_;
  Examples<Real> test_;  // without rows: inputs_ and targets_
};

}  // namespace

template <class Real>
std::unique_ptr<Learner<Real>> make_least_squares(Matrix<Real> inputs, Vector<Real> targets, Real l2, Examples<Real> test) {
  if (inputs.rows() == targets.size() && inputs.size() > 0)
    return std::make_unique<LeastSquares<Real>>(std::move(inputs), std::move(targets), l2, std::move(test));
  refuse("the matrix of least_squares is ", inputs.rows(), " x ", inputs.cols(), " and b has ", targets.size(),
         " numbers; b needs one for each row of X, and X at least one row and column");
}

template std::unique_ptr<Learner<float>> make_least_squares(Matrix<float>, Vector<float>, float, Examples<float>);
template std::unique_ptr<Learner<double>> make_least_squares(Matrix<double>, Vector<double>, double, Examples<double>);

}  // namespace rubato
