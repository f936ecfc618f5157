// Numpy arrays over tensors, and what may come back from Python as a vector of numbers.
#pragma once

#include <rubato/algos/algorithm.hpp>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <string>

namespace rubato::python {

namespace py = pybind11;

/// An array over the numbers of a tensor, which it holds: it may outlive the run.
template <class Number>
py::array view_of(const Tensor& tensor, bool is_writable = false) {
  auto* held = new Tensor(tensor);
  const py::capsule owner(held, [](void* pointer) { delete static_cast<Tensor*>(pointer); });
  py::array view(py::dtype::of<Number>(), {static_cast<py::ssize_t>(tensor.count())}, {}, held->data<Number>(), owner);
  if (!is_writable) py::detail::array_proxy(view.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return view;
}

/// The same of a scalar that is known when the program runs.
inline py::array view_of_any(const Tensor& tensor) {
  if (tensor.scalar() == Scalar::float32) return view_of<float>(tensor);
  if (tensor.scalar() == Scalar::float64) return view_of<double>(tensor);
  return view_of<std::uint32_t>(tensor);
}

/// An array that owns uninitialised numbers.
template <class Number>
py::array_t<Number> new_array(std::size_t count) {
  return py::array_t<Number>(static_cast<py::ssize_t>(count));
}

/// An array with copies of the numbers of a range.
template <class Number, class Range>
py::array_t<Number> array_of(const Range& numbers) {
  py::array_t<Number> array = new_array<Number>(static_cast<std::size_t>(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), array.mutable_data());
  return array;
}

/// "float32 array of shape (3, 4)", "list".
std::string described(py::handle object);

/// The numbers of a contiguous array of one dimension with `count` numbers. Throws py::type_error or py::value_error, which say
/// `what` it should have been, for anything else.
template <class Number>
const Number* numbers_in(py::handle object, std::size_t count, const std::string& what);

/// The same where they are to be written.
template <class Number>
Number* writable_numbers_in(py::handle object, std::size_t count, const std::string& what);

/// Throws py::value_error, with the first place, unless all numbers are finite.
template <class Number>
void require_finite(const Number* numbers, std::size_t count, const std::string& what);

/// What Python has raised, with its traceback.
py::object exception_of(const py::error_already_set& error);

/// In one sentence: the type, the message and where.
std::string sentence_of(const py::error_already_set& error);

}  // namespace rubato::python
