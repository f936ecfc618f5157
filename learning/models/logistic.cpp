// Logistic regression without a bias.  a: a row of X, b: its class 0 or 1, z = a.x, s = 1 / (1 + e^-z).
//   f(x) = mean(ln(1 + e^z) - b z) + l2/2 ||x||^2      gradient: mean((s - b) a) + l2 x
#include <string>
#include <utility>

#include "learning/gather.hpp"
#include "learning/layer.hpp"
#include "learning/models/logistic_function.hpp"
#include "learning/models/problems.hpp"
#include "runtime/sentence.hpp"

namespace rubato {

namespace {

template <class Real>
class Logistic final : public Learner<Real> {
 public:
  Logistic(Matrix<Real> inputs, Vector<Real> targets, Real l2, Examples<Real> test)
      : inputs_{std::move(inputs)}, targets_{std::move(targets)}, l2_{l2}, test_{std::move(test)} {}

  Index dimension() const override { return inputs_.cols(); }
  std::uint32_t samples() const override { return static_cast<std::uint32_t>(inputs_.rows()); }
  std::uint32_t classes() const override { return 2; }

  Real gradient(ConstVectorRef<Real> x, Picks picks, VectorRef<Real> g, Scratch<Real>& scratch) const override {
    typename Scratch<Real>::Frame frame(scratch);
    const ConstMatrixRef<Real> inputs = gather_rows(inputs_, picks, scratch);
    VectorRef<Real> z = scratch.vector(inputs.rows());
    z.noalias() = inputs * x;  // fresh scratch
    Real loss = 0;
    for (Index i = 0; i < z.size(); ++i) {
      const Real b = target(picks, i);
      loss += softplus(z[i]) - b * z[i];
      z[i] = sigmoid(z[i]) - b;
    }
    const Real count = static_cast<Real>(z.size());
    g.noalias() = inputs.transpose() * z;  // g is no input here
    g /= count;
    return loss / count + add_l2(l2_, x, g);
  }

  Score score(ConstVectorRef<Real> x, Part part, Scratch<Real>& scratch) const override {
    typename Scratch<Real>::Frame frame(scratch);
    const bool is_own = is_tested_on_own(part);
    const Matrix<Real>& inputs = is_own ? inputs_ : test_.inputs;
    const Vector<Real>& targets = is_own ? targets_ : test_.targets;
    VectorRef<Real> z = scratch.vector(inputs.rows());
    z.noalias() = inputs * x;  // fresh scratch
    Score score = empty_score(2);
    for (Index i = 0; i < z.size(); ++i) {
      score.count(targets[i] > 0 ? 1 : 0, z[i] > 0 ? 1 : 0);
      score.loss_sum += static_cast<double>(softplus(z[i]) - targets[i] * z[i]);
    }
    return score;
  }

  void predict(ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out, Scratch<Real>& scratch) const override {
    typename Scratch<Real>::Frame frame(scratch);
    const ConstMatrixRef<Real> inputs = gather_rows(inputs_, picks, scratch);
    out.col(1) = inputs * x;
    for (Index i = 0; i < out.rows(); ++i) {
      const Real z = out(i, 1);
      out(i, 0) = sigmoid(-z);
      out(i, 1) = sigmoid(z);
    }
  }

 private:
  Real target(Picks picks, Index i) const {
    return targets_[picks.empty() ? i : static_cast<Index>(picks[static_cast<std::size_t>(i)])];
  }

  bool is_tested_on_own(Part part) const { return part == Part::train || test_.inputs.rows() == 0; }

  Matrix<Real> inputs_;
  Vector<Real> targets_;
  Real l2_;
  Examples<Real> test_;  // without rows: inputs_ and targets_
};

}  // namespace

template <class Real>
std::unique_ptr<Learner<Real>> make_logistic(Matrix<Real> inputs, Vector<Real> targets, Real l2, Examples<Real> test) {
  if (inputs.rows() != targets.size() || inputs.size() == 0)
    refuse("the matrix of logistic is ", inputs.rows(), " x ", inputs.cols(), " and b has ", targets.size(),
           " numbers; b needs one for each row of X, and X at least one row and column");
  for (Index i = 0; i < targets.size(); ++i) {
    if (targets[i] == 0 || targets[i] == 1) continue;
    refuse("label ", i, " of logistic is ", std::to_string(targets[i]), "; allowed are 0 and 1");
  }
  return std::make_unique<Logistic<Real>>(std::move(inputs), std::move(targets), l2, std::move(test));
}

template std::unique_ptr<Learner<float>> make_logistic(Matrix<float>, Vector<float>, float, Examples<float>);
template std::unique_ptr<Learner<double>> make_logistic(Matrix<double>, Vector<double>, double, Examples<double>);

}  // namespace rubato
