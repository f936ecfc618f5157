// A run whose every choice is read from a table, performed by the conductor, protocols, client actors and algorithms of
// any other run; it is watched event by event and asked for the clients' vectors in between.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/core/task.hpp"
#include "algos/catalogue.hpp"
#include "app/golden/cases.hpp"
#include "experiment/build/timing.hpp"
#include "learning/learner.hpp"

namespace rubato::golden {

/// The options among the parameters. A number may be {delta, Gamma}, a step size that diminishes; one of 0 that
/// experiments are refused becomes one that moves nothing. A penalty is {type, lam, theta, a}, a compressor
/// {type, k, unbiased, bits}; local_batches is B.
AlgorithmOptions to_options(const Json& parameters, std::span<const OptionSpec> known);

/// The local losses of a case, one per client.
std::vector<std::unique_ptr<Learner<double>>> to_learners(const Json& problem);

/// One vector for all clients, or one for each.
std::vector<Vector<double>> to_start(const Json& x0, std::size_t clients);

/// The numbers of a case: its problem, start models and batches.
struct ScriptedNumbers {
  std::vector<std::unique_ptr<Learner<double>>> learners;
  std::vector<Vector<double>> start;  ///< one per client
  std::vector<ChoiceTable> choices;   ///< one per client; without batches: full gradients
  std::string algorithm;              ///< of the catalogue
  AlgorithmOptions options;

  /// Problem and start of the case, with the options among its parameters.
  ScriptedNumbers(const Json& problem, const Json& parameters, const std::string& of_catalogue);
  /// DRACO with one number a client and nothing to learn: for the mailbox alone.
  explicit ScriptedNumbers(std::size_t clients);

  Needs needs() const;
  /// Throws std::invalid_argument or std::out_of_range where they do not belong together, or are not for so many clients.
  void require(std::size_t clients) const;
};

/// Vectors of one client by name, as the algorithm shows them to a probe.
using Vectors = std::map<std::string, Vector<double>>;

/// What all clients look like at one instant, and the sum of their vectors of this name.
using States = std::vector<const Vectors*>;
Vector<double> sum_of(const States& states, const std::string& name);

/// How an answer shows a vector.
enum class Shape : std::uint8_t {
  vector,
  number,  ///< the first, and only, one
  whole,   ///< likewise, of a count
};
Json in_shape(const Vector<double>& vector, Shape shape);

/// What the algorithm of a client looked like at a probe, filled while the run goes on.
class ProbeTable final : public SnapshotSink {
 public:
  void on_measure(const Step& step, const Performer& performer, ThreadMemory& memory) override;
  const Vectors& at(std::uint64_t number, ClientId client) const { return seen_.at({number, client}); }
  /// As papers count them: what all clients had sent when they were looked at last.
  double paper_bits() const;

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, ClientId>, Vectors> seen_;
  std::map<ClientId, Traffic> traffic_;
};

/// Watches a scripted run. `probe` asks a client for its vectors as they are after the event that is being watched and
/// returns the number under which they will be found.
class ScriptObserver : public EventObserver {
 public:
  std::function<std::uint64_t(ClientId, Time)> probe;
  /// Ends the walk after the event that is being watched.
  std::function<void()> stop;
  /// Called once, before the first event and after what happens at the very start.
  virtual void on_start() {}
  /// Called once, at the end of the walk.
  virtual void on_end(const Conductor&) {}
};

/// A watcher that lists what happened as the golden cases do.
class TraceObserver : public ScriptObserver {
 public:
  Json trace = Json::array();

 protected:
  void add(Time at, const char* event, Json fields) {
    fields["t"] = at;
    fields["ev"] = event;
    trace.push_back(std::move(fields));
  }
  void add(Time at, const char* event, ClientId client, Json fields) {
    fields["client"] = client;
    add(at, event, std::move(fields));
  }
};

/// Performs the steps that `play` gives to the sink. For cases without timing.
void perform_steps(const std::function<void(StepSink&)>& play, const Graph& graph, const ScriptedNumbers& numbers,
                   ProbeTable& table);

/// Performs everything; afterwards the table is complete. Sample 0 is the last state.
void perform_script(Timing& timing, const ScriptedNumbers& numbers, ScriptObserver& observer, ProbeTable& table);

}  // namespace rubato::golden
