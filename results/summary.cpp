#include "results/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "experiment/build/learners.hpp"
#include "experiment/client_ranges.hpp"
#include "results/columns.hpp"
#include "results/result_text.hpp"

namespace rubato {

namespace {

ResultJson messages(const RunResult& result) {
  const MessageCounts& counts = result.messages;
  const auto refused = [&](std::uint64_t Screened::*reason) {
    std::uint64_t sum = 0;
    for (const Screened& link : result.screened) sum += link.*reason;
    return sum;
  };
  return {{"sent", counts.sent},
          {"delivered", counts.kept},
          {"lost", counts.lost},
          {"late", counts.late},
          {"capped", counts.capped},
          {"superseded", counts.superseded},
          {"duplicates", counts.duplicates},
          {"resyncs", counts.resyncs},
          {"stale", counts.stale},
          {"not_finite", refused(&Screened::not_finite)},
          {"beyond_norm", refused(&Screened::beyond_norm)},
          {"unauthorised", refused(&Screened::unauthorised)},
          {"unasked", refused(&Screened::unasked)},
          {"under_way", result.is_of_host ? ResultJson() : ResultJson(result.under_way)},  // senders and receivers are not the same
          {"models", result.model_messages},
          {"copies", counts.copies},
          {"lost_to_partition", counts.apart},
          {"lost_to_absence", counts.absent},
          {"surplus", counts.surplus},
          {"misshapen", counts.misshapen},
          {"repeated", counts.repeated},
          {"hand_overs", result.hand_overs},
          {"models_lost", result.models_lost},
          {"lost_between_hosts", result.lost_between_hosts},
          {"from_lost_hosts", result.from_lost_hosts}};
}

ResultJson absences(const std::vector<HostAbsence>& absences) {
  ResultJson made = ResultJson::array();
  for (const HostAbsence& one : absences)
    made.push_back({{"host", one.host}, {"how", one.has_left ? "left" : "lost"}, {"from", one.from}, {"to", or_null(one.to)}});
  return made;
}

ResultJson stationarity(const Sample& sample) {
  if (!sample.stationarity) return nullptr;
  return {{"per_client", finite(sample.stationarity->per_client)},
          {"prox_gradient", finite(sample.stationarity->prox_gradient)},
          {"consensus", finite(sample.stationarity->consensus)},
          {"tracking", finite(sample.stationarity->tracking)}};
}

// Asked for and reached, per second of the experiment, over all clients that were there at the end.
ResultJson rates(const RunResult& result) {
  if (result.paces.empty()) return nullptr;
  Pace sum;
  ResultJson by_client = ResultJson::array();
  double slowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < result.paces.size(); ++i) {
    if (std::find(result.absent.begin(), result.absent.end(), ClientId{static_cast<std::uint32_t>(i)}) != result.absent.end())
      continue;
    const Pace& pace = result.paces[i];
    const auto done = static_cast<double>(result.by_client[i].computations);
    by_client.push_back(
        {{"client", i}, {"requested", pace.requested}, {"achieved", pace.achieved}, {"skipped_ticks", pace.skipped}});
    sum.requested += pace.requested, sum.achieved += pace.achieved, sum.skipped += pace.skipped;
    if (done > 0) slowest = std::min(slowest, done / (done + static_cast<double>(pace.skipped)));
  }
  return {{"requested", sum.requested},
          {"achieved", sum.achieved},
          {"ratio", finite(sum.requested > 0 ? sum.achieved / sum.requested : NAN)},
          {"skipped_ticks", sum.skipped},
          {"lowest_share_of_ticks", finite(slowest)},
          {"by_client", std::move(by_client)}};
}

ResultJson churn(const RunResult& result) {
  if (!result.churn) return nullptr;
  const ChurnCounts& counts = *result.churn;
  return {{"joins", counts.joins},       {"leaves", counts.leaves},          {"crashes", counts.crashes},
          {"restarts", counts.restarts}, {"pauses", counts.pauses},          {"partitions", counts.partitions},
          {"epochs", counts.epochs},     {"messages_to_nobody", counts.lost}};
}

ResultJson rounds(const RunResult& result) {
  if (!result.rounds) return nullptr;
  const Waiting& waiting = result.rounds->waiting;
  return {{"done", result.rounds->done},
          {"attempts", result.messages.sent + result.messages.repeated},
          {"waits_for_computations", waiting.computations},
          {"waits_for_messages", waiting.messages}};
}

ResultJson orders(const RunResult& result) {
  if (!result.orders) return nullptr;
  const OrderCounts& counts = result.orders->counts;
  const auto answers = static_cast<double>(counts.answers());
  ResultJson by_worker = ResultJson::array();
  for (const double mean : result.orders->mean_delay_by_worker) by_worker.push_back(finite(mean));
  return {{"versions", result.orders->versions},
          {"versions_per_second", finite(static_cast<double>(result.orders->versions) / result.virtual_seconds)},
          {"dispatched", counts.dispatched},
          {"answers", counts.answers()},
          {"applied", counts.applied},
          {"ignored", counts.ignored},
          {"superseded", counts.superseded},
          {"cancelled", counts.cancelled},
          {"patience", counts.patience},
          {"delay_mean", finite(static_cast<double>(counts.delays) / answers)},
          {"delay_max", counts.largest_delay},
          {"answers_by_delay", counts.by_delay},
          {"delay_mean_by_worker", by_worker}};
}

ResultJson exchanges(const RunResult& result) {
  if (!result.exchanges) return nullptr;
  const PairTotals& totals = *result.exchanges;
  const PairCounts& counts = totals.counts;
  const double asking = to_seconds(counts.asking);
  const std::size_t clients = result.is_of_host ? result.host_clients.size() : result.clients;
  return {{"begun", counts.begun},
          {"retried", counts.retried},
          {"met", counts.met},
          {"refused", counts.refused},
          {"void", counts.empty},
          {"late", counts.late},
          {"waiting", totals.waiting},
          {"unheard", totals.unheard()},
          {"queued", counts.queued},
          {"skipped", counts.skipped},
          {"timed_out", counts.over},
          {"seconds_mean", finite(asking / static_cast<double>(totals.attempts() - totals.asking))},
          {"busy_share", finite(asking / (static_cast<double>(clients) * result.virtual_seconds))}};
}

ResultJson energy(const RunResult& result) {
  if (!result.energy) return nullptr;
  return {{"joules", result.energy->joules()},
          {"transmit_joules", result.energy->transmitting},
          {"compute_joules", result.energy->computing},
          {"airtime_seconds", result.energy->airtime}};
}

ResultJson diverged(const RunResult& result) {
  ResultJson list = ResultJson::array();
  for (const Divergence& each : result.diverged) list.push_back({{"client", each.client.value}, {"seconds", each.seconds}});
  return list;
}

// Those of this host, or of the run.
std::vector<std::uint32_t> own_clients(const RunResult& result) {
  std::vector<std::uint32_t> own;
  for (const ClientId client : result.host_clients) own.push_back(client.value);
  if (!own.empty()) return own;
  own.resize(result.clients);
  std::iota(own.begin(), own.end(), 0u);
  return own;
}

ResultJson measured(const RunResult& result) {
  std::vector<std::uint32_t> own = own_clients(result);
  if (const auto& drawn = result.samples_plan.measured)
    std::erase_if(own, [&](std::uint32_t client) { return !std::ranges::binary_search(*drawn, ClientId{client}); });
  return ranges_of(own);
}

// Clients with fewer rows than a mini-batch takes.
std::string below_batch(const config::Experiment& experiment, const RunResult& result) {
  std::vector<std::uint32_t> clients;
  if (experiment.data.has_no_rows()) return "";
  const std::vector<std::uint32_t> batches = batches_of(experiment, result.samples_by_client.size());
  for (std::uint32_t i = 0; i < result.samples_by_client.size(); ++i)
    if (result.samples_by_client[i] < batches[i]) clients.push_back(i);
  return ranges_of(clients);
}

ResultJson sampling(const SamplePlan& plan) {
  return {{"clients", plan.clients}, {"rows", plan.rows}, {"expected_samples", plan.samples}, {"expected_share", plan.share}};
}

ResultJson forecast(const RunResult& result) {
  if (!result.forecast) return nullptr;
  return {{"wire_bytes", wire_bytes(*result.forecast)},
          {"paper_bits", result.forecast->paper_bits},
          {"gradients", result.forecast->gradients}};
}

ResultJson numbers_of(const std::vector<ClientId>& clients) {
  ResultJson list = ResultJson::array();
  for (const ClientId client : clients) list.push_back(client.value);
  return list;
}

}  // namespace

std::string version() { return RUBATO_VERSION; }

std::string commit() { return RUBATO_COMMIT; }

ResultJson summary_of(const config::Experiment& experiment, const RunResult& result) {
  const Sample last = result.samples.empty() ? Sample{} : result.samples.back();
  const double wall = std::max(result.wall_seconds, 1e-9);
  ResultJson json = {{"rubato", version()},
                     {"experiment", experiment.name},
                     {"algorithm", experiment.algorithm.name},
                     {"clock", std::string(word_of(experiment.clock))},
                     {"threads", result.threads},
                     {"seed", experiment.seed},
                     {"clients", result.clients},
                     {"dimension", result.dimension},
                     {"precision", std::string(word_of(experiment.precision))},
                     {"model_digest", result.digests.model},
                     {"timeline_digest", result.digests.timeline},
                     {"arithmetic", result.arithmetic},
                     {"stopped_early", result.was_stopped},
                     {"stopped_by", result.stopped_by.empty() ? ResultJson() : ResultJson(result.stopped_by)},
                     {"virtual_seconds", result.virtual_seconds},
                     {"wall_seconds", result.wall_seconds},
                     {"events", result.events},
                     {"events_per_second", static_cast<double>(result.events) / wall},
                     {"steps", result.steps},
                     {"steps_per_second", static_cast<double>(result.steps) / wall},
                     {"computations", result.messages.computations},
                     {"publications", result.messages.publications},
                     {"unifications", result.unifications},
                     {"math_seconds", result.math_seconds},
                     {"message_seconds", or_null(result.message_seconds)},
                     {"evaluation_seconds", result.evaluation_seconds},
                     {"efficiency", result.efficiency()},
                     {"peak_rss_bytes", result.peak_rss_bytes},
                     {"peak_payload_bytes", result.peak_payload_bytes},
                     {"messages", messages(result)},
                     {"bytes", {{"wire", wire_bytes(result.traffic)}, {"paper_bits", result.traffic.paper_bits}}},
                     {"gradients", result.traffic.gradients},
                     {"cumulated_delay", result.cumulated_delay},
                     {"rounds", rounds(result)},
                     {"orders", orders(result)},
                     {"exchanges", exchanges(result)},
                     {"energy", energy(result)},
                     {"accuracy", nullptr},  // the columns of the last sample fill this and the next three
                     {"loss", nullptr},
                     {"consensus", nullptr},
                     {"consensus_mean", nullptr},
                     {"stationarity", stationarity(last)},
                     {"joint_objective", last.joint_objective ? finite(*last.joint_objective) : ResultJson(nullptr)},
                     {"staleness_seconds", {{"mean", result.staleness_mean}, {"p95", result.staleness_p95}}},
                     {"invariants", nullptr},  // likewise
                     {"record_cut", result.record_was_cut},
                     {"rates", rates(result)},
                     {"absent_clients", numbers_of(result.absent)},
                     {"churn", churn(result)},
                     {"diverged_at", or_null(result.diverged_at())},
                     {"diverged_clients", diverged(result)},
                     {"silence", result.silence.empty() ? ResultJson(nullptr) : ResultJson(result.silence)},
                     {"gathered_by", result.gathered_by},
                     {"hosts", result.hosts},
                     {"host_absences", absences(result.host_absences)},
                     {"notes", result.notes},
                     {"command", result.origin.command},
                     {"started_at", result.origin.started_at},
                     {"machine", result.origin.machine},
                     {"commit", commit()},
                     {"measured_clients", measured(result)},
                     {"clients_below_batch", below_batch(experiment, result)},
                     {"class_names", result.class_names.empty() ? ResultJson(nullptr) : ResultJson(result.class_names)},
                     {"sampling", sampling(result.samples_plan)},
                     {"host", result.host},
                     {"host_clients", result.host_clients.empty() ? "" : ranges_of(own_clients(result))},
                     {"forecast", forecast(result)}};
  for (const SampleColumn& column : sample_columns())
    if (!column.summary.empty()) json[ResultJson::json_pointer(std::string(column.summary))] = finite(to_double(column.read(last)));
  return json;
}

std::string summary_json(const config::Experiment& experiment, const RunResult& result) {
  return summary_of(experiment, result).dump(1, ' ', false, ResultJson::error_handler_t::replace) + "\n";
}

RecordedEnd end_of_summary(const std::string& text) {
  try {
    const ResultJson json = ResultJson::parse(text);
    RecordedEnd end{{json.at("model_digest").get<std::string>(), json.at("timeline_digest").get<std::string>()},
                    {},
                    json.value("stopped_early", false),
                    json.value("gathered_by", "")};
    for (const ResultJson& client : json.value("absent_clients", ResultJson::array()))
      end.absent.push_back({client.get<std::uint32_t>()});
    return end;
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(std::string("summary.json is damaged: ") + error.what());
  }
}

}  // namespace rubato
