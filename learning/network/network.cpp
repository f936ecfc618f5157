#include "learning/network/network.hpp"

#include <algorithm>
#include <stdexcept>

#include "learning/cross_entropy.hpp"
#include "learning/network/builder.hpp"

namespace rubato {

namespace {

// What one pass of training may take, and rows that it always may.
constexpr Index most_bytes = Index{512} << 20;
constexpr Index fewest_rows = 16;
constexpr Index most_rows = 1024;
// Rows that are evaluated at once.
constexpr Index evaluated_rows = 128;

template <class Real>
class Network final : public Model<Real> {
 public:
  Network(const NetworkSpec& spec, const Shape& input, std::uint32_t classes)
      : spec_{spec}, input_{input}, classes_{classes}, built_{build_network<Real>(spec, input, classes)} {
    const Index bytes = built_.program.training_size() * static_cast<Index>(sizeof(Real));
    block_rows_ = std::clamp(most_bytes / bytes, fewest_rows, most_rows);
  }

  Index dimension() const override { return built_.parameters; }
  Index inputs() const override { return input_.size(); }
  std::uint32_t classes() const override { return classes_; }

  void initialise(VectorRef<Real> x, Stream& stream) const override {
    const StartLaw law = spec_.starts_xavier ? StartLaw::xavier : StartLaw::he;
    for (const Node<Real>& node : built_.program.nodes()) node.operation->initialise(x.data(), law, stream);
  }

  std::vector<Range> statistics() const override {
    std::vector<Range> all;
    for (const Node<Real>& node : built_.program.nodes())
      if (const std::optional<Range> own = node.operation->statistics()) all.push_back(*own);
    return all;
  }

  Real gradient(ConstVectorRef<Real> x, const Batch<Real>& batch, VectorRef<Real> g, Scratch<Real>& scratch) const override {
    const Pass<Real> pass{.rows = batch.inputs.rows(),
                          .parameters = x.data(),
                          .scratch = scratch,
                          .chance = batch.chance ? &*batch.chance : nullptr,
                          .trains = true};
    Real loss = 0;
    built_.program.train(pass, batch.inputs.data(), g.data(), [&](const Real* logits, Real* delta) {
      const Index count = pass.rows * static_cast<Index>(classes_);
      std::copy_n(logits, count, delta);
      loss = cross_entropy_gradient<Real>({delta, pass.rows, static_cast<Index>(classes_)}, batch.labels,
                                          static_cast<Real>(spec_.label_smoothing));
    });
    return spec_.l2 == 0 ? loss : loss + add_penalty<Real>(static_cast<Real>(spec_.l2), statistics(), x, g);
  }

  Index block_rows() const override { return block_rows_; }

  void logits(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out, Scratch<Real>& scratch) const override {
    for_each_block(inputs, out, [&](Index rows, const Real* in, Real* to) {
      built_.program.evaluate({.rows = rows, .parameters = x.data(), .scratch = scratch}, in, to);
    });
  }

  std::vector<HiddenLayer> hidden_layers() const override {
    std::vector<HiddenLayer> all;
    for (const BuiltLayer& built : built_.layers) all.push_back(built.layer);
    return all;
  }

  void hidden_outputs(std::size_t layer, ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out,
                      Scratch<Real>& scratch) const override {
    for_each_block(inputs, out, [&](Index rows, const Real* in, Real* to) {
      const Pass<Real> pass{.rows = rows, .parameters = x.data(), .scratch = scratch};
      const ArrayId array = built_.layers[layer].array;
      if (array == 0)
        std::copy_n(in, rows * inputs.cols(), to);  // nothing is done to the input
      else
        built_.program.evaluate(pass, in, array, to);
    });
  }

 private:
  template <class Act>
  static void for_each_block(ConstMatrixRef<Real> inputs, MatrixRef<Real> out, const Act& act) {
    for (Index first = 0; first < inputs.rows(); first += evaluated_rows)
      act(std::min(evaluated_rows, inputs.rows() - first), inputs.data() + first * inputs.cols(), out.data() + first * out.cols());
  }

  NetworkSpec spec_;
  Shape input_;
  std::uint32_t classes_;
  BuiltNetwork<Real> built_;
  Index block_rows_;
};

void check_spec(const NetworkSpec& spec, const Shape& input, std::uint32_t classes) {
  if (input.size() < 1 || classes < 1) throw std::invalid_argument("a network needs inputs and classes");
  if (spec.l2 < 0) throw std::invalid_argument("model.l2 is " + std::to_string(spec.l2) + "; allowed are numbers from 0");
}

}  // namespace

template <class Real>
std::shared_ptr<const Model<Real>> make_network(const NetworkSpec& spec, const Shape& input, std::uint32_t classes) {
  check_spec(spec, input, classes);
  return std::make_shared<Network<Real>>(spec, input, classes);
}

template std::shared_ptr<const Model<float>> make_network(const NetworkSpec&, const Shape&, std::uint32_t);
template std::shared_ptr<const Model<double>> make_network(const NetworkSpec&, const Shape&, std::uint32_t);

}  // namespace rubato
