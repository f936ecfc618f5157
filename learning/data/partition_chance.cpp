// The draws that partitions need, and partitions with their draws made.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "learning/data/dealing.hpp"
#include "learning/data/partition.hpp"
#include "runtime/elementary.hpp"

namespace rubato {

namespace {

constexpr int most_redraws = 100;

Stream partition_stream(std::uint64_t seed) { return {seed, no_client, Purpose::partition}; }

Deck deck_of(const Labelled& labelled, const Rows& order) { return {labelled.labels, labelled.classes, order}; }

std::uint32_t fewest_rows(const Partition& partition) {
  std::size_t fewest = partition.rows.front().size();
  for (const Rows& rows : partition.rows) fewest = std::min(fewest, rows.size());
  return static_cast<std::uint32_t>(fewest);
}

Shares draw_shares(double concentration, std::uint32_t rows, std::uint32_t columns, Stream& stream) {
  Shares shares;
  for (std::uint32_t row = 0; row < rows; ++row) shares.push_back(draw_dirichlet(concentration, columns, stream));
  return shares;
}

void require_per_client(std::uint32_t classes, std::uint32_t per_client) {
  if (per_client >= 1 && per_client <= classes) return;
  refuse("data.partition.classes is ", per_client, "; allowed are 1 to ", classes);
}

// The logarithm of a gamma variate: a small shape gives numbers far below the smallest double.
double log_gamma_variate(double shape, Stream& stream) {
  const double larger = elementary::log(stream.gamma(shape + 1));
  return larger - stream.exponential() / shape;
}

}  // namespace

Rows draw_order(std::size_t size, Stream& stream) {
  Rows order(size);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = size; i > 1; --i) std::swap(order[i - 1], order[stream.below(i)]);
  return order;
}

HeldClasses rotating_classes(std::uint32_t clients, std::uint32_t classes, std::uint32_t per_client) {
  require_per_client(classes, per_client);
  HeldClasses held(clients);
  for (std::uint32_t i = 0; i < clients; ++i)
    for (std::uint32_t r = 0; r < per_client; ++r) held[i].push_back((i + r) % classes);
  return held;
}

HeldClasses draw_classes(std::uint32_t clients, std::uint32_t classes, std::uint32_t per_client, Stream& stream) {
  require_per_client(classes, per_client);
  HeldClasses held(clients);
  for (std::vector<Label>& of_client : held) {
    of_client = draw_order(classes, stream);
    of_client.resize(per_client);
  }
  return held;
}

std::vector<double> draw_dirichlet(double concentration, std::uint32_t size, Stream& stream) {
  if (!(concentration > 0) || !std::isfinite(concentration))
    refuse("data.partition.alpha is ", std::to_string(concentration), "; allowed are finite numbers above 0");
  std::vector<double> shares(size);
  for (double& share : shares) share = log_gamma_variate(concentration, stream);
  const double largest = *std::max_element(shares.begin(), shares.end());
  for (double& share : shares) share = elementary::exp(share - largest);
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= total;
  return shares;
}

Partition partition_iid(const Labelled& train, std::uint32_t clients, std::uint64_t seed) {
  dealing::require_clients(clients);
  if (train.labels.size() < clients) refuse("clients.count is ", clients, "; the data have only ", train.labels.size(), " rows");
  Stream stream = partition_stream(seed);
  return deal_iid(deck_of(train, draw_order(train.labels.size(), stream)), clients);
}

Partition partition_by_class(const Labelled& train, std::uint32_t clients, std::uint32_t classes_per_client, bool random_classes,
                             std::uint64_t seed) {
  Stream stream = partition_stream(seed);
  const Rows order = draw_order(train.labels.size(), stream);
  const HeldClasses held = random_classes ? draw_classes(clients, train.classes, classes_per_client, stream)
                                          : rotating_classes(clients, train.classes, classes_per_client);
  Partition partition = deal_by_class(deck_of(train, order), held);
  dealing::require_rows(partition);
  return partition;
}

Partition partition_dirichlet_by_class(const Labelled& train, std::uint32_t clients, double concentration,
                                       std::uint32_t min_samples, std::uint64_t seed) {
  if (clients == 0) throw std::invalid_argument("clients.count is 0; allowed are whole numbers from 1");
  if (std::uint64_t{min_samples} * clients > train.labels.size())
    refuse("data.partition.min_samples is ", min_samples, ": for ", clients, " clients that is more than the ", train.labels.size(),
           " rows there are; lower min_samples or clients.count");
  Stream stream = partition_stream(seed);
  const Rows order = draw_order(train.labels.size(), stream);
  for (int attempt = 0; attempt < most_redraws; ++attempt) {
    const Shares shares = draw_shares(concentration, train.classes, clients, stream);
    Partition partition = deal_by_class_shares(deck_of(train, order), shares);
    if (fewest_rows(partition) >= min_samples) return partition;
  }
  refuse("data.partition.min_samples is ", min_samples, ": in ", most_redraws, " draws some client always had fewer of the ",
         train.labels.size(), " rows; raise alpha, or lower min_samples or clients.count");
}

Partition partition_dirichlet_by_client(const Labelled& train, const Labelled& test, std::uint32_t clients, const OwnMix& mix,
                                        std::uint64_t seed) {
  if (mix.fewest == 0 || mix.most < mix.fewest)
    refuse("data.partition.kind = \"dirichlet_by_client\" with samples ", mix.fewest, " to ", mix.most,
           "; allowed are 1 <= fewest <= most");
  Stream stream = partition_stream(seed);
  const Rows train_order = draw_order(train.labels.size(), stream);
  const Rows test_order = draw_order(test.labels.size(), stream);
  const Shares shares = draw_shares(mix.concentration, clients, train.classes, stream);
  std::vector<std::uint32_t> counts(clients);
  for (std::uint32_t& count : counts) count = mix.fewest + static_cast<std::uint32_t>(stream.below(mix.most - mix.fewest + 1ull));
  const std::vector<std::uint32_t> test_counts(mix.test_rows > 0 ? clients : 0, mix.test_rows);
  return deal_by_client_shares(deck_of(train, train_order), deck_of(test, test_order), shares, counts, test_counts, mix.overlap);
}

Partition partition_decefl_table3(const Labelled& train, std::uint32_t clients, std::uint64_t seed) {
  Stream stream = partition_stream(seed);
  return deal_decefl_table3(deck_of(train, draw_order(train.labels.size(), stream)), clients);
}

}  // namespace rubato
