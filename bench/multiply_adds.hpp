// MultiplyAdds: the arithmetic that a model cannot do without, counted from its layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learning/shape.hpp"

namespace rubato::bench {

/// The multiply-adds of one training step with one sample: forwards, to the weights' gradient, and, but for the first
/// layer with weights, to the inputs' gradient. Dense layers and convolutions count; products with the zeros of a
/// padding, and whatever has no weights, do not. `layers` are those of a network; a dense layer to the classes follows.
std::uint64_t multiply_adds(const std::vector<std::string>& layers, const Shape& input, std::uint32_t classes);

}  // namespace rubato::bench
