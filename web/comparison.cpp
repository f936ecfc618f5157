#include "web/comparison.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "results/comparison_table.hpp"
#include "web/report.hpp"
#include "web/report_page.hpp"
#include "web/run_files.hpp"

namespace rubato::web {

namespace {

using Json = nlohmann::ordered_json;

constexpr int digits_shown = 6;

// Shortened to what can be seen; JSON has no infinity, and a gap is what the page makes of null.
Json shown(double value) {
  if (!std::isfinite(value) || value == 0) return std::isfinite(value) ? Json(0) : Json(nullptr);
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - (digits_shown - 1));
  const double rounded = std::round(value / unit) * unit;
  return std::isfinite(rounded) ? Json(rounded) : Json(value);
}

Json shown(const std::vector<double>& values) {
  Json all = Json::array();
  for (const double value : values) all.push_back(shown(value));
  return all;
}

// Per axis the places, per measure mean and deviation there.
Json bands_of(const ComparedOutcome& outcome) {
  std::vector<Curve> curves;
  for (const ComparedRun& run : outcome.runs) curves.push_back(run.curve);
  Json bands = Json::object();
  for (const SampleColumn& axis : columns_as(Role::axis)) {
    Json& along = bands[std::string(axis.curve.name)];
    for (const SampleColumn& measure : columns_as(Role::measure)) {
      const Band band = band_of(curves, axis, measure, most_places);
      along["at"] = shown(band.at);
      along[std::string(measure.curve.name)] = {{"mean", shown(band.mean)}, {"std", shown(band.deviation)}};
    }
  }
  return bands;
}

// Title and unit of each.
Json described(Role role) {
  Json all = Json::object();
  for (const SampleColumn& column : columns_as(role))
    all[std::string(column.curve.name)] = {std::string(column.curve.title), std::string(column.curve.unit)};
  return all;
}

}  // namespace

void write_comparison(const std::filesystem::path& file, const Comparison& comparison, std::span<const double> targets,
                      const SampleColumn& axis) {
  Json data = Json::parse(table_json(comparison, targets, axis));
  data["axes"] = described(Role::axis);
  data["measures"] = described(Role::measure);
  Json& settings = data["settings"];
  for (std::size_t i = 0; i < settings.size(); ++i) settings[i]["bands"] = bands_of(comparison.outcomes[i]);
  const std::string text = in_script(data.dump(-1, ' ', true, Json::error_handler_t::replace));
  write_text(file, page_of("Comparison", comparison_main, text, comparison_script));
}

}  // namespace rubato::web
