// rubato._core: the engine as the Python package sees it. What researchers see is python/rubato.
#include <rubato/app/bindings.hpp>
#include <rubato/app/plugin.hpp>
#include <rubato/experiment/file/experiment_file.hpp>
#include <rubato/results/summary.hpp>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <sstream>

#include "python/algorithm.hpp"
#include "python/compare.hpp"
#include "python/learner.hpp"
#include "python/processes.hpp"
#include "python/run.hpp"

namespace rubato::python {

namespace {

using config::Experiment;

// Faults of a program's own values are named as the experiment's, not as those of a line of text.
[[noreturn]] void raise_invalid(const BadExperiment& bad, const std::string& name) {
  py::list faults;
  std::string all;
  for (config::Fault fault : bad.faults()) {
    if (fault.file == "--set" || fault.file == name) fault.file = name, fault.line = 0;
    const std::string sentence = to_string(fault);
    all += (all.empty() ? "" : "\n") + sentence;
    faults.append(py::make_tuple(sentence, fault.key, fault.value, fault.allowed, fault.suggestion, fault.file, fault.line));
  }
  const py::object invalid = py::module_::import("rubato._errors").attr("invalid")(all, faults);
  PyErr_SetObject(py::type::of(invalid).ptr(), invalid.ptr());
  throw py::error_already_set();
}

py::tuple judge(const std::string& text, const std::filesystem::path& file, const std::vector<std::string>& overrides,
                const std::vector<std::string>& own) {
  std::ostringstream notes;
  const std::vector<std::string_view> tables(own.begin(), own.end());
  Experiment experiment = config::judge_experiment(text, file, overrides, notes, tables);
  return py::make_tuple(std::move(experiment), notes.str());
}

py::list keys() {
  py::list all;
  for (const config::KeyInfo& key : config::key_list())
    all.append(py::make_tuple(key.table, key.name, key.type, key.fallback, key.meaning, key.rule, key.words));
  return all;
}

py::list tables() {
  py::list all;
  for (const config::TableInfo& table : config::table_list()) all.append(py::make_tuple(table.table, table.title, table.words));
  return all;
}

template <class Number>
py::array owned(std::vector<Number> numbers, std::vector<py::ssize_t> shape) {
  auto* kept = new std::vector<Number>(std::move(numbers));
  const py::capsule owner(kept, [](void* pointer) { delete static_cast<std::vector<Number>*>(pointer); });
  return py::array(py::dtype::of<Number>(), std::move(shape), {}, kept->data(), owner);
}

template <class Number>
py::array owned(std::vector<Number> numbers) {
  const auto count = static_cast<py::ssize_t>(numbers.size());
  return owned(std::move(numbers), {count});
}

py::list lists_of(std::vector<std::vector<std::uint32_t>> all) {
  py::list lists;
  for (std::vector<std::uint32_t>& rows : all) lists.append(owned(std::vector<std::int64_t>(rows.begin(), rows.end())));
  return lists;
}

template <class Real>
py::tuple table_of(DataTable<Real> table, py::ssize_t columns) {
  const py::ssize_t rows = static_cast<py::ssize_t>(table.features.size()) / columns;
  const bool is_classified = table.targets.empty();
  const std::vector<std::int64_t> labels(table.labels.begin(), table.labels.end());
  return py::make_tuple(owned(std::move(table.features), {rows, columns}),
                        is_classified ? owned(labels) : py::array(owned(std::move(table.targets))));
}

template <class Real>
py::tuple data_for_python(const Experiment& experiment, const std::filesystem::path& data_dir) {
  DataOfExperiment<Real> data = [&] {
    const py::gil_scoped_release unlocked;
    return data_of<Real>(experiment, data_dir);
  }();
  const auto columns = static_cast<py::ssize_t>(data.shape[0] * data.shape[1] * data.shape[2]);
  return py::make_tuple(table_of(std::move(data.train), columns), table_of(std::move(data.test), columns), data.shape, data.classes,
                        lists_of(std::move(data.rows)), lists_of(std::move(data.test_rows)), data.notes);
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "The engine of Rubato. `import rubato` is what is documented.";
  py::register_exception_translator([](std::exception_ptr thrown) {
    if (!thrown) return;
    try {
      std::rethrow_exception(thrown);
    } catch (const BadExperiment& bad) {
      try {
        raise_invalid(bad, "experiment");
      } catch (py::error_already_set& error) {
        error.restore();
      }
    } catch (const RunFailed& failure) {
      const py::object failed = py::module_::import("rubato._errors").attr("RunFailed");
      PyErr_SetString(failed.ptr(), failure.what());
    }
  });
  py::class_<Experiment>(module, "Experiment")
      .def_property_readonly("text", [](const Experiment& experiment) { return config::write_experiment(experiment); })
      .def_property_readonly("is_wall",
                             [](const Experiment& experiment) { return experiment.clock == config::ClockKind::wall_time; })
      .def_property_readonly("is_double", [](const Experiment& experiment) { return experiment.precision == Scalar::float64; })
      .def_readonly("name", &Experiment::name)
      .def_readonly("until", &Experiment::until);
  module.def("judge", &judge);
  module.def("keys", &keys);
  module.def("tables", &tables);
  module.def("version", &version);
  module.def("commit", &commit);
  module.def("list_of", &list_of);
  module.def("experiment_in", &experiment_in);
  module.def("load_plugin", [](const std::filesystem::path& library) {
    if (is_at_work()) throw std::runtime_error("a plug-in cannot be loaded while a run goes on");
    load_plugin(library);
  });
  module.def("data", [](const Experiment& experiment, const std::filesystem::path& data_dir) {
    return experiment.precision == Scalar::float64 ? data_for_python<double>(experiment, data_dir)
                                                   : data_for_python<float>(experiment, data_dir);
  });
  module.def("deal", [](const Experiment& experiment, const std::vector<std::uint32_t>& labels, std::uint32_t classes) {
    return lists_of(deal_labels(experiment, labels, classes));
  });
  module.def("topology", [](const Experiment& experiment) {
    const TopologyInfo info = topology_of(experiment);
    return py::make_tuple(info.clients, info.is_directed, info.links, info.text);
  });
  bind_score(module);
  bind_algorithms(module);
  bind_processes(module);
  bind_runs(module);
  bind_comparisons(module);
}

}  // namespace rubato::python
