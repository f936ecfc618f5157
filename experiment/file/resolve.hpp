// ResolvedExperiment: an experiment that can be run, with all that follows from it before data are read.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/build/timing.hpp"
#include "experiment/experiment.hpp"
#include "experiment/own_parts.hpp"

namespace rubato {

/// What is decided once, for all that ask: the run, its summary, the report, the experiment as it is written.
struct ResolvedExperiment {
  config::Experiment experiment;     ///< complete: defaults filled in, paths absolute
  ResolvedAlgorithm algorithm;       ///< protocol, needs and weights
  std::unique_ptr<Timing> timing;    ///< graph, links, timers, churn; protocols can be made from it once
  std::vector<std::string> notes{};  ///< sentences about what is allowed but looks unwise

  /// How long the mailbox of a client collects before it merges; nothing where the protocol has no windows.
  std::optional<Duration> window() const;
};

/// Reads the file and lays the overrides over it, as config::read_experiment. Throws BadExperiment with all that is wrong
/// with its keys, between them, and with what is built from them.
ResolvedExperiment resolve(const std::filesystem::path& file, std::span<const std::string> overrides, std::ostream& notes);

/// The same of an experiment that a program has filled in, as config::validate; what the program brings along is not judged.
template <class Real>
ResolvedExperiment resolve(const config::Experiment& experiment, const OwnParts<Real>& own);

}  // namespace rubato
