#include "bench/multiply_adds.hpp"

#include <algorithm>

#include "learning/network/layer_words.hpp"

namespace rubato::bench {

namespace {

// Pairs of an output and a pixel it looks at, along one side of an image.
Index pairs(Index side, Index kernel, Index stride, Index padding) {
  Index sum = 0;
  for (Index first = -padding; first + kernel <= side + padding; first += stride)
    sum += std::min(first + kernel, side) - std::max(first, Index{0});
  return sum;
}

class Counter {
 public:
  explicit Counter(const Shape& input) : shape_{input} {}

  void add(const LayerWords& layer) {
    const auto pooled = [&](Index side) {
      const Index size = layer.size(0), padding = layer.option("pad", 0, 0);
      return (side + 2 * padding - size) / layer.option("stride", 1, size) + 1;
    };
    if (layer.word == "dense") dense(layer.size(0));
    if (layer.word == "conv") {
      const Index kernel = layer.size(1);
      const Index padding = layer.has("same") ? kernel / 2 : layer.option("pad", 0, 0);
      convolve(layer.size(0), kernel, layer.option("stride", 1, 1), padding);
    }
    if (layer.word == "residual") residual(layer);
    if (layer.word == "maxpool") shape_ = {shape_.channels, pooled(shape_.height), pooled(shape_.width)};
    if (layer.word == "meanpool") shape_ = {shape_.channels, 1, 1};
  }

  void dense(Index outputs) {
    count(shape_.size() * outputs);
    shape_ = {outputs, 1, 1};
  }

  std::uint64_t sum() const { return sum_; }

 private:
  void count(Index forward) {
    sum_ += static_cast<std::uint64_t>(forward) * (is_first_ ? 2 : 3);
    is_first_ = false;
  }

  void convolve(Index outputs, Index kernel, Index stride, Index padding) {
    count(outputs * shape_.channels * pairs(shape_.height, kernel, stride, padding) * pairs(shape_.width, kernel, stride, padding));
    const auto side = [&](Index before) { return (before + 2 * padding - kernel) / stride + 1; };
    shape_ = {outputs, side(shape_.height), side(shape_.width)};
  }

  void residual(const LayerWords& layer) {
    const Shape before = shape_;
    const Index outputs = layer.size(0), stride = layer.option("stride", 1, 1);
    const bool is_same = outputs == before.channels && stride == 1;
    convolve(outputs, 3, stride, 1);
    convolve(outputs, 3, 1, 1);
    const Shape after = shape_;
    shape_ = before;
    if (layer.has("project") && !is_same) convolve(outputs, 1, stride, 0);
    shape_ = after;
  }

  Shape shape_;
  std::uint64_t sum_ = 0;
  bool is_first_ = true;
};

}  // namespace

std::uint64_t multiply_adds(const std::vector<std::string>& layers, const Shape& input, std::uint32_t classes) {
  Counter counter(input);
  for (const std::string& layer : layers) counter.add(read_layer(layer));
  counter.dense(static_cast<Index>(classes));
  return counter.sum();
}

}  // namespace rubato::bench
