#include "learning/data/partition.hpp"

#include <algorithm>
#include <utility>

#include "learning/data/dealing.hpp"

namespace rubato {

using namespace dealing;

namespace {

// Where block i of `blocks` equal blocks begins; the first ones are longer by one if they do not divide.
std::size_t block_begin(std::size_t size, std::size_t blocks, std::size_t i) {
  return size / blocks * i + std::min(i, size % blocks);
}

}  // namespace

Partition deal_iid(const Deck& deck, std::uint32_t clients) {
  require_clients(clients);
  check_order(deck);
  const Rows order(deck.order.begin(), deck.order.end());
  Partition partition;
  partition.rows.resize(clients);
  for (std::size_t i = 0; i < clients; ++i)
    append(partition.rows[i], order, block_begin(order.size(), clients, i), block_begin(order.size(), clients, i + 1));
  return finished(std::move(partition), order.size());
}

namespace {

std::vector<Rows> holders_by_class(const HeldClasses& held, std::uint32_t classes) {
  std::vector<Rows> holders(classes);
  for (std::size_t client = 0; client < held.size(); ++client) {
    for (const Label label : held[client]) {
      if (label >= classes) refuse("client ", client, " holds the unknown class ", label);
      Rows& of_class = holders[label];
      if (!of_class.empty() && of_class.back() == client) refuse("client ", client, " holds class ", label, " twice");
      of_class.push_back(static_cast<std::uint32_t>(client));
    }
  }
  return holders;
}

void deal_class(Partition& partition, const Rows& pool, const Rows& holders) {
  for (std::size_t i = 0; i < holders.size(); ++i)
    append(partition.rows[holders[i]], pool, block_begin(pool.size(), holders.size(), i),
           block_begin(pool.size(), holders.size(), i + 1));
}

}  // namespace

Partition deal_by_class(const Deck& deck, const HeldClasses& held) {
  require_clients(held.size());
  check_order(deck);
  const std::vector<Rows> pools = rows_by_class(deck);
  const std::vector<Rows> holders = holders_by_class(held, deck.classes);
  Partition partition;
  partition.rows.resize(held.size());
  for (std::size_t c = 0; c < pools.size(); ++c) {
    deal_class(partition, pools[c], holders[c]);
    if (!holders[c].empty() || pools[c].empty()) continue;
    partition.notes.push_back("class " + std::to_string(c) + " is held by no client: " + std::to_string(pools[c].size()) +
                              " rows are unused");
  }
  return finished(std::move(partition), deck.labels.size());
}

Partition deal_by_class_shares(const Deck& deck, const Shares& shares) {
  check_order(deck);
  if (shares.size() != deck.classes) refuse("dirichlet_by_class needs a row of shares for each class");
  const std::size_t clients = shares.empty() ? 0 : shares.front().size();
  require_clients(clients);
  check_shares(shares, clients, "dirichlet_by_class");
  const std::vector<Rows> pools = rows_by_class(deck);
  Partition partition;
  partition.rows.resize(clients);
  for (std::size_t c = 0; c < pools.size(); ++c) {
    const std::vector<std::size_t> ends = share_ends(shares[c], pools[c].size());
    for (std::size_t i = 0; i < clients; ++i) append(partition.rows[i], pools[c], i == 0 ? 0 : ends[i - 1], ends[i]);
  }
  return finished(std::move(partition), deck.labels.size());
}

Partition with_at_most(Partition partition, std::uint32_t samples_per_client) {
  if (samples_per_client == 0) refuse("data.samples_per_client is 0; allowed are whole numbers from 1");
  for (Rows& rows : partition.rows) {
    const std::size_t size = rows.size();
    if (size <= samples_per_client) continue;
    for (std::size_t i = 0; i < samples_per_client; ++i) rows[i] = rows[i * size / samples_per_client];
    rows.resize(samples_per_client);
    partition.unused += size - samples_per_client;
  }
  return partition;
}

}  // namespace rubato
