#include "actors/wall/beginning.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rubato {

bool can_be(const BeginningClaim& claim, Duration now, Duration longest) {
  return claim.since >= now - longest - claim.error && claim.since <= now + head_start + claim.error;
}

std::optional<Beginning> believable(std::vector<BeginningClaim> claims, Duration now, Duration longest) {
  std::erase_if(claims, [&](const BeginningClaim& claim) { return !can_be(claim, now, longest); });
  if (claims.empty()) return std::nullopt;
  std::ranges::sort(claims, {}, &Beginning::since);
  return claims[(claims.size() - 1) / 2];
}

std::optional<Beginning> begun_by_others(Membership& membership, Duration longest) {
  const Duration now = monotonic_now();
  std::vector<BeginningClaim> claims;
  for (const HostId host : membership.others()) {
    if (!membership.is_alive(host)) continue;
    const auto theirs = membership.host_info(host);
    const auto offset = membership.offset(host);
    if (!theirs || !theirs->running_since || !offset) continue;
    claims.push_back({{*theirs->running_since - offset->nanoseconds, theirs->begun}, offset->error});
    if (!can_be(claims.back(), now, longest)) membership.conduct().set(host, Misdeed::beginning, 1);
  }
  return believable(std::move(claims), now, longest);
}

Duration came_to(const Membership& membership, std::uint64_t run, Duration end) {
  Duration furthest{};
  for (std::uint32_t host = 0; host < membership.hosts(); ++host)
    if (const auto info = membership.host_info({host}); info && info->begun == run && membership.is_alive({host}))
      furthest = std::max(furthest, info->came_to);
  return std::min(furthest, end);
}

std::uint32_t next_life(std::uint32_t recorded, std::uint32_t claimed) {
  constexpr std::uint32_t most_unrecorded = 256;
  const std::uint32_t life = claimed > recorded && claimed - recorded <= most_unrecorded ? claimed : recorded;
  if (life > last_life)
    throw std::invalid_argument(
        "this host has begun 65,536 lives in this run, and there are no numbers for more; start with --anew");
  return life;
}

}  // namespace rubato
