// Independent chains of multiply-adds, enough of them to hide the latency of each. This file alone is compiled with
// contraction: x * a + b is to be one instruction where there is one.
#include "bench/fma_peak.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace rubato::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t chains = 12;
constexpr std::uint64_t rounds = 100'000;
constexpr int blocks = 10;

struct Work {
  double operations;
  float rest;  // of the chains, so that they are computed
};

typedef float Lanes4 __attribute__((vector_size(16)));
typedef float Lanes8 __attribute__((vector_size(32)));
typedef float Lanes16 __attribute__((vector_size(64)));

template <class Lanes>
[[gnu::always_inline]] inline Work multiply_and_add(float factor, float term) {
  Lanes sums[chains];
  for (std::size_t i = 0; i < chains; ++i) sums[i] = Lanes{} + static_cast<float>(i);
  for (std::uint64_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < chains; ++i) sums[i] = sums[i] * factor + term;
  float rest = 0;
  for (std::size_t i = 0; i < chains; ++i) rest += sums[i][0];
  return {2.0 * rounds * chains * (sizeof(Lanes) / sizeof(float)), rest};
}

#if defined(__x86_64__)
[[gnu::target("avx512f")]] Work wide(float factor, float term) { return multiply_and_add<Lanes16>(factor, term); }
[[gnu::target("avx2,fma")]] Work middle(float factor, float term) { return multiply_and_add<Lanes8>(factor, term); }
#endif
Work narrow(float factor, float term) { return multiply_and_add<Lanes4>(factor, term); }

using Chains = Work (*)(float, float);

Chains widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return wide;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return middle;
#endif
  return narrow;
}

}  // namespace

double measure_fma_peak(double seconds) {
  const Chains run = widest();
  volatile float factor = 0.999f, term = 0.001f;  // the compiler knows neither
  double best = 0;
  for (int block = 0; block < blocks; ++block) {
    double operations = 0;
    const Clock::time_point start = Clock::now();
    double taken = 0;
    while (taken < seconds) {
      const Work work = run(factor, term);
      volatile float seen = work.rest;
      static_cast<void>(seen);
      operations += work.operations;
      taken = std::chrono::duration<double>(Clock::now() - start).count();
    }
    best = std::max(best, operations / taken);
  }
  return best;
}

}  // namespace rubato::bench
