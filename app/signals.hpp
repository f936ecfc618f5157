// Ctrl-C and SIGTERM: a wish to end with the results so far.
#pragma once

#include <atomic>

namespace rubato::app {

/// From now on the first SIGINT or SIGTERM only sets the flag; a second one ends the program at once.
const std::atomic<bool>& watch_signals();

}  // namespace rubato::app
