#include "python/work.hpp"

#include <pybind11/stl.h>

namespace rubato::python {

namespace {

py::array tensor_at(const std::vector<Tensor>& tensors, std::size_t i) {
  if (i >= tensors.size()) throw py::index_error("the message has " + std::to_string(tensors.size()) + " tensors of this kind");
  return view_of_any(tensors[i]);
}

}  // namespace

void bind_work(py::module_& module) {
  py::class_<PythonWork, std::shared_ptr<PythonWork>>(module, "Work", "What a call of an algorithm may use while it lasts.")
      .def("gradient", &PythonWork::gradient, py::arg("x"), py::arg("k"),
           "The gradient at x of computation k: the mean over its mini-batches, as a new array.")
      .def("descend", &PythonWork::descend, py::arg("x"), py::arg("k"), py::arg("eta"),
           "x <- x - eta g(x; batch), in place, once for each mini-batch of computation k.")
      .def("batch", &PythonWork::batch, py::arg("number"), "The client's own rows in its mini-batch of this number.")
      .def("uniforms", &PythonWork::uniforms, py::arg("number"), py::arg("count"),
           "Numbers in [0, 1), drawn by this number: the same in every replay.")
      .def("noise", &PythonWork::noise, py::arg("number"), py::arg("count"), py::arg("deviation"),
           "Normal numbers with this standard deviation, drawn by this number.")
      .def("coordinates", &PythonWork::coordinates, py::arg("number"), py::arg("peer"), py::arg("dimension"), py::arg("count"),
           "So many different coordinates of 0 .. dimension - 1, ascending, drawn by number and peer.")
      .def_property_readonly("samples", &PythonWork::samples, "Samples of the client.")
      .def_property_readonly("local_batches", &PythonWork::local_batches, "Mini-batches of one computation.");

  py::class_<PythonEntry>(module, "Entry", "One message of a step.")
      .def_readonly("peer", &PythonEntry::peer, "publish: the receiver; else the sender.")
      .def_readonly("sequence", &PythonEntry::sequence, "Of the message, counted by its sender.")
      .def_readonly("weight", &PythonEntry::weight, "Of the message in the window, or of the receiver in the share.")
      .def_readonly("place", &PythonEntry::place, "Index of the link, or of the receiver in the publish step.");

  py::class_<PythonStep>(module, "Step", "One thing that a client does.")
      .def_readonly("kind", &PythonStep::kind, "compute, publish, merge, ...")
      .def_readonly("with_gradient", &PythonStep::with_gradient, "False for a tick of the compute timer without a gradient.")
      .def_readonly("phase", &PythonStep::phase, "Of the round, or what else the protocol says about the step.")
      .def_readonly("index", &PythonStep::index, "Counts computations; publish: the sequence of the message; reset: the epoch.")
      .def_readonly("entries", &PythonStep::entries, "Its messages: publish has the receivers with their shares, ascending.");

  py::class_<PythonMessage>(module, "Message", "One message of a window.")
      .def_readonly("sender", &PythonMessage::sender, "The client that published it.")
      .def_readonly("sequence", &PythonMessage::sequence, "Counted by the sender.")
      .def_readonly("weight", &PythonMessage::weight, "In this merge.")
      .def_readonly("age", &PythonMessage::age, "Seconds of the experiment from its departure to this merge.")
      .def(
          "common", [](const PythonMessage& message, std::size_t i) { return tensor_at(message.common, i); }, py::arg("i") = 0,
          "The i-th tensor that all receivers share, not to be written; it may be kept.")
      .def(
          "own", [](const PythonMessage& message, std::size_t i) { return tensor_at(message.own, i); }, py::arg("i") = 0,
          "The i-th tensor that is this receiver's own.")
      .def_property_readonly(
          "model", [](const PythonMessage& message) { return tensor_at(message.common, 0); }, "The first tensor, common(0).");
}

}  // namespace rubato::python
