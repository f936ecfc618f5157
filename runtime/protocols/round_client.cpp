#include "runtime/protocols/round_client.hpp"

#include <algorithm>
#include <utility>

#include "runtime/random.hpp"

namespace rubato {

bool RoundSettings::sends_in(ClientId client, std::uint64_t round) const {
  if (round < sends.size()) return sends[round][client.value];
  const bool is_partial = !participation.empty() && round > first_exchange;
  const double chance = send_probability * (is_partial ? participation[client.value] : 1);
  if (chance >= 1) return true;
  return uniform01(draw(settings->seed, client, Purpose::indicator, round).first) < chance;
}

Duration RoundPace::next_interval(const ClientSettings& settings, ClientId client) {
  Timer timer;
  const auto address = static_cast<std::uint32_t>(++computations);
  return timer.interval(settings.compute_law(client), settings.seed, client, Purpose::compute_timer, address);
}

Duration RoundPace::next_length(const ClientSettings& settings, ClientId client) {
  const bool has_gradient = settings.has_gradient(client, computations);
  const Duration length = next_interval(settings, client);
  return has_gradient ? length : Duration{};
}

std::optional<Duration> RoundPace::work(const RoundSettings& rules, ClientId client, std::uint64_t round, Time now,
                                        Effects& effects) {
  const JobRule& rule = rules.jobs;
  if (!job.is_begun()) {
    begin(client, now, effects);
    job.begin(next_interval(*rules.settings, client));
  }
  std::optional<Duration> done;
  if (rule.finishes.empty()) {
    done = job.work(rule.phase);
  } else if (round < rule.finishes.size() && rule.finishes[round][client.value]) {
    job.drop();
    done = rule.phase;
  }
  if (!done && !rule.carries_on) job.drop();
  return done;
}

RoundClient::RoundClient(const RoundSettings& rules, ClientId self)
    : ClientProtocol(*rules.settings, self), rules_{rules}, mailbox_{settings_.limits, settings_.graph->in_degree(self)} {}

Step& RoundClient::compute(std::uint8_t phase, Time now, Effects& effects) {
  Step& step = ClientProtocol::compute(now, effects);
  step.phase = phase;
  has_news_ = true;
  return step;
}

void RoundClient::absorb(std::vector<Arrival>& arrived, const Exchange& exchange, Time now, Effects& effects) {
  const MailboxLimits tokens{.cap = settings_.limits.cap};  // whether a message was in time is known already
  std::ranges::sort(arrived, {}, &Arrival::id);
  std::optional<MessageId> before;
  const auto is_refused = [&](const Arrival& arrival) {
    const bool is_duplicate = std::exchange(before, arrival.id) == arrival.id;
    if (!is_duplicate && mailbox_.offer(arrival, tokens) == Offer::kept) return false;
    ++(is_duplicate ? counts_.duplicates : counts_.capped);
    return true;
  };
  counts_.kept -= discard_if(arrived, is_refused, now, effects);
  if (settings_.needs.fanout.stars != Stars::none && exchange.turn % 2 == 0) {
    peers_.clear();
    for (const Arrival& arrival : arrived) peers_.push_back(arrival.id.sender);
  }
  merge(arrived, exchange.phase, exchange.round, now, effects);
  mailbox_.clear();
}

}  // namespace rubato
