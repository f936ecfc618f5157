#include "actors/roster.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "actors/digest.hpp"

namespace rubato {

namespace {

std::vector<HostId> equal_shares(std::size_t clients, std::size_t hosts) {
  std::vector<HostId> owners;
  for (std::uint32_t host = 0; host < hosts; ++host)
    owners.insert(owners.end(), clients / hosts + (host < clients % hosts), HostId{host});
  return owners;
}

// What the timing follows is compared whole: hosts that differ would wait for each other without end.
void keep_content(std::filesystem::path& path) {
  if (path.empty()) return;
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  Sha256 sum;
  sum.add(std::as_bytes(std::span{content}));
  path = "/" + sum.hex();
}

// Data may be large, and lie elsewhere on each machine.
void keep_name_and_size(std::filesystem::path& path) {
  if (path.empty()) return;
  std::error_code absent;
  const auto size = std::filesystem::file_size(path, absent);
  path = "/" + path.filename().string() + (absent ? "" : "-" + std::to_string(size));
}

}  // namespace

std::vector<HostId> hosts_of_clients(const config::Experiment& experiment) {
  const auto clients = static_cast<std::size_t>(experiment.clients.count);
  const auto& roster = experiment.roster;
  if (roster.empty()) throw std::invalid_argument("roster: there are no hosts; name at least one");
  if (std::none_of(roster.begin(), roster.end(), [](const config::Host& host) { return host.clients.has_value(); }))
    return equal_shares(clients, roster.size());
  constexpr HostId nobody{0xFFFF'FFFF};
  std::vector<HostId> owners(clients, nobody);
  for (std::uint32_t host = 0; host < roster.size(); ++host)
    for (const std::int64_t client : roster[host].clients.value_or(std::vector<std::int64_t>{})) {
      const bool is_free = client >= 0 && static_cast<std::size_t>(client) < clients &&
                           owners[static_cast<std::size_t>(client)] == nobody;
      if (!is_free)
        throw std::invalid_argument("roster: client " + std::to_string(client) + " of host \"" + roster[host].name +
                                    "\" is not there or has another host");
      owners[static_cast<std::size_t>(client)] = HostId{host};
    }
  const auto left = std::find(owners.begin(), owners.end(), nobody);
  if (left != owners.end())
    throw std::invalid_argument("roster: client " + std::to_string(left - owners.begin()) + " has no host");
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

std::string fingerprint(const config::Experiment& experiment) {
  config::Experiment common = experiment;
  common.record = {};
  common.limits = {};
  common.hosts = {};
  common.impaired = {};
  for (config::Host& host : common.roster) {
    host.address = "tcp://*";
    host.bind.reset();
    host.public_key.reset();
  }
  for (auto* path : {&common.topology.file, &common.clients.compute.file, &common.clients.transmit.file}) keep_content(*path);
  for (auto* path : {&common.data.train, &common.model.module}) keep_name_and_size(*path);
  for (auto* path : {&common.data.train_labels, &common.data.test, &common.data.test_labels, &common.model.init_from})
    if (*path) keep_name_and_size(**path);
  Sha256 sum;
  const std::string text = write_experiment(common);
  sum.add(std::as_bytes(std::span{text}));
  return sum.hex();
}

}  // namespace rubato
