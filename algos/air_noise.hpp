// AirNoise: models that come over the air, as a client hears them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "algos/algorithm.hpp"
#include "runtime/payload.hpp"
#include "runtime/random.hpp"
#include "runtime/step.hpp"
#include "runtime/world/air.hpp"

namespace rubato {

/// How a client hears models that are sent over the air: with noise.
class AirNoise {
 public:
  /// The air outlives it.
  AirNoise(const Air& air, ClientId self) : air_{air}, self_{self} {}

  /// The messages of the next round's merge step as they are heard: copies of their models, each with the noise that
  /// the power of them all leaves.
  template <class Real>
  std::vector<Payload> hear(const Step& step, std::span<const Payload* const> payloads, TensorPool& pool) {
    const std::uint64_t round = rounds_++;
    std::vector<Air::Heard> messages;
    for (std::size_t k = 0; k < payloads.size(); ++k)
      messages.push_back({step.entries[k].peer, step.entries[k].weight, norm_squared<Real>(payloads[k]->common[0])});
    const double numbers = payloads.empty() ? 0 : static_cast<double>(payloads[0]->common[0].count());
    const std::vector<double> deviations = air_.deviations(self_, round, messages, numbers);
    std::vector<Payload> heard(payloads.size());
    for (std::size_t k = 0; k < payloads.size(); ++k)
      heard[k].common[0] = with_noise<Real>(payloads[k]->common[0], deviations[k], round, messages[k].sender, pool);
    return heard;
  }

  void archive(Archive& archive) { archive(rounds_); }

 private:
  template <class Real>
  static double norm_squared(const Tensor& model) {
    double sum = 0;
    for (const Real x : numbers_of<Real>(model)) sum += static_cast<double>(x) * static_cast<double>(x);
    return sum;
  }

  template <class Real>
  Tensor with_noise(const Tensor& model, double deviation, std::uint64_t round, ClientId sender, TensorPool& pool) const {
    if (!(deviation > 0)) return model;
    Tensor heard = copy_of<Real>(numbers_of<Real>(model), pool);
    Stream chance(air_.settings().seed, self_, Purpose::noise, sender.value + 1);
    chance.seek(round * model.count());
    for (Real& x : numbers_of<Real>(heard)) x += static_cast<Real>(deviation * chance.normal());
    return heard;
  }

  const Air& air_;
  ClientId self_;
  std::uint64_t rounds_ = 0;
};

}  // namespace rubato
