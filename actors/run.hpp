// An experiment from its description to its result: the door for programs that embed Rubato.
#pragma once

#include <filesystem>
#include <vector>

#include "actors/core/run_options.hpp"
#include "experiment/experiment.hpp"
#include "results/run_result.hpp"

namespace rubato {

struct ResolvedExperiment;

/// Runs the experiment. Throws std::invalid_argument for what is wrong with it, before any client runs - BadExperiment, with
/// all that is wrong by itself, in the sentences that a file gets - and RunFailed for what goes wrong later.
RunResult run(const config::Experiment& experiment, const RunOptions& options = {});
/// The same of one that is resolved already, as a file is by `resolve`; once.
RunResult run(ResolvedExperiment& experiment, const RunOptions& options);

/// Performs the steps of a run once more, in this process, and returns the digests they lead to. A run in real time
/// over several hosts has a record at each; the digests leave out the clients that were `absent` at its end. Throws RunFailed where
/// the records cannot be read or played.
/// Real time: `without` are clients whose records are missing or false. They are left out, and with them what depends on
/// them; the result's notes say how much that was, `absent` are the clients that were not replayed to their end, and
/// RunOptions::keeps_models hands out the models of the others.
RunResult replay(const config::Experiment& experiment, const std::vector<std::filesystem::path>& records,
                 const std::vector<ClientId>& absent, const RunOptions& options, const std::vector<ClientId>& without = {});
/// The same for a run with one record in which no client was absent at the end.
inline RunResult replay(const config::Experiment& experiment, const std::filesystem::path& record, const RunOptions& options) {
  return replay(experiment, std::vector{record}, {}, options);
}

}  // namespace rubato
