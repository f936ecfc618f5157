// What is compared with what: experiment files and the points of a grid, checked for having the same clocks, links,
// data and model.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.hpp"
#include "results/grid.hpp"
#include "results/sampling_law.hpp"

namespace rubato {

/// One line of the table: a file, and what the grid sets in it.
struct ComparedSetting {
  std::string label;  ///< unique in a plan: the file's name without its ending, then key=value ...
  std::filesystem::path file;
  GridPoint values;  ///< only of keys that the file knows
  config::Experiment experiment;
  std::string refusal{};  ///< why it cannot be run, in a sentence or more; empty: it can, as far as is known
};

struct ComparisonPlan {
  std::vector<ComparedSetting> settings;
  std::int64_t first_seed = 1;
  std::size_t seeds = 1;           ///< first_seed, first_seed + 1, ...: the same for every setting
  std::vector<std::string> notes;  ///< what differs between the files, was dropped or looks unwise; each once
};

struct ComparisonRequest {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> set;  ///< key=value, laid over every file
  std::vector<GridKey> grid;     ///< each laid over every file that knows the key
  std::size_t seeds = 5;
  std::vector<SampledKey> samples{};  ///< likewise, drawn
  std::size_t points = 1;             ///< of the samples; each with every point of the grid
  std::uint64_t sample_seed = 1;
  std::vector<std::string_view> own{};  ///< tables that are the program's own business, as in config::validate
};

/// Reads and checks everything. A point of the grid that cannot be run is in the plan with its refusal. Throws BadExperiment with
/// the faults of all files and points where no point of a file can, and std::invalid_argument where files differ in
/// clients.count, [data], [model] or [budget], or no file knows a key of the grid. The first seed is the first file's.
ComparisonPlan plan_comparison(const ComparisonRequest& request);

/// The first that can be run: there is one in every plan and comparison.
template <class Settings, class SettingOf = std::identity>
const ComparedSetting& first_possible(const Settings& settings, SettingOf setting_of = {}) {
  return setting_of(*std::ranges::find_if(settings, [&](const auto& each) { return setting_of(each).refusal.empty(); }));
}

/// Tables and keys in which two experiments must agree to be compared: `faults` for those without which curves mean
/// nothing, `notes` for the others. Each is a dotted name.
struct Differences {
  std::vector<std::string> faults, notes;
};
Differences differences(const config::Experiment& one, const config::Experiment& other);

}  // namespace rubato
