#include "web/page_tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

#include "experiment/build/devices.hpp"
#include "results/columns.hpp"
#include "runtime/world/wireless_channel.hpp"
#include "web/shown.hpp"

namespace rubato::web {

namespace {

using Json = ResultJson;

// What is 0 or not known throughout says nothing, but for these.
bool is_always_there(const std::string& name) {
  for (const char* kept : {"sender", "receiver", "accuracy", "loss", "computations", "sent", "lost", "kept", "superseded"})
    if (name == kept) return true;
  return false;
}

Json column_of(const Table& table, std::size_t column) { return json_list(table.values_of(column), shown_number); }

bool says_something(const Table& table, std::size_t column) {
  return std::ranges::any_of(table.values_of(column), [](double value) { return std::isfinite(value) && value != 0; });
}

double mean_of(double sum, std::uint64_t count) { return count ? sum / static_cast<double>(count) : not_known; }
double mean_age(const RunScore::Ages& ages) { return mean_of(ages.age, ages.merged); }
double mean_transit(const RunScore::Ages& ages) { return mean_of(ages.transit, ages.arrived); }

struct Link {
  std::size_t sender, receiver;
};

std::vector<Link> links_in(const Table* table, const Graph& graph, std::size_t clients) {
  std::vector<Link> links;
  if (table)
    for (std::size_t i = 0; i < table->rows(); ++i)
      links.push_back({client_in(table->row(i)[table->column("sender")], clients),
                       client_in(table->row(i)[table->column("receiver")], clients)});
  else
    for (LinkIndex link = 0; link < graph.links(); ++link)
      links.push_back({graph.ends_of(link).source.value, graph.ends_of(link).target.value});
  return links;
}

// Sums over the links between two groups of clients.
Json folded_links(const Table& table, const std::vector<Link>& links, std::size_t clients) {
  const std::size_t each = (clients + link_groups - 1) / link_groups, groups = (clients + each - 1) / each;
  Json made = {{"groups", groups}, {"per_group", each}};
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> cells;
  for (std::size_t i = 0; i < links.size(); ++i) cells[{links[i].sender / each, links[i].receiver / each}].push_back(i);
  made["sender"] = json_list(cells, [](const auto& cell) { return cell.first.first; });
  made["receiver"] = json_list(cells, [](const auto& cell) { return cell.first.second; });
  for (const char* name : {"sent", "lost", "late", "capped", "lost_to_partition", "lost_to_absence"}) {
    const std::size_t column = table.column(name);
    if (!says_something(table, column) && !is_always_there(name)) continue;
    made[name] = json_list(cells, [&](const auto& cell) {
      double sum = 0;
      for (const std::size_t link : cell.second) sum += table.row(link)[column];
      return shown_number(sum);
    });
  }
  return made;
}

void add_link_ages(Json& made, const std::vector<Link>& links, const RunScore& score) {
  const auto column = [&](auto mean) {
    return json_list(links, [&](const Link& link) {
      const auto found = score.by_link.find({static_cast<std::uint32_t>(link.sender), static_cast<std::uint32_t>(link.receiver)});
      return shown_number(mean(found == score.by_link.end() ? RunScore::Ages{} : found->second));
    });
  };
  made["age"] = column(mean_age);
  if (score.has_arrivals) made["transit"] = column(mean_transit);
}

Json degrees_of(const std::vector<Link>& links, std::size_t Link::*end, std::size_t clients) {
  std::vector<std::uint64_t> degrees(clients);
  for (const Link& link : links) ++degrees[link.*end];
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const std::uint64_t degree : degrees) ++counts[degree];
  return counts;
}

}  // namespace

std::size_t client_in(double value, std::size_t clients, const char* file) {
  if (value >= 0 && value < static_cast<double>(clients)) return static_cast<std::size_t>(value);
  throw std::invalid_argument(std::string(file) + " is damaged: it names a client that clients.csv does not have");
}

Json clients_json(const Table& clients, const config::Experiment& experiment, const RunScore* score) {
  Json made = {{"count", clients.rows()}, {"columns", nullptr}};
  if (clients.rows() > most_listed_clients) return made;
  Json columns = Json::object();
  for (const char* first : {"accuracy", "loss"}) columns[first] = column_of(clients, clients.column(first));
  for (std::size_t i = 0; i < clients.columns().size(); ++i) {
    const std::string& name = clients.columns()[i];
    if (name == "client" || columns.contains(name)) continue;
    if (says_something(clients, i) || is_always_there(name)) columns[name] = column_of(clients, i);
  }
  if (score) {
    std::vector<double> seconds(clients.rows());
    for (const auto& [pair, one] : score->by_waiting)
      if (pair.first < seconds.size()) seconds[pair.first] += one.seconds;
    std::vector<RunScore::Ages> ages = score->by_client;
    ages.resize(clients.rows());
    columns["age"] = json_list(ages, [](const RunScore::Ages& of_client) { return shown_number(mean_age(of_client)); });
    if (!score->by_waiting.empty()) columns["waited"] = json_list(seconds, shown_number);
  }
  if (!experiment.clients.classes.empty()) {
    columns["class"] = json_list(classes_of(experiment.clients, static_cast<std::uint64_t>(experiment.seed)),
                                 [&](const auto& one) { return one ? experiment.clients.classes[*one].name : std::string(); });
  }
  made["columns"] = std::move(columns);
  return made;
}

Json links_json(const Table* table, const Graph& graph, std::size_t clients, const RunScore* score) {
  const std::vector<Link> links = links_in(table, graph, clients);
  if (links.size() > most_listed_links) return table ? folded_links(*table, links, clients) : Json(nullptr);
  Json made = {{"sender", json_list(links, [](const Link& link) { return link.sender; })},
               {"receiver", json_list(links, [](const Link& link) { return link.receiver; })}};
  if (!table) return made;
  for (std::size_t i = 0; i < table->columns().size(); ++i)
    if (const std::string& name = table->columns()[i]; says_something(*table, i) || is_always_there(name))
      if (!made.contains(name)) made[name] = column_of(*table, i);
  if (score) add_link_ages(made, links, *score);
  return made;
}

Json graph_json(const Table* table, const Timing& timing, std::size_t clients) {
  const std::vector<Link> links = links_in(table, timing.graph, clients);
  Json made = {{"clients", clients}, {"links", links.size()}};
  made["out_degrees"] = degrees_of(links, &Link::sender, clients);
  made["in_degrees"] = degrees_of(links, &Link::receiver, clients);
  if (const auto* channel = dynamic_cast<const WirelessChannel*>(timing.channel.get()); channel && clients <= most_listed_clients) {
    made["positions"] = json_list(channel->places().start(), [](const Point& place) -> Json {
      return {shown_number(place.x), shown_number(place.y)};
    });
  }
  return made;
}

}  // namespace rubato::web
