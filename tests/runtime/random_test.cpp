#include "runtime/random.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "runtime/elementary.hpp"
#include "tests/support/statistics.hpp"

using namespace rubato;
using namespace rubato::test;

TEST_CASE("a draw depends on its address alone, not on what was drawn before") {
  Stream forwards(7, {3}, Purpose::batch);
  std::vector<std::uint64_t> words;
  for (int i = 0; i < 10; ++i) words.push_back(forwards.next());
  for (std::uint64_t position : {9u, 4u, 0u, 5u, 1u}) {
    Stream again(7, {3}, Purpose::batch);
    again.seek(position);
    CHECK(again.next() == words[position]);
  }
}

TEST_CASE("seed, client, purpose and detail each give another stream") {
  const auto base = draw(1, {2}, Purpose::delay, 5, 6).first;
  CHECK(draw(2, {2}, Purpose::delay, 5, 6).first != base);
  CHECK(draw(1, {3}, Purpose::delay, 5, 6).first != base);
  CHECK(draw(1, {2}, Purpose::loss, 5, 6).first != base);
  CHECK(draw(1, {2}, Purpose::delay, 6, 6).first != base);
  CHECK(draw(1, {2}, Purpose::delay, 5, 7).first != base);
}

TEST_CASE("streams of neighbouring clients and purposes are uncorrelated") {
  constexpr int n = 20000;
  for (std::uint32_t client : {0u, 1u, 2u}) {
    Stream a(1, {client}, Purpose::compute_timer);
    Stream b(1, {client + 1}, Purpose::compute_timer);
    Stream c(1, {client}, Purpose::transmit_timer);
    double with_neighbour = 0, with_purpose = 0;
    for (int i = 0; i < n; ++i) {
      const double x = a.uniform() - 0.5;
      with_neighbour += x * (b.uniform() - 0.5);
      with_purpose += x * (c.uniform() - 0.5);
    }
    // A product of two uniforms has standard deviation 1/12; four of them are allowed.
    CHECK(std::abs(with_neighbour) < 4.0 * std::sqrt(n) / 12);
    CHECK(std::abs(with_purpose) < 4.0 * std::sqrt(n) / 12);
  }
}

TEST_CASE("uniform, exponential, normal and gamma draws have their distributions") {
  constexpr int n = 20000;
  Stream stream(11, {0}, Purpose::noise);
  std::vector<double> uniform, exponential, normal, gamma;
  for (int i = 0; i < n; ++i) {
    uniform.push_back(stream.uniform());
    exponential.push_back(1 - std::exp(-stream.exponential()));
    normal.push_back(0.5 * std::erfc(-stream.normal() / std::sqrt(2.0)));
    // Gamma(1/2) is half a squared normal: its distribution function is erf(sqrt(x)).
    gamma.push_back(std::erf(std::sqrt(stream.gamma(0.5))));
  }
  CHECK(kolmogorov_smirnov(uniform) < ks_limit);
  CHECK(kolmogorov_smirnov(exponential) < ks_limit);
  CHECK(kolmogorov_smirnov(normal) < ks_limit);
  CHECK(kolmogorov_smirnov(gamma) < ks_limit);
}

TEST_CASE("the extreme words give finite numbers") {
  CHECK(uniform01(~0ull) < 1.0);
  CHECK(exponential(~0ull) < 40.0);
  CHECK(exponential(0) == 0.0);
  CHECK(std::isfinite(normal(0)));
  CHECK(std::isfinite(normal(~0ull)));
}

TEST_CASE("below() reaches every value and no other") {
  Stream stream(1, {0}, Purpose::hub);
  std::vector<int> seen(7);
  for (int i = 0; i < 7000; ++i) ++seen.at(stream.below(7));
  for (int count : seen) CHECK(std::abs(count - 1000) < 150);
}

TEST_CASE("our logarithm and exponential agree with the library's to 1e-15") {
  Stream stream(1, {0}, Purpose::init);
  for (int i = 0; i < 100000; ++i) {
    const double wide = (stream.uniform() - 0.5) * 1400;
    REQUIRE(std::abs(elementary::exp(wide) / std::exp(wide) - 1) < 1e-15);
    const double x = std::exp(wide / 2);
    REQUIRE(std::abs(elementary::log(x) - std::log(x)) <= 1e-15 * std::abs(std::log(x)));
    const double u = stream.uniform();
    REQUIRE(std::abs(elementary::log1p(-u) - std::log1p(-u)) <= 1e-15 * std::abs(std::log1p(-u)));
  }
  CHECK(elementary::log(5e-324) == doctest::Approx(std::log(5e-324)).epsilon(1e-15));
  CHECK(elementary::exp(-745.0) > 0);
  CHECK(elementary::exp(800.0) == std::numeric_limits<double>::infinity());
}
