#include "learning/network/operations.hpp"

#include <algorithm>
#include <utility>
#include <vector>

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

// Pieces of an image in places of a larger one, or of a thinner one with more channels, which is 0 elsewhere.
template <class Real>
class Placing final : public Operation<Real> {
 public:
  struct Piece {
    Index from, to;  // where it begins, in the numbers of one sample
  };
  Placing(Index in, Index out, Index length, std::vector<Piece> pieces)
      : Operation<Real>(0), in_{in}, out_{out}, length_{length}, pieces_{std::move(pieces)} {}

  void forward(const Pass<Real>& pass, const Arrays<Real>& arrays) const override {
    std::fill_n(arrays.out, pass.rows * out_, Real{0});
    for (Index row = 0; row < pass.rows; ++row)
      for (const Piece& piece : pieces_)
        std::copy_n(arrays.in + row * in_ + piece.from, length_, arrays.out + row * out_ + piece.to);
  }

  void backward(const Pass<Real>& pass, const Arrays<Real>&, const Gradients<Real>& gradients) const override {
    if (!gradients.in) return;
    std::fill_n(gradients.in, pass.rows * in_, Real{0});
    for (Index row = 0; row < pass.rows; ++row)
      for (const Piece& piece : pieces_)
        std::copy_n(gradients.out + row * out_ + piece.to, length_, gradients.in + row * in_ + piece.from);
  }

 private:
  Index in_, out_, length_;
  std::vector<Piece> pieces_;
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
  const Shape out{in.channels, in.height + 2 * width, in.width + 2 * width};
  const Index line = in.width * in.channels;
  std::vector<typename Placing<Real>::Piece> lines;
  for (Index y = 0; y < in.height; ++y) lines.push_back({y * line, ((y + width) * out.width + width) * in.channels});
  return std::make_unique<Placing<Real>>(in.size(), out.size(), line, std::move(lines));
}

template <class Real>
OperationPtr<Real> make_thinning(const Shape& in, Index stride, Index channels) {
  const Shape out{channels, (in.height + stride - 1) / stride, (in.width + stride - 1) / stride};
  const Index front = (channels - in.channels) / 2;
  std::vector<typename Placing<Real>::Piece> pixels;
  for (Index y = 0; y < out.height; ++y)
    for (Index x = 0; x < out.width; ++x)
      pixels.push_back({(y * in.width + x) * stride * in.channels, (y * out.width + x) * channels + front});
  return std::make_unique<Placing<Real>>(in.size(), out.size(), in.channels, std::move(pixels));
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
