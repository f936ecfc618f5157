#include "algos/compressor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

namespace rubato {

namespace {

// A number that is none counts as the largest, so that every two can be compared.
template <class Real>
Real size_of_number(Real x) {
  const Real size = std::abs(x);
  return size >= 0 ? size : std::numeric_limits<Real>::infinity();
}

// The k-th largest size.
template <class Real>
Real kth_largest(ConstVectorRef<Real> x, Index k, Scratch<Real>& scratch) {
  const typename Scratch<Real>::Frame frame(scratch);
  VectorRef<Real> sizes = scratch.vector(x.size());
  std::transform(x.begin(), x.end(), sizes.begin(), size_of_number<Real>);
  Real* const kth = sizes.data() + (k - 1);
  std::nth_element(sizes.data(), kth, sizes.data() + sizes.size(), std::greater<Real>());
  return *kth;
}

}  // namespace

Compressor::Compressor(const AlgorithmOptions& given) {
  const OptionReader options(given, compressor_options);
  kind_ = options.choice<Kind>("compressor");
  k_ = static_cast<Index>(options.whole("k"));
  is_unbiased_ = options.flag("unbiased");
  bits_ = static_cast<std::uint32_t>(options.whole("bits"));
}

void Compressor::require_dimension(Index dimension) const {
  if ((kind_ == Kind::top || kind_ == Kind::rand) && k_ > dimension)
    refuse_option("k", std::to_string(k_), "the model has only " + std::to_string(dimension) + " numbers");
}

std::size_t Compressor::bytes(std::size_t dimension, std::size_t scalar_bytes) const {
  const bool is_sparse = kind_ == Kind::top || kind_ == Kind::rand;
  return is_sparse ? static_cast<std::size_t>(k_) * (scalar_bytes + sizeof(std::uint32_t)) : dimension * scalar_bytes;
}

double compressed_bytes(const AlgorithmOptions& options, const MessageForm& form) {
  return static_cast<double>(Compressor(options).bytes(form.numbers, form.scalar_bytes));
}

double Compressor::sparse_bits(Index dimension) const {
  const int address = std::bit_width(static_cast<std::uint64_t>(dimension) - 1);  // ceil log2
  return static_cast<double>(k_) * (64 + address);
}

template <class Real>
Compressed Compressor::top(Work<Real>& work, ConstVectorRef<Real> x) const {
  const Real least = kth_largest(x, k_, work.scratch);
  Index ties = k_;  // how many of that very size are kept
  for (const Real value : x) ties -= size_of_number(value) > least;
  Compressed kept{work.pool.template make<Real>(static_cast<std::size_t>(k_)),
                  work.pool.template make<std::uint32_t>(static_cast<std::size_t>(k_)), sparse_bits(x.size())};
  Real* value = kept.values.writable<Real>();
  std::uint32_t* coordinate = kept.coordinates.writable<std::uint32_t>();
  for (Index l = 0; l < x.size(); ++l) {
    const Real size = size_of_number(x[l]);
    if (size < least || (size == least && --ties < 0)) continue;
    *value++ = x[l];
    *coordinate++ = static_cast<std::uint32_t>(l);
  }
  return kept;
}

template <class Real>
Compressed Compressor::rand(Work<Real>& work, std::uint64_t number, ClientId self, ConstVectorRef<Real> x) const {
  const Picks picks = work.coordinates(number, self, x.size(), k_);
  const double factor = is_unbiased_ ? static_cast<double>(x.size()) / static_cast<double>(picks.size()) : 1;
  Compressed kept{work.pool.template make<Real>(picks.size()), work.pool.template make<std::uint32_t>(picks.size()),
                  sparse_bits(x.size())};
  std::copy(picks.begin(), picks.end(), kept.coordinates.writable<std::uint32_t>());
  VectorRef<Real> values = numbers_of<Real>(kept.values);
  for (std::size_t i = 0; i < picks.size(); ++i) values[static_cast<Index>(i)] = static_cast<Real>(factor) * x[picks[i]];
  return kept;
}

template <class Real>
Compressed Compressor::gsgd(Work<Real>& work, std::uint64_t number, ConstVectorRef<Real> x) const {
  Compressed rounded{zeros<Real>(static_cast<std::size_t>(x.size()), work.pool), {}, static_cast<double>(x.size()) * bits_ + 64};
  const auto norm = static_cast<double>(x.norm());
  if (!(norm > 0)) return rounded;
  const VectorRef<Real> u = work.uniforms(number, x.size());
  VectorRef<Real> values = numbers_of<Real>(rounded.values);
  const double steps = std::ldexp(1.0, static_cast<int>(bits_) - 1);
  for (Index l = 0; l < x.size(); ++l) {
    const double level = std::floor(steps * std::abs(static_cast<double>(x[l])) / norm + static_cast<double>(u[l]));
    values[l] = static_cast<Real>(std::copysign(norm / steps * level, static_cast<double>(x[l])));
  }
  return rounded;
}

template <class Real>
Compressed Compressor::compress(Work<Real>& work, std::uint64_t number, ClientId self, ConstVectorRef<Real> x) const {
  const typename Scratch<Real>::Frame frame(work.scratch);
  switch (kind_) {
    case Kind::identity:
      return {copy_of<Real>(x, work.pool), {}, 64.0 * static_cast<double>(x.size())};
    case Kind::top:
      return top(work, x);
    case Kind::rand:
      return rand(work, number, self, x);
    case Kind::gsgd:
      return gsgd(work, number, x);
  }
  return {};
}

template <class Real>
void add_compressed(const Tensor& values, const Tensor& coordinates, double weight, VectorRef<Real> target) {
  const ConstVectorRef<Real> numbers = numbers_of<Real>(values);
  if (!coordinates) {
    target += static_cast<Real>(weight) * numbers;
    return;
  }
  const std::uint32_t* coordinate = coordinates.data<std::uint32_t>();
  for (const Real value : numbers) target[*coordinate++] += static_cast<Real>(weight) * value;
}

template Compressed Compressor::compress<float>(Work<float>&, std::uint64_t, ClientId, ConstVectorRef<float>) const;
template Compressed Compressor::compress<double>(Work<double>&, std::uint64_t, ClientId, ConstVectorRef<double>) const;
template void add_compressed<float>(const Tensor&, const Tensor&, double, VectorRef<float>);
template void add_compressed<double>(const Tensor&, const Tensor&, double, VectorRef<double>);

}  // namespace rubato
