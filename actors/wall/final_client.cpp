#include "actors/wall/final_client.hpp"

#include <cstring>

#include "actors/core/evaluator_actor.hpp"
#include "runtime/archive.hpp"

namespace rubato {

FinalClient final_of(const WallClient& client, Time end, const Evaluation& evaluation, TensorPool& pool, ThreadMemory& memory) {
  FinalClient last;
  const WallTally& tally = client.tally();
  last.client = client.id();
  last.hash = client.hash();
  last.counts = client.protocol().counts();
  last.steps = tally.steps, last.skipped = tally.skipped, last.misshapen = tally.misshapen;
  last.is_here = client.is_here(), last.unheard = tally.unheard;
  last.seconds = to_seconds(end - tally.first);
  last.staleness_count = tally.staleness.count();
  last.staleness_sum = tally.staleness.mean_seconds() * static_cast<double>(last.staleness_count);
  last.snapshot =
      take_snapshot({.kind = StepKind::measure, .client = client.id(), .at = end}, client.performer(), evaluation, memory);
  const auto bytes = client.performer().model_bytes();
  last.model = pool.make(last.snapshot.model.scalar(), bytes.size() / size_of(last.snapshot.model.scalar()));
  std::memcpy(last.model.writable<std::byte>(), bytes.data(), bytes.size());
  return last;
}

void FinalClient::archive(Archive& archive, TensorPool* pool) {
  std::uint64_t low = hash.low(), high = hash.high();
  archive(client, is_here, low, high, counts, steps, skipped, unheard, misshapen, seconds, staleness_sum, staleness_count);
  hash = StepHash(low, high);
  snapshot.archive(archive, pool);
  archive(model);
}

}  // namespace rubato
