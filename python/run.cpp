#include "python/run.hpp"

#include <rubato/app/bindings.hpp>
#include <rubato/app/plugin.hpp>
#include <rubato/experiment/own_parts.hpp>
#include <rubato/results/run_folder.hpp>
#include <rubato/run.hpp>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <atomic>
#include <cstring>

#include "python/learner.hpp"
#include "python/processes.hpp"

namespace rubato::python {

namespace {

using config::Experiment;

/// What rubato.run() hands over, and what the engine calls while it goes on. It stays where it is.
class PythonRun {
 public:
  explicit PythonRun(const py::dict& asked) {
    if (is_in_callback()) throw std::runtime_error("a run cannot be called for from a callback of another run: let that end first");
    const auto callable = [&](const char* name) { return asked[name].cast<py::object>(); };
    on_sample_ = callable("on_sample"), stop_when_ = callable("stop_when"), on_progress_ = callable("on_progress");
    on_note_ = callable("on_note"), learner_of_ = callable("learner");
    has_learner_ = !learner_of_.is_none();
    const py::object pool = asked["pool"];
    if (!pool.is_none()) pool_ = pool.cast<std::shared_ptr<WorkerPool>>();
    bring(options_.own_float, asked), bring(options_.own_double, asked);
    options_.threads = asked["threads"].cast<unsigned>();
    options_.data_dir = asked["data_dir"].cast<std::filesystem::path>();
    options_.dry_run = asked["dry_run"].cast<bool>(), options_.checks = asked["checks"].cast<bool>();
    options_.stop = &stop_;
    options_.counts_links = asked["links"].cast<bool>();
    const bool keeps_models = asked["models"].cast<bool>();
    if (keeps_models) options_.on_model = [this](const FinalModel& model) { keep(model); };
    options_.on_note = [this](const std::string& note) {
      if (!on_note_.is_none()) call([&] { on_note_(note); });
    };
    options_.on_progress = [this](const Progress& progress) { look(progress); };
    if (!on_sample_.is_none()) options_.on_sample = [this](const Sample& sample) { tell("on_sample", on_sample_, sample); };
    if (!stop_when_.is_none()) options_.stop_when = [this](const Sample& sample) { return tell("stop_when", stop_when_, sample); };
  }
  PythonRun(const PythonRun&) = delete;
  PythonRun& operator=(const PythonRun&) = delete;

  RunOptions& options() { return options_; }
  py::object models() const { return models_; }

  /// Acts without the interpreter's lock. What a callback raised is raised again, what a client's call raised is the cause.
  template <class Act>
  auto perform(Act act) {
    Raised* const before = std::exchange(raised_here(), &raised_);
    struct Back {
      Raised* before;
      ~Back() { raised_here() = before; }
    } back{before};
    try {
      const AtWork at_work;
      const py::gil_scoped_release unlocked;
      return act();
    } catch (const std::runtime_error& failure) {  // RunFailed; beside the steps, what a learner or an algorithm raised
      raise_failed(failure.what(), raised_.behind(failure.what()));
    }
    throw std::logic_error("not reached");
  }

 private:
  [[noreturn]] static void raise_failed(const std::string& what, const py::object& cause) {
    const py::object failed = py::module_::import("rubato._errors").attr("failed")(what, cause);
    PyErr_SetObject(py::type::of(failed).ptr(), failed.ptr());
    throw py::error_already_set();
  }

  template <class Real>
  void bring(OwnParts<Real>& own, const py::dict& asked) {
    own.shared_test = asked["shared_test"].cast<bool>();
    if (!has_learner_) return;
    own.learner = [this](ClientId client) -> std::unique_ptr<Learner<Real>> {
      return call_python(&raised_, [&] {
        const py::object learner = learner_of_(client.value);
        auto door = open_learner<Real>(learner, memories_, &raised_);
        if (pool_) door = pool_->template door<Real>(std::move(door), client);
        return std::make_unique<PythonLearner<Real>>(std::move(door), client);
      });
    };
  }

  // On the thread that called run(): what is raised comes out of run() as it is.
  template <class Act>
  void call(Act act) {
    const py::gil_scoped_acquire lock;
    const InCallback in_callback;
    act();
  }

  bool tell(const char* name, const py::object& callback, const Sample& sample) {
    const py::gil_scoped_acquire lock;
    const InCallback in_callback;
    try {
      const py::object answer = callback(py::module_::import("rubato._result").attr("sample_of")(metrics_csv_row(sample)));
      return !answer.is_none() && PyObject_IsTrue(answer.ptr()) == 1;
    } catch (py::error_already_set& error) {
      if (error.matches(PyExc_KeyboardInterrupt)) {
        stop_ = true;
        return false;
      }
      const double at = to_seconds(sample.header.at);
      const std::string place = std::string(name) + " failed at sample " + std::to_string(sample.header.number) + ", " +
                                py::str(py::float_(at)).cast<std::string>() + " s: ";
      raise_failed(place + sentence_of(error), exception_of(error));
    }
  }

  // Some times a second: Ctrl-C, and the progress bar.
  void look(const Progress& progress) {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) {
      py::error_already_set error;
      if (!error.matches(PyExc_KeyboardInterrupt)) throw std::move(error);
      stop_ = true;
    }
    if (on_progress_.is_none()) return;
    const InCallback in_callback;
    on_progress_(progress.virtual_seconds, progress.wall_seconds, progress.events, progress.accuracy);
  }

  void keep(const FinalModel& model) {
    const py::gil_scoped_acquire lock;
    if (models_.is_none()) {
      const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(model.clients), static_cast<py::ssize_t>(model.dimension)};
      models_ = model.scalar_bytes == sizeof(float) ? py::array(py::array_t<float>(shape)) : py::array(py::array_t<double>(shape));
      rows_ = static_cast<std::byte*>(py::array(models_).mutable_data());
    }
    std::memcpy(rows_ + model.client.value * model.bytes.size(), model.bytes.data(), model.bytes.size());
  }

  Raised raised_;
  bool has_learner_ = false;
  RunOptions options_;
  std::atomic<bool> stop_{false};
  py::object on_sample_, stop_when_, on_progress_, on_note_, learner_of_;
  LearnerMemories memories_;
  std::shared_ptr<WorkerPool> pool_;
  py::object models_ = py::none();
  std::byte* rows_ = nullptr;
};

/// Learners of all runs of this process that bring none: those of the command. It stays until the process ends.
struct KnownLearners {
  py::object of;  // a function from a client's number
  OwnLearners door{};
  LearnerMemories memories{};
  Raised raised{};
};

KnownLearners*& known_learners() {
  static KnownLearners* known = nullptr;
  return known;
}

template <class Real>
std::unique_ptr<Learner<Real>> known_learner(ClientId client, const Experiment&) {
  KnownLearners& known = *known_learners();
  return call_python(&known.raised, [&] {
    auto door = open_learner<Real>(known.of(client.value), known.memories, &known.raised);
    return std::make_unique<PythonLearner<Real>>(std::move(door), client);
  });
}

void use_learners(const py::object& of, bool shared_test) {
  auto fresh = std::make_unique<KnownLearners>();
  fresh->of = of;
  fresh->door = {&known_learner<float>, &known_learner<double>, shared_test};
  extend_learners(fresh->door);
  known_learners() = fresh.release();
}

Provenance origin_of(const py::dict& asked) {
  return {asked["command"].cast<std::string>(), asked["started_at"].cast<std::string>(), asked["machine"].cast<std::string>()};
}

py::tuple handed_out(RunResult result, PythonRun& python_run) {
  return py::make_tuple(std::make_shared<RunResult>(std::move(result)), python_run.models());
}

py::tuple run_for_python(const Experiment& experiment, const py::dict& asked) {
  PythonRun python_run(asked);
  const auto out = asked["out"].cast<std::filesystem::path>();
  const Provenance origin = origin_of(asked);
  const bool resumes = asked["resumes"].cast<bool>();
  RunResult result = python_run.perform([&] {
    if (resumes) return resume_in(out, experiment, python_run.options(), origin, python_run.options().on_note);
    return out.empty() ? run(experiment, python_run.options()) : run_into(out, experiment, python_run.options(), origin);
  });
  result.origin = origin;
  return handed_out(std::move(result), python_run);
}

py::tuple replay_for_python(const Experiment& experiment, const std::filesystem::path& place, const py::dict& asked) {
  PythonRun python_run(asked);
  const ReplayedRun replayed = python_run.perform([&] { return replay_in(place, experiment, python_run.options()); });
  return py::make_tuple(replayed.recorded.model, replayed.recorded.timeline, replayed.again.model, replayed.again.timeline);
}

std::string report_for_python(const Experiment& experiment, const RunResult& result, bool has_learner) {
  RunOptions options;
  if (has_learner) {  // only whether there is one matters
    options.own_float.learner = [](ClientId) { return nullptr; };
    options.own_double.learner = [](ClientId) { return nullptr; };
  }
  const py::gil_scoped_release unlocked;
  return report_page(experiment, result, options);
}

}  // namespace

void bind_runs(py::module_& module) {
  py::class_<RunResult, std::shared_ptr<RunResult>>(module, "RunResult")
      .def("metrics_csv",
           [](const RunResult& result) {
             std::string text = metrics_csv_head();
             for (const Sample& sample : result.samples) text += metrics_csv_row(sample);
             return text;
           })
      .def("clients_csv", [](const RunResult& result) { return clients_csv(result); })
      .def("links_csv",
           [](const RunResult& result) { return result.graph && !result.by_link.empty() ? links_csv(result) : std::string(); })
      .def("summary_json", [](const RunResult& result, const Experiment& experiment) { return summary_json(experiment, result); });
  module.def("run", &run_for_python);
  module.def("replay", &replay_for_python);
  module.def("report_page", &report_for_python);
  module.def("use_learners", &use_learners);
  module.def("metrics_csv_head", &metrics_csv_head);
  module.def("main", [](std::vector<std::string> arguments) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    const AtWork at_work;
    const py::gil_scoped_release unlocked;
    return rubato_main(static_cast<int>(pointers.size()), pointers.data());
  });
}

}  // namespace rubato::python
