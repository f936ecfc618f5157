// What must hold between the keys of an experiment, each of which is in order by itself.
#pragma once

#include <iosfwd>

#include "experiment/file/check.hpp"

namespace rubato::config {

/// Adds a fault for every relation that is broken among keys without faults; fills mailbox.cap_period from the
/// unification period where a cap needs it. `root` is the tree of the experiment, with faulty keys as they are written.
void check_relations(Experiment& experiment, Table& root, Faults& faults);

/// Sentences about what is allowed but looks unwise.
void warn(const Experiment& experiment, std::ostream& notes);

}  // namespace rubato::config
