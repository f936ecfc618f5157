// Glance: what a run has counted so far, at an instant between two samples.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/counts.hpp"
#include "runtime/histogram.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// The mean and the two ends of a number over clients.
struct OverClients {
  double mean = 0;  ///< over clients
  double min = 0;   ///< of all clients
  double max = 0;   ///< of all clients
};

/// Of all clients of the process. What a clock does not know is absent.
struct Glance {
  Time at{};                                     ///< of the experiment
  MessageCounts counts{};                        ///< so far
  std::uint64_t present = 0;                     ///< clients that are there
  std::optional<std::uint64_t> unifications{};   ///< so far
  std::optional<std::uint64_t> under_way{};      ///< updates between sender and receiver
  std::optional<OverClients> waiting{};          ///< messages that wait in a mailbox
  std::optional<DurationHistogram> staleness{};  ///< of all messages that were absorbed
  std::optional<OverClients> pace{};             ///< real time: computations by those that were asked for, of each client
  std::uint64_t skipped = 0;                     ///< real time: compute ticks that found the computation before unfinished
};

}  // namespace rubato
