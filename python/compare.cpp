#include "python/compare.hpp"

#include <rubato/app/bindings.hpp>
#include <rubato/experiment/file/experiment_file.hpp>

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>

#include "python/learner.hpp"

namespace rubato::python {

namespace {

/// The learners of one run of a comparison.
struct LearnersOfRun {
  Kept factory;  // of a client's number
  bool shared_test = false;
  LearnerMemories memories;
};

// What Python raises is a failure of this run, and the others go on.
template <class Act>
auto call_for_run(Act act) {
  try {
    return call_python(nullptr, act);
  } catch (const std::runtime_error& fault) {
    throw RunFailed(fault.what());
  }
}

template <class Real>
void bring(OwnParts<Real>& own, const std::shared_ptr<LearnersOfRun>& learners) {
  own.shared_test = learners->shared_test;
  own.learner = [learners](ClientId client) -> std::unique_ptr<Learner<Real>> {
    return call_for_run([&] {
      auto door = open_learner<Real>((*learners->factory)(client.value), learners->memories, nullptr);
      return std::make_unique<PythonLearner<Real>>(std::move(door), client);
    });
  };
}

// `learners` is a function from an experiment's text to (factory, shared_test). The interpreter's lock is not held.
void bring_learners(const py::object& learners, const config::Experiment& experiment, RunOptions& options) {
  const auto of_run = std::make_shared<LearnersOfRun>();
  call_for_run([&] {
    const py::tuple answer = learners(config::write_experiment(experiment));
    of_run->factory.set(answer[0]);
    of_run->shared_test = answer[1].cast<bool>();
    return 0;
  });
  bring(options.own_float, of_run), bring(options.own_double, of_run);
}

py::dict compare_for_python(const py::dict& asked) {
  if (is_in_callback()) throw std::runtime_error("a run cannot be called for from a callback of another run: let that end first");
  std::atomic<bool> stop{false};
  const auto on_note = asked["on_note"].cast<py::object>(), on_progress = asked["on_progress"].cast<py::object>();
  std::exception_ptr raised;
  const auto guarded = [&](const auto& act) {
    const py::gil_scoped_acquire lock;
    const InCallback in_callback;
    try {
      act();
    } catch (...) {
      if (!raised) raised = std::current_exception();
      stop = true;
    }
  };
  CompareFiles request;
  request.files = asked["files"].cast<std::vector<std::filesystem::path>>();
  request.grid = asked["grid"].cast<std::vector<std::string>>(), request.set = asked["set"].cast<std::vector<std::string>>();
  request.seeds = asked["seeds"].cast<std::size_t>();
  request.threads = asked["threads"].cast<unsigned>();
  request.data_dir = asked["data_dir"].cast<std::filesystem::path>(), request.out = asked["out"].cast<std::filesystem::path>();
  request.targets = asked["targets"].cast<std::string>(), request.axis = asked["axis"].cast<std::string>();
  request.stop = &stop;
  const auto learners = asked["learners"].cast<py::object>();
  if (!learners.is_none())
    request.bring = [&](const config::Experiment& experiment, RunOptions& options) {
      bring_learners(learners, experiment, options);
    };
  request.on_note = [&](const std::string& note) {
    guarded([&] {
      if (!on_note.is_none()) on_note(note);
    });
  };
  request.on_progress = [&](double share, double seconds) {
    guarded([&] {
      if (!on_progress.is_none()) on_progress(share, seconds);
    });
  };
  // Signals reach the thread that Python began with alone: it waits here, and looks after them.
  std::optional<ComparedTexts> texts;
  std::exception_ptr fault;
  std::atomic<bool> is_done{false};
  {
    const AtWork at_work;
    std::jthread comparing([&] {
      try {
        texts = compare_files(request);
      } catch (...) {
        fault = std::current_exception();
      }
      is_done = true;
    });
    while (!is_done) {
      {
        const py::gil_scoped_release unlocked;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      if (PyErr_CheckSignals() != 0) PyErr_Clear(), stop = true;
    }
    const py::gil_scoped_release unlocked;
    comparing.join();
  }
  if (raised) std::rethrow_exception(raised);
  if (fault) std::rethrow_exception(fault);
  py::dict answer;
  answer["table"] = texts->table, answer["table_csv"] = texts->table_csv, answer["table_json"] = texts->table_json;
  answer["curves_csv"] = texts->curves_csv, answer["failures"] = texts->failures, answer["was_stopped"] = texts->was_stopped;
  return answer;
}

}  // namespace

void bind_comparisons(py::module_& module) { module.def("compare", &compare_for_python); }

}  // namespace rubato::python
