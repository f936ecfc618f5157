// Chance by address: every draw is a pure function of (seed, client, purpose, index), so no draw depends on another.
#pragma once

#include <cstdint>

#include "runtime/ids.hpp"

namespace rubato {

/// What a number is drawn for. One stream per purpose: what is added for one never changes another. Values are fixed
/// for ever, because digests depend on them; new purposes go at the end.
enum class Purpose : std::uint32_t {
  compute_timer = 1,
  transmit_timer = 2,
  batch = 3,
  neighbours = 4,
  coordinates = 5,
  indicator = 6,
  fading = 7,
  noise = 8,
  hub = 9,
  init = 10,
  partition = 11,
  delay = 12,
  loss = 13,
  topology = 14,
  rate = 15,
  dropout = 16,
  evaluation = 17,
  split = 18,
  duplicate = 19,
  churn = 20,
  place = 21,
  way = 22,
  interference = 23,
  back_off = 24,
  thinning = 25,
  setting = 26,
  partner = 27,
  batch_length = 28,
};

/// Two words of 64 independent uniform bits.
struct DrawnPair {
  std::uint64_t first;   ///< the word of an even position of a stream
  std::uint64_t second;  ///< the word of the odd position behind it
};

/// Philox4x32-10 (docs/references.md#chance). `index` counts the draws of a purpose; `detail` is a further address, say a
/// receiver.
DrawnPair draw(std::uint64_t seed, ClientId client, Purpose purpose, std::uint64_t index, std::uint32_t detail = 0);

/// In [0, 1): 53 bits, never 1.
constexpr double uniform01(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// In (0, 1): for quantiles that are infinite at the ends.
constexpr double open_uniform01(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

/// Exponential with mean 1: -log(1 - U), never infinite.
double exponential(std::uint64_t bits);

/// Standard normal by its quantile function: one draw a number.
double normal(std::uint64_t bits);

/// The draws of one (seed, client, purpose, detail), read one after the other from a position that can be set.
class Stream {
 public:
  /// Begins at position 0.
  Stream(std::uint64_t seed, ClientId client, Purpose purpose, std::uint32_t detail = 0)
      : seed_{seed}, client_{client}, purpose_{purpose}, detail_{detail} {}

  /// 64 uniform bits: one draw, like the next three.
  std::uint64_t next();
  /// Uniform in [0, 1).
  double uniform() { return uniform01(next()); }
  /// Exponential with mean 1.
  double exponential() { return rubato::exponential(next()); }
  /// Standard normal.
  double normal() { return rubato::normal(next()); }

  /// Gamma with this shape (> 0) and rate 1 (Marsaglia and Tsang's method; a varying number of draws).
  double gamma(double shape);
  /// Beta(a, b) from two gammas.
  double beta(double a, double b);
  /// Uniform in 0 .. bound - 1 without bias; bound > 0.
  std::uint64_t below(std::uint64_t bound);

  /// The number of draws made so far; setting it back repeats them.
  std::uint64_t position() const { return position_; }
  /// The next draw is the one of this position.
  void seek(std::uint64_t position);

 private:
  std::uint64_t seed_;
  ClientId client_;
  Purpose purpose_;
  std::uint32_t detail_;
  std::uint64_t position_ = 0;
  std::uint64_t spare_ = 0;  // the second word of the pair at an odd position
};

/// The address of the random numbers of one gradient, such as those of dropout: the `number`-th of a client. Equal addresses give
/// equal numbers, wherever and whenever they are drawn.
struct Chance {
  std::uint64_t seed = 0;    ///< of the run
  ClientId client{};         ///< whose gradient it is
  std::uint64_t number = 0;  ///< of the gradient, counted by its client
  /// Where many samples are taken block by block: which block this is.
  std::uint32_t block = 0;

  /// The numbers that layer `layer` (below 2^16) of a model draws; up to 2^32 of them.
  Stream stream(std::uint32_t layer) const {
    Stream numbers(seed, client, Purpose::dropout, layer | block << 16);
    numbers.seek(number << 32);
    return numbers;
  }
};

}  // namespace rubato
