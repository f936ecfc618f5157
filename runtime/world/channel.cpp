#include "runtime/world/channel.hpp"

#include <algorithm>

#include "runtime/random.hpp"

namespace rubato {

// Attempts and model messages have addresses of their own, beside those of the first attempt of an update.
std::uint64_t address_of(const LinkUse& use) {
  const auto kind = static_cast<std::uint64_t>(use.kind);
  return kind >> 2 << 62 | use.turn << 12 | (kind & 3) << 10 | std::min<std::uint32_t>(use.attempt, 1023);
}

Fate AttemptRule::judged(Fate fate) const {
  if (fate.lost || fate.delay <= longest) return fate;
  fate.lost = true;
  fate.delay = longest;
  fate.airtime = std::min(fate.airtime, longest);
  fate.copies = 0;
  return fate;
}

Duration AttemptRule::pause(const LinkUse& use) const {
  if (back_off == Duration::zero()) return {};
  constexpr std::uint32_t most_doublings = 6;
  const double longest_pause = to_seconds(back_off) * static_cast<double>(1u << std::min(use.attempt - 1, most_doublings));
  return from_seconds(uniform01(draw(seed, use.sender, Purpose::back_off, address_of(use), use.receiver.value).first) *
                      longest_pause);
}

Fate retransmitted(Fate fate, const Channel& channel, LinkUse use, const AttemptRule& rule) {
  fate = rule.judged(fate);
  Duration waited{}, airtime = fate.airtime;
  while (fate.lost && use.attempt < most_attempts) {
    waited += std::max(fate.delay, Duration{1});
    ++use.attempt;
    waited += rule.pause(use);
    use.waited = waited;
    fate = rule.judged(channel.carry(use));
    airtime += fate.airtime;
  }
  fate.airtime = airtime;
  fate.delay += waited;
  fate.copy_delay += waited;
  fate.waited = waited;
  fate.attempts = use.attempt + 1;
  return fate;
}

namespace {

double drawn_delay(const Law& law, std::uint64_t seed, const LinkUse& use, std::uint64_t bits) {
  if (law.kind == Law::Kind::list) return law.values[use.turn % law.values.size()];  // taken in turn
  if (needs_one_draw(law)) return sample_at(law, bits);
  Stream stream(seed, use.sender, Purpose::fading, use.receiver.value);
  stream.seek(address_of(use) << 6);
  return sample(law, stream, use.receiver);
}

}  // namespace

RandomChannel::RandomChannel(std::uint64_t seed, LinkLaw usual, std::map<std::pair<ClientId, ClientId>, LinkLaw> exceptions)
    : seed_{seed}, usual_{std::move(usual)}, exceptions_{std::move(exceptions)} {}

Fate RandomChannel::carry(const LinkUse& use) const {
  const LinkLaw* law = &usual_;
  if (!exceptions_.empty()) {
    const auto found = exceptions_.find({use.sender, use.receiver});
    if (found != exceptions_.end()) law = &found->second;
  }
  const DrawnPair bits = draw(seed_, use.sender, Purpose::delay, address_of(use), use.receiver.value);
  const Duration delay = from_seconds(drawn_delay(law->delay, seed_, use, bits.first));
  Fate fate{uniform01(bits.second) < law->loss, std::max(delay, Duration{1})};
  if (law->duplicate <= 0 || fate.lost || use.kind != MessageKind::update) return fate;
  const DrawnPair again = draw(seed_, use.sender, Purpose::duplicate, address_of(use), use.receiver.value);
  if (uniform01(again.first) >= law->duplicate) return fate;
  fate.copies = 1;
  fate.copy_delay = std::max(from_seconds(drawn_delay(law->delay, seed_, use, again.second)), Duration{1});
  return fate;
}

bool RandomChannel::keeps_order() const { return usual_.delay.is_constant() && usual_.duplicate == 0 && exceptions_.empty(); }

Duration RandomChannel::longest_delay() const {
  constexpr double longest_seconds = 9e9;  // that a Duration holds
  double seconds = largest(usual_.delay);
  for (const auto& [link, law] : exceptions_) seconds = std::max(seconds, largest(law.delay));
  return seconds < longest_seconds ? std::max(from_seconds(seconds), Duration{1}) : Duration::max();
}

Fate TableChannel::carry(const LinkUse& use) const {
  const auto& turns = fates_.at(use.sender.value);
  if (use.turn >= turns.size()) return {.lost = true};
  const auto found = turns[use.turn].find(use.receiver);
  return found == turns[use.turn].end() ? Fate{.lost = true} : found->second;
}

}  // namespace rubato
