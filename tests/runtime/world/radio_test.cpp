#include "runtime/world/radio.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "runtime/protocols/round_client.hpp"
#include "runtime/random.hpp"
#include "runtime/world/air.hpp"

using namespace rubato;
using doctest::Approx;

TEST_CASE("one watt over 500 m without fading gives an SNR of 402, 86.5 Mbit/s and 55 ms for the CNN of EMNIST") {
  const Radio radio;
  CHECK(watts_of_dbm(30) == Approx(1));
  CHECK(radio.noise_watts() == Approx(3.981e-14).epsilon(1e-4));
  const double snr = watts_of_dbm(30) * radio.path_gain(500) / radio.noise_watts();
  CHECK(std::round(snr) == 402);
  CHECK(std::round(radio.bits_per_second(snr) / 1e5) == 865);
  CHECK(std::round(1e3 * radio.seconds(8 * 596776.0, snr, 500)) == 55);
}

TEST_CASE("path loss falls with its exponent and is no larger than at the least distance") {
  for (const double exponent : {2.0, 3.0, 3.7, 4.0}) {
    const Radio radio{.path_loss_exponent = exponent};
    for (const double d : {1.5, 20.0, 431.7}) CHECK(radio.path_gain(d) == Approx(std::pow(d, -exponent)).epsilon(1e-13));
    CHECK(radio.path_gain(0) == radio.path_gain(1));
    CHECK(radio.path_gain(0.5) == Approx(1));
  }
}

TEST_CASE("the rate is Shannon's, also where hardly anything arrives") {
  const Radio radio{.bandwidth = 1e6};
  CHECK(radio.bits_per_second(0) == 0);
  CHECK(radio.bits_per_second(1) == Approx(1e6));
  CHECK(radio.bits_per_second(1023) == Approx(1e7));
  CHECK(radio.bits_per_second(1e-12) == Approx(1e-6 / std::log(2.0)));
}

TEST_CASE("a link is up with chance exp(-h_min^2) by amplitude and exp(-h_min) by power") {
  constexpr int n = 200'000;
  for (const bool is_of_power : {false, true}) {
    for (const double least : {0.3, 0.6, 1.2}) {
      const FadingThreshold threshold{least, is_of_power};
      CHECK(threshold.chance() == Approx(std::exp(is_of_power ? -least : -least * least)));
      int up = 0;
      for (std::uint64_t i = 0; i < n; ++i) up += threshold.is_up(exponential(draw(3, {0}, Purpose::fading, i).first));
      const double p = threshold.chance();
      CHECK(std::abs(static_cast<double>(up) / n - p) < 4 * std::sqrt(p * (1 - p) / n));
    }
  }
}

TEST_CASE("a fresh job of 0.25 + Exp(1) seconds straggles with chance .368 in 1.25 s and .472 in 1 s") {
  CHECK(straggler_chance(1.25, 0.25, 1) == Approx(0.368).epsilon(1e-3));
  CHECK(straggler_chance(1.0, 0.25, 1) == Approx(0.472).epsilon(1e-3));
  CHECK(straggler_chance(0.2, 0.25, 1) == 1);
  constexpr int n = 200'000;
  for (const double phase : {1.25, 1.0}) {
    int late = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      Job job;
      job.begin(from_seconds(0.25 + exponential(draw(4, {1}, Purpose::compute_timer, i).first)));
      late += !job.work(from_seconds(phase));
    }
    const double p = straggler_chance(phase, 0.25, 1);
    CHECK(std::abs(static_cast<double>(late) / n - p) < 4 * std::sqrt(p * (1 - p) / n));
  }
}

TEST_CASE("no leaf of a star sends with more than the power cap, and one of them uses all of it") {
  Stream chance(5, {0}, Purpose::split);
  for (int trial = 0; trial < 200; ++trial) {
    const double numbers = 1 + static_cast<double>(chance.below(50)), cap = 0.1 + chance.uniform();
    std::vector<AirLeaf> leaves(1 + chance.below(6));
    for (AirLeaf& leaf : leaves) leaf = {0.05 + chance.uniform(), 0.1 + 2 * chance.uniform(), numbers * chance.exponential()};
    const double c = star_scale(leaves, cap, numbers);
    double most = 0;
    for (const AirLeaf& leaf : leaves) {
      const double gain = leaf_gain(leaf, c);
      const double power = gain * gain * leaf.norm_squared / numbers;
      CHECK(power <= cap * (1 + 1e-12));
      CHECK(gain * leaf.amplitude == Approx(std::sqrt(c) * leaf.weight));  // all arrive at one scale
      most = std::max(most, power);
    }
    CHECK(most == Approx(cap));
    CHECK(broadcast_scale(leaves[0].norm_squared, cap, numbers) * leaves[0].norm_squared / numbers == Approx(cap));
  }
  CHECK(std::isinf(star_scale(std::vector<AirLeaf>{{0.5, 1, 0}}, 1, 4)));
  CHECK(broadcast_noise({0.5, 2, 1}, broadcast_scale(0, 1, 4)) == 0);
}
