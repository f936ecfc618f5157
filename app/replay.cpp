#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "actors/run.hpp"
#include "app/commands.hpp"
#include "app/signals.hpp"
#include "experiment/file/experiment_file.hpp"
#include "experiment/roster.hpp"
#include "results/summary.hpp"
#include "runtime/npy.hpp"
#include "runtime/record.hpp"
#include "web/run_files.hpp"

namespace rubato::app {

namespace {

bool agrees(const char* name, const std::string& recorded, const std::string& replayed) {
  const bool same = recorded == replayed;
  std::cout << fmt::format("{:<15} {} {}\n", name, replayed, same ? "agrees" : "differs from " + recorded);
  return same;
}

struct EndInFolder : RecordedEnd {
  std::filesystem::path folder{};
};

// Of several hosts' folders: the end that covers all clients. A host that was killed has left no summary.
EndInFolder end_of_run(const std::vector<std::filesystem::path>& folders) {
  std::string gathered_elsewhere;
  std::optional<EndInFolder> fullest;  // a host that left early knows of its own clients only
  for (const std::filesystem::path& folder : folders) {
    if (folders.size() > 1 && !std::filesystem::exists(folder / "summary.json")) continue;
    EndInFolder end{end_of_summary(web::text_of(folder / "summary.json")), folder};
    if (!end.gathered_by.empty())
      gathered_elsewhere = end.gathered_by;
    else if (!fullest || end.absent.size() < fullest->absent.size())
      fullest = std::move(end);
  }
  if (fullest) return *std::move(fullest);
  if (gathered_elsewhere.empty()) throw std::invalid_argument("none of these folders has a summary.json: the run has not ended");
  throw std::invalid_argument("the results of all clients are with host \"" + gathered_elsewhere + "\": name its folder too");
}

std::vector<ClientId> clients_of(const std::vector<std::string>& hosts, const config::Experiment& experiment) {
  std::vector<ClientId> clients;
  if (hosts.empty()) return clients;
  if (experiment.roster.empty()) throw std::invalid_argument("--without: this was not a run over several hosts");
  std::set<HostId> left_out;
  for (const std::string& host : hosts) left_out.insert(host_named(experiment, host));
  const std::vector<HostId> host_of = hosts_of_clients(experiment);
  for (std::uint32_t i = 0; i < host_of.size(); ++i)
    if (left_out.contains(host_of[i])) clients.push_back({i});
  return clients;
}

// Of a run over several hosts in real time: the clients whose host has no folder among these.
std::vector<ClientId> clients_beside(const std::vector<std::filesystem::path>& folders, const config::Experiment& experiment) {
  const std::vector<HostId> host_of = hosts_of_clients(experiment);
  std::map<HostId, std::filesystem::path> folder_of;
  for (const std::filesystem::path& folder : folders) try {
      RecordReader reader(folder / "timeline.rbt");
      const Step* first = reader.clients() == host_of.size() ? reader.next() : nullptr;
      if (!first) continue;
      const HostId host = host_of[first->client.value];
      if (const auto [known, is_new] = folder_of.emplace(host, folder); !is_new)
        throw std::invalid_argument(fmt::format("{} and {} are both of host {}: leave one out", known->second.string(),
                                                folder.string(), experiment.roster[host.value].name));
    } catch (const std::runtime_error&) {  // no record: the replay says why
    }
  std::vector<ClientId> beside;
  for (std::uint32_t i = 0; i < host_of.size(); ++i)
    if (!folder_of.contains(host_of[i])) beside.push_back({i});
  return beside;
}

void require_none(const std::set<std::string>& missing) {
  if (missing.empty()) return;
  throw std::invalid_argument(fmt::format("there is no folder of host {} among these: add it, or --without {}",
                                          fmt::join(missing, " and none of host "), fmt::join(missing, " --without ")));
}

// Of the clients that were replayed to their end; models.npy may have rows for those alone that were there. Nothing if
// there is none to compare.
std::optional<bool> models_agree(const EndInFolder& recorded, const RunResult& again) {
  const std::filesystem::path file = recorded.folder / "models/models.npy";
  const std::string text = std::filesystem::exists(file) ? web::text_of(file) : "";
  const auto begins_with = [&](std::size_t rows) {
    return text.starts_with(npy_head({rows, again.dimension}, again.scalar_bytes));
  };
  const bool has_all = begins_with(again.clients);
  const std::size_t rows = again.clients - (has_all ? 0 : recorded.absent.size());
  const std::size_t row_bytes = again.dimension * again.scalar_bytes;
  const std::size_t head = npy_head({rows, again.dimension}, again.scalar_bytes).size();
  std::size_t compared = 0, same = 0, row = 0;
  for (std::uint32_t i = 0; begins_with(rows) && text.size() == head + rows * row_bytes && i < again.clients; ++i) {
    const bool was_absent = std::ranges::binary_search(recorded.absent, ClientId{i});
    if (was_absent && !has_all) continue;
    const std::string_view model = std::string_view{text}.substr(head + row++ * row_bytes, row_bytes);
    if (was_absent || std::ranges::binary_search(again.absent, ClientId{i})) continue;
    ++compared;
    same += std::memcmp(model.data(), again.models[i].data(), row_bytes) == 0;
  }
  std::cout << fmt::format("models          {} of {} that can be compared agree with models.npy\n", same, compared);
  return compared > 0 ? std::optional{same == compared} : std::nullopt;
}

// What does not cover a client that was left out, or cut off behind one. False if there is no such thing.
bool agrees_without(const std::vector<ClientId>& without, const EndInFolder& recorded, const RunResult& again) {
  for (const std::string& note : again.notes) std::cout << note << "\n";
  std::optional<bool> timeline, models;
  if (std::ranges::includes(recorded.absent, without))
    timeline = agrees("timeline_digest", recorded.digests.timeline, again.digests.timeline);
  else
    std::cout << "timeline_digest not compared: it covers clients that are left out\n";
  if (std::ranges::includes(recorded.absent, again.absent)) {
    models = agrees("model_digest", recorded.digests.model, again.digests.model);
  } else {
    std::cout << "model_digest    not compared: it covers clients that were not replayed to their end\n";
    models = models_agree(recorded, again);
  }
  return (timeline || models) && timeline.value_or(true) && models.value_or(true);
}

}  // namespace

int replay(const std::vector<std::filesystem::path>& folders, unsigned threads, const std::filesystem::path& data,
           const std::vector<std::string>& without) {
  for (const std::filesystem::path& folder : folders)
    folders.size() > 1 ? web::require_folder(folder) : web::require_ended_run(folder);
  const EndInFolder recorded = end_of_run(folders);
  if (recorded.digests.model.empty()) throw std::invalid_argument("this was a dry run: it has no models to replay");
  const config::Experiment experiment = config::read_experiment(folders.front() / "experiment.toml", {}, std::cerr);
  std::vector<ClientId> left_out = clients_of(without, experiment);
  RunOptions options;
  options.keeps_models = !left_out.empty();
  options.threads = threads > 0 ? threads : all_threads();
  options.data_dir = data;
  options.stop = &watch_signals(false);
  const bool is_virtual = experiment.clock == config::ClockKind::virtual_time;
  std::vector<std::filesystem::path> records;
  for (const std::filesystem::path& folder : folders) {
    if (is_virtual && !records.empty()) break;  // each is that of all hosts
    records.push_back(folder / "timeline.rbt");
    if (!std::filesystem::exists(records.back()))
      throw std::invalid_argument(folder.string() + " has no timeline.rbt: the run was made with record = \"off\"");
  }
  if (experiment.roster.empty() && folders.size() > 1) throw std::invalid_argument("this was a run of one host: name one folder");
  std::set<std::string> missing;  // hosts whose clients the digests cover
  if (!is_virtual && !experiment.roster.empty()) {
    const std::vector<HostId> host_of = hosts_of_clients(experiment);
    for (const ClientId client : clients_beside(folders, experiment)) {
      if (std::ranges::find(left_out, client) != left_out.end()) continue;
      if (!std::ranges::binary_search(recorded.absent, client))
        missing.insert(experiment.roster[host_of[client.value].value].name);
      else if (!without.empty())
        left_out.push_back(client);
    }
    std::ranges::sort(left_out);
  }
  const RunResult again = rubato::replay(experiment, records, recorded.absent, options, left_out);
  if (options.stop->load()) {
    std::cout << "stopped before the end of the record: nothing was compared\n";
    return stopped;
  }
  require_none(missing);
  if (!left_out.empty()) return agrees_without(left_out, recorded, again) ? ok : failed;
  const bool same_timeline = agrees("timeline_digest", recorded.digests.timeline, again.digests.timeline);
  const bool same_models = agrees("model_digest", recorded.digests.model, again.digests.model);
  return same_timeline && same_models ? ok : failed;
}

}  // namespace rubato::app
