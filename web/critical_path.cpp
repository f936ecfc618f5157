#include "web/critical_path.hpp"

#include <algorithm>

namespace rubato::web {

const char* word_of(PathPiece::Kind kind) {
  constexpr const char* words[] = {"work", "way", "mailbox"};
  return words[static_cast<std::size_t>(kind)];
}

std::vector<PathPiece> CriticalPath::pieces() const {
  using Kind = PathPiece::Kind;
  std::vector<PathPiece> pieces;
  const auto add = [&](Kind kind, Time from, Time to, ClientId client, ClientId other = no_client) {
    if (to > from) pieces.push_back({kind, from, to, client, other});
  };
  for (Place place = end_; place.client != no_client;) {
    const std::vector<Wait>& waits = waits_[place.client.value];
    const auto after = std::ranges::upper_bound(waits, place.order, {}, &Wait::order);
    if (after == waits.begin()) {
      add(Kind::work, Time{}, place.at, place.client);
      break;
    }
    const Wait& wait = *std::prev(after);
    add(Kind::work, wait.to, place.at, place.client);
    add(Kind::mailbox, wait.arrived, wait.to, wait.receiver, wait.last);
    add(Kind::way, asks_ ? wait.from : wait.sent, wait.arrived, wait.receiver, wait.last);
    // A step has its own order, so that this ends even where messages take no time.
    place = asks_ ? Place{wait.from, place.client, wait.order - 1} : Place{wait.sent, wait.last, wait.sent_order};
  }
  std::ranges::reverse(pieces);
  return pieces;
}

}  // namespace rubato::web
