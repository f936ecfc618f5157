// Calls into Python from the threads of a run: the interpreter's lock, what is raised, and who must not be called from there.
#pragma once

#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "python/views.hpp"

namespace rubato::python {

/// What Python has raised during one run, so that its RunFailed can be raised from it.
class Raised {
 public:
  /// The interpreter's lock is held.
  void add(std::string sentence, py::object exception);
  /// The exception whose sentence is part of this text; None if there is none.
  py::object behind(const std::string& text) const;

 private:
  struct Entry {
    std::string sentence;
    py::object exception;
  };
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// Of the run that this thread has called for; null: none, or a comparison.
Raised*& raised_here();

/// True while this thread calls Python for a run.
bool is_in_callback();

/// Counts this thread as calling Python for a run.
class InCallback {
 public:
  InCallback();
  ~InCallback();
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;

 private:
  bool before_;
};

/// Runs that go on, with the interpreter's lock released: what they read must not change meanwhile.
class AtWork {
 public:
  AtWork();
  ~AtWork();
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
};
bool is_at_work();

/// Acts with the interpreter's lock. What Python raises becomes a std::runtime_error with its sentence, which a run reports with
/// client, step and time.
template <class Act>
auto call_python(Raised* raised, Act act) {
  const py::gil_scoped_acquire lock;
  const InCallback in_callback;
  try {
    return act();
  } catch (py::error_already_set& error) {
    std::string sentence = sentence_of(error);
    if (raised) raised->add(sentence, exception_of(error));
    throw std::runtime_error(sentence);
  } catch (const py::builtin_exception& fault) {  // of our own checks
    throw std::runtime_error(fault.what());
  }
}

/// A reference to a Python object that may be dropped on any thread.
class Kept {
 public:
  Kept() = default;
  explicit Kept(py::object object) : object_{std::move(object)} {}
  ~Kept() { drop(); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  /// The interpreter's lock is held, like below.
  const py::object& operator*() const { return object_; }
  const py::object* operator->() const { return &object_; }
  void set(py::object object) { object_ = std::move(object); }

 private:
  void drop() {
    if (!object_) return;
    const py::gil_scoped_acquire lock;
    object_ = py::object();
  }
  py::object object_;
};

}  // namespace rubato::python
