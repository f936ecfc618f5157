// What is measured of a run: which clients, on how many rows, and when. What [metrics] leaves open is chosen so that samples
// cost at most a tenth of the run, in counted work and not in measured time: the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "runtime/ids.hpp"
#include "runtime/time.hpp"

namespace rubato {

class Timing;

/// What is learnt, as far as its cost goes.
struct TaskSize {
  std::size_t dimension = 0;     ///< numbers of a model
  double rows_per_gradient = 1;  ///< mean over clients
  std::size_t test_rows = 1;     ///< of a client
  bool shares_test = true;       ///< the mean model is scored once, not on the rows of each measured client
  double training_rows = 1;      ///< mean over clients
};

/// Clients, rows and instants of the samples of a run, and what they are expected to cost.
struct SamplePlan {
  std::shared_ptr<const std::vector<ClientId>> measured{};  ///< ascending, the same in every sample; null: all
  std::size_t clients = 0;                                  ///< that are measured
  std::size_t rows = 0;                                     ///< that each is tested with
  std::uint64_t every_events = 0;                           ///< 0: not by events
  Duration every{};                                         ///< 0: not by time
  bool at_start = false;                                    ///< one more before the first event
  double before_unifications = 0;                           ///< as many more, one before each; 0: none
  double samples = 0;                                       ///< expected, with those at the start and at the end
  double share = 0;                                         ///< of samples in the work of the run, expected
  std::size_t training_rows = 0;                            ///< of a client that are scored, too; 0: none
  bool is_thinned = false;                                  ///< fewer than every until / 100, because of what they cost
};

/// So many of the numbers below `total`, drawn and in ascending order; all where there are no more.
std::vector<std::uint32_t> drawn_from(std::uint32_t total, std::uint32_t wanted, std::uint64_t seed, std::uint32_t detail);

/// As in SamplePlan.
std::shared_ptr<const std::vector<ClientId>> measured_clients(const config::Experiment& experiment);

/// The test rows of so many that are used, ascending; null: all. A number that [metrics] names takes the first.
std::shared_ptr<const std::vector<std::uint32_t>> used_test_rows(const config::Experiment& experiment, std::size_t available);

/// For the timing of this experiment.
SamplePlan plan_samples(const config::Experiment& experiment, const Timing& timing, const TaskSize& size);

/// What is measured and what that costs, for people. `clients`: of the run.
std::string sentence_about(const SamplePlan& plan, std::size_t clients);

}  // namespace rubato
