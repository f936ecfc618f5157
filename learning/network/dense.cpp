#include "learning/network/operations.hpp"

#include <algorithm>

#include "learning/layer.hpp"

namespace rubato {

namespace {

template <class Real>
class Dense final : public Operation<Real> {
 public:
  Dense(const Layer& layer, bool has_relu) : Operation<Real>(layer.offset), layer_{layer}, has_relu_{has_relu} {}

  Index parameters() const override { return layer_.size(); }

  void initialise(Real* x, StartLaw law, Stream& stream) const override {
    start_weights(x + layer_.offset, layer_.outputs * layer_.inputs, layer_.inputs, layer_.outputs, law, stream);
    std::fill_n(x + layer_.bias(), layer_.outputs, Real{0});
  }

  void forward(const Pass<Real>& pass, const Arrays<Real>& arrays) const override {
    MatrixRef<Real> out(arrays.out, pass.rows, layer_.outputs);
    apply<Real>(layer_, whole(pass), {arrays.in, pass.rows, layer_.inputs}, out);
    if (has_relu_) out = out.cwiseMax(Real{0});
  }

  void backward(const Pass<Real>& pass, const Arrays<Real>& arrays, const Gradients<Real>& gradients) const override {
    if (has_relu_) mask(arrays.out, gradients.out, pass.rows * layer_.outputs);
    const ConstMatrixRef<Real> delta(gradients.out, pass.rows, layer_.outputs);
    write_gradient<Real>(layer_, delta, {arrays.in, pass.rows, layer_.inputs}, {gradients.parameters, layer_.end()});
    if (gradients.in) apply_backwards<Real>(layer_, whole(pass), delta, {gradients.in, pass.rows, layer_.inputs});
  }

 private:
  ConstVectorRef<Real> whole(const Pass<Real>& pass) const { return {pass.parameters, layer_.end()}; }

  Layer layer_;
  bool has_relu_;
};

}  // namespace

template <class Real>
OperationPtr<Real> make_dense(Index inputs, Index outputs, bool has_relu, Index offset) {
  return std::make_unique<Dense<Real>>(Layer{.inputs = inputs, .outputs = outputs, .offset = offset}, has_relu);
}

template OperationPtr<float> make_dense(Index, Index, bool, Index);
template OperationPtr<double> make_dense(Index, Index, bool, Index);

}  // namespace rubato
