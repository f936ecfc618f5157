// The state of a Python object in an archive: plain values and arrays alone, so that reading one runs no code.
#pragma once

#include <rubato/runtime/archive.hpp>

#include "python/views.hpp"

namespace rubato::python {

/// Writes the attributes that the object's state() names, or sets them again. Throws BadArchive for what cannot be, and
/// py::type_error for a value that is neither None, a number, a text, an array nor a list, tuple or dict of them.
void archive_object(Archive& archive, const py::object& object);

}  // namespace rubato::python
