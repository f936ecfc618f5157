// Small runs and their folders, for tests of what is made from them.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "experiment/experiment.hpp"
#include "results/run_result.hpp"

namespace rubato::web {

using Json = nlohmann::json;

/// A folder that goes with its owner.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const std::string& name) const { return path_ / name; }
  void write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

/// Five clients on a ring, with delays, losses, windows, a deadline that some messages miss, and unifications.
config::Experiment small_experiment(const std::string& overrides = "");

/// Runs it and leaves the files of its folder, without trace and report, at temp.file("run").
std::filesystem::path run_folder(const TempFolder& temp, const config::Experiment& experiment, bool dry_run = false,
                                 RunResult* result = nullptr);

Json json_in(const std::filesystem::path& file);

/// The numbers inside a report.
Json data_in(const std::filesystem::path& report);

}  // namespace rubato::web
