// Every client has its own mix of classes and its own number of rows.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "learning/data/dealing.hpp"

namespace rubato {

using namespace dealing;

namespace {

// Shares over the classes that have rows; a client whose classes have none takes all others equally.
std::vector<double> over_present_classes(std::vector<double> shares, const std::vector<Rows>& pools) {
  for (std::size_t c = 0; c < pools.size(); ++c)
    if (pools[c].empty()) shares[c] = 0;
  if (std::accumulate(shares.begin(), shares.end(), 0.0) == 0)
    for (std::size_t c = 0; c < pools.size(); ++c) shares[c] = pools[c].empty() ? 0 : 1;
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= total;
  return shares;
}

// The rest of the rounding goes to the last class with a share, so that no empty class gets it.
std::vector<std::size_t> class_counts(const std::vector<double>& shares, std::size_t count) {
  std::size_t last = shares.size();
  while (last > 1 && shares[last - 1] == 0) --last;
  const std::vector<std::size_t> ends = share_ends({shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(last)}, count);
  std::vector<std::size_t> counts(shares.size());
  for (std::size_t c = 0; c < last; ++c) counts[c] = ends[c] - (c == 0 ? 0 : ends[c - 1]);
  return counts;
}

Demand demand_of(const Shares& shares, const std::vector<std::uint32_t>& counts) {
  Demand demand;
  for (std::size_t i = 0; i < shares.size(); ++i) demand.push_back(class_counts(shares[i], counts[i]));
  return demand;
}

// Scales all counts by the same factor, at least one row each; false if nothing could be taken away any more.
bool scale_down(std::vector<std::uint32_t>& counts, double part) {
  bool is_smaller = false;
  for (std::uint32_t& count : counts) {
    const auto scaled = std::max(1u, static_cast<std::uint32_t>(std::floor(part * count)));
    is_smaller = is_smaller || scaled < count;
    count = scaled;
  }
  return is_smaller;
}

std::size_t total(const std::vector<std::uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

std::vector<Rows> deal_part(const Deck& deck, Shares shares, std::vector<std::uint32_t> counts, const std::string& part,
                            std::vector<std::string>& notes) {
  check_order(deck);
  const std::vector<Rows> pools = rows_by_class(deck);
  for (std::vector<double>& of_client : shares) of_client = over_present_classes(std::move(of_client), pools);
  const std::size_t asked = total(counts);
  Demand demand = demand_of(shares, counts);
  for (double satisfiable = 0; (satisfiable = satisfiable_part(demand, pools)) < 1; demand = demand_of(shares, counts)) {
    if (!scale_down(counts, satisfiable))
      refuse("dirichlet_by_client: " + std::to_string(counts.size()) + " clients are too many for the " + part + " data");
  }
  if (total(counts) < asked) notes.push_back(scaled_down_note(asked, total(counts), part));
  return deal_demand(demand, pools);
}

}  // namespace

Partition deal_by_client_shares(const Deck& train, const Deck& test, const Shares& shares,
                                const std::vector<std::uint32_t>& counts) {
  require_clients(shares.size());
  check_shares(shares, train.classes, "dirichlet_by_client");
  if (counts.size() != shares.size() || std::count(counts.begin(), counts.end(), 0u) > 0)
    refuse("dirichlet_by_client needs a count of at least 1 for each client");
  Partition partition;
  partition.rows = deal_part(train, shares, counts, "training", partition.notes);
  if (!test.labels.empty()) {
    partition.test_rows = deal_part(test, shares, counts, "test", partition.notes);
    std::vector<bool> used(test.labels.size());
    mark_once(used, partition.test_rows);
  }
  return finished(std::move(partition), train.labels.size());
}

}  // namespace rubato
