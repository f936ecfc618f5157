#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "actors/host_run.hpp"
#include "app/log.hpp"
#include "app/outcome.hpp"
#include "app/serving.hpp"
#include "app/status_file.hpp"
#include "experiment/build/timers.hpp"
#include "experiment/file/experiment_file.hpp"
#include "experiment/file/fingerprint.hpp"
#include "experiment/launcher.hpp"
#include "experiment/roster.hpp"
#include "results/summary.hpp"
#include "transports/impaired.hpp"
#include "transports/open.hpp"
#include "transports/zmq_identity.hpp"

namespace rubato::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* life_file = "checkpoint/life";

std::string line_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) throw std::invalid_argument(file.string() + ": there is no public key to be read");
  return line;
}

// NAME.secret: in the folder of keys, or beside the experiment file.
fs::path usual_key(const NodeArguments& arguments, const std::string& name) {
  return (arguments.keys.empty() ? arguments.run.file.parent_path() : arguments.keys) / (name + ".secret");
}

// The host that the command line names, or else the launcher. Fills in what the experiment file leaves to others: the
// roster from the launcher, public keys from the folder of keys.
HostId select_host(const NodeArguments& arguments, config::Experiment& experiment) {
  std::string name = arguments.host;
  if (name.empty() || experiment.roster.empty())
    if (const auto launch = launch_of(own_environment(), arguments.port)) {
      const std::string launched = join_roster(experiment, *launch);
      if (name.empty()) name = launched;
    }
  if (experiment.roster.empty())
    throw std::invalid_argument(arguments.run.file.string() +
                                ": there is no roster; name the hosts in [[roster]], or use rubato run");
  if (name.empty()) throw std::invalid_argument("--host: no launcher says which host of the roster this is; name it");
  const HostId self = host_named(experiment, name);
  if (arguments.keys.empty()) return self;
  for (config::Host& host : experiment.roster)
    if (!host.public_key) host.public_key = line_of(arguments.keys / (host.name + ".public"));
  return self;
}

// The secret key of that host; none if it has no public one.
SecretKey secret_of(const NodeArguments& arguments, const config::Host& host) {
  if (!host.public_key && arguments.key.empty()) return {};
  const fs::path file = arguments.key.empty() ? usual_key(arguments, host.name) : arguments.key;
  SecretKey secret = read_secret_key(file);
  if (host.public_key && secret.public_key() != *host.public_key)
    throw std::invalid_argument(file.string() + " is not the other half of the public key of \"" + host.name + "\"");
  return secret;
}

TransportOptions transport_options(const NodeArguments& arguments, const config::Experiment& experiment, HostId self, Log& log) {
  const config::Host& me = experiment.roster[self.value];
  TransportOptions options;
  options.self = self;
  for (const config::Host& host : experiment.roster)
    options.hosts.push_back({host.name, host.address, host.public_key.value_or("")});
  options.bind = me.bind.value_or("");
  options.secret = secret_of(arguments, me);
  options.is_insecure = experiment.hosts.insecure;
  options.limits.queue_bytes = static_cast<std::size_t>(experiment.hosts.queue_bytes);
  options.limits.frame.piece_bytes = static_cast<std::size_t>(experiment.hosts.chunk_bytes);
  options.limits.frame.parcel_bytes = static_cast<std::size_t>(experiment.hosts.largest_bytes);
  options.limits.receive_bytes = std::max(options.limits.receive_bytes, 2 * options.limits.frame.parcel_bytes);
  options.on_trouble = [&log](const std::string& sentence) { log.say({EventLevel::warn, "trouble", "", {{"text", sentence}}}); };
  return options;
}

Impairment impairment_of(const config::Experiment& experiment) {
  const config::Impaired& impaired = experiment.impaired;
  Impairment made;
  if (experiment.clock == config::ClockKind::virtual_time)
    made.kinds = {ParcelKind::want, ParcelKind::payload, ParcelKind::have, ParcelKind::notice};
  made.loss = impaired.loss, made.duplicate = impaired.duplicate, made.reorder = impaired.reorder, made.spoil = impaired.corrupt;
  made.delay = law_of(impaired.delay);
  return made;
}

HostOptions host_options(std::uint64_t life, const RunFolder* folder, StatusFile* status, Log& log) {
  HostOptions host;
  host.life = life;
  if (folder) {
    host.folder = folder->checkpoints();
    host.has_earlier_life = folder->has_earlier_life();
  }
  host.on_event = [&log](const RunEvent& event) { log.say(event); };
  if (status) host.on_status = [status](const HostStatus& now) { status->write(now); };
  return host;
}

// From here on the folder is this run's.
void begin(RunFolder& folder, const config::Experiment& experiment, std::uint64_t life, Log& log) {
  const fs::path& place = folder.contents();
  if (folder.settle())
    log.note("another run had begun in " + place.string() + ": what it left is now in the folder that ends with .failed");
  if (experiment.clock == config::ClockKind::wall_time) folder.write(life_file, std::to_string(life) + "\n");
  if (folder.has_earlier_life()) return keep_scores(folder);
  folder.write("experiment.toml", config::write_experiment(experiment));
  folder.write("metrics.csv", metrics_csv_head());
}

// A life of this host after another: by the clock of the day, unless that was ahead in an earlier life, on another
// machine.
std::uint64_t new_life(const RunFolder* folder) {
  std::uint64_t earlier = 0;
  if (folder && folder->has_earlier_life()) std::ifstream(folder->contents() / life_file) >> earlier;
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  return std::max(now, earlier + 1);
}

Log make_log(const NodeArguments& arguments, const std::string& name) {
  const std::string level = !arguments.log_level.empty() ? arguments.log_level : arguments.run.quiet ? "warn" : "info";
  return Log({level_of(level), arguments.logs_json, name});
}

void say_started(Log& log, const config::Experiment& experiment, HostId self) {
  const config::Host& me = experiment.roster[self.value];
  log.say({EventLevel::info,
           "started",
           "",
           {{"version", version()},
            {"pid", static_cast<std::uint64_t>(getpid())},
            {"hosts", std::uint64_t{experiment.roster.size()}},
            {"address", me.bind.value_or(me.address)},
            {"experiment", experiment.name}}});
}

// What the act throws stands in the log and in the status, too.
template <class Act>
auto told(Log& log, std::optional<StatusFile>& status, Act act) try {
  return act();
} catch (const std::exception& error) {
  log.say({EventLevel::error, "failed", "", {{"text", error.what()}}});
  if (status) status->fail(error.what());
  throw;
}

void say_ended(Log& log, const RunResult& result, double until) {
  const bool was_stopped = result.was_stopped;
  log.say({EventLevel::info, was_stopped ? "stopped" : "complete", "", {{"seconds", result.virtual_seconds}, {"until", until}}});
}

// From its keys to its results.
int take_part(const NodeArguments& arguments, ResolvedExperiment& resolved, HostId self, TransportOptions options,
              RunFolder* folder, StatusFile* status, Log& log, Notes& notes) {
  const config::Experiment& experiment = resolved.experiment;
  const bool is_wall = experiment.clock == config::ClockKind::wall_time;
  const std::uint64_t life = options.life = new_life(folder);
  TensorPool pool(options.limits.receive_bytes);
  const OpenTransport sockets = open_transport(options, pool);
  say_started(log, experiment, self);
  if (!sockets.warning.empty()) log.note(sockets.warning);
  Impaired transport(*sockets.transport, impairment_of(experiment), static_cast<std::uint64_t>(experiment.seed) + self.value);
  if (folder && !is_wall) begin(*folder, experiment, life, log);
  RunArguments quiet = arguments.run;
  quiet.quiet = quiet.quiet || arguments.logs_json;  // so that each line is an object
  ProgressLine line(experiment, quiet.quiet, quiet.colour);
  RunOptions options_of_run = options_for(quiet, experiment, folder, line, notes);
  HostOptions host = host_options(life, folder, status, log);
  Serving serving(quiet.serve, experiment,
                  {"node", experiment.roster[self.value].name, arguments.run.out.string(), arguments.run.origin});
  serving.watch(options_of_run);
  serving.watch(host);
  if (folder && is_wall) {
    host.on_admitted = [&] { begin(*folder, experiment, life, log); };
    host.on_recalled = [&](const Sample& known) { return keep_known_samples(*folder, known); };
  }
  RunResult result = run_host(resolved, options_of_run, host, transport);
  line.finish();
  result.origin = quiet.origin;
  serving.conclude(experiment, result);
  for (const std::string& sentence : result.hosts) log.say({EventLevel::info, "summary", "", {{"text", sentence}}});
  if (folder) {
    // Where nothing was left to do: those of the life that did it.
    const bool has_results = is_wall && result.hosts.empty() && fs::exists(folder->contents() / "summary.json");
    const auto write_status = [&] {
      if (status) status->end(result);
    };
    complete(quiet, resolved, result, *folder, write_status, has_results);
  }
  notes.say_all(result.notes);
  say_ended(log, result, experiment.until);
  const int code = tell_result(quiet, experiment, result);
  serving.finish(code, folder ? arguments.run.out : fs::path{});
  return code;
}

}  // namespace

int node(const NodeArguments& arguments) {
  std::stringstream notes_of_file;
  ResolvedExperiment resolved = resolve(arguments.run.file, overrides_of(arguments.run), notes_of_file);
  const bool is_alone = resolved.experiment.roster.empty();
  const HostId self = select_host(arguments, resolved.experiment);
  if (is_alone) resolved = resolve(resolved.experiment, OwnParts<float>{});  // with the launcher's hosts
  const config::Experiment& experiment = resolved.experiment;
  Log log = make_log(arguments, experiment.roster[self.value].name);
  Notes notes([&log](const std::string& note) { log.note(note); });
  for (std::string line; std::getline(notes_of_file, line);) notes.say(line);
  const bool is_wall = experiment.clock == config::ClockKind::wall_time;
  const auto is_same = [&](const fs::path& file) {
    if (!is_wall || arguments.starts_anew) return false;
    try {
      std::ostringstream nowhere;
      return fingerprint(config::read_experiment(file, {}, nowhere)) == fingerprint(experiment);
    } catch (const std::invalid_argument&) {  // of an older version, or changed by hand
      return false;
    }
  };
  const fs::path& out = arguments.run.out;
  if (!out.empty() && remains_at(out) == Remains::finished && is_same(out / "experiment.toml"))
    return say_finished(out, arguments.run.json);
  std::unique_ptr<RunFolder> folder;
  std::optional<StatusFile> status;
  return told(log, status, [&] {
    TransportOptions options = transport_options(arguments, experiment, self, log);
    if (!out.empty()) folder = std::make_unique<RunFolder>(out, is_same);
    if (folder && is_wall) status.emplace(*folder, experiment, self);
    return take_part(arguments, resolved, self, std::move(options), folder.get(), status ? &*status : nullptr, log, notes);
  });
}

}  // namespace rubato::app
