#include "app/status_file.hpp"

#include <unistd.h>

#include <array>

#include "app/log.hpp"
#include "experiment/roster.hpp"
#include "results/summary.hpp"

namespace rubato::app {

namespace {

constexpr std::array<const char*, 4> states{"meeting", "running", "gathering", "scoring"};

ResultJson number_or_null(const std::optional<double>& value) { return value ? finite(*value) : ResultJson(nullptr); }

ResultJson text_or_null(const std::string& text) { return text.empty() ? ResultJson(nullptr) : ResultJson(text); }

ResultJson json_of(const std::optional<CheckpointInfo>& saved) {
  return saved ? ResultJson{{"number", saved->number}, {"seconds", finite(saved->seconds)}} : ResultJson(nullptr);
}

ResultJson json_of(const PeerStatus& peer) {
  return {{"name", peer.name},
          {"state", peer.state},
          {"text", text_or_null(peer.refusal)},
          {"silent_seconds", number_or_null(peer.silent)},
          {"clock_offset_seconds", number_or_null(peer.clock_offset)},
          {"clock_error_seconds", number_or_null(peer.clock_error)},
          {"life", peer.life}};
}

ResultJson json_of(const MessageCounts& counts) {
  return {{"sent", counts.sent},   {"delivered", counts.kept},        {"lost", counts.lost},
          {"late", counts.late},   {"capped", counts.capped},         {"superseded", counts.superseded},
          {"stale", counts.stale}, {"duplicates", counts.duplicates}, {"resyncs", counts.resyncs}};
}

}  // namespace

StatusFile::StatusFile(RunFolder& folder, const config::Experiment& experiment, HostId self)
    : folder_{folder}, experiment_{experiment}, self_{self}, started_{time_of_day()} {}

void StatusFile::write(const HostStatus& status) {
  last_ = status;
  write(status, states[static_cast<std::size_t>(status.state)]);
}

void StatusFile::end(const RunResult& result) {
  last_.seconds = result.virtual_seconds;
  last_.counts = {}, last_.skipped = 0;
  const std::vector<HostId> host_of = hosts_of_clients(experiment_);
  for (std::size_t i = 0; i < host_of.size(); ++i)
    if (host_of[i] == self_) last_.counts += result.by_client[i], last_.skipped += result.paces[i].skipped;
  if (!result.samples.empty()) last_.scores = scores_of(result.samples.back());
  write(last_, result.was_stopped ? "stopped" : "complete");
}

void StatusFile::fail(const std::string& why) { write(last_, "failed", why); }

void StatusFile::write(const HostStatus& status, const std::string& state, const std::string& why) {
  ResultJson peers = ResultJson::array();
  for (const PeerStatus& peer : status.peers) peers.push_back(json_of(peer));
  std::optional<double> mean_accuracy;
  if (status.scores && status.scores->accuracy) mean_accuracy = status.scores->accuracy->mean;
  const ResultJson json{{"time", time_of_day()},
                        {"host", experiment_.roster[self_.value].name},
                        {"pid", getpid()},
                        {"version", version()},
                        {"state", state},
                        {"text", text_or_null(why)},
                        {"seconds", finite(status.seconds)},
                        {"until", finite(experiment_.until)},
                        {"started_at", started_},
                        {"life", status.life},
                        {"checkpoint", json_of(status.saved)},
                        {"clients", status.clients},
                        {"peers", std::move(peers)},
                        {"computations", status.counts.computations},
                        {"messages", json_of(status.counts)},
                        {"skipped_ticks", status.skipped},
                        {"accuracy", number_or_null(mean_accuracy)}};
  const std::string text = json.dump(2, ' ', false, ResultJson::error_handler_t::replace) + "\n";
  try {
    folder_.write("status.json", text);
  } catch (const RunFailed&) {                                                    // what matters more will find the disk full, too
    if (!why.empty()) std::ofstream(folder_.contents() / "status.json") << text;  // in the room of the one before
  }
}

}  // namespace rubato::app
