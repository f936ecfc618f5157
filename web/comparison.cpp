#include "web/comparison.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "results/comparison_table.hpp"
#include "results/whole_file.hpp"
#include "web/report.hpp"
#include "web/run_files.hpp"
#include "web/shown.hpp"

namespace rubato::web {

namespace {

using Json = nlohmann::ordered_json;

// The samples of a run as columns, thinned to what a screen has places for; the first and the last stay. What is the same
// throughout is one number.
Json curve_of(const Curve& curve) {
  Json columns = Json::object();
  for (const Role role : {Role::axis, Role::measure})
    for (const SampleColumn& column : columns_as(role)) {
      Json values = Json::array();
      for (const std::size_t i : evenly(curve.size(), most_places)) values.push_back(shown_number(curve[i][column]));
      const bool says_nothing = std::ranges::all_of(values, [](const Json& value) { return value.is_null() || value == 0; });
      if (!says_nothing) columns[std::string(column.curve.name)] = std::move(values);
    }
  return columns;
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
  for (std::size_t i = 0; i < settings.size(); ++i)
    for (std::size_t k = 0; k < settings[i]["runs"].size(); ++k)
      settings[i]["runs"][k]["curve"] = curve_of(comparison.outcomes[i].runs[k].curve);
  const std::string text = in_script(data.dump(-1, ' ', true, Json::error_handler_t::replace));
  write_whole(file, bundled_page("Comparison", "", text));
}

}  // namespace rubato::web
