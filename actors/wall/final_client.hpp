// FinalClient: all that is known of one client at the end of a run in real time, as it is gathered from the hosts.
#pragma once

#include <cstdint>

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

  /// `pool`: to be written.
  void archive(Archive& archive, TensorPool* pool = nullptr);
};

/// The state of a client that nobody plays any more.
FinalClient final_of(const WallClient& client, Time end, const Evaluation& evaluation, TensorPool& pool, ThreadMemory& memory);

}  // namespace rubato
