// The score of a run: its timing is walked once more, with an observer, so that arrivals and reasons are exact; where it cannot be,
// the steps of the record are read.
#pragma once

#include <filesystem>
#include <string>

#include "experiment/file/resolve.hpp"
#include "web/score.hpp"

namespace rubato::web {

/// What is known of a run that is over.
struct ScoredRun {
  bool is_virtual = true;       ///< else there is nothing to walk
  double seconds = 0;           ///< of the experiment, at its end
  std::size_t dimension = 0;    ///< numbers of a model
  std::uint64_t marks = 0;      ///< computations, publications and messages
  bool stopped_early = false;   ///< the digest is not that of the whole timing
  std::string timeline_digest;  ///< what the walk must come to
  double largest_jump = 0;      ///< seconds: where consensus changes most
};

/// Of the folder's record, which must be there, and its experiment.toml. Throws std::invalid_argument where the record is none.
RunScore read_score(const std::filesystem::path& folder, const ScoredRun& facts, const ScoreLimits& limits = {});

}  // namespace rubato::web
