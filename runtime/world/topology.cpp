#include "runtime/world/topology.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>

#include "runtime/random.hpp"
#include "runtime/sentence.hpp"
#include "runtime/words.hpp"
#include "runtime/world/edge_list.hpp"

namespace rubato {
namespace {

constexpr int most_draws = 1000;

constexpr std::array kinds{
    TopologyKind{"ring", "each client and the next, the last and the first", ""},
    TopologyKind{"cycle", "another name of ring", ""},
    TopologyKind{"directed_ring", "each client sends to the next only", ""},
    TopologyKind{"complete", "every client and every other", ""},
    TopologyKind{"mesh", "another name of complete", ""},
    TopologyKind{"star", "the center and every other client", "center"},
    TopologyKind{"path", "a ring that is cut open", ""},
    TopologyKind{"bipartite", "every client of one half and every one of the other", ""},
    TopologyKind{"grid", "rows and columns, neighbours left, right, up and down", "rows columns"},
    TopologyKind{"torus", "a grid whose borders meet", "rows columns"},
    TopologyKind{"exponential", "directed, to the clients 1, 2, 4, 8, ... further on", ""},
    TopologyKind{"one_peer_exponential", "directed, to one client 2^step further on; a step of a sequence", "step"},
    TopologyKind{"erdos_renyi", "every edge with the same probability", "probability allow_disconnected"},
    TopologyKind{"random_geometric", "clients within a radius of each other", "radius points allow_disconnected"},
    TopologyKind{"knn", "the k nearest clients of each", "k symmetrise points allow_disconnected"},
    TopologyKind{"random_regular", "every client has the same number of neighbours, drawn", "degree allow_disconnected"},
    TopologyKind{"small_world", "a circle of near neighbours, some of whose edges lead anywhere",
                 "degree rewire allow_disconnected"},
    TopologyKind{"scale_free", "clients join one by one, rather those that have many neighbours", "attach"},
    TopologyKind{"file", "an edge list from a text file", "file is_directed"},
};

ClientId id(std::size_t number) { return {static_cast<std::uint32_t>(number)}; }

template <class Value, class... Allowed>
[[noreturn]] void refuse_field(std::string_view field, const Value& value, const Allowed&... allowed) {
  refuse("topology.", field, " = ", value, " is not possible; ", allowed...);
}

// Dense families ask before they allocate.
void check_links(std::string_view kind, std::size_t clients, double links) {
  if (links > static_cast<double>(Graph::max_links))
    refuse_field("kind", sentence('"', kind, '"'), "with ", clients, " clients it has more than ", Graph::max_links,
                 " links; take fewer clients or a sparser kind");
}

// The edges of one line of clients, closed to a circle if asked: a circle of two is one edge, of one is none.
template <class At>
void add_line(std::vector<Edge>& edges, std::size_t length, bool is_closed, const At& at) {
  for (std::size_t k = 0; k + 1 < length; ++k) edges.push_back({at(k), at(k + 1)});
  if (is_closed && length > 2) edges.push_back({at(length - 1), at(0)});
}

Graph lattice(std::size_t rows, std::size_t columns, bool is_closed) {
  std::vector<Edge> edges;
  edges.reserve(2 * rows * columns);
  for (std::size_t r = 0; r < rows; ++r) add_line(edges, columns, is_closed, [&](std::size_t c) { return id(r * columns + c); });
  for (std::size_t c = 0; c < columns; ++c) add_line(edges, rows, is_closed, [&](std::size_t r) { return id(r * columns + c); });
  return Graph(rows * columns, false, std::move(edges));
}

// Directed: every client to those 2^k further on, for the exponents given.
Graph jumps(std::size_t clients, std::size_t first_exponent, std::size_t end_exponent) {
  std::vector<Edge> edges;
  edges.reserve(clients * (end_exponent - first_exponent));
  for (std::size_t i = 0; i < clients; ++i)
    for (std::size_t k = first_exponent; k < end_exponent; ++k) edges.push_back({id(i), id((i + (std::size_t{1} << k)) % clients)});
  return Graph(clients, true, std::move(edges));
}

std::size_t ceil_log2(std::size_t clients) { return static_cast<std::size_t>(std::bit_width(clients - 1)); }

// Undirected edges, each once, from the choices of both ends.
std::vector<Edge> agreed(std::vector<Edge> chosen, bool must_be_mutual) {
  for (Edge& edge : chosen)
    if (edge.target < edge.source) std::swap(edge.source, edge.target);
  std::sort(chosen.begin(), chosen.end());
  std::vector<Edge> edges;
  for (std::size_t e = 0; e < chosen.size(); ++e) {
    const bool is_last = e + 1 == chosen.size() || chosen[e + 1] != chosen[e];
    const bool is_mutual = e > 0 && chosen[e - 1] == chosen[e];
    if (is_last && (is_mutual || !must_be_mutual)) edges.push_back(chosen[e]);
  }
  return edges;
}

struct Shape {
  std::size_t rows, columns;
};

Shape most_square(std::size_t clients) {
  auto rows = static_cast<std::size_t>(std::sqrt(static_cast<double>(clients)));
  while (clients % rows != 0) --rows;
  return {rows, clients / rows};
}

Shape shape_of(const TopologyOptions& options, std::size_t clients) {
  auto [rows, columns] = options.rows + options.columns == 0 ? most_square(clients) : Shape{options.rows, options.columns};
  if (rows == 0) rows = clients / columns;
  if (columns == 0) columns = clients / rows;
  // By division: a product of two large numbers may wrap around.
  if (rows == 0 || columns == 0 || clients % rows != 0 || clients / rows != columns)
    refuse_field("rows x columns", sentence(options.rows, " x ", options.columns), "the product must be the number of clients, ",
                 clients, " (0: chosen for you)");
  return {rows, columns};
}

Graph star_of(const TopologyOptions& options, std::size_t clients) {
  if (options.center >= clients) refuse_field("center", options.center, "allowed are 0 .. ", clients - 1);
  return topologies::star(clients, id(options.center));
}

void check_points(const TopologyOptions& options, std::size_t clients) {
  if (options.points.empty()) return;
  if (options.points.size() != clients)
    refuse_field("points", sentence(options.points.size(), " points"), "one for each of the ", clients, " clients");
  for (Point p : options.points)
    if (!(std::abs(p.x) <= 1e100 && std::abs(p.y) <= 1e100))
      refuse_field("points", sentence("(", p.x, ", ", p.y, ")"), "coordinates are numbers between -1e100 and 1e100");
}

std::vector<Point> draw_points(std::size_t clients, Stream& stream) {
  std::vector<Point> points(clients);
  for (Point& p : points) {
    p.x = stream.uniform();
    p.y = stream.uniform();
  }
  return points;
}

// Draws until strongly connected. `settings` and `advice` are for the sentence that is said when nothing came of it.
Graph draw_connected(const TopologyOptions& options, const std::function<Graph()>& draw_graph, const std::string& settings,
                     const std::string& advice) {
  for (int attempt = 0; attempt < most_draws; ++attempt) {
    Graph graph = draw_graph();
    if (options.allow_disconnected || graph.is_strongly_connected()) return graph;
  }
  const char* const strongly = options.symmetrise == Symmetrise::none && options.kind == "knn" ? "strongly " : "";
  refuse_field("kind", sentence('"', options.kind, '"'), "with ", settings, " none of ", most_draws, " draws was ", strongly,
               "connected; ", advice);
}

Graph draw_erdos_renyi(const TopologyOptions& options, std::size_t clients, Stream& stream) {
  const double p = options.probability;
  if (!(p > 0 && p <= 1)) refuse_field("probability", p, "allowed are numbers above 0 and up to 1");
  check_links(options.kind, clients, p * static_cast<double>(clients) * static_cast<double>(clients - 1));
  return draw_connected(
      options, [&] { return topologies::erdos_renyi(clients, p, [&] { return stream.uniform(); }); },
      sentence(clients, " clients and probability ", p), "raise topology.probability");
}

Graph draw_random_geometric(const TopologyOptions& options, std::size_t clients, Stream& stream) {
  const double radius = options.radius;
  if (!(radius > 0)) refuse_field("radius", radius, "allowed are numbers above 0");
  check_points(options, clients);
  if (!options.points.empty()) return topologies::random_geometric(options.points, radius);
  return draw_connected(
      options, [&] { return topologies::random_geometric(draw_points(clients, stream), radius); },
      sentence(clients, " clients and radius ", radius), "raise topology.radius");
}

Graph draw_nearest_neighbours(const TopologyOptions& options, std::size_t clients, Stream& stream) {
  const Symmetrise symmetrise = options.symmetrise;
  if (options.k == 0 || options.k >= clients)
    refuse_field("k", options.k, "allowed are 1 .. ", clients - 1, ", the number of other clients");
  check_points(options, clients);
  check_links(options.kind, clients, 2.0 * static_cast<double>(clients) * static_cast<double>(options.k));
  if (!options.points.empty()) return topologies::nearest_neighbours(options.points, options.k, symmetrise);
  return draw_connected(
      options, [&] { return topologies::nearest_neighbours(draw_points(clients, stream), options.k, symmetrise); },
      sentence(clients, " clients, k ", options.k, " and symmetrise ", word_of(symmetrise)),
      symmetrise == Symmetrise::either ? "raise topology.k" : "raise topology.k or set topology.symmetrise to \"union\"");
}

Graph draw_random_regular(const TopologyOptions& options, std::size_t clients, Stream& stream) {
  const std::size_t degree = options.degree;
  if (degree == 0 || degree >= clients)
    refuse_field("degree", degree, "allowed are 1 .. ", clients - 1, ", the number of other clients");
  if (clients % 2 == 1 && degree % 2 == 1)
    refuse_field("degree", degree, "every edge has two ends, and an odd number for each of ", clients,
                 " clients is odd; take an even one");
  check_links(options.kind, clients, static_cast<double>(clients) * static_cast<double>(degree));
  return draw_connected(
      options, [&] { return topologies::random_regular(clients, degree, [&] { return stream.uniform(); }); },
      sentence(clients, " clients and degree ", degree), "raise topology.degree");
}

Graph draw_small_world(const TopologyOptions& options, std::size_t clients, Stream& stream) {
  const std::size_t degree = options.degree;
  if (degree == 0 || degree >= clients || degree % 2 == 1)
    refuse_field("degree", degree, "a small world needs an even number below ", clients, ", the number of clients");
  if (!(options.rewire >= 0 && options.rewire <= 1)) refuse_field("rewire", options.rewire, "allowed are numbers from 0 to 1");
  check_links(options.kind, clients, static_cast<double>(clients) * static_cast<double>(degree));
  return draw_connected(
      options, [&] { return topologies::small_world(clients, degree, options.rewire, [&] { return stream.uniform(); }); },
      sentence(clients, " clients, degree ", degree, " and rewire ", options.rewire), "raise topology.degree");
}

Graph draw_scale_free(const TopologyOptions& options, std::size_t clients, Stream& stream) {
  if (options.attach == 0 || options.attach >= clients)
    refuse_field("attach", options.attach, "allowed are 1 .. ", clients - 1, ", the number of other clients");
  check_links(options.kind, clients, 2.0 * static_cast<double>(clients) * static_cast<double>(options.attach));
  return topologies::scale_free(clients, options.attach, [&] { return stream.uniform(); });
}

std::optional<Graph> draw_random(const TopologyOptions& options, std::size_t clients, Stream stream) {
  if (options.kind == "erdos_renyi") return draw_erdos_renyi(options, clients, stream);
  if (options.kind == "random_geometric") return draw_random_geometric(options, clients, stream);
  if (options.kind == "knn") return draw_nearest_neighbours(options, clients, stream);
  if (options.kind == "random_regular") return draw_random_regular(options, clients, stream);
  if (options.kind == "small_world") return draw_small_world(options, clients, stream);
  if (options.kind == "scale_free") return draw_scale_free(options, clients, stream);
  return std::nullopt;
}

std::optional<Graph> make_regular(const TopologyOptions& options, std::size_t clients) {
  const std::string& kind = options.kind;
  if (kind == "ring" || kind == "cycle") return topologies::ring(clients);
  if (kind == "directed_ring") return topologies::directed_ring(clients);
  if (kind == "complete" || kind == "mesh") return topologies::complete(clients);
  if (kind == "star") return star_of(options, clients);
  if (kind == "path") return topologies::path(clients);
  if (kind == "bipartite") return topologies::bipartite(clients);
  if (kind == "exponential") return topologies::exponential(clients);
  if (kind == "one_peer_exponential") return topologies::one_peer_exponential(clients, options.step);
  if (kind == "grid" || kind == "torus")
    return lattice(shape_of(options, clients).rows, shape_of(options, clients).columns, kind == "torus");
  if (kind == "file") return load_edge_list(options.file, clients, options.is_directed);
  return std::nullopt;
}

// The first few by name, the rest by number.
std::string listing(const std::vector<ClientId>& clients) {
  constexpr std::size_t named = 8;
  std::string text = clients.size() == 1 ? "client " : "clients ";
  for (std::size_t i = 0; i < std::min(clients.size(), named); ++i) text += (i == 0 ? "" : ", ") + std::to_string(clients[i].value);
  if (clients.size() > named) text += " and " + std::to_string(clients.size() - named) + " more";
  return text;
}

}  // namespace

std::span<const TopologyKind> topology_kinds() { return kinds; }

Graph make_topology(const TopologyOptions& options, std::size_t clients, std::uint64_t seed) {
  if (clients == 0 || clients >= no_client.value)
    refuse("clients.count = ", clients, " is not possible; allowed are 1 .. ", no_client.value - 1);
  if (auto graph = make_regular(options, clients)) return *graph;
  if (auto graph = draw_random(options, clients, Stream(seed, no_client, Purpose::topology))) return *graph;
  refuse_field("kind", sentence('"', options.kind, '"'), "allowed are ", names_of(kinds));
}

std::vector<Graph> draw_topologies(const TopologyOptions& options, std::size_t clients, std::uint64_t seed, std::size_t graphs) {
  TopologyOptions any = options;
  any.allow_disconnected = true;
  std::vector<Graph> drawn;
  for (std::uint32_t k = 0; k < graphs; ++k) {
    auto graph = draw_random(any, clients, Stream(seed, no_client, Purpose::topology, k));
    if (!graph)
      refuse("topology.change = \"redraw\": topology.kind = \"", options.kind,
             "\" is not drawn; erdos_renyi, random_geometric, knn, random_regular, small_world and scale_free are");
    drawn.push_back(std::move(*graph));
  }
  return drawn;
}

std::optional<std::string> connection_fault(const Graph& graph) {
  if (const auto missing = graph.not_reachable_from({0}); !missing.empty()) {
    const std::size_t parts = graph.connected_components();
    const std::string whole = parts > 1 ? sentence("the graph falls into ", parts, " parts; ") : "";
    return whole + "no path leads from client 0 to " + listing(missing);
  }
  if (const auto missing = graph.not_reaching({0}); !missing.empty()) return "no path leads to client 0 from " + listing(missing);
  return std::nullopt;
}

void require_connected(const Graph& graph) {
  if (const auto fault = connection_fault(graph))
    throw std::invalid_argument("topology: " + *fault + "; every client must have a path to every other");
}

namespace topologies {

Graph ring(std::size_t clients) { return lattice(1, clients, true); }
Graph path(std::size_t clients) { return lattice(1, clients, false); }
Graph torus(std::size_t rows, std::size_t columns) { return lattice(rows, columns, true); }
Graph grid(std::size_t rows, std::size_t columns) { return lattice(rows, columns, false); }
Graph directed_ring(std::size_t clients) { return jumps(clients, 0, clients > 1 ? 1 : 0); }
Graph exponential(std::size_t clients) { return jumps(clients, 0, ceil_log2(clients)); }

Graph one_peer_exponential(std::size_t clients, std::size_t step) {
  if (clients == 1) return Graph(1, true, {});
  const std::size_t exponent = step % ceil_log2(clients);
  return jumps(clients, exponent, exponent + 1);
}

Graph complete(std::size_t clients) {
  check_links("complete", clients, static_cast<double>(clients) * static_cast<double>(clients - 1));
  std::vector<Edge> edges;
  edges.reserve(clients * (clients - 1) / 2);
  for (std::size_t i = 0; i < clients; ++i)
    for (std::size_t j = i + 1; j < clients; ++j) edges.push_back({id(i), id(j)});
  return Graph(clients, false, std::move(edges));
}

Graph star(std::size_t clients, ClientId center) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < clients; ++i)
    if (id(i) != center) edges.push_back({center, id(i)});
  return Graph(clients, false, std::move(edges));
}

Graph bipartite(std::size_t clients) {
  const std::size_t half = clients - clients / 2;
  check_links("bipartite", clients, 2.0 * static_cast<double>(half) * static_cast<double>(clients - half));
  std::vector<Edge> edges;
  edges.reserve(half * (clients - half));
  for (std::size_t i = 0; i < half; ++i)
    for (std::size_t j = half; j < clients; ++j) edges.push_back({id(i), id(j)});
  return Graph(clients, false, std::move(edges));
}

Graph erdos_renyi(std::size_t clients, double probability, const Uniforms& uniforms) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < clients; ++i)
    for (std::size_t j = i + 1; j < clients; ++j)
      if (uniforms() < probability) edges.push_back({id(i), id(j)});
  return Graph(clients, false, std::move(edges));
}

Graph random_geometric(std::span<const Point> points, double radius) {
  const NearbyPoints nearby(points, radius);
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (ClientId other : nearby.within(radius, id(i)))
      if (id(i) < other) edges.push_back({id(i), other});
    check_links("random_geometric", points.size(), 2.0 * static_cast<double>(edges.size()));
  }
  return Graph(points.size(), false, std::move(edges));
}

Graph nearest_neighbours(std::span<const Point> points, std::size_t k, Symmetrise symmetrise) {
  // Cells of about k clients where clients are spread evenly.
  const double width = bounds_of(points).extent * std::sqrt(static_cast<double>(k) / static_cast<double>(points.size()));
  const NearbyPoints nearby(points, width > 0 ? width : 1);

  std::vector<Edge> chosen;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (ClientId other : nearby.nearest(k, id(i))) chosen.push_back({id(i), other});
  if (symmetrise == Symmetrise::none) return Graph(points.size(), true, std::move(chosen));

  return Graph(points.size(), false, agreed(std::move(chosen), symmetrise == Symmetrise::both));
}

namespace {

// One of so many, from 0.
std::size_t one_of(std::size_t many, const Uniforms& uniforms) {
  return std::min(static_cast<std::size_t>(uniforms() * static_cast<double>(many)), many - 1);
}

// The edges of a graph that is being drawn; undirected.
class DrawnEdges {
 public:
  explicit DrawnEdges(std::size_t clients) : neighbours_(clients) {}

  bool are_joined(std::size_t i, std::size_t j) const { return neighbours_[i].contains(j); }
  void join(std::size_t i, std::size_t j) { neighbours_[i].insert(j), neighbours_[j].insert(i); }
  void part(std::size_t i, std::size_t j) { neighbours_[i].erase(j), neighbours_[j].erase(i); }
  std::size_t degree(std::size_t i) const { return neighbours_[i].size(); }

  // Of all other edges.
  Graph complement() const {
    std::vector<Edge> edges;
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      for (std::size_t j = i + 1; j < neighbours_.size(); ++j)
        if (!are_joined(i, j)) edges.push_back({id(i), id(j)});
    return Graph(neighbours_.size(), false, std::move(edges));
  }
  Graph graph() const {
    std::vector<Edge> edges;
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      for (const std::size_t j : neighbours_[i])
        if (i < j) edges.push_back({id(i), id(j)});
    return Graph(neighbours_.size(), false, std::move(edges));
  }

 private:
  std::vector<std::set<std::size_t>> neighbours_;
};

bool has_pair(const std::vector<std::size_t>& ends, const DrawnEdges& drawn) {
  for (std::size_t a = 0; a < ends.size(); ++a)
    for (std::size_t b = a + 1; b < ends.size(); ++b)
      if (ends[a] != ends[b] && !drawn.are_joined(ends[a], ends[b])) return true;
  return false;
}

// Joins two ends that may be joined, drawn among all such pairs alike, and takes them out; false where no pair is left.
bool join_some(std::vector<std::size_t>& ends, DrawnEdges& drawn, const Uniforms& uniforms) {
  for (std::size_t vain = 0;; ++vain) {
    if (vain == ends.size() && !has_pair(ends, drawn)) return false;
    const std::size_t a = one_of(ends.size(), uniforms), b = one_of(ends.size(), uniforms);
    if (a == b || ends[a] == ends[b] || drawn.are_joined(ends[a], ends[b])) continue;
    drawn.join(ends[a], ends[b]);
    for (const std::size_t taken : {std::max(a, b), std::min(a, b)}) {
      ends[taken] = ends.back();
      ends.pop_back();
    }
    return true;
  }
}

}  // namespace

Graph random_regular(std::size_t clients, std::size_t degree, const Uniforms& uniforms) {
  const bool is_complement = 2 * degree > clients - 1;
  const std::size_t drawn_degree = is_complement ? clients - 1 - degree : degree;
  for (;;) {
    DrawnEdges drawn(clients);
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < clients; ++i) ends.insert(ends.end(), drawn_degree, i);
    while (!ends.empty() && join_some(ends, drawn, uniforms)) {
    }
    if (ends.empty()) return is_complement ? drawn.complement() : drawn.graph();
  }
}

Graph small_world(std::size_t clients, std::size_t degree, double rewire, const Uniforms& uniforms) {
  DrawnEdges drawn(clients);
  for (std::size_t far = 1; far <= degree / 2; ++far)
    for (std::size_t i = 0; i < clients; ++i) drawn.join(i, (i + far) % clients);
  for (std::size_t far = 1; far <= degree / 2; ++far)
    for (std::size_t i = 0; i < clients; ++i) {
      if (uniforms() >= rewire || drawn.degree(i) + 1 >= clients) continue;
      std::size_t other = i;
      while (other == i || drawn.are_joined(i, other)) other = one_of(clients, uniforms);
      drawn.part(i, (i + far) % clients);
      drawn.join(i, other);
    }
  return drawn.graph();
}

Graph scale_free(std::size_t clients, std::size_t attach, const Uniforms& uniforms) {
  std::vector<Edge> edges;
  std::vector<std::size_t> ends;  // of all edges: a client stands there as often as its degree says
  const auto join = [&](std::size_t i, std::size_t j) {
    edges.push_back({id(i), id(j)});
    ends.push_back(i), ends.push_back(j);
  };
  for (std::size_t i = 0; i <= attach; ++i)
    for (std::size_t j = i + 1; j <= attach; ++j) join(i, j);
  for (std::size_t i = attach + 1; i < clients; ++i) {
    std::set<std::size_t> chosen;
    while (chosen.size() < attach) chosen.insert(ends[one_of(ends.size(), uniforms)]);
    for (const std::size_t earlier : chosen) join(earlier, i);
  }
  return Graph(clients, false, std::move(edges));
}

}  // namespace topologies
}  // namespace rubato
