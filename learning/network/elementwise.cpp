#include "learning/network/elementwise.hpp"

#include <algorithm>

#include "learning/dropout.hpp"

namespace rubato {

namespace {

template <class Real>
class ActivationOf final : public Operation<Real> {
 public:
  ActivationOf(Activation kind, Index size) : Operation<Real>(0), kind_{kind}, size_{size} {}

  void forward(const Pass<Real>& pass, const Arrays<Real>& arrays) const override {
    std::copy_n(arrays.in, pass.rows * size_, arrays.out);
    activate<Real>(kind_, {arrays.out, pass.rows, size_});
  }

  void backward(const Pass<Real>& pass, const Arrays<Real>& arrays, const Gradients<Real>& gradients) const override {
    if (!gradients.in) return;
    std::copy_n(gradients.out, pass.rows * size_, gradients.in);
    multiply_by_slope<Real>(kind_, {arrays.out, pass.rows, size_}, {gradients.in, pass.rows, size_});
  }

 private:
  Activation kind_;
  Index size_;
};

template <class Real>
class Dropout final : public Operation<Real> {
 public:
  Dropout(double chance, Index size, std::uint32_t layer) : Operation<Real>(0), chance_{chance}, size_{size}, layer_{layer} {}

  /// The factor of every number.
  Index kept() const override { return size_; }

  void forward(const Pass<Real>& pass, const Arrays<Real>& arrays) const override {
    const Index count = pass.rows * size_;
    if (!pass.chance) return void(std::copy_n(arrays.in, count, arrays.out));
    write_dropout<Real>(chance_, pass.chance->stream(layer_), {arrays.kept, pass.rows, size_});
    multiply(arrays.in, arrays.kept, count, arrays.out);
  }

  void backward(const Pass<Real>& pass, const Arrays<Real>& arrays, const Gradients<Real>& gradients) const override {
    if (!gradients.in) return;
    const Index count = pass.rows * size_;
    if (!pass.chance) return void(std::copy_n(gradients.out, count, gradients.in));
    multiply(gradients.out, arrays.kept, count, gradients.in);
  }

 private:
  static void multiply(const Real* __restrict numbers, const Real* __restrict factors, Index count, Real* __restrict out) {
    for (Index i = 0; i < count; ++i) out[i] = numbers[i] * factors[i];
  }

  double chance_;
  Index size_;
  std::uint32_t layer_;
};

template <class Real>
class ToPixels final : public Operation<Real> {
 public:
  explicit ToPixels(const Shape& shape) : Operation<Real>(0), shape_{shape} {}

  void forward(const Pass<Real>& pass, const Arrays<Real>& arrays) const override {
    for (Index row = 0; row < pass.rows; ++row)
      Image(arrays.out + row * shape_.size(), pixels(), shape_.channels) =
          ConstImage(arrays.in + row * shape_.size(), shape_.channels, pixels()).transpose();
  }

  void backward(const Pass<Real>& pass, const Arrays<Real>&, const Gradients<Real>& gradients) const override {
    if (!gradients.in) return;
    for (Index row = 0; row < pass.rows; ++row)
      Image(gradients.in + row * shape_.size(), shape_.channels, pixels()) =
          ConstImage(gradients.out + row * shape_.size(), pixels(), shape_.channels).transpose();
  }

 private:
  using Image = Eigen::Map<Matrix<Real>>;
  using ConstImage = Eigen::Map<const Matrix<Real>>;

  Index pixels() const { return shape_.height * shape_.width; }

  Shape shape_;
};

template <class Real>
class Framing final : public Operation<Real> {
 public:
  Framing(const Shape& in, Index width)
      : Operation<Real>(0), in_{in}, width_{width}, out_{in.channels, in.height + 2 * width, in.width + 2 * width} {}

  void forward(const Pass<Real>& pass, const Arrays<Real>& arrays) const override {
    std::fill_n(arrays.out, pass.rows * out_.size(), Real{0});
    each_line(pass.rows, [&](Index in, Index out, Index count) { std::copy_n(arrays.in + in, count, arrays.out + out); });
  }

  void backward(const Pass<Real>& pass, const Arrays<Real>&, const Gradients<Real>& gradients) const override {
    if (!gradients.in) return;
    each_line(pass.rows, [&](Index in, Index out, Index count) { std::copy_n(gradients.out + out, count, gradients.in + in); });
  }

 private:
  template <class Visit>
  void each_line(Index rows, const Visit& visit) const {
    const Index line = in_.width * in_.channels;
    for (Index row = 0; row < rows; ++row)
      for (Index y = 0; y < in_.height; ++y)
        visit(row * in_.size() + y * line, row * out_.size() + ((y + width_) * out_.width + width_) * in_.channels, line);
  }

  Shape in_;
  Index width_;
  Shape out_;
};

template <class Real>
class Thinning final : public Operation<Real> {
 public:
  Thinning(const Shape& in, Index stride, Index channels)
      : Operation<Real>(0),
        in_{in},
        stride_{stride},
        out_{channels, (in.height + stride - 1) / stride, (in.width + stride - 1) / stride} {}

  void forward(const Pass<Real>& pass, const Arrays<Real>& arrays) const override {
    std::fill_n(arrays.out, pass.rows * out_.size(), Real{0});
    each_pixel(pass.rows, [&](Index from, Index to) { std::copy_n(arrays.in + from, in_.channels, arrays.out + to); });
  }

  void backward(const Pass<Real>& pass, const Arrays<Real>&, const Gradients<Real>& gradients) const override {
    if (!gradients.in) return;
    std::fill_n(gradients.in, pass.rows * in_.size(), Real{0});
    each_pixel(pass.rows, [&](Index from, Index to) { std::copy_n(gradients.out + to, in_.channels, gradients.in + from); });
  }

 private:
  template <class Visit>
  void each_pixel(Index rows, const Visit& visit) const {
    const Index front = (out_.channels - in_.channels) / 2;
    for (Index row = 0; row < rows; ++row)
      for (Index y = 0; y < out_.height; ++y)
        for (Index x = 0; x < out_.width; ++x)
          visit(row * in_.size() + (y * stride_ * in_.width + x * stride_) * in_.channels,
                row * out_.size() + (y * out_.width + x) * out_.channels + front);
  }

  Shape in_;
  Index stride_;
  Shape out_;
};

}  // namespace

template <class Real>
OperationPtr<Real> make_activation(Activation kind, Index size) {
  return std::make_unique<ActivationOf<Real>>(kind, size);
}

template <class Real>
OperationPtr<Real> make_dropout(double chance, Index size, std::uint32_t layer) {
  return std::make_unique<Dropout<Real>>(chance, size, layer);
}

template <class Real>
OperationPtr<Real> make_to_pixels(const Shape& shape) {
  return std::make_unique<ToPixels<Real>>(shape);
}

template <class Real>
OperationPtr<Real> make_framing(const Shape& in, Index width) {
  return std::make_unique<Framing<Real>>(in, width);
}

template <class Real>
OperationPtr<Real> make_thinning(const Shape& in, Index stride, Index channels) {
  return std::make_unique<Thinning<Real>>(in, stride, channels);
}

#define RUBATO_INSTANTIATE(Real)                                          \
  template OperationPtr<Real> make_activation(Activation, Index);         \
  template OperationPtr<Real> make_dropout(double, Index, std::uint32_t); \
  template OperationPtr<Real> make_to_pixels(const Shape&);               \
  template OperationPtr<Real> make_framing(const Shape&, Index);          \
  template OperationPtr<Real> make_thinning(const Shape&, Index, Index);
RUBATO_INSTANTIATE(float)
RUBATO_INSTANTIATE(double)
#undef RUBATO_INSTANTIATE

}  // namespace rubato
