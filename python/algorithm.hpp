// Algorithms that are written in Python: entries of the catalogue whose classes Python has.
#pragma once

#include "python/calls.hpp"

namespace rubato::python {

/// What algorithms are handed (Work, Step, Message, Client), and `register`.
void bind_algorithms(py::module_& module);

}  // namespace rubato::python
