#include "experiment/roster.hpp"

#include <algorithm>
#include <stdexcept>

namespace rubato {

namespace {

std::vector<HostId> equal_shares(std::size_t clients, std::size_t hosts) {
  std::vector<HostId> owners;
  for (std::uint32_t host = 0; host < hosts; ++host)
    owners.insert(owners.end(), clients / hosts + (host < clients % hosts), HostId{host});
  return owners;
}

}  // namespace

std::vector<HostId> hosts_of_clients(const config::Experiment& experiment) {
  const auto clients = static_cast<std::size_t>(experiment.clients.count);
  const auto& roster = experiment.roster;
  if (roster.empty()) throw std::invalid_argument("roster: there are no hosts; name at least one");
  if (std::none_of(roster.begin(), roster.end(), [](const config::Host& host) { return host.clients.has_value(); }))
    return equal_shares(clients, roster.size());
  std::vector<HostId> owners(clients);
  for (std::uint32_t host = 0; host < roster.size(); ++host)
    for (const std::int64_t client : *roster[host].clients) owners[static_cast<std::size_t>(client)] = HostId{host};
  return owners;
}

HostId host_named(const config::Experiment& experiment, std::string_view name) {
  std::string known;
  for (std::uint32_t host = 0; host < experiment.roster.size(); ++host) {
    if (experiment.roster[host].name == name) return HostId{host};
    known += (known.empty() ? "" : ", ") + experiment.roster[host].name;
  }
  throw std::invalid_argument("there is no host \"" + std::string(name) + "\" in the roster; " +
                              (known.empty() ? "it is empty" : "there are: " + known));
}

std::vector<std::string> host_names(const config::Experiment& experiment) {
  std::vector<std::string> names;
  for (const config::Host& host : experiment.roster) names.push_back(host.name);
  return names;
}

}  // namespace rubato
