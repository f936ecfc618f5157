// The arithmetic of a DRACO experiment without the engine: no actors, no conductor, no payloads; arrays and a loop.
//
//   plain_loop FILE [--set key=value] [--data DIR] [--threads N] [--json]
//
// The steps are known beforehand: the timing is walked once, untimed, and its steps are kept, client by client. What is
// timed is the arithmetic alone, in the shape that was fastest here:
//
//  - A message is a flag, a count of readers and a vector that is moved in and, by its last reader, out to the free
//    buffers of that reader's thread. Increments are computed in the buffer that will be sent.
//  - Each thread sweeps over the clients, its own share first, and performs of each what is possible: until a merge
//    needs a message that is not there. A flag per client keeps two threads from the same one, so no thread idles while
//    there is work. (On one thread, going through all steps in the order of their time was no faster.)
//
// Same learners, same batches, same order of sums: the models are the engine's, bit by bit (model_digest).
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <span>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "algos/algorithm.hpp"
#include "algos/catalogue.hpp"
#include "bench/command.hpp"
#include "experiment/build/timing.hpp"
#include "experiment/digest.hpp"
#include "learning/data/named_sets.hpp"
#include "learning/data/partition.hpp"
#include "learning/model.hpp"
#include "learning/models/dataset_learner.hpp"

namespace {

using namespace rubato;
using Clock = std::chrono::steady_clock;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Term {
  std::uint32_t message;
  float weight;
};

struct Act {
  StepKind kind;
  MessageKind sent;           // publish
  std::uint64_t first_batch;  // compute
  std::uint32_t first, last;  // merge, adopt: its terms; publish: the message is `first`
};

struct Script {
  std::vector<std::vector<Act>> acts;  // per client
  std::vector<Term> terms;
  std::vector<std::uint32_t> readers;  // per message
};

// Keeps the steps instead of performing them.
class ScriptWriter final : public StepSink {
 public:
  ScriptWriter(std::size_t clients, std::uint64_t local_batches) : local_batches_{local_batches} { script.acts.resize(clients); }

  SlotIndex open_slot(std::uint32_t) override {
    script.readers.push_back(0);
    return static_cast<SlotIndex>(script.readers.size() - 1);
  }

  void perform(const Step& step) override {
    switch (step.kind) {
      case StepKind::compute:
        return add(step, {step.kind, {}, step.index * local_batches_, 0, 0});
      case StepKind::publish:
        return add(step, {step.kind, step.message, 0, step.entries.empty() ? no_slot : step.entries.front().slot, 0});
      case StepKind::merge:
      case StepKind::adopt:
        return add_reading(step);
      case StepKind::measure:
      case StepKind::discard:
        return;
      default:
        throw std::invalid_argument("plain_loop performs compute, publish, merge and adopt; the experiment needs a " +
                                    std::string(name_of(step.kind)));
    }
  }

  Script script;

 private:
  void add(const Step& step, const Act& act) { script.acts[step.client.value].push_back(act); }
  void add_reading(const Step& step) {
    const auto first = static_cast<std::uint32_t>(script.terms.size());
    for (const StepEntry& entry : step.entries) {
      script.terms.push_back({entry.slot, static_cast<float>(entry.weight)});
      ++script.readers[entry.slot];
    }
    add(step, {step.kind, {}, 0, first, static_cast<std::uint32_t>(script.terms.size())});
  }

  std::uint64_t local_batches_;
};

std::uint64_t local_batches_of(const Experiment& experiment) {
  return static_cast<std::uint64_t>(experiment.algorithm.options.whole("local_batches", 1));
}

Script write_script(const Experiment& experiment) {
  std::ostringstream notes;
  Timing timing(experiment, resolve_algorithm(experiment), notes);
  ScriptWriter writer(timing.graph.clients(), local_batches_of(experiment));
  Conductor conductor(timing.conductor, timing.make_protocols(), writer);
  while (conductor.walk(1 << 18)) {
  }
  return std::move(writer.script);
}

std::vector<std::unique_ptr<Learner<float>>> make_learners(const Experiment& experiment, const std::filesystem::path& data_dir) {
  const auto clients = static_cast<std::uint32_t>(experiment.clients.count);
  const auto dataset = load_dataset<float>(experiment.data.name, data_dir);
  const std::vector<Index> hidden(experiment.model.hidden.begin(), experiment.model.hidden.end());
  const auto model = experiment.model.name == "softmax" ? make_softmax<float>(dataset->inputs(), dataset->classes)
                                                        : make_mlp<float>(dataset->inputs(), hidden, dataset->classes);
  Partition parts = partition_iid({dataset->train.labels, dataset->classes}, clients, static_cast<std::uint64_t>(experiment.seed));
  if (experiment.data.samples_per_client > 0)
    parts = with_at_most(std::move(parts), static_cast<std::uint32_t>(experiment.data.samples_per_client));
  std::vector<std::unique_ptr<Learner<float>>> learners;
  for (Rows& rows : parts.rows) learners.push_back(std::make_unique<DatasetLearner<float>>(model, dataset, std::move(rows)));
  return learners;
}

void refuse_what_is_not_written(const Experiment& experiment) {
  const auto need = [](bool is_so, const char* what) {
    if (!is_so) throw std::invalid_argument(std::string("plain_loop needs ") + what);
  };
  need(experiment.algorithm.name == "draco", "algorithm.name = \"draco\"");
  need(experiment.algorithm.options.word("outbox", "accumulate") == "accumulate", "algorithm.outbox = \"accumulate\"");
  need(experiment.precision == Scalar::float32, "precision = \"float32\"");
  need(experiment.data.partition.kind == config::PartitionKind::iid, "data.partition.kind = \"iid\"");
  need(experiment.model.l2 == 0, "model.l2 = 0");
  need(experiment.model.name == "softmax" || experiment.model.name == "mlp", "model.name = \"softmax\" or \"mlp\"");
}

struct Message {
  std::atomic<bool> is_there{false};
  std::atomic<std::uint32_t> readers{0};
  Vector<float> numbers;
};

struct alignas(64) Player {
  std::atomic<bool> is_taken{false};
  std::size_t next = 0;  // act
  Vector<float> theta;
  Vector<float> outbox;  // without numbers: nothing to send
  BatchPlan batches;
};

// Memory of a thread.
struct Desk {
  Scratch<float> scratch;
  std::vector<Vector<float>> buffers;
  double math_seconds = 0;

  Vector<float> take(Index size) {
    if (buffers.empty()) return Vector<float>(size);
    Vector<float> buffer = std::move(buffers.back());
    buffers.pop_back();
    return buffer;
  }
};

class PlainLoop {
 public:
  PlainLoop(const Experiment& experiment, const std::filesystem::path& data_dir)
      : script_{write_script(experiment)},
        learners_{make_learners(experiment, data_dir)},
        players_(learners_.size()),
        messages_(script_.readers.size()),
        local_batches_{local_batches_of(experiment)},
        eta_{static_cast<float>(experiment.algorithm.options.number("eta", 0.05))},
        applies_own_{experiment.algorithm.options.flag("self_apply", false)} {
    Vector<float> start(learners_.front()->dimension());
    Stream stream(static_cast<std::uint64_t>(experiment.seed), no_client, Purpose::init);
    learners_.front()->initialise(view(start), stream);
    for (std::uint32_t i = 0; i < players_.size(); ++i) {
      players_[i].theta = start;
      players_[i].batches = {static_cast<std::uint64_t>(experiment.seed), ClientId{i},
                             static_cast<std::uint32_t>(experiment.model.batch), nullptr};
    }
    for (std::size_t i = 0; i < messages_.size(); ++i) messages_[i].readers.store(script_.readers[i]);
    unfinished_.store(static_cast<std::size_t>(
        std::count_if(script_.acts.begin(), script_.acts.end(), [](const auto& acts) { return !acts.empty(); })));
  }

  // Returns wall seconds.
  double perform(unsigned threads) {
    desks_ = std::vector<Desk>(threads);
    std::vector<std::thread> others;
    const Clock::time_point start = Clock::now();
    for (unsigned i = 1; i < threads; ++i) others.emplace_back([this, i] { sweep(i); });
    sweep(0);
    for (std::thread& other : others) other.join();
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  double math_seconds() const {
    return std::accumulate(desks_.begin(), desks_.end(), 0.0,
                           [](double sum, const Desk& dispatcher) { return sum + dispatcher.math_seconds; });
  }
  std::size_t steps() const {
    return std::accumulate(script_.acts.begin(), script_.acts.end(), std::size_t{0},
                           [](std::size_t sum, const std::vector<Act>& acts) { return sum + acts.size(); });
  }
  std::size_t clients() const { return players_.size(); }

  std::string model_digest() const {
    Sha256 sum;
    for (const Player& player : players_)
      sum.add(std::as_bytes(std::span{player.theta.data(), static_cast<std::size_t>(player.theta.size())}));
    return sum.hex();
  }

 private:
  void sweep(unsigned thread) {
    Desk& dispatcher = desks_[thread];
    const std::size_t first = thread * players_.size() / desks_.size();
    double since = thread_seconds();
    while (unfinished_.load(std::memory_order_relaxed) > 0) {
      bool has_worked = false;
      for (std::size_t k = 0; k < players_.size(); ++k) {
        const std::size_t client = (first + k) % players_.size();
        Player& player = players_[client];
        if (player.is_taken.load(std::memory_order_relaxed) || player.is_taken.exchange(true, std::memory_order_acquire)) continue;
        has_worked |= go_on(player, static_cast<std::uint32_t>(client), dispatcher);
        player.is_taken.store(false, std::memory_order_release);
      }
      if (has_worked) continue;
      const double idle = thread_seconds();  // other threads have what is left: their work is not ours
      dispatcher.math_seconds += idle - since;
      std::this_thread::yield();
      since = thread_seconds();
    }
    dispatcher.math_seconds += thread_seconds() - since;
  }

  // Performs what is possible. False: nothing was.
  bool go_on(Player& player, std::uint32_t client, Desk& dispatcher) {
    const std::vector<Act>& acts = script_.acts[client];
    const std::size_t before = player.next;
    while (player.next < acts.size() && is_ready(acts[player.next])) perform(player, client, acts[player.next++], dispatcher);
    if (player.next == before) return false;
    if (player.next == acts.size()) unfinished_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

  bool is_ready(const Act& act) const {
    if (act.kind != StepKind::merge && act.kind != StepKind::adopt) return true;
    for (std::uint32_t i = act.first; i < act.last; ++i)
      if (!messages_[script_.terms[i].message].is_there.load(std::memory_order_acquire)) return false;
    return true;
  }

  void perform(Player& player, std::uint32_t client, const Act& act, Desk& dispatcher) {
    switch (act.kind) {
      case StepKind::compute:
        return compute(player, *learners_[client], act, dispatcher);
      case StepKind::publish:
        return publish(player, act, dispatcher);
      case StepKind::merge:
        for (std::uint32_t i = act.first; i < act.last; ++i) {
          const Term& term = script_.terms[i];
          player.theta += term.weight * messages_[term.message].numbers;
          let_go(messages_[term.message], dispatcher);
        }
        return;
      default:  // adopt
        player.theta = messages_[script_.terms[act.first].message].numbers;
        let_go(messages_[script_.terms[act.first].message], dispatcher);
    }
  }

  void compute(Player& player, const Learner<float>& learner, const Act& act, Desk& dispatcher) {
    const Scratch<float>::Frame frame(dispatcher.scratch);
    const Work<float> work(learner, player.batches, dispatcher.scratch, pool_);
    Vector<float> y = dispatcher.take(player.theta.size());
    y = player.theta;
    for (std::uint64_t b = 0; b < local_batches_; ++b)
      learner.descend(view(y), work.batch(act.first_batch + b), eta_, dispatcher.scratch);
    y -= player.theta;
    if (applies_own_) player.theta += y;
    if (player.outbox.size() == 0) {
      player.outbox = std::move(y);
      return;
    }
    player.outbox += y;
    dispatcher.buffers.push_back(std::move(y));
  }

  void publish(Player& player, const Act& act, Desk& dispatcher) {
    if (act.first == no_slot || messages_[act.first].readers.load(std::memory_order_relaxed) == 0) {
      if (act.sent == MessageKind::update && player.outbox.size() > 0)
        dispatcher.buffers.push_back(std::exchange(player.outbox, {}));
      return;
    }
    Message& message = messages_[act.first];
    if (act.sent == MessageKind::model) {
      message.numbers = dispatcher.take(player.theta.size());
      message.numbers = player.theta;
    } else if (player.outbox.size() > 0) {
      message.numbers = std::exchange(player.outbox, {});
    } else {
      message.numbers = dispatcher.take(player.theta.size());
      message.numbers.setZero();
    }
    message.is_there.store(true, std::memory_order_release);
  }

  void let_go(Message& message, Desk& dispatcher) {
    if (message.readers.fetch_sub(1, std::memory_order_acq_rel) == 1) dispatcher.buffers.push_back(std::move(message.numbers));
  }

  Script script_;
  std::vector<std::unique_ptr<Learner<float>>> learners_;
  std::vector<Player> players_;
  std::vector<Message> messages_;
  std::vector<Desk> desks_;
  TensorPool pool_;  // a Work wants one; nothing is taken from it
  std::uint64_t local_batches_;
  float eta_;
  bool applies_own_;
  std::atomic<std::size_t> unfinished_{0};
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The arithmetic of an experiment in a plain loop.", "plain_loop");
  bench::Command command;
  bench::add_options(app, command);
  return bench::run_main(app, argc, argv, [&] {
    const Experiment experiment = bench::read(command);
    refuse_what_is_not_written(experiment);
    fix_eigen_blocking();
    PlainLoop loop(experiment, command.data);
    const double seconds = loop.perform(command.threads);
    bench::print({{"program", "plain_loop"},
                  {"experiment", experiment.name},
                  {"threads", command.threads},
                  {"clients", loop.clients()},
                  {"steps", loop.steps()},
                  {"wall_seconds", seconds},
                  {"math_seconds", loop.math_seconds()},
                  {"model_digest", loop.model_digest()}},
                 command);
  });
}
