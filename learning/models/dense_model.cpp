// Fully connected layers.  W_l, b_l: weights and biases of layer l, f: the activation, M_l: what dropout makes of a
// layer (factors of 0 or 1 / (1 - chance); all 1 without it), A_l: what the next layer sees, a row per sample; A_0 the
// inputs.
//   forward    H_l = f(A_{l-1} W_l^T + b_l),  A_l = H_l o M_l;  the last layer without f and M
//              loss = mean loss of its numbers + l2/2 ||x||^2
//   backward   D = gradient of the loss at the last numbers, then from the last layer down
//              dW_l = D^T A_{l-1},  db_l = column sums of D,  D <- (D W_l) o M_{l-1} o f'(H_{l-1})
#include "learning/models/dense_model.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "learning/layer.hpp"
#include "learning/network/operation.hpp"
#include "runtime/words.hpp"

namespace rubato {

namespace {

template <class Real>
class DenseModel final : public Model<Real> {
 public:
  explicit DenseModel(const DenseForm& form) : form_{form}, l2_{static_cast<Real>(form.l2)} {
    Index inputs = form.inputs;
    for (const Index width : form.hidden) add_layer(inputs, width);
    add_layer(inputs, has_one_column() ? 1 : static_cast<Index>(form.classes));
  }

  Index dimension() const override { return layers_.back().end(); }
  Index inputs() const override { return form_.inputs; }
  std::uint32_t classes() const override { return form_.classes; }

  void initialise(VectorRef<Real> x, Stream& stream) const override {
    x.setZero();
    if (form_.start == Start::zero) return;
    const StartLaw law = form_.start == Start::xavier ? StartLaw::xavier : StartLaw::he;
    for (const Layer& layer : layers_)
      start_weights(x.data() + layer.offset, layer.outputs * layer.inputs, layer.inputs, layer.outputs, law, stream);
  }

  Real gradient(ConstVectorRef<Real> x, const Batch<Real>& batch, VectorRef<Real> g, Scratch<Real>& scratch) const override {
    const auto write = [g](const Layer& layer, ConstMatrixRef<Real> delta, ConstMatrixRef<Real> inputs) {
      write_gradient<Real>(layer, delta, inputs, g);
    };
    const Real loss = pass(0, x, batch, batch.inputs, nullptr, scratch, write);
    return loss + add_l2(l2_, x, g);
  }

  // Every layer steps as soon as what flows through it has flowed on: g is never written down.
  Real descend(VectorRef<Real> x, const Batch<Real>& batch, Real step, Scratch<Real>& scratch) const override {
    const Real l2_loss = l2_ == 0 ? 0 : l2_ / 2 * x.squaredNorm();
    const auto subtract = [&](const Layer& layer, ConstMatrixRef<Real> delta, ConstMatrixRef<Real> inputs) {
      if (l2_ != 0) x.segment(layer.offset, layer.size()) *= 1 - step * l2_;
      subtract_gradient<Real>(layer, delta, inputs, step, x);
    };
    return l2_loss + pass(0, read_only(x), batch, batch.inputs, nullptr, scratch, subtract);
  }

  void logits(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out, Scratch<Real>& scratch) const override {
    typename Scratch<Real>::Frame frame(scratch);
    if (form_.loss != Loss::logistic) return forward(0, x, inputs, out, scratch);
    const MatrixRef<Real> of_class_one = scratch.matrix(inputs.rows(), 1);
    forward(0, x, inputs, of_class_one, scratch);
    out.col(0).setZero();
    out.col(1) = of_class_one;
  }

  std::vector<HiddenLayer> hidden_layers() const override {
    std::vector<HiddenLayer> all;
    std::string base = std::to_string(form_.inputs) + " numbers";
    for (std::size_t l = 0; !is_last(l); ++l) {
      const std::string name = "dense " + std::to_string(layers_[l].outputs);
      base += ", " + name + " " + std::string(word_of(form_.activation));
      all.push_back({name, layers_[l].outputs, layers_[l].end(), base});
    }
    return all;
  }

  void hidden_outputs(std::size_t layer, ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out,
                      Scratch<Real>& scratch) const override {
    typename Scratch<Real>::Frame frame(scratch);
    forward_to(0, layer, x, inputs, out, scratch);
  }

  double cost(const Batch<Real>& batch, Index row, Real* logits) const override {
    if (form_.loss == Loss::logistic) return Model<Real>::cost(batch, row, logits);
    return loss_of_row(form_.loss, batch, row, logits, this->outputs());
  }

 private:
  bool has_one_column() const { return form_.loss == Loss::logistic || form_.classes == 0; }

  void add_layer(Index& inputs, Index outputs) {
    layers_.push_back({inputs, outputs, layers_.empty() ? 0 : layers_.back().end()});
    inputs = outputs;
  }

  bool is_last(std::size_t l) const { return l + 1 == layers_.size(); }

  ConstMatrixRef<Real> hidden(std::size_t l, ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, Scratch<Real>& scratch) const {
    const MatrixRef<Real> outputs = scratch.matrix(inputs.rows(), layers_[l].outputs);
    pass_hidden(l, x, inputs, outputs);
    return read_only(outputs);
  }

  void pass_hidden(std::size_t l, ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out) const {
    apply<Real>(layers_[l], x, inputs, out);
    activate(form_.activation, out);
  }

  // Layers l to `last`, all of them hidden.
  void forward_to(std::size_t l, std::size_t last, ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out,
                  Scratch<Real>& scratch) const {
    if (l == last) return pass_hidden(l, x, inputs, out);
    forward_to(l + 1, last, x, hidden(l, x, inputs, scratch), out, scratch);
  }

  // Layer l and all above it, with nothing left out.
  void forward(std::size_t l, ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out,
               Scratch<Real>& scratch) const {
    if (is_last(l)) return apply<Real>(layers_[l], x, inputs, out);
    forward(l + 1, x, hidden(l, x, inputs, scratch), out, scratch);
  }

  // Layer l and all above it, forward and then back. Returns the loss, writes what flows back to the inputs into `back`
  // (if there is a layer below that wants it) and calls visit(layer, D, A_{l-1}), from the last layer to this one.
  // No weights of a layer are read after its visit.
  template <class Visit>
  Real pass(std::size_t l, ConstVectorRef<Real> x, const Batch<Real>& batch, ConstMatrixRef<Real> inputs,
            const MatrixRef<Real>* back, Scratch<Real>& scratch, const Visit& visit) const {
    typename Scratch<Real>::Frame frame(scratch);
    const MatrixRef<Real> delta = scratch.matrix(inputs.rows(), layers_[l].outputs);
    const Real loss = delta_of(l, x, batch, inputs, delta, scratch, visit);
    if (back) apply_backwards<Real>(layers_[l], x, read_only(delta), *back);
    visit(layers_[l], read_only(delta), inputs);
    return loss;
  }

  // Writes D of layer l: the loss's own at the top, else what flows back from the layer above.
  template <class Visit>
  Real delta_of(std::size_t l, ConstVectorRef<Real> x, const Batch<Real>& batch, ConstMatrixRef<Real> inputs, MatrixRef<Real> delta,
                Scratch<Real>& scratch, const Visit& visit) const {
    if (is_last(l)) {
      apply<Real>(layers_[l], x, inputs, delta);
      return loss_gradient(form_.loss, static_cast<Real>(form_.label_smoothing), batch, delta);
    }
    const ConstMatrixRef<Real> activated = hidden(l, x, inputs, scratch);
    const bool drops = form_.dropout > 0 && batch.chance;
    const Real loss = drops ? pass_dropping(l, x, batch, activated, delta, scratch, visit)
                            : pass(l + 1, x, batch, activated, &delta, scratch, visit);
    multiply_by_slope(form_.activation, activated, delta);
    return loss;
  }

  // The layers above layer l, which see some of its numbers only.
  template <class Visit>
  Real pass_dropping(std::size_t l, ConstVectorRef<Real> x, const Batch<Real>& batch, ConstMatrixRef<Real> activated,
                     MatrixRef<Real> delta, Scratch<Real>& scratch, const Visit& visit) const {
    const MatrixRef<Real> factors = scratch.matrix(activated.rows(), activated.cols());
    write_dropout(form_.dropout, batch.chance->stream(static_cast<std::uint32_t>(l)), factors);
    MatrixRef<Real> passed_on = scratch.matrix(activated.rows(), activated.cols());
    passed_on = activated.cwiseProduct(factors);
    const Real loss = pass(l + 1, x, batch, read_only(passed_on), &delta, scratch, visit);
    delta.array() *= factors.array();
    return loss;
  }

  DenseForm form_;
  Real l2_;
  std::vector<Layer> layers_;
};

void check_form(const DenseForm& form) {
  std::string faults;
  const auto require = [&](bool holds, const std::string& fault) {
    if (!holds) faults += (faults.empty() ? "model." : "; model.") + fault;
  };
  require(form.inputs > 0, "inputs is " + std::to_string(form.inputs) + "; allowed are whole numbers from 1");
  for (const Index width : form.hidden)
    require(width > 0, "hidden has the entry " + std::to_string(width) + "; allowed are whole numbers from 1");
  require(form.classes > 0 || form.loss == Loss::squared, "classes is 0; allowed are whole numbers from 1");
  require(form.classes == 2 || form.loss != Loss::logistic,
          "classes is " + std::to_string(form.classes) + "; the logistic loss tells 2 classes apart");
  require(form.dropout >= 0 && form.dropout < 1,
          "dropout is " + std::to_string(form.dropout) + "; allowed are numbers from 0 to below 1");
  require(form.label_smoothing >= 0 && form.label_smoothing < 1,
          "label_smoothing is " + std::to_string(form.label_smoothing) + "; allowed are numbers from 0 to below 1");
  require(form.l2 >= 0, "l2 is " + std::to_string(form.l2) + "; allowed are numbers from 0");
  constexpr Index most_weights = Index{1} << 28;  // of one layer
  Index inputs = std::max<Index>(form.inputs, 1);
  for (const Index width : form.hidden) {
    require(width <= most_weights / inputs, "hidden has a layer of " + std::to_string(inputs) + " x " + std::to_string(width) +
                                                " weights; allowed are " + std::to_string(most_weights));
    inputs = std::max<Index>(width, 1);
  }
  if (!faults.empty()) throw std::invalid_argument(faults);
}

}  // namespace

template <class Real>
std::shared_ptr<const Model<Real>> make_dense_model(const DenseForm& form) {
  check_form(form);
  return std::make_shared<DenseModel<Real>>(form);
}

template <class Real>
std::shared_ptr<const Model<Real>> make_softmax(Index inputs, std::uint32_t classes, Real l2) {
  return make_dense_model<Real>({.inputs = inputs, .classes = classes, .l2 = static_cast<double>(l2)});
}

template <class Real>
std::shared_ptr<const Model<Real>> make_mlp(Index inputs, const std::vector<Index>& hidden, std::uint32_t classes, Real l2) {
  return make_dense_model<Real>(
      {.inputs = inputs, .hidden = hidden, .classes = classes, .l2 = static_cast<double>(l2), .start = Start::he});
}

#define RUBATO_INSTANTIATE(Real)                                                        \
  template std::shared_ptr<const Model<Real>> make_dense_model(const DenseForm&);       \
  template std::shared_ptr<const Model<Real>> make_softmax(Index, std::uint32_t, Real); \
  template std::shared_ptr<const Model<Real>> make_mlp(Index, const std::vector<Index>&, std::uint32_t, Real);
RUBATO_INSTANTIATE(float)
RUBATO_INSTANTIATE(double)
#undef RUBATO_INSTANTIATE

}  // namespace rubato
