// The command `rubato` for a program with algorithms of its own: its main() hands its arguments on.
#pragma once

#include <span>

#include "algos/catalogue.hpp"
#include "experiment/experiment.hpp"

namespace rubato {

/// Everything that `rubato` does - run, node, compare, resume, replay, report, list and the rest - with experiment files
/// that may name the algorithms in `own`, and the laws of timers in `laws`, besides the library's. The exit code is that of `rubato
/// --help`; what is wrong is said on standard error.
int rubato_main(int argc, char** argv, std::span<const CatalogueEntry* const> own = {},
                std::span<const OwnTimerLaw* const> laws = {});

}  // namespace rubato
