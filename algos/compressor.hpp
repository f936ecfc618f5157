// Compressor: a vector with fewer bits, and what becomes of it at the receiver.
#pragma once

#include <cstdint>
#include <utility>

#include "algos/algorithm.hpp"
#include "algos/catalogue.hpp"

namespace rubato {

/// What is left of a vector.
struct Compressed {
  Tensor values;
  Tensor coordinates;     ///< where the values belong, ascending, uint32; empty: a value for each coordinate
  double paper_bits = 0;  ///< as papers count them, 64 for a number
};

enum class CompressorKind : std::uint8_t { identity, top, rand, gsgd };
constexpr std::string_view word_list(CompressorKind) { return "identity|top|rand|gsgd"; }

/// Immutable. x: the vector, n: its size, b: bits.
///   identity   x
///   top        the k largest of x by size, ties at the lowest coordinate;  k (64 + ceil log2 n) bits
///   rand       k coordinates drawn for each message, times n/k if unbiased;  the same bits
///   gsgd       |x| 2^(1-b) sgn(x) floor(2^(b-1) |x_l| / |x| + u), u uniform;  n b + 64 bits
class Compressor {
 public:
  /// Reads compressor, k, unbiased and bits. Throws std::invalid_argument.
  explicit Compressor(const AlgorithmOptions& options);

  /// Throws std::invalid_argument if k is more than there is.
  void require_dimension(Index dimension) const;
  /// Of what is left, for scalars of so many bytes.
  std::size_t bytes(std::size_t dimension, std::size_t scalar_bytes) const;

  /// `number` addresses what is drawn for the message; coordinates are drawn as for a message of `self` to itself.
  template <class Real>
  Compressed compress(Work<Real>& work, std::uint64_t number, ClientId self, ConstVectorRef<Real> x) const;

 private:
  using Kind = CompressorKind;

  template <class Real>
  Compressed top(Work<Real>& work, ConstVectorRef<Real> x) const;
  template <class Real>
  Compressed rand(Work<Real>& work, std::uint64_t number, ClientId self, ConstVectorRef<Real> x) const;
  template <class Real>
  Compressed gsgd(Work<Real>& work, std::uint64_t number, ConstVectorRef<Real> x) const;
  double sparse_bits(Index dimension) const;

  Kind kind_;
  Index k_;
  bool is_unbiased_;
  std::uint32_t bits_;
};

/// target <- target + weight x, x from its values and coordinates.
template <class Real>
void add_compressed(const Tensor& values, const Tensor& coordinates, double weight, VectorRef<Real> target);

/// A message with the compressed difference of a vector and what the receivers believe it to be, which then knows of it.
/// `number` and `self` as for Compressor::compress.
template <class Real>
Payload compressed_difference(const Compressor& compressor, Work<Real>& work, std::uint64_t number, ClientId self,
                              ConstVectorRef<Real> x, VectorRef<Real> believed) {
  const typename Scratch<Real>::Frame frame(work.scratch);
  VectorRef<Real> difference = work.scratch.vector(x.size());
  difference = x - believed;
  Compressed q = compressor.compress(work, number, self, read_only(difference));
  add_compressed<Real>(q.values, q.coordinates, 1, believed);
  Payload payload;
  payload.common = {std::move(q.values), std::move(q.coordinates)};
  payload.paper_bits = q.paper_bits;
  return payload;
}

/// Whether they can be added to a vector with so many numbers.
template <class Real>
bool fits_compressed(const Tensor& values, const Tensor& coordinates, std::size_t numbers) {
  return coordinates ? are_coordinates<Real>(coordinates, values, numbers) : holds<Real>(values, numbers);
}

/// Bytes of what the compressor of these options leaves of a vector.
double compressed_bytes(const AlgorithmOptions& options, const MessageForm& form);

/// The options that a compressor reads.
inline constexpr std::array compressor_options{
    word_option("compressor", "top", "what is left of a message", word_list(CompressorKind{})),
    OptionSpec{"k", OptionType::whole, "1", "coordinates that top and rand keep", 1, 4294967295.0},
    OptionSpec{"unbiased", OptionType::flag, "false", "rand multiplies what it keeps by n/k"},
    OptionSpec{"bits", OptionType::whole, "4", "of a number with gsgd", 1, 32},
};

/// The settings of an algorithm that steps, compresses, and goes a part of the way to what it hears.
struct CompressedGossip {
  StepSize eta;
  double gamma;
  Compressor compressor;
};
inline constexpr auto compressed_gossip_options = combined(
    step_options(), std::array{OptionSpec{"gamma", OptionType::number, "0.3", "consensus step", 0, 1, true}}, compressor_options);
inline CompressedGossip read_compressed_gossip(const OptionReader& options) {
  return {StepSize(options), options.number("gamma"), Compressor(options.given())};
}

}  // namespace rubato
