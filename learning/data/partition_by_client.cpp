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

// Of the rows that all clients share, or that each client alone may ask for.
void scale_to_rows(std::vector<std::uint32_t>& counts, const Shares& shares, const std::vector<Rows>& pools,
                   const std::string& part) {
  Demand demand = demand_of(shares, counts);
  for (double satisfiable = 0; (satisfiable = satisfiable_part(demand, pools)) < 1; demand = demand_of(shares, counts)) {
    if (!scale_down(counts, satisfiable))
      refuse("dirichlet_by_client: ", counts.size(), " clients are too many for the ", part, " data");
  }
}

std::string shortened_note(std::size_t asked, std::size_t given, std::size_t clients, const std::string& part) {
  return "the clients asked for " + std::to_string(asked) + " " + part + " rows and have " + std::to_string(given) + ": " +
         std::to_string(clients) + " asked for more rows of a class than there are";
}

std::vector<Rows> deal_part(const Deck& deck, Shares shares, std::vector<std::uint32_t> counts, bool overlaps,
                            const std::string& part, std::vector<std::string>& notes) {
  check_order(deck);
  const std::vector<Rows> pools = rows_by_class(deck);
  for (std::vector<double>& of_client : shares) of_client = over_present_classes(std::move(of_client), pools);
  const std::size_t asked = total(counts);
  std::size_t shortened = 0;
  if (!overlaps) scale_to_rows(counts, shares, pools, part);
  for (std::size_t i = 0; overlaps && i < counts.size(); ++i) {
    std::vector<std::uint32_t> own{counts[i]};
    scale_to_rows(own, {shares[i]}, pools, part);
    shortened += own[0] < counts[i];
    counts[i] = own[0];
  }
  if (total(counts) < asked)
    notes.push_back(overlaps ? shortened_note(asked, total(counts), shortened, part)
                             : scaled_down_note(asked, total(counts), part));
  return deal_demand(demand_of(shares, counts), pools);
}

}  // namespace

Partition deal_by_client_shares(const Deck& train, const Deck& test, const Shares& shares, const std::vector<std::uint32_t>& counts,
                                const std::vector<std::uint32_t>& test_counts, Overlap overlap) {
  require_clients(shares.size());
  check_shares(shares, train.classes, "dirichlet_by_client");
  const auto require_counts = [&](const std::vector<std::uint32_t>& of_part) {
    if (of_part.size() != shares.size() || std::count(of_part.begin(), of_part.end(), 0u) > 0)
      refuse("dirichlet_by_client needs a count of at least 1 for each client");
  };
  require_counts(counts);
  Partition partition;
  partition.rows = deal_part(train, shares, counts, overlap == Overlap::both, "training", partition.notes);
  if (!test.labels.empty()) {
    const std::vector<std::uint32_t>& of_test = test_counts.empty() ? counts : test_counts;
    require_counts(of_test);
    partition.test_rows = deal_part(test, shares, of_test, overlap != Overlap::none, "test", partition.notes);
    std::vector<bool> used(test.labels.size());
    mark_once(used, partition.test_rows, overlap != Overlap::none);
  }
  return finished(std::move(partition), train.labels.size(), overlap == Overlap::both);
}

}  // namespace rubato
