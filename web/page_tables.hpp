// Clients and links as the page wants them: columns, without those that hold nothing.
#pragma once

#include <cstddef>

#include "experiment/file/resolve.hpp"
#include "results/result_text.hpp"
#include "web/run_files.hpp"
#include "web/score.hpp"

namespace rubato::web {

/// No more clients are listed one by one.
inline constexpr std::size_t most_listed_clients = 2000;
/// No more links are; above that the page has the sums of groups of clients.
inline constexpr std::size_t most_listed_links = 6000;
/// So many groups of senders, and of receivers.
inline constexpr std::size_t link_groups = 100;

/// The columns of clients.csv with what the score adds: the age of what each hears, and how long it has waited. `score` may be
/// null.
ResultJson clients_json(const Table& clients, const config::Experiment& experiment, const RunScore* score);

/// The columns of links.csv with the mean time on the way and the mean age. Without links.csv sender and receiver alone. Throws
/// std::invalid_argument where a link names a client that is none.
ResultJson links_json(const Table* links, const Graph& graph, std::size_t clients, const RunScore* score);

/// How many clients and links, how many neighbours they have, and where they are if their channel knows places.
ResultJson graph_json(const Table* links, const Timing& timing, std::size_t clients);

/// The number of a client in a file. Throws std::invalid_argument where there is no such client.
std::size_t client_in(double value, std::size_t clients, const char* file = "links.csv");

}  // namespace rubato::web
