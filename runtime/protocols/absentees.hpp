// Absentees: of all clients those that are not here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/ids.hpp"

namespace rubato {

class Absentees {
 public:
  bool empty() const { return clients_.empty(); }
  std::size_t size() const { return clients_.size(); }
  bool has(ClientId client) const { return std::binary_search(clients_.begin(), clients_.end(), client); }
  void set(ClientId client, bool is_here) {
    const auto at = std::lower_bound(clients_.begin(), clients_.end(), client);
    const bool is_listed = at != clients_.end() && *at == client;
    if (is_here && is_listed) clients_.erase(at);
    if (!is_here && !is_listed) clients_.insert(at, client);
  }

 private:
  std::vector<ClientId> clients_;  // ascending
};

}  // namespace rubato
