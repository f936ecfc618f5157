// Edge lists: a graph as lines "source target" in a text file.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "runtime/world/graph.hpp"

namespace rubato {

/// One edge a line, two client numbers from 0; empty lines and what follows a '#' are skipped. Undirected edges stand
/// there once. Throws std::invalid_argument naming `name` and the line of the first fault.
Graph read_edge_list(std::istream& lines, const std::string& name, std::size_t clients, bool is_directed);

/// The same from a file; one that cannot be read is std::invalid_argument.
Graph load_edge_list(const std::string& path, std::size_t clients, bool is_directed);

/// A graph that changes: lines "source target graph", graphs numbered from 0 without a gap. At least one.
std::vector<Graph> read_edge_lists(std::istream& lines, const std::string& name, std::size_t clients, bool is_directed);
std::vector<Graph> load_edge_lists(const std::string& path, std::size_t clients, bool is_directed);

}  // namespace rubato
