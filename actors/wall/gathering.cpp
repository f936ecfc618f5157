#include "actors/wall/gathering.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "actors/core/evaluator_actor.hpp"
#include "actors/core/run_parts.hpp"
#include "runtime/protocols/pair.hpp"

namespace rubato {

namespace {

constexpr Duration glance = std::chrono::milliseconds(20);

// No more than a client can have counted: more would spoil the sums over all.
bool is_small(std::uint64_t count) { return count <= std::uint64_t{1} << 53; }

bool are_possible(const PairTotals& exchanges, std::size_t clients) {
  const PairCounts& counts = exchanges.counts;
  return std::ranges::all_of(std::array{counts.begun, counts.met, counts.refused, counts.queued, counts.empty, counts.late,
                                        counts.skipped, counts.retried, counts.over, exchanges.waiting},
                             is_small) &&
         counts.asking >= Duration{} &&
         counts.asking <= Archive::longest / static_cast<std::int64_t>(std::max<std::size_t>(clients, 1)) && exchanges.asking <= 1;
}

}  // namespace

FinalClient final_of(const WallClient& client, Time end, const Evaluation& evaluation, ThreadMemory& memory) {
  FinalClient last;
  const WallTally& tally = client.tally();
  last.client = client.id();
  last.hash = client.hash();
  last.counts = client.counts();
  last.steps = tally.steps, last.skipped = tally.skipped;
  last.is_here = client.is_here(), last.unheard = tally.unheard;
  last.rounds = client.rounds();
  last.seconds = std::max(to_seconds(end - tally.first), 0.0);  // none of one that came while the links were drained
  last.staleness_count = tally.staleness.count();
  last.staleness_sum = tally.staleness.mean_seconds() * static_cast<double>(last.staleness_count);
  last.snapshot =
      take_snapshot({.kind = StepKind::measure, .client = client.id(), .at = end}, client.performer(), evaluation, memory);
  if (const auto* const pair = dynamic_cast<const Pair*>(&client.protocol())) last.exchanges = pair->totals();
  last.model = client.performer().model();
  last.screened = client.performer().screening().by_sender();
  last.collaboration = client.performer().collaboration();
  return last;
}

void FinalClient::archive(Archive& archive, TensorPool* pool) {
  std::uint64_t low = hash.low(), high = hash.high();
  archive(client, is_here, low, high, counts, steps, skipped, unheard, rounds, seconds, staleness_sum, staleness_count, exchanges,
          screened);
  archive_row(archive, collaboration);
  hash = StepHash(low, high);
  snapshot.archive(archive, pool);
  archive(model);
}

std::optional<std::vector<FinalClient>> WallGathering::gather(const std::vector<FinalClient>& mine, Duration limit,
                                                              std::optional<HostId>& gatherer) {
  const Duration until = monotonic_now() + limit;
  while (true) {
    const HostId first = membership_.first_alive();
    gatherer = first;
    if (first == membership_.self()) return take_all(mine, until);
    if (give(mine, first, until)) return std::nullopt;
    gatherer.reset();
    if (monotonic_now() >= until) return std::nullopt;
  }
}

ItemName WallGathering::name_of(ClientId client, HostId gatherer) {
  return {ItemKind::result, std::uint64_t{gatherer.value} << 32 | client.value};
}

// False: the other has gone before it had them.
bool WallGathering::give(const std::vector<FinalClient>& mine, HostId to, Duration until) {
  for (const FinalClient& client : mine) {
    items_.promise(name_of(client.client, to), {to});
    items_.deliver(name_of(client.client, to), [packed = item_of(client, &pool_)](HostId) { return packed; });
  }
  std::unique_lock lock(mutex_);
  while (items_.kept() > 0) {
    if (!membership_.is_alive(to) || monotonic_now() >= until) {
      for (const FinalClient& client : mine) items_.let_go(name_of(client.client, to), to);
      return false;
    }
    changed_.wait_for(lock, glance);
  }
  return true;
}

bool FinalClient::is_possible(std::size_t clients) const {
  constexpr double longest = 1e15;
  const auto is_moderate = [](double number) { return number >= 0 && number <= longest; };
  const auto counters = std::bit_cast<std::array<std::uint64_t, sizeof(MessageCounts) / sizeof(std::uint64_t)>>(counts);
  const Traffic& traffic = snapshot.traffic;
  return std::ranges::all_of(counters, is_small) &&
         std::ranges::all_of(
             std::array{steps, skipped, unheard, rounds, staleness_count, traffic.messages, traffic.bytes, traffic.gradients},
             is_small) &&
         std::ranges::all_of(std::array{seconds, staleness_sum}, is_moderate) && traffic.paper_bits >= 0 &&
         traffic.paper_bits <= 1e18 && are_possible(exchanges, clients) && is_row(collaboration, clients) &&
         is_row(snapshot.collaboration, clients) && std::ranges::all_of(screened, [&](const Screened& link) {
           return link.sender.value < clients && is_small(link.not_finite) && is_small(link.beyond_norm) &&
                  is_small(link.unauthorised) && is_small(link.unasked);
         });
}

bool WallGathering::take(ClientId client, std::optional<FinalClient> state) {
  if (!state) return true;
  if (state->client != client || !shape_.fits(state->snapshot.model) || !shape_.fits(state->model)) return false;
  if (!state->is_possible(host_of_.size()) || !measures_.fits(state->snapshot, shape_.count)) return false;
  const std::lock_guard lock(mutex_);
  taken_[client] = std::move(*state);
  changed_.notify_all();
  return true;
}

std::vector<FinalClient> WallGathering::take_all(const std::vector<FinalClient>& mine, Duration until) {
  std::vector<ClientId> asked;
  for (std::uint32_t i = 0; i < host_of_.size(); ++i) {
    if (host_of_[i] == membership_.self() || !membership_.is_alive(host_of_[i])) continue;
    asked.push_back({i});
    items_.want_thing<FinalClient>(
        name_of({i}, membership_.self()), host_of_[i],
        [this, client = ClientId{i}](std::optional<FinalClient> state) { return take(client, std::move(state)); });
  }
  std::unique_lock lock(mutex_);
  const auto is_done = [&](ClientId client) { return taken_.contains(client) || !membership_.is_alive(host_of_[client.value]); };
  while (!std::ranges::all_of(asked, is_done) && monotonic_now() < until) changed_.wait_for(lock, glance);
  lock.unlock();
  items_.settle();
  items_.give_up();
  std::vector<FinalClient> all = mine;
  lock.lock();  // what comes now comes too late, but it may come
  for (auto& [client, state] : taken_) all.push_back(std::move(state));
  std::ranges::sort(all, {}, &FinalClient::client);
  return all;
}

}  // namespace rubato
