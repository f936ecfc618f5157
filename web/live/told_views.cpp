#include "web/live/told_views.hpp"

#include <algorithm>

#include "web/page_json.hpp"

namespace rubato::web {

std::size_t ToldViews::place_of(const std::string& name) const {
  return static_cast<std::size_t>(std::ranges::find(hosts_, name) - hosts_.begin());
}

void ToldViews::add(const std::string& self, const HostStatus& status) {
  add(self, view_of(status));
  for (const PeerStatus& peer : status.peers) {
    if (peer.view) add(peer.name, *peer.view);
    if (peer.state != "present") leave(peer.name, status.seconds);
  }
}

void ToldViews::add(const std::string& name, const HostView& view) {
  const std::size_t host = place_of(name);
  if (host == hosts_.size() || !view.scores || view.scores->seconds == seen_[host].seconds) return;
  const HostScores& scores = *view.scores;
  ResultJson row = {host, page_number(scores.seconds), scores.measured, nullptr, nullptr, nullptr, page_number(scores.loss)};
  if (scores.accuracy)
    row[3] = page_number(scores.accuracy->mean), row[4] = page_number(scores.accuracy->worst),
    row[5] = scores.accuracy->client.value;
  rows_.add(page_text(row));
  seen_[host] = {scores.seconds, false};
}

void ToldViews::leave(const std::string& name, double seconds) {
  const std::size_t host = place_of(name);
  if (host == hosts_.size() || seen_[host].has_left) return;
  rows_.add(page_text(ResultJson{host, page_number(seconds), nullptr, nullptr, nullptr, nullptr, nullptr}));
  seen_[host].has_left = true;
}

}  // namespace rubato::web
