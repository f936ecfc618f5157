// WallGathering: at the end of a run in real time over several hosts, the first one alive gets the last states of all.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "actors/hosts/item_exchange.hpp"
#include "actors/hosts/membership.hpp"
#include "actors/wall/client.hpp"
#include "results/evaluation.hpp"

namespace rubato {

/// All that is known of one client at the end of a run in real time, as it is gathered from the hosts.
struct FinalClient {
  ClientId client{};
  StepHash hash;
  bool is_here = true;  ///< in the plan of churn
  MessageCounts counts;
  std::uint64_t steps = 0;
  std::uint64_t skipped = 0;
  std::uint64_t unheard = 0;
  std::uint64_t rounds = 0;  ///< that are over, as far as it counts them
  double seconds = 0;        ///< of the experiment, since its timers began
  double staleness_sum = 0;  ///< seconds
  std::uint64_t staleness_count = 0;
  PairTotals exchanges;  ///< where clients meet in pairs
  std::vector<Screened> screened;
  std::vector<PeerWeight> collaboration;
  Snapshot snapshot;
  Tensor model;  ///< the exact model, as it is exchanged; the digest is made of it

  /// `pool`: to be written.
  void archive(Archive& archive, TensorPool* pool = nullptr);
  /// Whether a client among so many can have come to this.
  bool is_possible(std::size_t clients) const;
};

/// The state of a client that no thread plays any more.
FinalClient final_of(const WallClient& client, Time end, const Evaluation& evaluation, ThreadMemory& memory);

class WallGathering {
 public:
  /// Everything given by reference outlives it. `host_of`: by client.
  WallGathering(Membership& membership, ItemExchange& items, const std::vector<HostId>& host_of, TensorPool& pool,
                const ModelShape& shape, const Measures& measures)
      : membership_{membership}, items_{items}, host_of_{host_of}, pool_{pool}, shape_{shape}, measures_{measures} {}

  /// At the host that finds itself the first one alive: its own last states and those of all hosts that are there, in
  /// client order. At the others nothing, once the first one has theirs. A host that is silent is waited for no longer than
  /// `limit`. `gatherer` is set to the host that has them; nothing: none took this host's.
  std::optional<std::vector<FinalClient>> gather(const std::vector<FinalClient>& mine, Duration limit,
                                                 std::optional<HostId>& gatherer);

 private:
  bool give(const std::vector<FinalClient>& mine, HostId to, Duration until);
  std::vector<FinalClient> take_all(const std::vector<FinalClient>& mine, Duration until);
  bool take(ClientId client, std::optional<FinalClient> state);
  static ItemName name_of(ClientId client, HostId gatherer);

  Membership& membership_;
  ItemExchange& items_;
  const std::vector<HostId>& host_of_;
  TensorPool& pool_;
  const ModelShape shape_;
  const Measures& measures_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<ClientId, FinalClient> taken_;
};

}  // namespace rubato
