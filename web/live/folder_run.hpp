// FolderRun: a run in a folder, finished or under way in another process. Its files are read when they have changed.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "web/live/run_source.hpp"
#include "web/run_files.hpp"

namespace rubato::web {

class FolderRun final : public RunSource {
 public:
  /// `place` as it was given to --out; while it is filled its files are in the folder with .partial behind its name.
  explicit FolderRun(std::filesystem::path place);

  /// There is a run at this place, or one is at work there.
  static bool is_at(const std::filesystem::path& place);

  Revision revision() const override;
  ResultJson hello() const override;
  ResultJson tick() const override;
  std::string samples(std::uint64_t from) const override;
  std::string end() const override;
  std::optional<std::string> report() const override;
  ResultJson line() const override;
  RunNumbers numbers() const override;

 private:
  /// The lock, once what has changed in the folder is read.
  std::unique_lock<std::mutex> looked() const;
  void look_again() const;
  std::optional<std::size_t> place_of(std::string_view column) const;
  const char* state() const;
  ResultJson last(const char* column) const;
  ResultJson messages() const;
  ResultJson present() const;

  const std::filesystem::path place_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::filesystem::path folder_;
  mutable std::uintmax_t metrics_bytes_ = 0;
  mutable bool is_at_work_ = true;  // or it cannot be told
  mutable std::uint64_t ticks_ = 0;
  mutable std::vector<std::string> columns_;
  mutable std::vector<std::vector<double>> rows_;
  mutable ResultJson facts_;  // from the experiment
  mutable ResultJson summary_;
  mutable std::optional<Table> clients_;
  mutable std::string run_id_;  // of the life of the run: another server of the same folder has the same
  mutable std::size_t rewinds_ = 0;
};

/// What report.html of this folder has as its data; nothing where there is no such page.
std::optional<std::string> data_of_report(const std::filesystem::path& folder);

/// Where the files of the run at this place are: while it is at work, in the folder with .partial behind its name.
std::filesystem::path contents_of(const std::filesystem::path& place);

/// The runs that a folder is or holds, in the order of their names.
std::vector<std::filesystem::path> runs_at(const std::filesystem::path& folder);

}  // namespace rubato::web
