// Convolution as a product of matrices.  U: a row per output pixel, its window's numbers side by side (zeros outside
// the image); W: a row per output channel.
//   forward   Y = U W^T + b          backward   dW = dY^T U,  db = column sums of dY,  dU = dY W, added back where U
//   came from
#include <algorithm>

#include "learning/network/operations.hpp"

namespace rubato {

namespace {

template <class Real>
using Rows = Eigen::Map<Matrix<Real>>;
template <class Real>
using ConstRows = Eigen::Map<const Matrix<Real>>;

template <class Real>
class PlainConvolution final : public Operation<Real> {
 public:
  explicit PlainConvolution(const ConvolutionForm& form) : Operation<Real>(form.offset), form_{form}, out_{form.out()} {}

  Index parameters() const override { return form_.parameters(); }

  void initialise(Real* x, StartLaw law, Stream& stream) const override {
    const Index inputs = form_.in.channels * form_.kernel_rows() * form_.kernel;
    const Index outputs = form_.outputs * form_.kernel_rows() * form_.kernel;
    start_weights(x + form_.offset, form_.weights(), inputs, outputs, law, stream);
    std::fill_n(x + form_.offset + form_.weights(), form_.parameters() - form_.weights(), Real{0});
  }

  void forward(const Pass<Real>& pass, const Arrays<Real>& arrays) const override {
    typename Scratch<Real>::Frame frame(pass.scratch);
    const MatrixRef<Real> weights = window_weights(pass);
    MatrixRef<Real> windows = pass.scratch.matrix(pixels(), window());
    for (Index row = 0; row < pass.rows; ++row) {
      gather(arrays.in + row * form_.in.size(), windows);
      Rows<Real> out(arrays.out + row * out_.size(), pixels(), form_.outputs);
      out.noalias() = windows * weights.transpose();
      if (form_.has_bias) out.rowwise() += bias(pass.parameters);
      if (form_.has_relu) out = out.cwiseMax(Real{0});
    }
  }

  void backward(const Pass<Real>& pass, const Arrays<Real>& arrays, const Gradients<Real>& gradients) const override {
    typename Scratch<Real>::Frame frame(pass.scratch);
    const MatrixRef<Real> weights = window_weights(pass);
    MatrixRef<Real> windows = pass.scratch.matrix(pixels(), window());
    MatrixRef<Real> sum = pass.scratch.matrix(form_.outputs, window());
    Eigen::Matrix<Real, 1, Eigen::Dynamic> bias_sum = Eigen::Matrix<Real, 1, Eigen::Dynamic>::Zero(form_.outputs);
    sum.setZero();
    if (gradients.in) std::fill_n(gradients.in, pass.rows * form_.in.size(), Real{0});
    for (Index row = 0; row < pass.rows; ++row) {
      Rows<Real> delta(gradients.out + row * out_.size(), pixels(), form_.outputs);
      const ConstRows<Real> out(arrays.out + row * out_.size(), pixels(), form_.outputs);
      if (form_.has_relu && form_.masks) delta = (out.array() > 0).select(delta, Real{0});
      gather(arrays.in + row * form_.in.size(), windows);
      sum.noalias() += delta.transpose() * windows;
      bias_sum += delta.colwise().sum();
      if (!gradients.in) continue;
      windows.noalias() = delta * weights;
      scatter(windows, gradients.in + row * form_.in.size());
    }
    write(sum, gradients.parameters + form_.offset);
    if (form_.has_bias) std::copy_n(bias_sum.data(), form_.outputs, gradients.parameters + form_.offset + form_.weights());
  }

 private:
  Index pixels() const { return out_.height * out_.width; }
  Index window() const { return form_.kernel_rows() * form_.kernel * form_.in.channels; }

  Eigen::Map<const Eigen::Matrix<Real, 1, Eigen::Dynamic>> bias(const Real* parameters) const {
    return {parameters + form_.offset + form_.weights(), form_.outputs};
  }

  // The place in a window's row of weight (channel, y, x), in the order of the parameters.
  template <class Visit>
  void each_weight(const Visit& visit) const {
    Index number = 0;
    for (Index output = 0; output < form_.outputs; ++output)
      for (Index channel = 0; channel < form_.in.channels; ++channel)
        for (Index y = 0; y < form_.kernel_rows(); ++y)
          for (Index x = 0; x < form_.kernel; ++x) visit(number++, output, (y * form_.kernel + x) * form_.in.channels + channel);
  }

  MatrixRef<Real> window_weights(const Pass<Real>& pass) const {
    MatrixRef<Real> weights = pass.scratch.matrix(form_.outputs, window());
    const Real* const parameters = pass.parameters + form_.offset;
    each_weight([&](Index number, Index output, Index place) { weights(output, place) = parameters[number]; });
    return weights;
  }

  void write(MatrixRef<Real> sum, Real* gradient) const {
    each_weight([&](Index number, Index output, Index place) { gradient[number] = sum(output, place); });
  }

  // visit(row of U, place in the row, place in the image) for every channel vector of a window that lies in the image.
  template <class Visit>
  void each_pixel(const Visit& visit) const {
    for (Index y = 0; y < out_.height; ++y)
      for (Index x = 0; x < out_.width; ++x)
        for (Index ky = 0; ky < form_.kernel_rows(); ++ky)
          for (Index kx = 0; kx < form_.kernel; ++kx) {
            const Index from_y = y * form_.stride_rows() + ky - form_.padding_rows(),
                        from_x = x * form_.stride + kx - form_.padding;
            if (from_y < 0 || from_x < 0 || from_y >= form_.in.height || from_x >= form_.in.width) continue;
            visit(y * out_.width + x, (ky * form_.kernel + kx) * form_.in.channels,
                  (from_y * form_.in.width + from_x) * form_.in.channels);
          }
  }

  void gather(const Real* image, MatrixRef<Real> windows) const {
    windows.setZero();
    each_pixel(
        [&](Index row, Index place, Index from) { std::copy_n(image + from, form_.in.channels, windows.row(row).data() + place); });
  }

  void scatter(MatrixRef<Real> windows, Real* image) const {
    each_pixel([&](Index row, Index place, Index from) {
      const Real* const numbers = windows.row(row).data() + place;
      for (Index c = 0; c < form_.in.channels; ++c) image[from + c] += numbers[c];
    });
  }

  ConvolutionForm form_;
  Shape out_;
};

}  // namespace

template <class Real>
OperationPtr<Real> make_plain_convolution(const ConvolutionForm& form) {
  return std::make_unique<PlainConvolution<Real>>(form);
}

template <>
OperationPtr<double> make_convolution<double>(const ConvolutionForm& form) {
  return make_plain_convolution<double>(form);
}

template OperationPtr<float> make_plain_convolution(const ConvolutionForm&);
template OperationPtr<double> make_plain_convolution(const ConvolutionForm&);

}  // namespace rubato
