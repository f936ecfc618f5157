#include "runtime/elementary.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rubato::elementary {

namespace {

constexpr double ln2_high = 0x1.62e42fee00000p-1;  // the upper 32 bits of ln 2: k * ln2_high is exact for |k| < 2^20
constexpr double ln2_low = 0x1.a39ef35793c76p-33;  // the rest

struct Split {
  int exponent;
  double fraction;  // in [sqrt(1/2), sqrt(2))
};

Split split(double x) {
  int shift = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    shift = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double fraction = std::bit_cast<double>((bits & 0x000F'FFFF'FFFF'FFFF) | 0x3FF0'0000'0000'0000);
  if (fraction > 1.4142135623730951) {
    fraction *= 0.5;
    ++exponent;
  }
  return {exponent + shift, fraction};
}

// log(1 + f) = 2 atanh(s) with s = f / (2 + f), |s| < 0.172: the series 2 s (1 + z/3 + z^2/5 + ...), z = s^2, summed in
// two interleaved halves so that the additions overlap. The first term left out is below 2^-58.
double log_of_one_plus(double f) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double w = z * z;
  const double odd = 1.0 / 3 + w * (1.0 / 7 + w * (1.0 / 11 + w * (1.0 / 15 + w * (1.0 / 19))));
  const double even = 1.0 / 5 + w * (1.0 / 9 + w * (1.0 / 13 + w * (1.0 / 17 + w * (1.0 / 21))));
  const double twice = 2.0 * s;
  return twice + twice * (z * odd + w * even);
}

// By Horner's rule; the coefficient of the highest power comes first.
template <class... Coefficients>
double polynomial(double x, double highest, Coefficients... lower) {
  double value = highest;
  ((value = value * x + lower), ...);
  return value;
}

}  // namespace

double log(double x) {
  const auto [exponent, fraction] = split(x);
  const double k = exponent;
  return k * ln2_high + (log_of_one_plus(fraction - 1.0) + k * ln2_low);
}

double log1p(double x) {
  const double sum = 1.0 + x;
  if (sum == 1.0) return x;
  // The rounding error of 1 + x is put back: log(1 + x) = log(sum) + (x - (sum - 1)) / sum.
  const double lost = (sum - 1.0 > x || x < 1.0) ? x - (sum - 1.0) : 1.0 - (sum - x);
  return log(sum) + lost / sum;
}

double exp(double x) {
  if (x > 709.782712893384) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0.0;
  const double k = std::floor(x * 1.44269504088896338700 + 0.5);
  const double r = (x - k * ln2_high) - k * ln2_low;
  // Taylor's series of e^r for |r| <= ln 2 / 2; the first term left out is below 2^-57.
  double value = 1.0;
  for (int n = 14; n >= 1; --n) value = 1.0 + value * r / n;
  const int power = static_cast<int>(k);
  if (power >= -1021 && power <= 1023) return value * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
  if (power > 1023) return value * 2.0 * 0x1p1023;
  return value * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023 + 60) << 52) * 0x1p-60;
}

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (q > -0.425 && q < 0.425) {
    const double r = 0.180625 - q * q;
    return q *
           polynomial(r, 2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
                      13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608) /
           polynomial(r, 5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
                      5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0);
  }
  double r = std::sqrt(-log(q < 0 ? p : 1.0 - p));
  double x;
  if (r <= 5.0) {
    r -= 1.6;
    x = polynomial(r, 7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
                   3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734) /
        polynomial(r, 1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
                   0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0);
  } else {
    r -= 5.0;
    x = polynomial(r, 2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
                   0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772) /
        polynomial(r, 2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
                   0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0);
  }
  return q < 0 ? -x : x;
}

}  // namespace rubato::elementary
