// FinalClient: all that is known of one client at the end of a run in real time, as it is gathered from the hosts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/evaluation.hpp"
#include "actors/wall_client.hpp"
#include "runtime/hash.hpp"

namespace rubato {

struct FinalClient {
  ClientId client{};
  StepHash hash;
  MessageCounts counts;
  std::uint64_t steps = 0;
  std::uint64_t skipped = 0;
  std::uint64_t stale = 0;
  std::uint64_t misshapen = 0;
  double seconds = 0;           ///< of the experiment, since its timers began
  double staleness_sum = 0;     ///< seconds
  std::uint64_t staleness_count = 0;
  Snapshot snapshot;
  Tensor model;                 ///< the exact model, as it is exchanged; the digest is made of it
};

/// The state of a client that nobody plays any more.
FinalClient final_of(const WallClient& client, Time end, const Evaluation& evaluation, TensorPool& pool, ThreadMemory& memory);

/// For another host: what is no tensor as bytes, and the tensors.
struct PackedClients {
  std::vector<std::byte> head;
  std::vector<Tensor> tensors;
};
PackedClients pack(std::vector<FinalClient> clients, TensorPool& pool);

/// None: these are no clients of a run with so many, each with a model of so many bytes, or not those of the owner.
std::optional<std::vector<FinalClient>> unpack(const std::vector<std::byte>& head, std::vector<Tensor> tensors,
                                               std::uint32_t clients, std::size_t model_bytes);

}  // namespace rubato
