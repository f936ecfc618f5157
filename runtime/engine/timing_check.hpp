// Watches the timing of a run: what the mailbox of every client promises must hold at every event.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/engine/conductor.hpp"
#include "runtime/protocols/push.hpp"

namespace rubato {

/// Throws std::logic_error that names the client and how far it is off: ages beyond the deadline, receptions beyond the
/// cap, refusals with tokens left, windows of another length, weights that are negative or sum to more than one. Time
/// and step are added where the failure is reported.
class TimingCheck final : public EventObserver {
 public:
  /// `weights_sum`: the weights of the links into a client sum to at most one. The settings outlive the check.
  TimingCheck(const ClientSettings& settings, bool has_windows, bool weights_sum);

  void on_period(Time at, std::uint64_t index) override;
  void on_arrival(const Arrival& arrival, ClientId receiver, Offer offer, std::uint32_t tokens_left) override;
  void on_window_close(Time at, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry> used) override;

 private:
  const ClientSettings& settings_;
  bool has_windows_;
  bool weights_sum_;
  std::vector<std::uint32_t> kept_;  // by client, in this period of the cap
};

}  // namespace rubato
