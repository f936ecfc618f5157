// What the machine and the limits of the shell (`ulimit`) leave a process, named in the sentences of what failed.
#pragma once

#include <exception>
#include <string>

namespace rubato {

/// "out of memory: ...", with the limit that was met: `ulimit -v` where it is set, else that of the control group or the
/// machine.
std::string out_of_memory();

/// What an exception says; std::bad_alloc says out_of_memory().
std::string sentence_of(const std::exception& error);

/// Starts `count` threads at once and ends them again. Throws std::runtime_error with the limit that was met if the
/// system does not give them: a library that meets it later may end the process or wait forever.
void require_threads(unsigned count);

}  // namespace rubato
