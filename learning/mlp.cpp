// A multilayer perceptron.  W_l, b_l: weights and biases of layer l, A_l: its outputs, a row per sample; A_0 the
// inputs.
//   forward    A_l = max(0, A_{l-1} W_l^T + b_l),  the last layer without max       loss = cross-entropy + l2/2 ||x||^2
//   backward   D = gradient of the loss at the logits, then from the last layer down
//              dW_l = D^T A_{l-1},  db_l = column sums of D,  D <- (D W_l) where A_{l-1} > 0
#include <cmath>

#include "learning/cross_entropy.hpp"
#include "learning/layer.hpp"
#include "learning/model.hpp"

namespace rubato {

namespace {

template <class Real>
class Mlp final : public Model<Real> {
 public:
  Mlp(Index inputs, const std::vector<Index>& hidden, Index classes, Real l2) : l2_{l2} {
    for (const Index width : hidden) add_layer(inputs, width);
    add_layer(inputs, classes);
  }

  Index dimension() const override { return layers_.back().end(); }
  Index inputs() const override { return layers_.front().inputs; }
  std::uint32_t classes() const override { return static_cast<std::uint32_t>(layers_.back().outputs); }

  void initialise(VectorRef<Real> x, Stream& stream) const override {
    for (const Layer& layer : layers_) {
      const double deviation = std::sqrt(2.0 / static_cast<double>(layer.inputs));
      for (Index i = layer.offset; i < layer.bias(); ++i) x[i] = static_cast<Real>(deviation * stream.normal());
      for (Index i = layer.bias(); i < layer.end(); ++i) x[i] = 0;
    }
  }

  Real gradient(ConstVectorRef<Real> x, const Batch<Real>& batch, VectorRef<Real> g,
                Scratch<Real>& scratch) const override {
    const auto write = [g](const Layer& layer, ConstMatrixRef<Real> delta, ConstMatrixRef<Real> inputs) {
      write_gradient<Real>(layer, delta, inputs, g);
    };
    const Real loss = pass(0, x, batch, nullptr, scratch, write);
    return loss + add_l2(l2_, x, g);
  }

  // Every layer steps as soon as what flows through it has flowed on: g is never written down.
  Real descend(VectorRef<Real> x, const Batch<Real>& batch, Real step, Scratch<Real>& scratch) const override {
    const Real l2_loss = l2_ == 0 ? 0 : l2_ / 2 * x.squaredNorm();
    const auto subtract = [&](const Layer& layer, ConstMatrixRef<Real> delta, ConstMatrixRef<Real> inputs) {
      if (l2_ != 0) x.segment(layer.offset, layer.size()) *= 1 - step * l2_;
      subtract_gradient<Real>(layer, delta, inputs, step, x);
    };
    return l2_loss + pass(0, read_only(x), batch, nullptr, scratch, subtract);
  }

  void logits(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out,
              Scratch<Real>& scratch) const override {
    typename Scratch<Real>::Frame frame(scratch);
    forward(0, x, inputs, out, scratch);
  }

 private:
  void add_layer(Index& inputs, Index outputs) {
    layers_.push_back({inputs, outputs, layers_.empty() ? 0 : layers_.back().end()});
    inputs = outputs;
  }

  bool is_last(std::size_t l) const { return l + 1 == layers_.size(); }

  MatrixRef<Real> hidden(std::size_t l, ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs,
                         Scratch<Real>& scratch) const {
    MatrixRef<Real> outputs = scratch.matrix(inputs.rows(), layers_[l].outputs);
    apply<Real>(layers_[l], x, inputs, outputs);
    outputs = outputs.cwiseMax(Real{0});
    return outputs;
  }

  // Layer l and all above it.
  void forward(std::size_t l, ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out,
               Scratch<Real>& scratch) const {
    if (is_last(l)) return apply<Real>(layers_[l], x, inputs, out);
    forward(l + 1, x, read_only(hidden(l, x, inputs, scratch)), out, scratch);
  }

  // Layer l and all above it, forward and then back. Returns the loss, writes what flows back to the inputs into `back`
  // (if there is somebody below who wants it) and calls visit(layer, D, A_{l-1}), from the last layer to this one.
  // No weights of a layer are read after its visit.
  template <class Visit>
  Real pass(std::size_t l, ConstVectorRef<Real> x, const Batch<Real>& layer_inputs, MatrixRef<Real>* back,
            Scratch<Real>& scratch, const Visit& visit) const {
    typename Scratch<Real>::Frame frame(scratch);
    const MatrixRef<Real> delta = scratch.matrix(layer_inputs.inputs.rows(), layers_[l].outputs);
    const Real loss = delta_of(l, x, layer_inputs, delta, scratch, visit);
    if (back) apply_backwards<Real>(layers_[l], x, read_only(delta), *back);
    visit(layers_[l], read_only(delta), layer_inputs.inputs);
    return loss;
  }

  // Writes D of layer l: the loss's own at the top, else what flows back from the layer above where ReLU let it pass.
  template <class Visit>
  Real delta_of(std::size_t l, ConstVectorRef<Real> x, const Batch<Real>& layer_inputs, MatrixRef<Real> delta,
                Scratch<Real>& scratch, const Visit& visit) const {
    if (is_last(l)) {
      apply<Real>(layers_[l], x, layer_inputs.inputs, delta);
      return cross_entropy_gradient(delta, layer_inputs.labels);
    }
    const ConstMatrixRef<Real> outputs = read_only(hidden(l, x, layer_inputs.inputs, scratch));
    const Real loss = pass(l + 1, x, {outputs, layer_inputs.labels}, &delta, scratch, visit);
    keep_where_positive(outputs, delta);
    return loss;
  }

  static void keep_where_positive(ConstMatrixRef<Real> outputs, MatrixRef<Real> delta) {
    const Real* const output = outputs.data();
    Real* const number = delta.data();
    for (Index i = 0; i < delta.size(); ++i) number[i] = output[i] > 0 ? number[i] : 0;
  }

  Real l2_;
  std::vector<Layer> layers_;
};

}  // namespace

template <class Real>
std::shared_ptr<const Model<Real>> make_mlp(Index inputs, const std::vector<Index>& hidden, std::uint32_t classes,
                                            Real l2) {
  check_sizes("mlp", inputs, hidden, classes, static_cast<double>(l2));
  return std::make_shared<Mlp<Real>>(inputs, hidden, static_cast<Index>(classes), l2);
}

template std::shared_ptr<const Model<float>> make_mlp(Index, const std::vector<Index>&, std::uint32_t, float);
template std::shared_ptr<const Model<double>> make_mlp(Index, const std::vector<Index>&, std::uint32_t, double);

}  // namespace rubato
