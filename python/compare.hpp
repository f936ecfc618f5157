// compare() for Python.
#pragma once

#include "python/views.hpp"

namespace rubato::python {

void bind_comparisons(py::module_& module);

}  // namespace rubato::python
