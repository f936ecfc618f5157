#include "python/views.hpp"

#include <cmath>
#include <span>

namespace rubato::python {

std::string described(py::handle object) {
  if (!py::isinstance<py::array>(object)) return py::str(py::type::of(object).attr("__name__"));
  return py::str(object.attr("dtype")).cast<std::string>() + " array of shape " + py::str(object.attr("shape")).cast<std::string>();
}

template <class Number>
const Number* numbers_in(py::handle object, std::size_t count, const std::string& what) {
  const std::string wanted =
      py::str(py::dtype::of<Number>()).cast<std::string>() + " array of " + std::to_string(count) + " numbers";
  const std::string fault = what + " must be a " + wanted + ", not a " + described(object);
  if (!py::isinstance<py::array>(object)) throw py::type_error(fault);
  const auto array = py::reinterpret_borrow<py::array>(object);
  if (!py::isinstance<py::array_t<Number>>(object)) throw py::type_error(fault);
  if (array.ndim() != 1 || static_cast<std::size_t>(array.size()) != count) throw py::value_error(fault);
  if (!(array.flags() & py::array::c_style))
    throw py::value_error(what + " must be contiguous: numpy.ascontiguousarray() makes it so");
  return static_cast<const Number*>(array.data());
}

template <class Number>
Number* writable_numbers_in(py::handle object, std::size_t count, const std::string& what) {
  numbers_in<Number>(object, count, what);
  auto array = py::reinterpret_borrow<py::array>(object);
  if (!array.writeable()) throw py::value_error(what + " must be writable: a view of a message is not");
  return static_cast<Number*>(array.mutable_data());
}

template <class Number>
void require_finite(const Number* numbers, std::size_t count, const std::string& what) {
  if (are_finite(std::as_bytes(std::span(numbers, count)), scalar_of<Number>)) return;
  std::size_t bad = 0, first = count;
  for (std::size_t i = 0; i < count; ++i)
    if (!std::isfinite(numbers[i])) first = bad++ ? first : i;
  throw py::value_error(what + " has " + std::to_string(bad) + " numbers that are not finite, the first at place " +
                        std::to_string(first));
}

py::object exception_of(const py::error_already_set& error) {
  const py::object exception = error.value();
  if (error.trace()) PyException_SetTraceback(exception.ptr(), error.trace().ptr());
  return exception;
}

std::string sentence_of(const py::error_already_set& error) {
  return py::module_::import("rubato._errors").attr("sentence_of")(exception_of(error)).cast<std::string>();
}

template const float* numbers_in<float>(py::handle, std::size_t, const std::string&);
template const double* numbers_in<double>(py::handle, std::size_t, const std::string&);
template const std::uint32_t* numbers_in<std::uint32_t>(py::handle, std::size_t, const std::string&);
template float* writable_numbers_in<float>(py::handle, std::size_t, const std::string&);
template double* writable_numbers_in<double>(py::handle, std::size_t, const std::string&);
template void require_finite<float>(const float*, std::size_t, const std::string&);
template void require_finite<double>(const double*, std::size_t, const std::string&);

}  // namespace rubato::python
