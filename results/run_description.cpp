#include "results/run_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "experiment/client_ranges.hpp"
#include "experiment/digest.hpp"
#include "runtime/protocols/async_server.hpp"
#include "runtime/protocols/pair.hpp"

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

// Of a centre without rounds, with its workers.
std::optional<OrderTotals> orders_of(const Timing& timing, const Conductor& conductor) {
  if (timing.protocol() != ProtocolKind::server || !timing.settings.needs.answers) return std::nullopt;
  const auto server_at = [&](ClientId client) { return dynamic_cast<const AsyncServer*>(&conductor.protocol(client)); };
  const AsyncServer* const centre = server_at(timing.centre);
  if (!centre) return std::nullopt;
  OrderTotals totals{.versions = centre->version(), .mean_delay_by_worker = {}};
  for (std::uint32_t i = 0; i < conductor.clients(); ++i) {
    if (const AsyncServer* client = server_at({i})) totals.counts += client->orders();
    totals.mean_delay_by_worker.push_back(centre->mean_delay({i}));
  }
  return totals;
}

// Of clients that meet in pairs.
std::optional<PairTotals> exchanges_of(const Timing& timing, const Conductor& conductor) {
  if (timing.protocol() != ProtocolKind::pair) return std::nullopt;
  PairTotals totals;
  for (std::uint32_t i = 0; i < conductor.clients(); ++i) {
    const auto* const client = dynamic_cast<const Pair*>(&conductor.protocol({i}));
    if (!client) return std::nullopt;
    totals += client->totals();
  }
  return totals;
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

std::string timeline_of(const std::vector<StepHash>& hashes, const std::vector<ClientId>& absent) {
  std::vector<StepHash> present;
  for (std::uint32_t i = 0; i < hashes.size(); ++i)
    if (!std::ranges::binary_search(absent, ClientId{i})) present.push_back(hashes[i]);
  return timeline_digest(present);
}

bool goes_in_rounds(const Timing& timing) {
  const std::optional<AnswerRule>& answers = timing.settings.needs.answers;
  return timing.protocol() == ProtocolKind::rounds ||
         (timing.protocol() == ProtocolKind::server && (!answers || answers->gather == Gather::round));
}

bool counts_rounds(const Timing& timing, ClientId client) {
  const bool has_centre =
      timing.protocol() == ProtocolKind::server && (timing.settings.needs.answers || !timing.server.gathers_first());
  return !has_centre || client == timing.centre;
}

void say_rounds(RunResult& result) {
  if (!result.rounds || result.rounds->done > 0) return;
  const Waiting& waiting = result.rounds->waiting;
  result.notes.push_back(fmt::format("no round was done in {:.6g} s: the first waits for {} computations and {} messages",
                                     result.virtual_seconds, waiting.computations, waiting.messages));
}

void describe_timing(const Timing& timing, const Conductor& conductor, RunResult& result) {
  if (const Attendance* attendance = conductor.attendance()) {
    result.absent = attendance->absent();
    result.churn = attendance->counts();
  }
  result.digests.timeline = timeline_of(conductor.hashes(), result.absent);
  result.clients = conductor.clients();
  result.virtual_seconds = to_seconds(conductor.now());
  result.events = conductor.events();
  result.steps = conductor.steps();
  result.messages = conductor.total_counts();
  result.cumulated_delay = timing.board.delay;
  if (goes_in_rounds(timing)) result.rounds = {conductor.rounds(), {timing.board.computing, conductor.under_way()}};
  result.orders = orders_of(timing, conductor);
  result.exchanges = exchanges_of(timing, conductor);
  say_rounds(result);
  result.model_messages = conductor.model_messages();
  result.hand_overs = conductor.hand_overs();
  result.models_lost = conductor.models_lost();
  result.unifications = conductor.unifications();
  result.under_way = conductor.under_way();
  result.staleness_mean = conductor.staleness().mean_seconds();
  result.staleness_p95 = conductor.staleness().quantile_seconds(0.95);
  result.by_link = conductor.link_counts();
  for (std::uint32_t i = 0; i < conductor.clients(); ++i) result.by_client.push_back(conductor.protocol(ClientId{i}).counts());
  describe_energy(timing, result);
}

void describe_energy(const Timing& timing, RunResult& result) {
  const EnergyModel& model = timing.conductor.energy;
  if (!model.is_counted()) return;
  result.energy.emplace();
  for (std::uint32_t i = 0; i < result.by_client.size(); ++i) *result.energy += model.of({i}, result.by_client[i]);
}

std::string sentence_about_stop(Time end, Time until, const std::string& reason) {
  return fmt::format("stopped early at {:g} s of {:g} s because of {}", to_seconds(end), to_seconds(until), reason);
}

void describe_client(ClientId client, const Traffic& traffic, const std::vector<Screened>& by_sender, std::vector<PeerWeight> row,
                     RunResult& result) {
  result.traffic += traffic;
  result.traffic_by_client.resize(result.clients);
  result.traffic_by_client[client.value] = traffic;
  for (Screened link : by_sender) {
    link.receiver = client;
    result.screened.push_back(link);
  }
  if (row.empty()) return;
  result.collaboration.resize(result.clients);
  result.collaboration[client.value] = std::move(row);
}

bool is_row(const std::vector<PeerWeight>& row, std::size_t clients) {
  return row.size() < std::max<std::size_t>(clients, 1) && std::ranges::all_of(row, [&](const PeerWeight& peer) {
           return peer.peer.value < clients && peer.weight >= 0 && std::isfinite(peer.weight);
         });
}

}  // namespace rubato
