// What runs in one process and runs over several hosts have in common: from the experiment to its parts, and from the
// parts to the result.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/core/reporter.hpp"
#include "actors/core/run_options.hpp"
#include "actors/core/task.hpp"
#include "experiment/digest.hpp"
#include "experiment/file/resolve.hpp"
#include "results/run_description.hpp"
#include "results/stop_rule.hpp"
#include "runtime/engine/timing_check.hpp"
#include "runtime/record.hpp"

namespace rubato {

/// What `use` makes of the parts that the options bring along for the experiment's precision.
template <class Use>
auto with_own_parts(const config::Experiment& experiment, const RunOptions& options, Use use) {
  return experiment.precision == Scalar::float64 ? use(options.own_double) : use(options.own_float);
}

/// The experiment as it is run; what the options bring along is not judged.
ResolvedExperiment resolve(const config::Experiment& experiment, const RunOptions& options);

/// When and what of a run, ready to begin.
struct Preparation {
  /// The experiment outlives it. Throws std::invalid_argument where it and the options do not fit.
  Preparation(ResolvedExperiment& experiment, const RunOptions& options);
  /// The task.
  void read_data(const config::Experiment& experiment, const RunOptions& options);

  ResolvedAlgorithm resolved;
  Timing* timing;
  std::unique_ptr<Task> task;
  RunResult result;  ///< what is known of it so far
  StopRule stop_rule;
};

/// The file's task, or that which the options bring along.
std::unique_ptr<Task> make_task(const config::Experiment& experiment, const RunOptions& options);

/// None if nothing is to be recorded.
std::unique_ptr<Recorder> make_recorder(const RunOptions& options, std::size_t clients);
/// Throws RunFailed if the disk did not take it all. `recorder` may be null.
void finish_record(Recorder* recorder, RunResult& result);

/// Tells the caller, and keeps it for the result.
void say(const std::vector<std::string>& notes, const RunOptions& options, RunResult& result);

/// The same options, but a sample whose invariants are broken throws RunFailed.
RunOptions checking(const RunOptions& options, std::size_t scalar_bytes);

/// What watches the timing of a run with checks; the parts outlive it.
TimingCheck timing_check(const Preparation& parts);

/// Whether and why the run ended before `until`.
void describe_stop(const Reporter& reporter, Time end, Time until, RunResult& result);
/// Times and memory.
void describe_work(double wall_seconds, ClientPool& client_pool, RunResult& result);
/// A run in which nothing happened, or no message arrived, says so. After the counts.
void describe_silence(const Timing& timing, const RunOptions& options, RunResult& result);
/// After the samples and the final models: which models have diverged and whose messages were left out, in notes too.
void describe_trouble(const Divergences& sampled, const RunOptions& options, RunResult& result);
/// Of this process, so far.
std::uint64_t peak_rss_bytes();

/// Of final models: beyond, neither the result nor models.npy has them.
inline constexpr std::size_t most_kept_bytes = std::size_t{1} << 29;

/// Takes the final models one by one, in client order: digests them, and hands them out if they are wanted and
/// not too large.
class FinalModels {
 public:
  /// Options and result outlive it.
  FinalModels(std::size_t clients, const RunOptions& options, RunResult& result);
  /// Of clients that are not there at the end the digest knows nothing.
  void add(ClientId client, std::span<const std::byte> model, bool is_there);
  void add(ClientId client, const Tensor& model, bool is_there) { add(client, {model.data<std::byte>(), model.bytes()}, is_there); }
  /// After the last, once.
  std::string digest() { return sum_.hex(); }

 private:
  std::size_t clients_;
  const RunOptions& options_;
  RunResult& result_;
  bool is_wanted_ = false;
  std::size_t finite_ = 0;  // of the clients that are there
  std::uint32_t next_ = 0;
  Sha256 sum_;
};

}  // namespace rubato
