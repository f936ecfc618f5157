// Multinomial logistic regression.  W: classes x inputs weights, b: biases, p: class probabilities of a sample a.
//   p = softmax(W a + b)          loss = mean(-log p_label) + l2/2 ||(W, b)||^2
//   gradient: mean((p - e_label) a^T) for W, mean(p - e_label) for b, and l2 (W, b)
#include "learning/cross_entropy.hpp"
#include "learning/layer.hpp"
#include "learning/model.hpp"

namespace rubato {

namespace {

template <class Real>
class Softmax final : public Model<Real> {
 public:
  Softmax(Layer layer, Real l2) : layer_{layer}, l2_{l2} {}

  Index dimension() const override { return layer_.size(); }
  Index inputs() const override { return layer_.inputs; }
  std::uint32_t classes() const override { return static_cast<std::uint32_t>(layer_.outputs); }

  Real gradient(ConstVectorRef<Real> x, const Batch<Real>& batch, VectorRef<Real> g,
                Scratch<Real>& scratch) const override {
    typename Scratch<Real>::Frame frame(scratch);
    const MatrixRef<Real> delta = scratch.matrix(batch.inputs.rows(), layer_.outputs);
    const Real loss = loss_and_delta(x, batch, delta);
    write_gradient<Real>(layer_, read_only(delta), batch.inputs, g);
    return loss + add_l2(l2_, x, g);
  }

  Real descend(VectorRef<Real> x, const Batch<Real>& batch, Real step, Scratch<Real>& scratch) const override {
    typename Scratch<Real>::Frame frame(scratch);
    const MatrixRef<Real> delta = scratch.matrix(batch.inputs.rows(), layer_.outputs);
    const Real loss = loss_and_delta(read_only(x), batch, delta) + shrink_by_l2(l2_, x, step);
    subtract_gradient<Real>(layer_, read_only(delta), batch.inputs, step, x);
    return loss;
  }

  void logits(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out, Scratch<Real>&) const override {
    apply<Real>(layer_, x, inputs, out);
  }

 private:
  Real loss_and_delta(ConstVectorRef<Real> x, const Batch<Real>& batch, MatrixRef<Real> delta) const {
    apply<Real>(layer_, x, batch.inputs, delta);
    return cross_entropy_gradient(delta, batch.labels);
  }

  Layer layer_;
  Real l2_;
};

}  // namespace

template <class Real>
std::shared_ptr<const Model<Real>> make_softmax(Index inputs, std::uint32_t classes, Real l2) {
  check_sizes("softmax", inputs, {}, classes, static_cast<double>(l2));
  return std::make_shared<Softmax<Real>>(Layer{.inputs = inputs, .outputs = static_cast<Index>(classes), .offset = 0},
                                         l2);
}

template std::shared_ptr<const Model<float>> make_softmax(Index, std::uint32_t, float);
template std::shared_ptr<const Model<double>> make_softmax(Index, std::uint32_t, double);

}  // namespace rubato
