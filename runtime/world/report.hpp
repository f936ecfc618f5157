// What `rubato topology` prints: a graph, its mixing matrices and a picture, in words.
#pragma once

#include <string>

#include "runtime/world/graph.hpp"
#include "runtime/world/mixing.hpp"

namespace rubato {

/// Size, connection, degrees, a line for each kind of mixing matrix, and for few clients a picture. Lines end with
/// '\n'.
std::string describe(const Graph& graph);

/// One matrix: defects of its sums, symmetry, smallest weight, lambda = ||W - J||_2 and the spectral gap 1 - lambda.
std::string describe(const MixingMatrix& matrix);

/// Up to 30 clients: on a circle when edges are few, else as a table, a row for each receiver. Empty for more clients.
std::string picture(const Graph& graph);

}  // namespace rubato
