// The keys of [topology].
#include "experiment/file/fields.hpp"

namespace rubato::config {

Fields<Topology> rows_of(const Topology*) {
  return table<Topology>(
      "topology",
      {
          key("kind", &Topology::kind, "the graph"),
          required("rows", &Topology::rows, some_clients, "rows of clients; rows * columns is clients.count")
              .with("kind=torus|grid"),
          required("columns", &Topology::columns, some_clients, "columns of clients").with("kind=torus|grid"),
          key("center", &Topology::center, "the client in the middle").as(Type::client).with("kind=star"),
          key("step", &Topology::step, count_from_0, "t of the links i -> i + 2^(t mod ceil(log2 clients))")
              .with("kind=one_peer_exponential"),
          required("probability", &Topology::probability, chance_not_none, "chance of each edge").with("kind=erdos_renyi"),
          required("radius", &Topology::radius, positive, "longest edge between points").with("kind=random_geometric"),
          key("k", &Topology::k, some_clients, "nearest points that each client sends to").with("kind=knn"),
          key("symmetrise", &Topology::symmetrise,
              "none keeps the directions, union adds the missing ones, mutual keeps pairs only")
              .with("kind=knn"),
          key("points", &Topology::points,
              "where clients are: drawn in the unit square, or as the channel says, in metres; drawn until everybody is connected")
              .with("kind=random_geometric|knn"),
          required("file", &Topology::file, "text file, one edge \"source target\" a line").with("kind=file"),
          required("edges", &Topology::edges, "list of [source, target]").with("kind=edges"),
          key("directed", &Topology::directed, "false: every edge is used in both directions").with("kind=file|edges"),
          key("cycle", &Topology::cycle, "which of the edges are there, a list for each graph in turn; empty: all of them always")
              .with("kind=edges"),
          key("cycle_rounds", &Topology::cycle_rounds, {1, 1e9}, "for how many changes each graph of the cycle lasts; empty: 1")
              .with("kind=edges"),
          key("change", &Topology::change,
              "how the graph changes: edges and clients are there by chance, redraw draws a random kind anew (with points = "
              "\"channel\": from where moving clients are then), steps goes through one_peer_exponential, file reads the number of "
              "a graph behind each edge"),
          key("activation", &Topology::activation, chance_not_none, "chance that an edge or a client is there")
              .with("change=edges|clients"),
          key("change_every", &Topology::change_every, positive,
              "seconds that a graph lasts; with protocol.kind = \"rounds\": rounds"),
          key("graphs", &Topology::graphs, {1, 1e6}, "so many graphs are drawn; then the first one comes again")
              .with("change=edges|clients|redraw"),
          key("mixing", &Topology::mixing,
              "weights of what a client absorbs: a rule that `rubato topology FILE` shows, or mixing_matrix; auto: what the "
              "algorithm is made for"),
          key("shares", &Topology::shares, "weights of what a client gives away, where an algorithm does that"),
          required("mixing_matrix", &Topology::mixing_matrix, "weights [receiver][sender]").with("mixing=explicit"),
          required("shares_matrix", &Topology::shares_matrix, "weights [receiver][sender]").with("shares=explicit"),
      });
}

}  // namespace rubato::config
