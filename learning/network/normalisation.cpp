// Group and batch normalisation.  x: a channel's number, h = (x - mean) r with r = 1 / sqrt(variance + epsilon)
//   forward    y = max(0, scale h + shift + other),  that is  a x + b + other  with one a, b per channel (and sample)
//   backward   m = dy where y > 0;  d other = m;  d shift = sum m,  d scale = sum m h
//              dx = r (scale m - A - h B),  A and B the means of scale m and of scale m h over mean's numbers
//              that is  p m + q x + t  with one p, q, t per channel (and sample)
//   running    statistic <- statistic - step (statistic - batch's): its "gradient" is the bracket
#include "learning/network/operations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rubato {

namespace {

constexpr double epsilon = 1e-5;

template <class Real>
class NormalisationOf final : public Operation<Real> {
 public:
  explicit NormalisationOf(const NormalisationForm& form)
      : Operation<Real>(form.offset), form_{form}, channels_{form.shape.channels}, pixels_{form.shape.height * form.shape.width} {}

  Index parameters() const override { return (has_batch() ? 4 : 2) * channels_; }
  /// Mean and r of every channel.
  Index kept() const override { return 2 * channels_; }

  void initialise(Real* x, StartLaw, Stream&) const override {
    Real* const own = x + form_.offset;
    std::fill_n(own, channels_, Real{1});
    std::fill_n(own + channels_, channels_, Real{0});
    if (!has_batch()) return;
    std::fill_n(own + 2 * channels_, channels_, Real{0});
    std::fill_n(own + 3 * channels_, channels_, Real{1});
  }

  std::optional<Range> statistics() const override {
    if (!has_batch()) return std::nullopt;
    return Range{form_.offset + 2 * channels_, 2 * channels_};
  }

  void forward(const Pass<Real>& pass, const Arrays<Real>& arrays) const override {
    typename Scratch<Real>::Frame frame(pass.scratch);
    if (has_batch()) measure_batch(pass, arrays);
    const Real* const own = pass.parameters + form_.offset;
    Real* const factor = room(pass);
    Real* const term = room(pass);
    for (Index row = 0; row < pass.rows; ++row) {
      const Real* const in = arrays.in + row * form_.shape.size();
      Real* const mean = arrays.kept + row * kept();
      const Real* const spread = mean + channels_;
      if (!has_batch()) measure_groups(pass, in, mean);
      for (Index c = 0; c < channels_; ++c) {
        factor[c] = own[c] * spread[c];
        term[c] = own[channels_ + c] - mean[c] * factor[c];
      }
      const Real* const other = arrays.other ? arrays.other + row * form_.shape.size() : nullptr;
      write_out(in, other, factor, term, arrays.out + row * form_.shape.size());
    }
  }

  void backward(const Pass<Real>& pass, const Arrays<Real>& arrays, const Gradients<Real>& gradients) const override {
    typename Scratch<Real>::Frame frame(pass.scratch);
    VectorRef<Real> sums = pass.scratch.vector(pass.rows * 2 * channels_);  // of m and m h, per sample and channel
    for (Index row = 0; row < pass.rows; ++row) mask_and_sum(arrays, gradients, row, sums.data() + row * 2 * channels_);
    add_over_samples(pass, sums.data(), gradients.parameters + form_.offset);
    if (has_batch()) write_statistics(pass, arrays, gradients.parameters + form_.offset);
    if (!gradients.in) return;
    Real* const p = room(pass);
    Real* const q = room(pass);
    Real* const t = room(pass);
    if (has_batch()) batch_coefficients(pass, arrays, gradients.parameters + form_.offset, p, q, t);
    for (Index row = 0; row < pass.rows; ++row) {
      if (!has_batch()) group_coefficients(pass, arrays.kept + row * kept(), sums.data() + row * 2 * channels_, p, q, t);
      write_in(arrays.in + row * form_.shape.size(), gradients.out + row * form_.shape.size(), p, q, t,
               gradients.in + row * form_.shape.size());
    }
  }

 private:
  bool has_batch() const { return form_.kind == Normalisation::batch; }
  Index group_size() const { return channels_ / form_.groups; }
  Real* room(const Pass<Real>& pass) const { return pass.scratch.vector(channels_).data(); }

  // Adds the numbers of one sample and their squares to sums[0..C) and sums[C..2C), row of pixels by row of pixels, so
  // that long sums are made of short ones.
  void add_moments(const Pass<Real>& pass, const Real* in, double* sums) const {
    typename Scratch<Real>::Frame frame(pass.scratch);
    Real* const sum = room(pass);
    Real* const square = room(pass);
    for (Index y = 0; y < form_.shape.height; ++y) {
      std::fill_n(sum, channels_, Real{0});
      std::fill_n(square, channels_, Real{0});
      const Real* pixel = in + y * form_.shape.width * channels_;
      for (Index x = 0; x < form_.shape.width; ++x, pixel += channels_)
        for (Index c = 0; c < channels_; ++c) {
          sum[c] += pixel[c];
          square[c] += pixel[c] * pixel[c];
        }
      for (Index c = 0; c < channels_; ++c) {
        sums[c] += static_cast<double>(sum[c]);
        sums[channels_ + c] += static_cast<double>(square[c]);
      }
    }
  }

  static void finish(double sum, double square, double count, Real& mean, Real& spread) {
    const double average = sum / count;
    mean = static_cast<Real>(average);
    spread = static_cast<Real>(1 / std::sqrt(std::max(0.0, square / count - average * average) + epsilon));
  }

  double* doubles(const Pass<Real>& pass, Index count) const {
    const Index each = static_cast<Index>(sizeof(double) / sizeof(Real));
    double* const numbers = reinterpret_cast<double*>(pass.scratch.vector(count * each).data());
    std::fill_n(numbers, count, 0.0);
    return numbers;
  }

  // mean[0..C) and, right behind, r.
  void measure_groups(const Pass<Real>& pass, const Real* in, Real* mean) const {
    typename Scratch<Real>::Frame frame(pass.scratch);
    double* const sums = doubles(pass, 2 * channels_);
    add_moments(pass, in, sums);
    for (Index first = 0; first < channels_; first += group_size()) {
      double sum = 0, square = 0;
      for (Index c = first; c < first + group_size(); ++c) {
        sum += sums[c];
        square += sums[channels_ + c];
      }
      finish(sum, square, static_cast<double>(group_size() * pixels_), mean[first], mean[channels_ + first]);
      std::fill_n(mean + first, group_size(), mean[first]);
      std::fill_n(mean + channels_ + first, group_size(), mean[channels_ + first]);
    }
  }

  void measure_batch(const Pass<Real>& pass, const Arrays<Real>& arrays) const {
    typename Scratch<Real>::Frame frame(pass.scratch);
    Real* const mean = arrays.kept;
    if (pass.trains) {
      double* const sums = doubles(pass, 2 * channels_);
      for (Index row = 0; row < pass.rows; ++row) add_moments(pass, arrays.in + row * form_.shape.size(), sums);
      for (Index c = 0; c < channels_; ++c)
        finish(sums[c], sums[channels_ + c], static_cast<double>(pass.rows * pixels_), mean[c], mean[channels_ + c]);
    } else {
      const Real* const running = pass.parameters + form_.offset + 2 * channels_;
      for (Index c = 0; c < channels_; ++c) {
        const double variance = std::max(0.0, static_cast<double>(running[channels_ + c]));
        mean[c] = running[c];
        mean[channels_ + c] = static_cast<Real>(1 / std::sqrt(variance + epsilon));
      }
    }
    for (Index row = 1; row < pass.rows; ++row) std::copy_n(mean, 2 * channels_, mean + row * 2 * channels_);
  }

  void write_out(const Real* __restrict in, const Real* __restrict other, const Real* __restrict factor,
                 const Real* __restrict term, Real* __restrict out) const {
    const Real lowest = form_.has_relu ? Real{0} : -std::numeric_limits<Real>::infinity();
    if (other)
      for (Index pixel = 0; pixel < pixels_; ++pixel, in += channels_, other += channels_, out += channels_)
        for (Index c = 0; c < channels_; ++c) out[c] = std::max(factor[c] * in[c] + term[c] + other[c], lowest);
    else
      for (Index pixel = 0; pixel < pixels_; ++pixel, in += channels_, out += channels_)
        for (Index c = 0; c < channels_; ++c) out[c] = std::max(factor[c] * in[c] + term[c], lowest);
  }

  // Sets gradients.out to m, copies it to the other input, and sums m and m h of one sample.
  void mask_and_sum(const Arrays<Real>& arrays, const Gradients<Real>& gradients, Index row, Real* sums) const {
    const Index start = row * form_.shape.size();
    const Real* const mean = arrays.kept + row * kept();
    const Real* const spread = mean + channels_;
    if (form_.has_relu) mask(arrays.out + start, gradients.out + start, form_.shape.size());
    if (gradients.other) std::copy_n(gradients.out + start, form_.shape.size(), gradients.other + start);
    std::fill_n(sums, 2 * channels_, Real{0});
    sum_deltas(arrays.in + start, gradients.out + start, mean, sums, sums + channels_);
    for (Index c = 0; c < channels_; ++c) sums[channels_ + c] *= spread[c];
  }

  void sum_deltas(const Real* __restrict in, const Real* __restrict delta, const Real* __restrict mean, Real* __restrict plain,
                  Real* __restrict weighted) const {
    for (Index pixel = 0; pixel < pixels_; ++pixel, in += channels_, delta += channels_)
      for (Index c = 0; c < channels_; ++c) {
        plain[c] += delta[c];
        weighted[c] += delta[c] * (in[c] - mean[c]);
      }
  }

  // d scale and d shift.
  void add_over_samples(const Pass<Real>& pass, const Real* sums, Real* gradient) const {
    std::fill_n(gradient, 2 * channels_, Real{0});
    for (Index row = 0; row < pass.rows; ++row, sums += 2 * channels_)
      for (Index c = 0; c < channels_; ++c) {
        gradient[c] += sums[channels_ + c];
        gradient[channels_ + c] += sums[c];
      }
  }

  // The distance of the running statistics to the batch's; the variance as it is estimated from so many numbers.
  void write_statistics(const Pass<Real>& pass, const Arrays<Real>& arrays, Real* gradient) const {
    const Real* const running = pass.parameters + form_.offset + 2 * channels_;
    const double count = static_cast<double>(pass.rows * pixels_);
    const double unbiased = count > 1 ? count / (count - 1) : 1;
    for (Index c = 0; c < channels_; ++c) {
      const double spread = static_cast<double>(arrays.kept[channels_ + c]);
      const double variance = (1 / (spread * spread) - epsilon) * unbiased;
      gradient[2 * channels_ + c] = running[c] - arrays.kept[c];
      gradient[3 * channels_ + c] = running[channels_ + c] - static_cast<Real>(variance);
    }
  }

  void coefficients(const Real* own, const Real* mean, Index c, Real a, Real b, Real* p, Real* q, Real* t) const {
    const Real spread = mean[channels_ + c];
    p[c] = own[c] * spread;
    q[c] = -spread * spread * b;
    t[c] = -spread * a - q[c] * mean[c];
  }

  void group_coefficients(const Pass<Real>& pass, const Real* mean, const Real* sums, Real* p, Real* q, Real* t) const {
    const Real* const own = pass.parameters + form_.offset;
    const Real count = static_cast<Real>(group_size() * pixels_);
    for (Index first = 0; first < channels_; first += group_size()) {
      Real a = 0, b = 0;
      for (Index c = first; c < first + group_size(); ++c) {
        a += own[c] * sums[c];
        b += own[c] * sums[channels_ + c];
      }
      for (Index c = first; c < first + group_size(); ++c) coefficients(own, mean, c, a / count, b / count, p, q, t);
    }
  }

  // `gradient` holds the sums over all samples: d scale and d shift.
  void batch_coefficients(const Pass<Real>& pass, const Arrays<Real>& arrays, const Real* gradient, Real* p, Real* q,
                          Real* t) const {
    const Real* const own = pass.parameters + form_.offset;
    const Real count = static_cast<Real>(pass.rows * pixels_);
    for (Index c = 0; c < channels_; ++c)
      coefficients(own, arrays.kept, c, own[c] * gradient[channels_ + c] / count, own[c] * gradient[c] / count, p, q, t);
  }

  void write_in(const Real* __restrict in, const Real* __restrict delta, const Real* __restrict p, const Real* __restrict q,
                const Real* __restrict t, Real* __restrict back) const {
    for (Index pixel = 0; pixel < pixels_; ++pixel, in += channels_, delta += channels_, back += channels_)
      for (Index c = 0; c < channels_; ++c) back[c] = p[c] * delta[c] + q[c] * in[c] + t[c];
  }

  NormalisationForm form_;
  Index channels_;
  Index pixels_;
};

}  // namespace

template <class Real>
OperationPtr<Real> make_normalisation(const NormalisationForm& form) {
  return std::make_unique<NormalisationOf<Real>>(form);
}

template OperationPtr<float> make_normalisation(const NormalisationForm&);
template OperationPtr<double> make_normalisation(const NormalisationForm&);

}  // namespace rubato
