#include "results/silence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "experiment/client_ranges.hpp"

namespace rubato {

namespace {

// Clients that are there and of which nothing comes, where others are heard: what is given to them, such as the mass of
// push-sum, does not come back. Empty if there are none.
std::string sentence_about_mute(const Timing& timing, const RunResult& result) {
  constexpr double much = 10;  // messages of a client, on the average
  constexpr std::size_t most_ranges = 8;
  const std::size_t clients = result.by_client.size();
  if (!timing.settings.needs.sends || timing.protocol() != ProtocolKind::push || clients < 2) return {};
  std::vector<std::uint64_t> heard(clients);
  const bool knows_links = !result.by_link.empty() && result.host_clients.empty();  // a host counts what it receives
  for (std::uint32_t link = 0; knows_links && link < result.by_link.size(); ++link)
    heard[timing.graph.ends_of(link).source.value] += result.by_link[link].kept + result.by_link[link].refused();
  if (!knows_links)
    for (std::size_t i = 0; i < clients; ++i) heard[i] = result.by_client[i].sent;
  std::vector<std::uint32_t> mute;
  double sum = 0;
  for (std::uint32_t i = 0; i < clients; ++i) {
    sum += static_cast<double>(heard[i]);
    if (heard[i] == 0 && timing.graph.out_degree({i}) > 0 && !std::ranges::binary_search(result.absent, ClientId{i}))
      mute.push_back(i);
  }
  const double mean = sum / static_cast<double>(clients);
  if (mute.empty() || mean < much) return {};
  return fmt::format("nothing came from {} {}, though {:.0f} messages came from a client on the average",
                     mute.size() == 1 ? "client" : "clients", ranges_of(mute, most_ranges), mean);
}

}  // namespace

std::string find_silence(const Timing& timing, RunResult& result) {
  const MessageCounts& counts = result.messages;
  const std::uint64_t models = result.model_messages - std::min(result.models_lost, result.model_messages);
  const bool are_due = timing.settings.needs.sends && timing.graph.links() > 0;
  std::string note;
  if (counts.computations == 0 && counts.sent == 0) {
    result.silence = "nothing happened";
    note = fmt::format("nothing happened in {:.6g} s: no client computed a gradient, and none sent a message{}",
                       result.virtual_seconds,
                       models > 0 ? fmt::format(" but for {} models of unifications and hand-overs", models) : "");
  } else if (counts.kept == 0 && (counts.sent > 0 || (are_due && models == 0))) {
    result.silence = "nothing arrived";
    note = counts.sent == 0
               ? fmt::format("no message was sent in {:.6g} s, so that no client learnt of another", result.virtual_seconds)
               : fmt::format(
                     "no message arrived in {:.6g} s: of {} that were sent {} were lost, {} refused, and {} "
                     "were under way at the end",
                     result.virtual_seconds, counts.sent + counts.copies, counts.lost_in_all(), counts.arrived(), result.under_way);
  }
  return note.empty() ? sentence_about_mute(timing, result) : note;
}

}  // namespace rubato
