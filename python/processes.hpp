// Learners in processes of their own: one interpreter lock serves one core. Vectors go through memory that the processes share.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "python/learner.hpp"

namespace rubato::python {

/// Memory and processes of a run. The processes are forked by Python and call serve().
class WorkerPool {
 public:
  /// `factory` makes a client's learner, in each process anew.
  WorkerPool(py::object factory, std::size_t workers, bool is_double, std::int64_t dimension);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// In a forked process: answers until the pool ends. The interpreter's lock is held.
  void serve(std::size_t worker);
  /// The processes have been forked.
  void started(const std::vector<int>& processes);
  /// Ends them and waits for that.
  void end();

  /// The door that sends calls to the processes; what a learner is, `here` says, in this process.
  template <class Real>
  std::shared_ptr<LearnerDoor<Real>> door(std::shared_ptr<LearnerDoor<Real>> here, ClientId client);

  struct Slot;
  /// A process that is free. Waits until there is one.
  class Lent {
   public:
    Lent(WorkerPool& pool, std::size_t worker) : pool_{pool}, worker_{worker} {}
    ~Lent();
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    Slot& slot() const;
    std::byte* x() const;
    std::byte* g() const;
    std::uint32_t* rows() const;
    /// Lets the process work on what lies on its slot. Throws std::runtime_error with what it raised, or where it has ended.
    void ask() const;

   private:
    WorkerPool& pool_;
    std::size_t worker_;
  };
  Lent lend();
  std::size_t most_rows() const;

 private:
  template <class Real>
  void serve_as(std::size_t worker);
  std::byte* memory_of(std::size_t worker) const { return memory_ + worker * bytes_each_; }
  Slot& slot_of(std::size_t worker);

  const int owner_;  // the process that forks
  Kept factory_;
  std::size_t workers_;
  bool is_double_;
  std::size_t dimension_, vector_bytes_;
  std::size_t bytes_each_ = 0;
  std::byte* memory_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> free_;
  std::vector<int> processes_;
};

void bind_processes(py::module_& module);

}  // namespace rubato::python
