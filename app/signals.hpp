// Signals of a run: a wish to end with the results so far, and what must not end it.
#pragma once

#include <atomic>

namespace rubato::app {

/// From now on SIGINT, SIGTERM and SIGHUP (unless it was ignored, as by nohup) set the flag, and the first one says so on
/// standard error unless `is_quiet`. Signals of the next two seconds change nothing: `timeout` and shells send theirs
/// twice. A later one ends the program at once. A closed pipe and a file beyond `ulimit -f` become faults of the write.
const std::atomic<bool>& watch_signals(bool is_quiet);

}  // namespace rubato::app
