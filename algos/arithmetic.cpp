#include "algos/arithmetic.hpp"

#include "learning/kernels.hpp"

namespace rubato {

std::string instruction_set() {
#if defined(__AVX512F__)
  return "avx512";
#elif defined(__AVX2__)
  return "avx2";
#elif defined(__SSE2__)
  return "sse2";
#else
  return "generic";
#endif
}

std::string arithmetic() {
#if defined(__clang__)
  std::string text = "clang " __VERSION__;
#else
  std::string text = "g++ " __VERSION__;
#endif
#if defined(__OPTIMIZE__)
  text += " -O";
#else
  text += " -O0";
#endif
#if defined(RUBATO_IS_NATIVE)
  text += " native";
#endif
  return text + " " + instruction_set() + ", " + kernels();
}

std::string missing_instructions() {
#if defined(__AVX512F__)
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl"))
    return "this build needs a processor with AVX-512; build it here, or with RUBATO_NATIVE=OFF";
#elif defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2")) return "this build needs a processor with AVX2; build it here, or with RUBATO_NATIVE=OFF";
#endif
  return {};
}

}  // namespace rubato
