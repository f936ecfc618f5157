// Columns: what is measured, each number once: its name, what it means, where it is read and its part in curves. metrics.csv,
// clients.csv, links.csv, the scores in summary.json, curves, comparisons, their pages and docs/run-folder.md are made of these.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "learning/metrics.hpp"
#include "results/run_result.hpp"
#include "runtime/world/graph.hpp"

namespace rubato {

/// A number that is not known, or means nothing here.
inline constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

using Number = std::variant<std::uint64_t, double>;
inline double to_double(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

/// A column of a table with a line for each Row.
template <class Row>
struct Column {
  std::string_view name;
  std::string_view meaning;  ///< in docs/run-folder.md
  Number (*read)(const Row&);
};

/// What a number is to curves; an axis never falls in the course of a run.
enum class Role { none, axis, measure };

/// A number of a sample; its column is one of metrics.csv.
struct SampleColumn : Column<Sample> {
  struct InCurves {
    Role role = Role::none;
    std::string_view name{};     ///< in comparisons
    std::string_view unit{};     ///< on pages: "s", "bit", "share" (of 1), or none
    std::string_view title{};    ///< on pages
    std::string_view heading{};  ///< of a measure in the terminal; empty: it is not shown there
  };
  std::string_view summary{};  ///< where summary.json has it of the last sample, as a JSON pointer; empty: nowhere
  InCurves curve{};
  std::string_view asked_by{};  ///< the key that asks for it; empty: it is always measured
};

/// A client at the end, with its scores in the last sample.
struct ClientRow {
  std::uint32_t client;
  std::uint64_t training_samples;
  MessageCounts counts;
  Traffic traffic;
  double accuracy, loss;
  Pace pace;
  double compute_chance = not_known;
};

struct ClientColumn : Column<ClientRow> {
  bool needs_paces = false;  ///< only in real time
};

struct LinkRow {
  Edge ends;
  LinkCounts counts;
  Screened screened;
  double chance = not_known;
};

/// The clients of a result, as their file lists them.
std::vector<ClientRow> client_rows(const RunResult& result);
LinkRow link_row(const RunResult& result, LinkIndex link);
/// The links likewise, made while they are walked: there may be millions. The result outlives them.
inline auto link_rows(const RunResult& result) {
  return std::views::iota(LinkIndex{0}, static_cast<LinkIndex>(result.by_link.size())) |
         std::views::transform([&result](LinkIndex link) { return link_row(result, link); });
}

/// In the order of the files. Scripts know the names and places of columns: new ones come last.
std::span<const SampleColumn> sample_columns();
std::span<const ClientColumn> client_columns();
std::span<const Column<LinkRow>> link_columns();

inline auto columns_as(Role role) {
  return sample_columns() | std::views::filter([role](const SampleColumn& column) { return column.curve.role == role; });
}
/// Whether the number never falls in the course of a run: what is spent stays spent.
bool is_spent(const SampleColumn& column);
/// The column of metrics.csv of this name; null if there is none.
const SampleColumn* find_sample_column(std::string_view name);
/// "seconds", "bits", "accuracy", ... Throws std::out_of_range for any other name.
const SampleColumn& curve_column(std::string_view name);

/// A value for each number of a sample.
template <class Value>
class PerColumn {
 public:
  template <std::invocable<const SampleColumn&> Make>
  explicit PerColumn(Make make) {
    for (const SampleColumn& column : sample_columns()) values_.push_back(make(column));
  }
  const Value& operator[](const SampleColumn& column) const {
    return values_[static_cast<std::size_t>(&column - sample_columns().data())];
  }
  const Value& operator[](std::string_view curve) const { return (*this)[curve_column(curve)]; }

 private:
  std::vector<Value> values_;
};

/// Fills in what follows from the scores of its clients, whose accuracies and losses it has, and of their mean model.
void add_scores(Sample& sample, std::span<const double> f1, const Score& of_mean);

}  // namespace rubato
