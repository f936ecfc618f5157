// Table 3 in the supplement of DeceFL (docs/references.md#decefl): clients with given shares of positive and negative
// rows. Ratios are positive to negative (PT-1, docs/references.md#partition-decisions).
#include <utility>

#include "learning/data/dealing.hpp"

namespace rubato {

using namespace dealing;

namespace {

/// Percent of the whole data set, and percent of these that are positive.
struct Table3Row {
  std::uint32_t share;
  std::uint32_t positive;
};

std::vector<Table3Row> decefl_table3(std::uint32_t clients) {
  switch (clients) {
    case 4:
      return {{10, 1}, {10, 99}, {20, 30}, {40, 60}};
    case 8:
      return {{4, 50}, {4, 50}, {6, 1}, {6, 1}, {10, 40}, {10, 40}, {20, 70}, {20, 70}};
    case 16:
      return {{2, 50}, {2, 50}, {2, 50}, {2, 50}, {3, 1},   {3, 1},   {3, 1},   {3, 1},
              {5, 40}, {5, 40}, {5, 40}, {5, 40}, {10, 70}, {10, 70}, {10, 70}, {10, 70}};
    default:
      refuse("clients.count is ", clients, "; decefl_table3 is defined for 4, 8 and 16");
  }
}

}  // namespace

std::vector<PositiveNegative> decefl_table3_counts(std::uint32_t clients, std::size_t training_rows) {
  constexpr std::size_t whole = std::size_t{80} * 100;  // the training part is 80 percent of the data set
  std::vector<PositiveNegative> counts;
  for (const Table3Row& row : decefl_table3(clients)) {
    const std::size_t positive = row.share * row.positive * training_rows / whole;
    const std::size_t negative = row.share * (100 - row.positive) * training_rows / whole;
    counts.push_back({static_cast<std::uint32_t>(positive), static_cast<std::uint32_t>(negative)});
  }
  return counts;
}

namespace {

std::size_t total(const Demand& demand) {
  std::size_t rows = 0;
  for (const std::vector<std::size_t>& of_client : demand) rows += of_client[0] + of_client[1];
  return rows;
}

void scale_down(Demand& demand, double part) {
  for (std::vector<std::size_t>& of_client : demand)
    for (std::size_t& rows : of_client) rows = static_cast<std::size_t>(part * static_cast<double>(rows));
}

}  // namespace

Partition deal_decefl_table3(const Deck& deck, std::uint32_t clients) {
  check_order(deck);
  if (deck.classes != 2) refuse("the data have ", deck.classes, " classes; decefl_table3 needs 2, label 1 is positive");
  Demand demand;
  for (const PositiveNegative& count : decefl_table3_counts(clients, deck.labels.size())) {
    demand.push_back({count.negative, count.positive});
  }
  const std::vector<Rows> pools = rows_by_class(deck);
  const std::size_t asked = total(demand);
  const double satisfiable = satisfiable_part(demand, pools);
  if (satisfiable < 1) scale_down(demand, satisfiable);
  Partition partition;
  if (total(demand) < asked) partition.notes.push_back(scaled_down_note(asked, total(demand), "training"));
  partition.rows = deal_demand(demand, pools);
  require_rows(partition);
  return finished(std::move(partition), deck.labels.size());
}

}  // namespace rubato
