// run(), replay() and resume() for Python: options, callbacks and what comes of them.
#pragma once

#include "python/views.hpp"

namespace rubato::python {

void bind_runs(py::module_& module);

}  // namespace rubato::python
