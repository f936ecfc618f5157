// From layers in words to a program of operations.
#pragma once

#include "learning/network/network.hpp"
#include "learning/network/program.hpp"

namespace rubato {

/// A layer in words, and the array that it writes.
struct BuiltLayer {
  HiddenLayer layer;
  ArrayId array;
};

template <class Real>
struct BuiltNetwork {
  Program<Real> program;
  Index parameters;
  std::vector<BuiltLayer> layers;
};

/// Fuses what belongs together: a ReLU with the layer before it, its gradient with a pooling after it.
template <class Real>
BuiltNetwork<Real> build_network(const NetworkSpec& spec, const Shape& input, std::uint32_t classes);

}  // namespace rubato
