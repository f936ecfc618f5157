#include "actors/core/timing_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace rubato {

namespace {

constexpr double tolerance = 1e-9;

[[noreturn]] void broken(ClientId client, Time at, const std::string& what) {
  throw std::logic_error(fmt::format("broken invariant: client {} at {:g} s {}", client.value, to_seconds(at), what));
}

}  // namespace

TimingCheck::TimingCheck(const ClientSettings& settings, bool has_windows, bool weights_sum)
    : settings_{settings}, has_windows_{has_windows}, weights_sum_{weights_sum}, kept_(settings.graph->clients()) {}

void TimingCheck::on_period(Time, std::uint64_t) { std::ranges::fill(kept_, 0u); }

void TimingCheck::on_arrival(const Arrival& arrival, ClientId receiver, Offer offer, std::uint32_t tokens_left) {
  const MailboxLimits& limits = settings_.limits;
  const Duration age = arrival.arrived - arrival.sent;
  const bool is_late = age > limits.deadline;
  if (offer == Offer::kept && is_late)
    broken(receiver, arrival.arrived, fmt::format("keeps a message {:g} s beyond the deadline", to_seconds(age - limits.deadline)));
  if (!has_windows_ || limits.cap == MailboxLimits::unlimited) return;
  if (offer == Offer::kept && ++kept_[receiver.value] > limits.cap)
    broken(receiver, arrival.arrived,
           fmt::format("keeps {} messages in a period, the cap is {}", kept_[receiver.value], limits.cap));
  if (offer == Offer::capped && tokens_left > 0)
    broken(receiver, arrival.arrived, fmt::format("refuses a message with {} tokens left", tokens_left));
}

void TimingCheck::on_window_close(Time at, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry> used) {
  if (has_windows_ && !batch.empty() && at - batch.front().arrived != settings_.limits.window)
    broken(client, at,
           fmt::format("closes a window of {:g} s instead of {:g} s", to_seconds(at - batch.front().arrived),
                       to_seconds(settings_.limits.window)));
  std::vector<std::pair<ClientId, double>> weights;
  for (const StepEntry& entry : used) {
    if (entry.weight < 0) broken(client, at, fmt::format("gives the weight {:g} to a message", entry.weight));
    weights.emplace_back(entry.peer, entry.weight);
  }
  if (!weights_sum_) return;
  std::ranges::sort(weights);
  weights.erase(std::unique(weights.begin(), weights.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
                weights.end());
  double sum = 0;
  for (const auto& [sender, weight] : weights) sum += weight;
  if (sum > 1 + tolerance) broken(client, at, fmt::format("gives weights that exceed one by {:g}", sum - 1));
}

}  // namespace rubato
