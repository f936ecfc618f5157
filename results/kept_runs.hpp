// Runs of a comparison that several processes share: what is compared, and what each run came to, as files in one folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "results/comparison.hpp"

namespace rubato {

/// What a run came to: itself, or why there is none.
struct KeptResult {
  std::optional<ComparedRun> run{};
  std::string failure{};  ///< a sentence; empty where there is a run or a refusal
  std::string refusal{};  ///< the setting cannot be run with this seed: a sentence
};

/// The folder of a shared comparison: plan.json and runs/SETTING-seed-SEED.json, settings counted from 1. Files are written whole,
/// so any number of processes may write at a time, and one that is killed leaves whole files only. Numbers are read back as they
/// were.
class KeptRuns {
 public:
  /// Writes the plan, or where there is one already checks that it is this one. Throws std::invalid_argument where it is
  /// another one or of another version of Rubato, RunFailed where the disk does not take it.
  KeptRuns(std::filesystem::path folder, const ComparisonPlan& plan);
  /// A folder with a plan. Throws std::invalid_argument where there is none, or it is damaged.
  explicit KeptRuns(std::filesystem::path folder);

  const ComparisonPlan& plan() const { return plan_; }
  /// Nothing where the run has not come to its end, or its file cannot be read. Throws std::invalid_argument where the file is of
  /// another run.
  std::optional<KeptResult> find(std::size_t setting, std::int64_t seed) const;
  /// Throws RunFailed where the disk does not take it.
  void keep(std::size_t setting, std::int64_t seed, const KeptResult& result) const;

  static bool is_there(const std::filesystem::path& folder);

 private:
  void make_room() const;
  std::filesystem::path file(std::size_t setting, std::int64_t seed) const;

  std::filesystem::path folder_;
  ComparisonPlan plan_;
};

}  // namespace rubato
