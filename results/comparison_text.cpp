#include <algorithm>
#include <cmath>
#include <cstdio>

#include "results/comparison_table.hpp"
#include "results/paired.hpp"

namespace rubato {

namespace {

constexpr std::size_t places_of_course = 5;
constexpr double nearly = 0.98;  // samples do not fall on places: a curve that ends so close before one has come there

std::string in_digits(const char* format, double value) {
  if (std::isnan(value)) return "-";
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string of_four(double value) { return in_digits("%.4f", value); }
std::string of_size(double value) { return in_digits("%.4g", value); }

using ShowNumber = std::string (*)(double);

std::string with_deviation(const Spread& spread, ShowNumber show) {
  if (std::isnan(spread.mean)) return "-";
  return spread.deviation > 0 ? show(spread.mean) + " ± " + show(spread.deviation) : show(spread.mean);
}

// Columns as wide as their widest text, which is UTF-8.
class Columns {
 public:
  explicit Columns(std::vector<std::string> heads) : lines_{std::move(heads)} {}
  void add(std::vector<std::string> line) { lines_.push_back(std::move(line)); }
  std::string text(std::size_t columns) const {
    if (width() <= columns) return lines();
    std::string sentence;
    const Columns rest = without_equal(sentence);
    return (rest.width() <= columns ? rest.lines() : rest.blocks(columns)) + sentence;
  }

 private:
  std::size_t width() const {
    std::size_t all = 0;
    for (std::size_t column = 0; column < lines_.front().size(); ++column) all += width_of(column) + (column > 0 ? 2 : 0);
    return all;
  }
  std::string lines() const {
    std::string all;
    for (const auto& line : lines_) {
      for (std::size_t column = 0; column < line.size(); ++column) {
        const std::string gap(width_of(column) - length(line[column]), ' ');
        all += column == 0 ? line[column] + gap : "  " + gap + line[column];
      }
      all += "\n";
    }
    return all;
  }
  // Without the columns that say the same in every row but the first; these are a sentence.
  Columns without_equal(std::string& sentence) const {
    if (lines_.size() < 3) return *this;
    Columns rest({});
    rest.lines_.assign(lines_.size(), {});
    for (std::size_t column = 0; column < lines_.front().size(); ++column) {
      bool is_equal = column > 0;
      for (std::size_t row = 2; row < lines_.size(); ++row) is_equal = is_equal && lines_[row][column] == lines_[1][column];
      if (is_equal)
        sentence += (sentence.empty() ? "the same in all: " : ", ") + lines_.front()[column] + " " + lines_[1][column];
      else
        for (std::size_t row = 0; row < lines_.size(); ++row) rest.lines_[row].push_back(lines_[row][column]);
    }
    if (!sentence.empty()) sentence += "\n";
    return rest;
  }
  // A row after the other: its name, then what it says, as many to a line as there is room for.
  std::string blocks(std::size_t columns) const {
    std::string all = lines_.front().front() + "\n";
    for (std::size_t row = 1; row < lines_.size(); ++row) {
      all += lines_[row].front() + "\n";
      std::string line;
      for (std::size_t column = 1; column < lines_[row].size(); ++column) {
        const std::string one = lines_.front()[column] + " " + lines_[row][column];
        if (!line.empty() && 2 + length(line) + 2 + length(one) > columns) all += "  " + line + "\n", line.clear();
        line += (line.empty() ? "" : ", ") + one;
      }
      if (!line.empty()) all += "  " + line + "\n";
    }
    return all;
  }
  static std::size_t length(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char letter) { return (static_cast<unsigned char>(letter) & 0xC0) != 0x80; }));
  }
  std::size_t width_of(std::size_t column) const {
    std::size_t widest = 0;
    for (const auto& line : lines_) widest = std::max(widest, length(line[column]));
    return widest;
  }

  std::vector<std::vector<std::string>> lines_;
};

std::string shown(const SampleColumn& column, const Spread& spread) {
  return with_deviation(spread, column.curve.unit == "share" ? of_four : of_size);
}

// The axes behind other heads, and a row's numbers under them.
std::vector<std::string> with_axes(std::vector<std::string> heads) {
  for (const SampleColumn& axis : columns_as(Role::axis)) heads.emplace_back(axis.curve.name);
  return heads;
}

std::vector<std::string> with_costs(std::vector<std::string> line, const PerColumn<Spread>& costs) {
  for (const SampleColumn& axis : columns_as(Role::axis)) line.push_back(shown(axis, costs[axis]));
  return line;
}

auto headed_measures() {
  return columns_as(Role::measure) | std::views::filter([](const SampleColumn& column) { return !column.curve.heading.empty(); });
}

std::string ends(const std::vector<ComparedRow>& rows, std::size_t columns_there) {
  std::vector<std::string> heads{"setting", "algorithm", "runs"};
  for (const SampleColumn& measure : headed_measures()) heads.emplace_back(measure.curve.heading);
  Columns columns(with_axes(std::move(heads)));
  for (const ComparedRow& row : rows) {
    const ComparedSetting& setting = row.outcome->setting;
    std::vector<std::string> line{setting.label, setting.experiment.algorithm.name,
                                  setting.refusal.empty() ? std::to_string(row.outcome->runs.size()) : "refused"};
    for (const SampleColumn& measure : headed_measures()) line.push_back(shown(measure, row.ends[measure]));
    columns.add(with_costs(std::move(line), row.ends));
  }
  return columns.text(columns_there);
}

std::string refusals(const Comparison& comparison) {
  std::string text;
  for (const ComparedOutcome& outcome : comparison.outcomes)
    if (!outcome.setting.refusal.empty()) text += "\n" + outcome.setting.label + " was refused: " + outcome.setting.refusal + "\n";
  return text;
}

std::string divergences(const Comparison& comparison) {
  std::string text;
  for (const ComparedOutcome& outcome : comparison.outcomes)
    for (const ComparedRun& run : outcome.runs)
      if (run.diverged_at)
        text += "\n" + outcome.setting.label + ", seed " + std::to_string(run.seed) + ", diverged at " + of_size(*run.diverged_at) +
                " s\n";
  return text;
}

std::string target_text(const std::vector<ComparedRow>& rows, std::size_t target, std::size_t columns_there) {
  Columns columns(with_axes({"to accuracy " + of_size(rows.front().targets[target].accuracy), "reached by"}));
  for (const ComparedRow& row : rows) {
    const TargetReached& reached = row.targets[target];
    const std::string share = std::to_string(reached.reached) + " of " + std::to_string(row.outcome->runs.size());
    columns.add(with_costs({row.outcome->setting.label, share}, reached.costs));
  }
  return columns.text(columns_there);
}

std::vector<Curve> curves_of(const ComparedOutcome& outcome) {
  std::vector<Curve> curves;
  for (const ComparedRun& run : outcome.runs) curves.push_back(run.curve);
  return curves;
}

const SampleColumn& main_measure(const std::vector<ComparedRow>& rows) {
  const auto is_classified = [](const ComparedRow& row) { return !std::isnan(row.ends["accuracy"].mean); };
  return curve_column(std::ranges::any_of(rows, is_classified) ? "accuracy" : "loss");
}

std::string signed_number(double value) { return in_digits("%+.4g", value); }

// Every setting less the first that has runs, under the same seeds; empty where there are no two seeds.
std::string differences(const std::vector<ComparedRow>& rows, std::size_t columns_there) {
  const auto first = std::ranges::find_if(rows, [](const ComparedRow& row) { return !row.outcome->runs.empty(); });
  const SampleColumn& measure = main_measure(rows);
  Columns columns(
      {std::string(measure.curve.name) + " less that of " + first->outcome->setting.label, "mean", "95 % interval", "seeds"});
  bool has_some = false;
  for (auto row = first + 1; row < rows.end(); ++row) {
    const PairedDifference by = paired_difference(*row->outcome, *first->outcome, measure);
    if (by.spread.count < 2) continue;
    has_some = true;
    columns.add({row->outcome->setting.label, signed_number(by.spread.mean),
                 "[" + signed_number(by.spread.mean - by.half) + ", " + signed_number(by.spread.mean + by.half) + "]",
                 std::to_string(by.spread.count)});
  }
  return has_some ? "\n" + columns.text(columns_there) : "";
}

// The same places for every setting; one that has not come that far has a dash there.
std::string course(const std::vector<ComparedRow>& rows, const SampleColumn& axis, std::size_t columns_there) {
  double end = 0;
  for (const ComparedRow& row : rows)
    for (const ComparedRun& run : row.outcome->runs)
      if (!run.curve.empty()) end = std::max(end, run.curve.back()[axis]);
  if (end <= 0) return "there is no course along " + std::string(axis.curve.name) + ": it is 0 throughout\n";
  const SampleColumn& measure = main_measure(rows);
  std::vector<double> places;
  for (std::size_t i = 1; i <= places_of_course; ++i)
    places.push_back(end * static_cast<double>(i) / static_cast<double>(places_of_course));
  std::vector<std::string> heads{std::string(measure.curve.name) + " at " + std::string(axis.curve.name)};
  for (const double place : places) heads.push_back(of_size(place));
  Columns columns(std::move(heads));
  for (const ComparedRow& row : rows) {
    std::vector<std::string> line{row.outcome->setting.label};
    for (const double place : places) {
      std::vector<double> values;
      for (const Curve& curve : curves_of(*row.outcome))
        if (!curve.empty() && curve.back()[axis] >= nearly * place) values.push_back(value_at(curve, axis, place, measure));
      line.push_back(shown(measure, spread_of(values)));
    }
    columns.add(std::move(line));
  }
  return columns.text(columns_there);
}

}  // namespace

std::string table_text(const Comparison& comparison, std::span<const double> targets, const SampleColumn& axis,
                       std::size_t columns) {
  const std::vector<ComparedRow> rows = rows_of(comparison, targets);
  const auto has_runs = [](const ComparedOutcome& outcome) { return !outcome.runs.empty(); };
  if (std::ranges::none_of(comparison.outcomes, has_runs)) return "no run has come to its end\n" + refusals(comparison);
  std::string text = ends(rows, columns) + refusals(comparison) + divergences(comparison) + "\n" + course(rows, axis, columns);
  for (std::size_t i = 0; i < targets.size(); ++i) text += "\n" + target_text(rows, i, columns);
  text += differences(rows, columns);
  if (text.find("±") != text.npos)
    text += "\n± is the standard deviation of so many runs (n - 1): what seeds alone make of a setting\n";
  return text;
}

}  // namespace rubato
