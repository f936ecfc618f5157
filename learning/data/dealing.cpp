#include "learning/data/dealing.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace rubato::dealing {

void require_clients(std::size_t clients) {
  if (clients == 0) refuse("clients.count is 0; allowed are whole numbers from 1");
}

std::vector<Rows> rows_by_class(const Deck& deck) {
  std::vector<Rows> pools(deck.classes);
  for (const std::uint32_t row : deck.order) {
    const Label label = deck.labels[row];
    if (label >= deck.classes) {
      refuse("row ", row, " has the label ", label, "; allowed are labels below ", deck.classes);
    }
    pools[label].push_back(row);
  }
  return pools;
}

void append(Rows& rows, const Rows& pool, std::size_t begin, std::size_t end) {
  rows.insert(rows.end(), pool.begin() + static_cast<std::ptrdiff_t>(begin), pool.begin() + static_cast<std::ptrdiff_t>(end));
}

std::vector<std::size_t> share_ends(const std::vector<double>& shares, std::size_t size) {
  std::vector<std::size_t> ends;
  double cumulated = 0;
  for (const double share : shares) {
    cumulated += share;
    const double end = std::floor(cumulated * static_cast<double>(size));
    ends.push_back(end < static_cast<double>(size) ? static_cast<std::size_t>(end) : size);
  }
  if (!ends.empty()) ends.back() = size;
  return ends;
}

void mark_once(std::vector<bool>& used, const std::vector<Rows>& lists, bool overlaps) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> owner(used.size(), none);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (const std::uint32_t row : lists[i]) {
      if (row >= used.size() || (overlaps ? owner[row] == i : used[row]))
        throw std::logic_error("row " + std::to_string(row) + " was dealt twice");
      used[row] = true;
      owner[row] = i;
    }
  }
}

Partition finished(Partition partition, std::size_t training_rows, bool overlaps) {
  std::vector<bool> used(training_rows);
  mark_once(used, partition.rows, overlaps);
  partition.unused = static_cast<std::size_t>(std::count(used.begin(), used.end(), false));
  return partition;
}

void check_order(const Deck& deck) {
  if (deck.order.size() != deck.labels.size())
    refuse("the order has ", deck.order.size(), " rows and the labels ", deck.labels.size());
  for (const std::uint32_t row : deck.order) {
    if (row >= deck.labels.size()) refuse("the order names row ", row, " of ", deck.labels.size());
  }
}

void check_shares(const Shares& shares, std::size_t width, const std::string& what) {
  for (const std::vector<double>& row : shares) {
    constexpr double rounding = 1e-4;
    const bool is_share = row.size() == width && width > 0 && row.back() >= -rounding &&
                          std::all_of(row.begin(), row.end() - 1, [](double share) { return share >= 0; });
    if (!is_share) refuse(what, ": every row needs ", width, " numbers from 0");
  }
}

void require_rows(const Partition& partition) {
  for (std::size_t client = 0; client < partition.rows.size(); ++client) {
    if (partition.rows[client].empty())
      refuse("data.partition leaves client ", client, " without rows; use fewer clients or more data");
  }
}

double satisfiable_part(const Demand& demand, const std::vector<Rows>& pools) {
  double part = 1;
  for (std::size_t c = 0; c < pools.size(); ++c) {
    std::size_t asked = 0;
    for (const std::vector<std::size_t>& of_client : demand) asked += of_client[c];
    if (asked > pools[c].size()) part = std::min(part, static_cast<double>(pools[c].size()) / static_cast<double>(asked));
  }
  return part;
}

std::vector<Rows> deal_demand(const Demand& demand, const std::vector<Rows>& pools) {
  std::vector<Rows> lists(demand.size());
  for (std::size_t c = 0; c < pools.size(); ++c) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < demand.size(); ++i) {
      const std::size_t end = begin + demand[i][c], size = pools[c].size();
      append(lists[i], pools[c], begin, std::min(end, size));
      if (end > size) append(lists[i], pools[c], 0, end - size);
      begin = end >= size && size > 0 ? end - size : end;
    }
  }
  return lists;
}

std::string scaled_down_note(std::size_t asked, std::size_t given, const std::string& part) {
  return "the clients asked for " + std::to_string(asked) + " " + part +
         " rows; the classes cannot give them, so all counts were scaled down together to " + std::to_string(given);
}

}  // namespace rubato::dealing
