#include "actors/wall/final_client.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

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

namespace {

void archive_name(Archive& archive, NamedVector& part) { archive(part.name); }

void archive_client(Archive& archive, FinalClient& last) {
  archive(last.client.value), archive(last.is_here), archive(last.unheard);
  std::uint64_t low = last.hash.low(), high = last.hash.high();
  archive(low), archive(high);
  last.hash = StepHash(low, high);
  archive(last.counts);
  for (std::uint64_t* count : {&last.steps, &last.skipped, &last.misshapen, &last.staleness_count}) archive(*count);
  archive(last.seconds), archive(last.staleness_sum);
  last.snapshot.traffic.archive(archive);
  std::vector<double> tracker(last.snapshot.tracker.begin(), last.snapshot.tracker.end());
  archive(tracker);
  last.snapshot.tracker = Eigen::Map<const Vector<double>>(tracker.data(), static_cast<Index>(tracker.size()));
  archive.list(last.snapshot.balance, archive_name);
}

}  // namespace

PackedClient pack(const FinalClient& last, TensorPool& pool) {
  FinalClient copy = last;
  Archive archive;
  archive_client(archive, copy);
  PackedClient packed{archive.take(), {last.snapshot.model, last.model}};
  for (const NamedVector& part : last.snapshot.balance) {
    packed.tensors.push_back(pool.make<double>(part.values.size()));
    std::copy(part.values.begin(), part.values.end(), packed.tensors.back().writable<double>());
  }
  return packed;
}

std::optional<FinalClient> unpack(const std::vector<std::byte>& head, std::vector<Tensor> tensors, Scalar scalar,
                                  std::size_t numbers) try {
  TensorPool none;
  Archive archive(head, none);
  FinalClient last;
  archive_client(archive, last);
  if (archive.bytes_left() > 0 || tensors.size() != 2 + last.snapshot.balance.size()) return std::nullopt;
  last.snapshot.model = std::move(tensors[0]);
  last.model = std::move(tensors[1]);
  const auto is_model = [&](const Tensor& tensor) { return tensor && tensor.scalar() == scalar && tensor.count() == numbers; };
  if (!is_model(last.snapshot.model) || !is_model(last.model)) return std::nullopt;
  for (std::size_t i = 0; i < last.snapshot.balance.size(); ++i) {
    const Tensor& values = tensors[2 + i];
    if (!values || values.scalar() != Scalar::float64) return std::nullopt;
    last.snapshot.balance[i].values.assign(values.data<double>(), values.data<double>() + values.count());
  }
  return last;
} catch (const BadArchive&) {
  return std::nullopt;
}

}  // namespace rubato
