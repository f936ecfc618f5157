#include "algos/algorithm.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace rubato {

namespace {

constexpr std::uint32_t in_order = 1;  // detail of Purpose::batch

// The upper half of word x bound: uniform to within 2^-64 x bound, and always exactly one draw.
std::uint32_t pick(std::uint64_t word, std::uint32_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint32_t>(static_cast<Wide>(word) * bound >> 64);
}

template <class Real>
VectorRef<Real> given_numbers(const std::map<std::uint64_t, std::vector<double>>& table, std::uint64_t number, Index count,
                              Scratch<Real>& scratch) {
  const std::vector<double>& given = table.at(number);
  if (static_cast<Index>(given.size()) != count)
    throw std::invalid_argument("a table of choices has " + std::to_string(given.size()) + " numbers, needed are " +
                                std::to_string(count));
  VectorRef<Real> numbers = scratch.vector(count);
  for (Index i = 0; i < count; ++i) numbers[i] = static_cast<Real>(given[static_cast<std::size_t>(i)]);
  return numbers;
}

[[noreturn]] void refuse(const char* step) {
  throw std::logic_error(std::string("this algorithm has no answer to a ") + step + " step");
}

}  // namespace

std::size_t place_of(std::span<const ClientId> ascending, ClientId client) {
  const auto found = std::lower_bound(ascending.begin(), ascending.end(), client);
  if (found == ascending.end() || *found != client)
    throw std::runtime_error("client " + std::to_string(client.value) + " is no neighbour");
  return static_cast<std::size_t>(found - ascending.begin());
}

std::span<const std::uint32_t> EpochOrder::part(std::uint64_t seed, ClientId client, std::uint64_t epoch, std::uint32_t samples,
                                                std::uint64_t first, std::uint32_t count) {
  if (epoch != epoch_ || order_.size() != samples) {
    epoch_ = epoch;
    order_.resize(samples);
    std::iota(order_.begin(), order_.end(), 0u);
    Stream stream(seed, client, Purpose::batch, in_order);
    stream.seek(epoch * samples);
    for (std::uint32_t i = 0; i < samples; ++i) std::swap(order_[i], order_[i + pick(stream.next(), samples - i)]);
  }
  return std::span(order_).subspan(first, count);
}

template <class Real>
Picks Work<Real>::batch(std::uint64_t number, std::uint64_t trained) const {
  const Chance chance{batches_.seed, batches_.client, number};
  if (batches_.table && !batches_.table->batches.empty()) return Picks(batches_.table->batches.at(number)).with(chance);
  if (batches_.size == 0) return Picks().with(chance);
  if (batches_.in_epochs) {
    const std::uint32_t samples = learner.samples(), size = std::min(batches_.size, samples);
    const std::uint64_t each = (samples + size - 1) / size, first = trained % each * size;
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, samples - first));
    const auto rows = batches_.order.part(batches_.seed, batches_.client, trained / each, samples, first, count);
    return Picks(rows.begin(), rows.end()).with(chance);
  }
  const std::span<std::uint32_t> picks = scratch.indices(batches_.size);
  Stream stream(batches_.seed, batches_.client, Purpose::batch);
  stream.seek(number * batches_.size);
  for (std::uint32_t& sample : picks) sample = pick(stream.next(), learner.samples());
  return Picks(picks).with(chance);
}

template <class Real>
std::uint64_t Work<Real>::batches_in_epoch() const {
  const std::uint64_t size = batches_.size, rows = learner.samples();
  const bool is_given = batches_.table && !batches_.table->batches.empty();
  return size == 0 || is_given ? 1 : (rows + size - 1) / size;
}

template <class Real>
void Work<Real>::gradient(ConstVectorRef<Real> x, std::uint64_t k, VectorRef<Real> g) const {
  const std::uint64_t batches = local_batches();
  learner.gradient(x, batch(k * batches), g, scratch);
  if (batches == 1) return;
  const typename Scratch<Real>::Frame frame(scratch);
  VectorRef<Real> next = scratch.vector(g.size());
  for (std::uint64_t b = 1; b < batches; ++b) {
    const typename Scratch<Real>::Frame of_batch(scratch);
    learner.gradient(x, batch(k * batches + b), next, scratch);
    g += next;
  }
  g *= static_cast<Real>(1 / static_cast<double>(batches));
}

template <class Real>
void Work<Real>::descend(VectorRef<Real> x, std::uint64_t k, Real eta) const {
  for (std::uint64_t b = k * local_batches(); b < (k + 1) * local_batches(); ++b) {
    const typename Scratch<Real>::Frame frame(scratch);
    learner.descend(x, batch(b), eta, scratch);
  }
}

// The first `count` of a shuffle of all coordinates: only so many of its swaps are made.
template <class Real>
Picks Work<Real>::coordinates(std::uint64_t number, ClientId peer, Index dimension, Index count) const {
  if (batches_.table) {
    const auto given = batches_.table->coordinates.find({number, peer.value});
    if (given != batches_.table->coordinates.end()) return given->second;
  }
  const std::span<std::uint32_t> all = scratch.indices(dimension);
  std::iota(all.begin(), all.end(), 0u);
  Stream stream(batches_.seed, batches_.client, Purpose::coordinates, peer.value + 1);
  stream.seek(number * static_cast<std::uint64_t>(count));
  for (Index i = 0; i < count; ++i)
    std::swap(all[static_cast<std::size_t>(i)],
              all[static_cast<std::size_t>(i) + pick(stream.next(), static_cast<std::uint32_t>(dimension - i))]);
  const auto chosen = all.first(static_cast<std::size_t>(count));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

template <class Real>
VectorRef<Real> Work<Real>::uniforms(std::uint64_t number, Index count) const {
  if (batches_.table && batches_.table->uniforms.contains(number))
    return given_numbers<Real>(batches_.table->uniforms, number, count, scratch);
  VectorRef<Real> numbers = scratch.vector(count);
  Stream stream(batches_.seed, batches_.client, Purpose::coordinates);
  stream.seek(number * static_cast<std::uint64_t>(count));
  for (Real& value : numbers) value = static_cast<Real>(stream.uniform());
  return numbers;
}

template <class Real>
VectorRef<Real> Work<Real>::noise(std::uint64_t number, Index count, double deviation) const {
  if (batches_.table && batches_.table->noise.contains(number))
    return given_numbers<Real>(batches_.table->noise, number, count, scratch);
  VectorRef<Real> numbers = scratch.vector(count);
  if (deviation == 0) {
    numbers.setZero();
    return numbers;
  }
  Stream stream(batches_.seed, batches_.client, Purpose::noise);
  stream.seek(number * static_cast<std::uint64_t>(count));
  for (Real& value : numbers) value = static_cast<Real>(deviation * stream.normal());
  return numbers;
}

template <class Real>
void Algorithm<Real>::begin(Work<Real>&) {
  refuse("begin");
}

template <class Real>
void Algorithm<Real>::reclaim(Work<Real>&, const Step&, const Payload&) {
  refuse("reclaim");
}

template <class Real>
bool Algorithm<Real>::fits(const Payload& payload, const Step&, std::uint32_t) const {
  return holds<Real>(payload.common[0], static_cast<std::size_t>(model().size()));
}

template <class Real>
void Algorithm<Real>::adopt(ConstVectorRef<Real>) {
  refuse("adopt");
}

template <class Real>
bool Algorithm<Real>::decide(Work<Real>&, const Step&) {
  refuse("decide");
}

template <class Real>
void Algorithm<Real>::reset(Work<Real>&) {}

template <class Real>
void Algorithm<Real>::archive(Archive&) {
  throw std::logic_error("this algorithm cannot be saved");
}

template <class Real>
Tensor Algorithm<Real>::snapshot(Work<Real>& work) const {
  return copy_of<Real>(model(), work.pool);
}

template <class Real>
void Algorithm<Real>::balance(Probe&) const {}

template <class Real>
void Algorithm<Real>::round_balance(Probe&) const {}

template <class Real>
void Algorithm<Real>::owed(Probe&) const {}

template <class Real>
Tensor copy_of(ConstVectorRef<Real> vector, TensorPool& pool) {
  Tensor copy = pool.make<Real>(static_cast<std::size_t>(vector.size()));
  numbers_of<Real>(copy) = vector;
  return copy;
}

template <class Real>
bool are_coordinates(const Tensor& coordinates, const Tensor& values, std::size_t numbers) {
  if (!values || !holds<Real>(values, values.count()) || !holds<std::uint32_t>(coordinates, values.count())) return false;
  const std::span places(coordinates.data<std::uint32_t>(), coordinates.count());
  return std::ranges::all_of(places, [&](std::uint32_t place) { return place < numbers; });
}

template <class Real>
Tensor zeros(std::size_t count, TensorPool& pool) {
  Tensor tensor = pool.make<Real>(count);
  numbers_of<Real>(tensor).setZero();
  return tensor;
}

template class Work<float>;
template class Work<double>;
template class Algorithm<float>;
template class Algorithm<double>;
template Tensor copy_of<float>(ConstVectorRef<float>, TensorPool&);
template Tensor copy_of<double>(ConstVectorRef<double>, TensorPool&);
template bool are_coordinates<float>(const Tensor&, const Tensor&, std::size_t);
template bool are_coordinates<double>(const Tensor&, const Tensor&, std::size_t);
template Tensor zeros<float>(std::size_t, TensorPool&);
template Tensor zeros<double>(std::size_t, TensorPool&);

}  // namespace rubato
