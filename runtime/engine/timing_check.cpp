#include "runtime/engine/timing_check.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace rubato {

namespace {

constexpr double tolerance = 1e-9;

template <class... Parts>
[[noreturn]] void broken(ClientId client, Time at, const Parts&... what) {
  std::ostringstream text;
  text << "broken invariant: client " << client.value << " at " << to_seconds(at) << " s ";
  (text << ... << what);
  throw std::logic_error(text.str());
}

}  // namespace

TimingCheck::TimingCheck(const ClientSettings& settings, bool has_windows, bool weights_sum)
    : settings_{settings}, has_windows_{has_windows}, weights_sum_{weights_sum}, kept_(settings.graph->clients()) {}

void TimingCheck::on_period(Time, std::uint64_t) { std::ranges::fill(kept_, 0u); }

void TimingCheck::on_arrival(const Arrival& arrival, ClientId receiver, Offer offer, std::uint32_t tokens_left) {
  const MailboxLimits& limits = settings_.limits;
  const Duration age = arrival.arrived - arrival.sent;
  const bool is_late = age > limits.deadline;
  if (offer == Offer::kept && is_late && !settings_.takes_late)
    broken(receiver, arrival.arrived, "keeps a message ", to_seconds(age - limits.deadline), " s beyond the deadline");
  if (!has_windows_ || limits.cap == MailboxLimits::unlimited) return;
  if (offer == Offer::kept && ++kept_[receiver.value] > limits.cap)
    broken(receiver, arrival.arrived, "keeps ", kept_[receiver.value], " messages in a period, the cap is ", limits.cap);
  if (offer == Offer::capped && tokens_left > 0 && !settings_.receptions)
    broken(receiver, arrival.arrived, "refuses a message with ", tokens_left, " tokens left");
}

void TimingCheck::on_window_close(Time at, ClientId client, std::span<const Arrival> batch, std::span<const StepEntry> used) {
  if (has_windows_ && !batch.empty() && at - batch.front().arrived != settings_.limits.window)
    broken(client, at, "closes a window of ", to_seconds(at - batch.front().arrived), " s instead of ",
           to_seconds(settings_.limits.window), " s");
  std::vector<std::pair<ClientId, double>> weights;
  for (const StepEntry& entry : used) {
    if (entry.weight < 0) broken(client, at, "gives the weight ", entry.weight, " to a message");
    weights.emplace_back(entry.peer, entry.weight);
  }
  if (!weights_sum_) return;
  std::ranges::sort(weights);
  weights.erase(std::unique(weights.begin(), weights.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
                weights.end());
  double sum = 0;
  for (const auto& [sender, weight] : weights) sum += weight;
  if (sum > 1 + tolerance) broken(client, at, "gives weights that exceed one by ", sum - 1);
}

}  // namespace rubato
