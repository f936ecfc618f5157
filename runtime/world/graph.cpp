#include "runtime/world/graph.hpp"

#include <algorithm>
#include <cassert>

#include "runtime/sentence.hpp"

namespace rubato {
namespace {

template <class... Why>
[[noreturn]] void refuse_edge(Edge edge, const Why&... why) {
  refuse("topology.edges: ", edge.source.value, " -> ", edge.target.value, " ", why...);
}

void check_size(std::size_t clients, std::size_t links) {
  if (clients == 0) refuse("clients.count: 0 clients make no graph; allowed are 1 and more");
  if (clients >= no_client.value)
    refuse("clients.count: ", clients, " are more than can be numbered; allowed are fewer than ", no_client.value);
  if (links > Graph::max_links)
    refuse("topology.edges: ", links, " links are too many; at most ", Graph::max_links, " are allowed");
}

void check_edges(std::size_t clients, const std::vector<Edge>& edges) {
  for (const Edge& edge : edges) {
    if (std::max(edge.source, edge.target).value >= clients)
      refuse_edge(edge, "names a client that does not exist; clients are 0 .. ", clients - 1);
    if (edge.source == edge.target) refuse_edge(edge, "is a self loop; a client hears itself without one");
  }
}

std::vector<Edge> both_ways(std::vector<Edge> edges) {
  const std::size_t listed = edges.size();
  edges.reserve(2 * listed);
  for (std::size_t e = 0; e < listed; ++e) edges.push_back({edges[e].target, edges[e].source});
  return edges;
}

// Where the row of each client begins when links are grouped by one of their ends.
std::vector<LinkIndex> row_starts(std::size_t clients, const std::vector<Edge>& links, ClientId Edge::*end) {
  std::vector<LinkIndex> first(clients + 1);
  for (const Edge& link : links) ++first[(link.*end).value + 1];
  for (std::size_t i = 0; i < clients; ++i) first[i + 1] += first[i];
  return first;
}

// A stable counting sort by one end; takes the row starts by value to count them up.
std::vector<Edge> sorted_by(ClientId Edge::*end, const std::vector<Edge>& links, std::vector<LinkIndex> next) {
  std::vector<Edge> sorted(links.size());
  for (const Edge& link : links) sorted[next[(link.*end).value]++] = link;
  return sorted;
}

std::span<const ClientId> row_of(ClientId client, const std::vector<LinkIndex>& first, const std::vector<ClientId>& ends) {
  assert(client.value + 1 < first.size() && "the client exists");
  return {ends.data() + first[client.value], first[client.value + 1] - first[client.value]};
}

// Breadth first from one client, along whichever neighbours the caller names.
template <class Neighbours>
void visit_from(ClientId start, std::vector<bool>& seen, const Neighbours& for_each_neighbour) {
  std::vector<ClientId> frontier{start};
  seen[start.value] = true;
  for (std::size_t next = 0; next < frontier.size(); ++next)
    for_each_neighbour(frontier[next], [&](ClientId neighbour) {
      if (seen[neighbour.value]) return;
      seen[neighbour.value] = true;
      frontier.push_back(neighbour);
    });
}

std::vector<ClientId> unseen(const std::vector<bool>& seen) {
  std::vector<ClientId> missing;
  for (std::uint32_t i = 0; i < seen.size(); ++i)
    if (!seen[i]) missing.push_back({i});
  return missing;
}

}  // namespace

Graph::Graph(std::size_t clients, bool is_directed, std::vector<Edge> edges) {
  check_size(clients, is_directed ? edges.size() : 2 * edges.size());
  check_edges(clients, edges);
  if (!is_directed) edges = both_ways(std::move(edges));
  table_ = std::make_shared<const Table>(tabulate(clients, is_directed, std::move(edges)));
}

Graph::Table Graph::tabulate(std::size_t clients, bool is_directed, std::vector<Edge> links) {
  Table table{is_directed, row_starts(clients, links, &Edge::source), row_starts(clients, links, &Edge::target), {}, {}, {}};
  links = sorted_by(&Edge::source, sorted_by(&Edge::target, links, table.first_in), table.first_out);
  const auto twice = std::adjacent_find(links.begin(), links.end());
  if (twice != links.end())
    refuse_edge(*twice, is_directed ? "is listed twice" : "is listed twice; an undirected edge is listed once");

  std::vector<LinkIndex> next_in = table.first_in;
  table.receivers.resize(links.size());
  table.senders.resize(links.size());
  table.in_links.resize(links.size());
  for (LinkIndex link = 0; link < links.size(); ++link) {
    const LinkIndex place = next_in[links[link].target.value]++;
    table.receivers[link] = links[link].target;
    table.senders[place] = links[link].source;
    table.in_links[place] = link;
  }
  return table;
}

std::vector<Edge> Graph::edges() const {
  std::vector<Edge> listed;
  listed.reserve(is_directed() ? links() : links() / 2);
  for (ClientId source; source.value < clients(); ++source.value)
    for (ClientId target : receivers_of(source))
      if (is_directed() || source < target) listed.push_back({source, target});
  return listed;
}

std::span<const ClientId> Graph::receivers_of(ClientId source) const {
  return row_of(source, table_->first_out, table_->receivers);
}

std::span<const ClientId> Graph::senders_to(ClientId target) const { return row_of(target, table_->first_in, table_->senders); }

std::optional<LinkIndex> Graph::find_link(ClientId source, ClientId target) const {
  const auto receivers = receivers_of(source);
  const auto found = std::lower_bound(receivers.begin(), receivers.end(), target);
  if (found == receivers.end() || *found != target) return std::nullopt;
  return first_link(source) + static_cast<LinkIndex>(found - receivers.begin());
}

Edge Graph::ends_of(LinkIndex link) const {
  assert(link < links() && "the link exists");
  const auto row_after = std::upper_bound(table_->first_out.begin(), table_->first_out.end(), link);
  const auto source = static_cast<std::uint32_t>(row_after - table_->first_out.begin() - 1);
  return {{source}, table_->receivers[link]};
}

bool Graph::is_strongly_connected() const { return not_reachable_from({0}).empty() && not_reaching({0}).empty(); }

std::vector<ClientId> Graph::not_reachable_from(ClientId start) const {
  std::vector<bool> seen(clients());
  visit_from(start, seen, [&](ClientId client, auto&& take) { std::ranges::for_each(receivers_of(client), take); });
  return unseen(seen);
}

std::vector<ClientId> Graph::not_reaching(ClientId goal) const {
  std::vector<bool> seen(clients());
  visit_from(goal, seen, [&](ClientId client, auto&& take) { std::ranges::for_each(senders_to(client), take); });
  return unseen(seen);
}

std::size_t Graph::connected_components() const {
  std::vector<bool> seen(clients());
  std::size_t components = 0;
  for (ClientId start; start.value < clients(); ++start.value) {
    if (seen[start.value]) continue;
    ++components;
    visit_from(start, seen, [&](ClientId client, auto&& take) {
      std::ranges::for_each(receivers_of(client), take);
      std::ranges::for_each(senders_to(client), take);
    });
  }
  return components;
}

// Colour breadth first, each client unlike the one that found it; then no link may join two of one colour.
std::optional<std::vector<bool>> Graph::colours() const {
  std::vector<bool> seen(clients()), is_white(clients());
  for (ClientId start; start.value < clients(); ++start.value) {
    if (seen[start.value]) continue;
    visit_from(start, seen, [&](ClientId client, auto&& take) {
      const auto colour_and_take = [&](ClientId neighbour) {
        if (!seen[neighbour.value]) is_white[neighbour.value] = !is_white[client.value];
        take(neighbour);
      };
      std::ranges::for_each(receivers_of(client), colour_and_take);
      std::ranges::for_each(senders_to(client), colour_and_take);
    });
  }
  for (ClientId source; source.value < clients(); ++source.value)
    for (ClientId target : receivers_of(source))
      if (is_white[source.value] == is_white[target.value]) return std::nullopt;
  return is_white;
}

}  // namespace rubato
