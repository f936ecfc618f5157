// WallGathering: at the end of a run in real time over several hosts, the first one alive gets the last states of all.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "actors/hosts/item_exchange.hpp"
#include "actors/hosts/membership.hpp"
#include "actors/wall/final_client.hpp"

namespace rubato {

class WallGathering {
 public:
  /// Everything given by reference outlives it. `host_of`: by client.
  WallGathering(Membership& membership, ItemExchange& items, const std::vector<HostId>& host_of, TensorPool& pool, Scalar scalar,
                std::size_t numbers)
      : membership_{membership}, items_{items}, host_of_{host_of}, pool_{pool}, scalar_{scalar}, numbers_{numbers} {}

  /// At the host that finds itself the first one alive: its own last states and those of everybody who is there, in
  /// client order. At the others nothing, once the first one has theirs. Nobody waits longer than `limit` for a host
  /// that is silent. `gatherer` is set to who has them.
  std::optional<std::vector<FinalClient>> gather(const std::vector<FinalClient>& mine, Duration limit, HostId& gatherer);

 private:
  bool give(const std::vector<FinalClient>& mine, HostId to, Duration until);
  std::vector<FinalClient> take_all(const std::vector<FinalClient>& mine, Duration until);
  bool take(ClientId client, std::optional<Item> goods);
  static GoodsName name_of(ClientId client, HostId gatherer);

  Membership& membership_;
  ItemExchange& items_;
  const std::vector<HostId>& host_of_;
  TensorPool& pool_;
  Scalar scalar_;  // of models
  std::size_t numbers_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<ClientId, FinalClient> taken_;
};

}  // namespace rubato
