#include "python/processes.hpp"

#include <pybind11/stl.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <new>
#include <stdexcept>

namespace rubato::python {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t most_rows_each = std::size_t{1} << 22;  // memory that is not touched is not taken
constexpr std::size_t most_kept_classes = 4096;
constexpr std::size_t longest_sentence = 8192;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

}  // namespace

/// What a process is asked for.
enum class Question : std::uint8_t { gradient, score, end };

/// What lies before the vectors in the memory of a process.
struct WorkerPool::Slot {
  sem_t asked, answered;
  Question question = Question::gradient;
  bool is_training = false, has_failed = false;
  std::uint32_t client = 0;
  std::uint64_t rows = 0;
  double loss = 0;
  std::uint64_t samples = 0, correct = 0;
  double loss_sum = 0;
  std::uint32_t classes = 0;
  Score::ClassCounts by_class[most_kept_classes];
  char sentence[longest_sentence];
};

WorkerPool::WorkerPool(py::object factory, std::size_t workers, bool is_double, std::int64_t dimension)
    : owner_{getpid()},
      factory_{std::move(factory)},
      workers_{workers},
      is_double_{is_double},
      dimension_{static_cast<std::size_t>(dimension)},
      vector_bytes_{whole_pages(dimension_ * (is_double ? sizeof(double) : sizeof(float)))} {
  bytes_each_ = whole_pages(sizeof(Slot)) + 2 * vector_bytes_ + whole_pages(most_rows_each * sizeof(std::uint32_t));
  void* memory = mmap(nullptr, bytes_each_ * workers_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory to share with " + std::to_string(workers) + " processes");
  memory_ = static_cast<std::byte*>(memory);
  for (std::size_t i = 0; i < workers_; ++i) {
    Slot* slot = new (memory_of(i)) Slot;
    sem_init(&slot->asked, 1, 0);
    sem_init(&slot->answered, 1, 0);
    free_.push_back(i);
  }
}

WorkerPool::~WorkerPool() {
  end();
  munmap(memory_, bytes_each_ * workers_);
}

std::size_t WorkerPool::most_rows() const { return most_rows_each; }

WorkerPool::Lent WorkerPool::lend() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !free_.empty(); });
  const std::size_t worker = free_.back();
  free_.pop_back();
  return {*this, worker};
}

WorkerPool::Lent::~Lent() {
  const std::lock_guard lock(pool_.mutex_);
  pool_.free_.push_back(worker_);
  pool_.changed_.notify_one();
}
WorkerPool::Slot& WorkerPool::slot_of(std::size_t worker) { return *std::launder(reinterpret_cast<Slot*>(memory_of(worker))); }
WorkerPool::Slot& WorkerPool::Lent::slot() const { return pool_.slot_of(worker_); }
std::byte* WorkerPool::Lent::x() const { return pool_.memory_of(worker_) + whole_pages(sizeof(Slot)); }
std::byte* WorkerPool::Lent::g() const { return x() + pool_.vector_bytes_; }
std::uint32_t* WorkerPool::Lent::rows() const { return reinterpret_cast<std::uint32_t*>(g() + pool_.vector_bytes_); }

void WorkerPool::Lent::ask() const {
  Slot& asked = slot();
  asked.has_failed = false;
  sem_post(&asked.asked);
  for (;;) {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (sem_timedwait(&asked.answered, &until) == 0) break;
    if (errno == EINTR) continue;
    if (kill(pool_.processes_.at(worker_), 0) != 0 || waitpid(pool_.processes_.at(worker_), nullptr, WNOHANG) != 0)
      throw std::runtime_error("the process that computes for this client has ended");
  }
  if (asked.has_failed) throw std::runtime_error(asked.sentence);
}

void WorkerPool::started(const std::vector<int>& processes) { processes_ = processes; }

void WorkerPool::end() {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    slot_of(i).question = Question::end;
    sem_post(&slot_of(i).asked);
  }
  for (const int process : processes_) waitpid(process, nullptr, 0);
  processes_.clear();
}

void WorkerPool::serve(std::size_t worker) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // waiting for a process that was killed would never end
  if (getppid() != owner_) return;
  if (is_double_)
    serve_as<double>(worker);
  else
    serve_as<float>(worker);
}

template <class Real>
void WorkerPool::serve_as(std::size_t worker) {
  Slot& slot = slot_of(worker);
  const Lent here(*this, worker);  // for its places alone
  LearnerMemories memories;
  std::map<std::uint32_t, std::shared_ptr<LearnerDoor<Real>>> doors;
  for (;;) {
    {
      const py::gil_scoped_release unlocked;
      while (sem_wait(&slot.asked) != 0) {
      }
    }
    if (slot.question == Question::end) return;
    try {
      auto& door = doors[slot.client];
      if (!door) door = open_learner<Real>((*factory_)(slot.client), memories, nullptr);
      const auto size = static_cast<Index>(dimension_);
      const ConstVectorRef<Real> x(reinterpret_cast<const Real*>(here.x()), size);
      const std::span<const std::uint32_t> rows(here.rows(), slot.rows);
      const Picks picks(rows.begin(), rows.end());
      const py::gil_scoped_release unlocked;
      if (slot.question == Question::gradient) {
        slot.loss = static_cast<double>(
            door->gradient(ClientId{slot.client}, x, picks, VectorRef<Real>(reinterpret_cast<Real*>(here.g()), size)));
      } else {
        const Score score = door->score(x, slot.is_training ? Part::train : Part::test);
        slot.samples = score.samples, slot.correct = score.correct, slot.loss_sum = score.loss_sum, slot.classes = score.classes;
        std::copy(score.by_class.begin(), score.by_class.end(), slot.by_class);
      }
    } catch (py::error_already_set& error) {
      slot.has_failed = true;
      std::strncpy(slot.sentence, sentence_of(error).c_str(), longest_sentence - 1);
    } catch (const std::exception& error) {
      slot.has_failed = true;
      std::strncpy(slot.sentence, error.what(), longest_sentence - 1);
    }
    sem_post(&slot.answered);
  }
}

namespace {

/// Calls go to whichever process is free.
template <class Real>
class RemoteDoor final : public LearnerDoor<Real> {
 public:
  using typename LearnerDoor<Real>::Facts;
  RemoteDoor(WorkerPool& pool, std::shared_ptr<LearnerDoor<Real>> here, ClientId client)
      : pool_{pool}, here_{std::move(here)}, client_{client} {
    if (facts().classes > most_kept_classes)
      throw std::runtime_error("workers = \"processes\": at most " + std::to_string(most_kept_classes) + " classes");
  }

  const Facts& facts() const override { return here_->facts(); }
  Real gradient(ClientId, ConstVectorRef<Real> x, Picks picks, VectorRef<Real> g) override {
    if (picks.size() > pool_.most_rows()) throw std::runtime_error("workers = \"processes\": a batch has too many rows");
    const WorkerPool::Lent lent = pool_.lend();
    put(lent, x);
    lent.slot().question = Question::gradient;
    lent.slot().rows = picks.size();
    std::copy(picks.begin(), picks.end(), lent.rows());
    lent.ask();
    std::memcpy(g.data(), lent.g(), static_cast<std::size_t>(g.size()) * sizeof(Real));
    return static_cast<Real>(lent.slot().loss);
  }
  Score score(ConstVectorRef<Real> x, Part part) override {
    const WorkerPool::Lent lent = pool_.lend();
    put(lent, x);
    lent.slot().question = Question::score;
    lent.slot().rows = 0;
    lent.slot().is_training = part == Part::train;
    lent.ask();
    const WorkerPool::Slot& slot = lent.slot();
    Score score = empty_score(slot.classes);
    score.samples = slot.samples, score.correct = slot.correct, score.loss_sum = slot.loss_sum;
    std::copy(slot.by_class, slot.by_class + slot.classes, score.by_class.begin());
    return score;
  }
  void start(VectorRef<Real> x, std::uint64_t seed) override { here_->start(x, seed); }
  void predict(ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out) override { here_->predict(x, picks, out); }

 private:
  void put(const WorkerPool::Lent& lent, ConstVectorRef<Real> x) const {
    lent.slot().client = client_.value;
    std::memcpy(lent.x(), x.data(), static_cast<std::size_t>(x.size()) * sizeof(Real));
  }

  WorkerPool& pool_;
  std::shared_ptr<LearnerDoor<Real>> here_;
  ClientId client_;
};

}  // namespace

template <class Real>
std::shared_ptr<LearnerDoor<Real>> WorkerPool::door(std::shared_ptr<LearnerDoor<Real>> here, ClientId client) {
  if (static_cast<std::size_t>(here->facts().dimension) != dimension_)
    throw std::runtime_error("the learner of client " + std::to_string(client.value) +
                             " has another dimension than that of client 0");
  return std::make_shared<RemoteDoor<Real>>(*this, std::move(here), client);
}
template std::shared_ptr<LearnerDoor<float>> WorkerPool::door<float>(std::shared_ptr<LearnerDoor<float>>, ClientId);
template std::shared_ptr<LearnerDoor<double>> WorkerPool::door<double>(std::shared_ptr<LearnerDoor<double>>, ClientId);

void bind_processes(py::module_& module) {
  py::class_<WorkerPool, std::shared_ptr<WorkerPool>>(module, "WorkerPool")
      .def(py::init<py::object, std::size_t, bool, std::int64_t>())
      .def("serve", &WorkerPool::serve)
      .def("started", &WorkerPool::started)
      .def("end", &WorkerPool::end, py::call_guard<py::gil_scoped_release>());
}

}  // namespace rubato::python
