// FinalClient: all that is known of one client at the end of a run in real time, as it is gathered from the hosts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/core/evaluation.hpp"
#include "actors/wall/client.hpp"
#include "runtime/hash.hpp"

namespace rubato {

struct FinalClient {
  ClientId client{};
  StepHash hash;
  bool is_here = true;  ///< in the plan of who comes and goes
  MessageCounts counts;
  std::uint64_t steps = 0;
  std::uint64_t skipped = 0;
  std::uint64_t unheard = 0;
  std::uint64_t misshapen = 0;
  double seconds = 0;        ///< of the experiment, since its timers began
  double staleness_sum = 0;  ///< seconds
  std::uint64_t staleness_count = 0;
  Snapshot snapshot;
  Tensor model;  ///< the exact model, as it is exchanged; the digest is made of it
};

/// The state of a client that nobody plays any more.
FinalClient final_of(const WallClient& client, Time end, const Evaluation& evaluation, TensorPool& pool, ThreadMemory& memory);

/// For another host: what is no tensor as bytes, and the tensors.
struct PackedClient {
  std::vector<std::byte> head;
  std::vector<Tensor> tensors;
};
PackedClient pack(const FinalClient& last, TensorPool& pool);

/// None: this is no client with a model of so many numbers.
std::optional<FinalClient> unpack(const std::vector<std::byte>& head, std::vector<Tensor> tensors, Scalar scalar,
                                  std::size_t numbers);

}  // namespace rubato
