// StatusFile: how a host is, in status.json of its folder; docs/many-hosts.md says what stands there.
#pragma once

#include <string>

#include "experiment/experiment.hpp"
#include "results/result_text.hpp"
#include "results/run_event.hpp"
#include "results/run_folder.hpp"

namespace rubato::app {

class StatusFile {
 public:
  /// Both outlive it.
  StatusFile(RunFolder& folder, const config::Experiment& experiment, HostId self);
  /// Whole or not at all; a disk that does not take it ends no run.
  void write(const HostStatus& status);
  /// The last one, before the folder is complete and when write() is not called any more.
  void end(const RunResult& result);
  /// Instead of end(): the host ends without results, because of this.
  void fail(const std::string& why);

 private:
  void write(const HostStatus& status, const std::string& state, const std::string& why = "");

  RunFolder& folder_;
  const config::Experiment& experiment_;
  HostId self_;
  std::string started_;  // when
  HostStatus last_;
};

}  // namespace rubato::app
