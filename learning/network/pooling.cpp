// Pooling.  forward: y = max over a window (or mean over the image); backward: dy goes to the first place in the window
// that holds the maximum (or in equal parts to all pixels). The place is found again by comparing, nothing is kept.
#include "learning/network/operations.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace rubato {

namespace {

constexpr int piece = 16;  // channels that are treated at once

template <class Real>
class MaxPooling final : public Operation<Real> {
 public:
  explicit MaxPooling(const PoolingForm& form) : Operation<Real>(0), form_{form}, out_{form.out()} {}

  void forward(const Pass<Real>& pass, const Arrays<Real>& arrays) const override {
    for (Index row = 0; row < pass.rows; ++row) {
      const Real* const in = arrays.in + row * form_.in.size();
      Real* out = arrays.out + row * out_.size();
      for (Index y = 0; y < out_.height; ++y)
        for (Index x = 0; x < out_.width; ++x, out += channels())
          each_piece([&](Index first, auto width) { find_largest<decltype(width)::value>(y, x, in + first, out + first); });
    }
  }

  void backward(const Pass<Real>& pass, const Arrays<Real>& arrays, const Gradients<Real>& gradients) const override {
    if (!gradients.in) return;
    if (!covers_once()) std::fill_n(gradients.in, pass.rows * form_.in.size(), Real{0});
    for (Index row = 0; row < pass.rows; ++row)
      backward_row(arrays.in + row * form_.in.size(), arrays.out + row * out_.size(), gradients.out + row * out_.size(),
                   gradients.in + row * form_.in.size());
  }

 private:
  // The compiler's own vectors: Eigen chooses between two arrays number by number.
  template <int width>
  using Few [[gnu::vector_size(width * sizeof(Real))]] = Real;

  template <int width>
  static Few<width> load(const Real* numbers) {
    Few<width> few;
    std::memcpy(&few, numbers, sizeof few);
    return few;
  }

  template <int width>
  static void store(const Few<width>& few, Real* numbers) {
    std::memcpy(numbers, &few, sizeof few);
  }

  Index channels() const { return form_.in.channels; }

  template <int width>
  void find_largest(Index y, Index x, const Real* in, Real* out) const {
    Few<width> largest = Few<width>{} + std::numeric_limits<Real>::lowest();
    each_place(y, x, [&](Index place) {
      const Few<width> here = load<width>(in + place);
      largest = here > largest ? here : largest;
    });
    store<width>(largest, out);
  }

  // Every pixel lies in exactly one window.
  bool covers_once() const {
    return form_.padding == 0 && form_.size == form_.stride && form_.in.height % form_.rows() == 0 &&
           form_.in.width % form_.size == 0;
  }

  template <class Visit>
  void each_place(Index y, Index x, const Visit& visit) const {
    for (Index ky = 0; ky < form_.rows(); ++ky)
      for (Index kx = 0; kx < form_.size; ++kx) {
        const Index from_y = y * form_.stride_rows() + ky - form_.padding_rows(), from_x = x * form_.stride + kx - form_.padding;
        if (from_y < 0 || from_x < 0 || from_y >= form_.in.height || from_x >= form_.in.width) continue;
        visit((from_y * form_.in.width + from_x) * channels());
      }
  }

  // Calls visit(first, width) for pieces of a pixel's channels; the width of most is known to the compiler.
  template <class Visit>
  void each_piece(const Visit& visit) const {
    Index c = 0;
    for (; c + piece <= channels(); c += piece) visit(c, std::integral_constant<int, piece>{});
    for (; c < channels(); ++c) visit(c, std::integral_constant<int, 1>{});
  }

  void backward_row(const Real* in, const Real* out, const Real* delta, Real* back) const {
    const bool adds = !covers_once();
    for (Index y = 0; y < out_.height; ++y)
      for (Index x = 0; x < out_.width; ++x, out += channels(), delta += channels())
        each_piece([&](Index first, auto width) {
          hand_out<decltype(width)::value>(y, x, adds, in + first, out + first, delta + first, back + first);
        });
  }

  // Some channels of one window: the first place with the maximum takes all that flows back. A ReLU below lets nothing
  // through where the maximum is 0.
  template <int width>
  void hand_out(Index y, Index x, bool adds, const Real* in, const Real* out, const Real* delta, Real* back) const {
    const Few<width> largest = load<width>(out);
    Few<width> rest = load<width>(delta);
    if (form_.masks_relu) rest = largest > 0 ? rest : Few<width>{};
    each_place(y, x, [&](Index place) {
      const Few<width> given = load<width>(in + place) == largest ? rest : Few<width>{};
      store<width>(adds ? load<width>(back + place) + given : given, back + place);
      rest -= given;
    });
  }

  PoolingForm form_;
  Shape out_;
};

template <class Real>
class MeanPooling final : public Operation<Real> {
 public:
  explicit MeanPooling(const Shape& in) : Operation<Real>(0), in_{in} {}

  void forward(const Pass<Real>& pass, const Arrays<Real>& arrays) const override {
    for (Index row = 0; row < pass.rows; ++row) {
      const Eigen::Map<const Matrix<Real>> image(arrays.in + row * in_.size(), pixels(), in_.channels);
      Eigen::Map<Eigen::Matrix<Real, 1, Eigen::Dynamic>> out(arrays.out + row * in_.channels, in_.channels);
      out.setZero();
      for (Index pixel = 0; pixel < pixels(); ++pixel) out += image.row(pixel);
      out /= static_cast<Real>(pixels());
    }
  }

  void backward(const Pass<Real>& pass, const Arrays<Real>&, const Gradients<Real>& gradients) const override {
    if (!gradients.in) return;
    for (Index row = 0; row < pass.rows; ++row) {
      Eigen::Map<Matrix<Real>> back(gradients.in + row * in_.size(), pixels(), in_.channels);
      const Eigen::Map<const Eigen::Matrix<Real, 1, Eigen::Dynamic>> delta(gradients.out + row * in_.channels, in_.channels);
      back.rowwise() = delta / static_cast<Real>(pixels());
    }
  }

 private:
  Index pixels() const { return in_.height * in_.width; }

  Shape in_;
};

}  // namespace

template <class Real>
OperationPtr<Real> make_max_pooling(const PoolingForm& form) {
  return std::make_unique<MaxPooling<Real>>(form);
}

template <class Real>
OperationPtr<Real> make_mean_pooling(const Shape& in) {
  return std::make_unique<MeanPooling<Real>>(in);
}

template OperationPtr<float> make_max_pooling(const PoolingForm&);
template OperationPtr<double> make_max_pooling(const PoolingForm&);
template OperationPtr<float> make_mean_pooling(const Shape&);
template OperationPtr<double> make_mean_pooling(const Shape&);

}  // namespace rubato
