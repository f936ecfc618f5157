#include "runtime/world/edge_list.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "runtime/number_from.hpp"
#include "runtime/sentence.hpp"

namespace rubato {
namespace {

struct Place {
  const std::string& file;
  std::size_t line;
};

template <class... Why>
[[noreturn]] void refuse_line(Place place, const Why&... why) {
  refuse(place.file, ", line ", place.line, ": ", why...);
}

// A line may be of any length; a sentence is not.
std::string quoted(const std::string& text) {
  constexpr std::size_t most = 40;
  return "\"" + (text.size() > most ? text.substr(0, most) + "..." : text) + "\"";
}

ClientId parse_client(const std::string& word, std::size_t clients, Place place) {
  const auto number = number_from<std::uint32_t>(word);
  if (!number || *number >= clients) refuse_line(place, quoted(word), " is no client; allowed are 0 .. ", clients - 1);
  return {*number};
}

Edge parse_edge(const std::string& line, std::size_t clients, Place place) {
  std::istringstream words(line);
  std::string source, target, rest;
  if (!(words >> source >> target) || words >> rest)
    refuse_line(place, quoted(line) + " is no edge; expected are two client numbers");
  const Edge edge{parse_client(source, clients, place), parse_client(target, clients, place)};
  if (edge.source == edge.target)
    refuse_line(place, "client " + source + " has an edge to itself; a client hears itself without one");
  return edge;
}

// The fault names both lines that list the edge.
void check_listed_once(const std::vector<Edge>& edges, const std::vector<std::size_t>& lines, const std::string& name,
                       bool is_directed) {
  std::vector<std::pair<Edge, std::size_t>> listed;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [low, high] = std::minmax(edges[e].source, edges[e].target);
    listed.emplace_back(is_directed ? edges[e] : Edge{low, high}, lines[e]);
  }
  std::sort(listed.begin(), listed.end());
  const auto twice = std::ranges::adjacent_find(listed, {}, &std::pair<Edge, std::size_t>::first);
  if (twice == listed.end()) return;
  refuse_line(Place{name, std::next(twice)->second}, "the edge between ", twice->first.source.value, " and ",
              twice->first.target.value, " stands on line ", twice->second, " already",
              is_directed ? "" : "; an undirected edge is listed once");
}

std::ifstream opened(const std::string& path) {
  std::ifstream file(path);
  // A folder opens but does not read.
  if (!file || file.peek() == std::ifstream::traits_type::eof())
    throw std::invalid_argument("topology.file: \"" + path + "\" cannot be read or is empty; it must be a text file of edges");
  return file;
}

constexpr std::uint32_t most_graphs = 1'000'000;

// The edges of one graph, and the lines they stand on.
struct Listed {
  std::vector<Edge> edges;
  std::vector<std::size_t> lines;

  Graph graph(const std::string& name, std::size_t clients, bool is_directed) {
    check_listed_once(edges, lines, name, is_directed);
    return Graph(clients, is_directed, std::move(edges));
  }
};

// Without comments and empty lines.
template <class Take>
void for_each_line(std::istream& lines, const std::string& name, Take take) {
  std::string line;
  std::size_t taken = 0;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    line.resize(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (++taken > Graph::max_links) refuse_line(Place{name, number}, "more than ", Graph::max_links, " edges are too many");
    take(line, Place{name, number});
  }
  if (lines.bad()) throw std::invalid_argument(name + ": the file cannot be read to its end");
}

}  // namespace

Graph read_edge_list(std::istream& lines, const std::string& name, std::size_t clients, bool is_directed) {
  Listed listed;
  for_each_line(lines, name, [&](const std::string& line, Place place) {
    listed.edges.push_back(parse_edge(line, clients, place));
    listed.lines.push_back(place.line);
  });
  return listed.graph(name, clients, is_directed);
}

std::vector<Graph> read_edge_lists(std::istream& lines, const std::string& name, std::size_t clients, bool is_directed) {
  std::vector<Listed> listed;
  for_each_line(lines, name, [&](const std::string& line, Place place) {
    const std::size_t last = line.find_last_not_of(" \t\r"), gap = line.find_last_of(" \t", last);
    const auto read = gap == line.npos ? std::nullopt : number_from<std::uint32_t>(line.substr(gap + 1, last - gap));
    if (!read || *read > most_graphs)
      refuse_line(place, quoted(line), " is no edge of a graph; expected are two client numbers and the number of the graph, 0 .. ",
                  most_graphs);
    if (*read >= listed.size()) listed.resize(*read + std::size_t{1});
    listed[*read].edges.push_back(parse_edge(line.substr(0, gap), clients, place));
    listed[*read].lines.push_back(place.line);
  });
  if (listed.empty()) refuse(name, ": there is no edge");
  std::vector<Graph> graphs;
  for (std::size_t k = 0; k < listed.size(); ++k) {
    if (listed[k].edges.empty()) refuse(name, ": graph ", k, " has no edge");
    graphs.push_back(listed[k].graph(name, clients, is_directed));
  }
  return graphs;
}

Graph load_edge_list(const std::string& path, std::size_t clients, bool is_directed) {
  std::ifstream file = opened(path);
  return read_edge_list(file, path, clients, is_directed);
}

std::vector<Graph> load_edge_lists(const std::string& path, std::size_t clients, bool is_directed) {
  std::ifstream file = opened(path);
  return read_edge_lists(file, path, clients, is_directed);
}

}  // namespace rubato
