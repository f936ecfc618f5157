#include "python/calls.hpp"

#include <atomic>

namespace rubato::python {

namespace {

thread_local bool calls_python = false;
std::atomic<int> runs{0};

}  // namespace

void Raised::add(std::string sentence, py::object exception) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({std::move(sentence), std::move(exception)});
}

py::object Raised::behind(const std::string& text) const {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_)
    if (text.find(entry.sentence) != text.npos) return entry.exception;
  return py::none();
}

Raised*& raised_here() {
  thread_local Raised* raised = nullptr;
  return raised;
}

bool is_in_callback() { return calls_python; }
InCallback::InCallback() : before_{std::exchange(calls_python, true)} {}
InCallback::~InCallback() { calls_python = before_; }

AtWork::AtWork() { ++runs; }
AtWork::~AtWork() { --runs; }
bool is_at_work() { return runs > 0; }

}  // namespace rubato::python
