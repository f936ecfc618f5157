// Rubato in one header: read or fill an Experiment, run it, look at the RunResult.
//
//   rubato::Experiment experiment = rubato::read_experiment("file.toml", {}, std::cerr);
//   rubato::RunResult result = rubato::run(experiment);
#pragma once

#include "actors/run.hpp"
#include "experiment/file/experiment_file.hpp"

/// Decentralised learning in free time: each client computes and sends by timers of its own.
namespace rubato {}
