#include "transports/connection_room.hpp"

namespace rubato {

namespace {

// Of which the least advanced goes: where most are silent, one of them is found almost surely.
constexpr int samples = 8;

}  // namespace

void ConnectionRoom::trust(const std::string& name) {
  if (trusted_ >= most_trusted) return;
  Source& source = sources_[name];
  if (source.is_of_roster) return;
  source.is_of_roster = true;
  outsiders_ -= source.shaking.size() + source.heard;
  ++trusted_;
}

void ConnectionRoom::open(int connection, const std::string& source) {
  const auto found = sources_.try_emplace(source).first;
  found->second.shaking.push_back(connection);
  connections_.emplace(connection, Connection{found, {}});
  if (!found->second.is_of_roster) ++outsiders_;
}

std::optional<int> ConnectionRoom::hear(int connection, HostId host) {
  const auto found = connections_.find(connection);
  if (found == connections_.end() || found->second.host) return {};
  found->second.host = host;
  Source& source = found->second.source->second;
  std::erase(source.shaking, connection);
  ++source.heard;
  std::vector<int>& of_host = heard_[host];
  of_host.push_back(connection);
  return of_host.size() > most_of_a_host ? std::optional(of_host.front()) : std::nullopt;
}

void ConnectionRoom::close(int connection) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  const auto at = found->second.source;
  Source& source = at->second;
  if (found->second.host) {
    --source.heard;
    std::erase(heard_[*found->second.host], connection);
  } else {
    std::erase(source.shaking, connection);
  }
  connections_.erase(found);
  if (source.is_of_roster) return;
  --outsiders_;
  if (source.shaking.empty() && source.heard == 0) sources_.erase(at);
}

std::optional<int> ConnectionRoom::crowded(const Progress& progress, std::size_t less) {
  const auto room = [less](std::size_t usual) { return usual > less ? usual - less : 0; };
  if (outsiders_ > room(limits_.connections - limits_.reserved))
    if (const auto outsider = victim(false, progress)) return outsider;
  return connections_.size() > room(limits_.connections) ? victim(true, progress) : std::nullopt;
}

std::optional<int> ConnectionRoom::victim(bool may_be_of_roster, const Progress& progress) {
  const std::vector<int>* most = nullptr;
  std::size_t equals = 0;  // sources with as many, of which each is as likely
  for (const auto& [name, source] : sources_) {
    if (source.is_of_roster && !may_be_of_roster) continue;
    const std::size_t count = source.shaking.size();
    if (count == 0 || (most && count < most->size())) continue;
    equals = most && count == most->size() ? equals + 1 : 1;
    if (below(equals) == 0) most = &source.shaking;
  }
  if (!most) return {};
  int goes = (*most)[below(most->size())];
  if (below(2) == 0) return goes;
  for (int i = 1; i < samples; ++i) {
    const int other = (*most)[below(most->size())];
    if (progress(other) < progress(goes)) goes = other;
  }
  return goes;
}

std::size_t ConnectionRoom::below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(chance_); }

}  // namespace rubato
