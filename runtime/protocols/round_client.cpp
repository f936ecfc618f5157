#include "runtime/protocols/round_client.hpp"

#include <algorithm>

#include "runtime/random.hpp"

namespace rubato {

bool RoundSettings::sends_in(ClientId client, std::uint64_t round) const {
  if (round < sends.size()) return sends[round][client.value];
  if (send_probability >= 1) return true;
  return uniform01(draw(settings->seed, client, Purpose::indicator, round).first) < send_probability;
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
    : rules_{rules}, self_{self}, mailbox_{rules.settings->limits, rules.settings->graph->in_degree(self)} {}

Step& RoundClient::compute(std::uint8_t phase, Time now, Effects& effects) {
  Step& step = effects.step(StepKind::compute, self_, now);
  step.phase = phase;
  step.with_gradient = settings().has_gradient(self_, counts_.computations);
  step.index = counts_.computations++;
  has_news_ = true;
  return step;
}

// Whether a message was in time is known already.
void RoundClient::spend_tokens(std::vector<Arrival>& arrived, Time now, Effects& effects) {
  const MailboxLimits tokens{.cap = settings().limits.cap};
  std::sort(arrived.begin(), arrived.end(), [](const Arrival& a, const Arrival& b) { return a.id < b.id; });
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    const bool is_duplicate = i > 0 && arrived[i].id == arrived[i - 1].id;
    if (!is_duplicate && mailbox_.offer(arrived[i], tokens) == Offer::kept) continue;
    --counts_.kept;
    ++(is_duplicate ? counts_.duplicates : counts_.capped);
    discard(arrived[i], self_, now, effects);
  }
  arrived.clear();
}

void RoundClient::absorb(std::vector<Arrival>& arrived, const Exchange& exchange, Time now, Effects& effects) {
  spend_tokens(arrived, now, effects);
  const auto batch = mailbox_.batch();
  effects.step(StepKind::merge, self_, now).phase = exchange.phase;
  const double equal_share = 1.0 / static_cast<double>(std::max<std::size_t>(batch.size(), 1));
  for (const Arrival& arrival : batch) {
    const double by_link = settings().merge_weight(arrival.link, exchange.round);
    effects.entry(merge_entry(arrival, now, settings().needs.weights_by_batch ? equal_share : by_link));
  }
  mailbox_.clear();
}

}  // namespace rubato
