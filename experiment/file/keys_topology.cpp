// The keys of [topology].
#include "experiment/file/fields.hpp"

namespace rubato::config {

void describe(Rows<Topology>& rows) {
  rows.table = "topology";
  rows.key("kind", &Topology::kind, "the graph");
  rows.only_with("kind=torus|grid");
  rows.required("rows", &Topology::rows, some_clients, "rows of clients; rows * columns is clients.count");
  rows.required("columns", &Topology::columns, some_clients, "columns of clients");
  rows.key("center", &Topology::center, "the client in the middle").as(Type::client).with("kind=star");
  rows.key("step", &Topology::step, count_from_0, "t of the links i -> i + 2^(t mod ceil(log2 clients))")
      .with("kind=one_peer_exponential");
  rows.required("probability", &Topology::probability, chance_not_none, "chance of each edge").with("kind=erdos_renyi");
  rows.required("radius", &Topology::radius, positive, "longest edge between points").with("kind=random_geometric");
  rows.only_with("kind=knn");
  rows.key("k", &Topology::k, some_clients, "nearest points that each client sends to");
  rows.key("symmetrise", &Topology::symmetrise, "none keeps the directions, union adds the missing ones, mutual keeps pairs only");
  rows.key("points", &Topology::points,
           "where clients are: drawn in the unit square, or as the channel says, in metres; drawn until all are connected")
      .with("kind=random_geometric|knn");
  rows.required("degree", &Topology::degree, some_clients,
                "neighbours of each client; small_world: an even number, the nearest in a circle")
      .with("kind=random_regular|small_world");
  rows.required("rewire", &Topology::rewire, chance, "chance of each edge of the circle to lead to any other client instead")
      .with("kind=small_world");
  rows.key("attach", &Topology::attach, some_clients,
           "edges that each client brings along, to earlier ones with a chance by their degree")
      .with("kind=scale_free");
  rows.required("file", &Topology::file, "text file, one edge \"source target\" a line").with("kind=file");
  rows.required("edges", &Topology::edges, "list of [source, target]").with("kind=edges");
  rows.key("directed", &Topology::directed, "false: every edge is used in both directions").with("kind=file|edges");
  rows.only_with("kind=edges");
  rows.key("cycle", &Topology::cycle, "which of the edges are there, a list for each graph in turn; empty: all of them always");
  rows.key("cycle_rounds", &Topology::cycle_rounds, {1, 1e9}, "for how many changes each graph of the cycle lasts; empty: 1");
  rows.for_all();
  rows.key("change", &Topology::change,
           "how the graph changes: edges and clients are there by chance, redraw draws a random kind anew (with points = "
           "\"channel\": from where moving clients are then), steps goes through one_peer_exponential, file reads the number of a "
           "graph behind each edge");
  rows.key("activation", &Topology::activation, chance_not_none, "chance that an edge or a client is there")
      .with("change=edges|clients");
  rows.key("change_every", &Topology::change_every, positive,
           "seconds that a graph lasts; with protocol.kind = \"rounds\": rounds");
  rows.key("graphs", &Topology::graphs, {1, 1e6}, "so many graphs are drawn; then the first one comes again")
      .with("change=edges|clients|redraw");
  rows.key("mixing", &Topology::mixing,
           "weights of what a client absorbs, or where two meet the chances of the neighbours that it may ask: a rule that `rubato "
           "topology FILE` shows, or mixing_matrix; auto: what the algorithm is made for");
  rows.key("tau", &Topology::tau, positive,
           "the weights are I - L / tau, L the graph's Laplacian; more than half its largest eigenvalue; none: largest degree + 1")
      .with("mixing=laplacian");
  rows.key("shares", &Topology::shares, "weights of what a client gives away, where an algorithm does that");
  rows.required("mixing_matrix", &Topology::mixing_matrix, "weights [receiver][sender]").with("mixing=explicit");
  rows.required("shares_matrix", &Topology::shares_matrix, "weights [receiver][sender]").with("shares=explicit");
}

}  // namespace rubato::config
