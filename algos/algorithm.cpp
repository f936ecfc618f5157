#include "algos/algorithm.hpp"

#include <algorithm>

namespace rubato {

namespace {

// The upper half of word x samples: uniform to within 2^-64 x samples, and always exactly one draw.
std::uint32_t pick(std::uint64_t word, std::uint32_t samples) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint32_t>(static_cast<Wide>(word) * samples >> 64);
}

}  // namespace

template <class Real>
Picks Work<Real>::batch(std::uint64_t number) const {
  if (batches_.table) return (*batches_.table).at(number);
  if (batches_.size == 0) return {};
  const std::span<std::uint32_t> picks = scratch.indices(batches_.size);
  Stream stream(batches_.seed, batches_.client, Purpose::batch);
  stream.seek(number * batches_.size);
  for (std::uint32_t& sample : picks) sample = pick(stream.next(), learner.samples());
  return picks;
}

template <class Real>
Tensor copy_of(ConstVectorRef<Real> vector, TensorPool& pool) {
  Tensor copy = pool.make<Real>(static_cast<std::size_t>(vector.size()));
  numbers_of<Real>(copy) = vector;
  return copy;
}

template class Work<float>;
template class Work<double>;
template Tensor copy_of<float>(ConstVectorRef<float>, TensorPool&);
template Tensor copy_of<double>(ConstVectorRef<double>, TensorPool&);

}  // namespace rubato
