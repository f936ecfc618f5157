#include "actors/summary.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace rubato {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: what diverged is null.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json messages(const RunResult& result) {
  const MessageCounts& counts = result.messages;
  return {{"sent", counts.sent},
          {"delivered", counts.kept},
          {"lost", counts.lost},
          {"late", counts.late},
          {"capped", counts.capped},
          {"superseded", counts.superseded},
          {"duplicates", counts.duplicates},
          {"resyncs", counts.resyncs},
          {"under_way", result.under_way},
          {"models", result.model_messages}};
}

Json accuracy(const Sample& sample) {
  return {{"mean", finite(sample.accuracy_mean)},
          {"std", finite(sample.accuracy_deviation)},
          {"mean_model", finite(sample.accuracy_mean_model)},
          {"f1_macro", finite(sample.f1_macro)},
          {"f1_macro_mean_model", finite(sample.f1_macro_mean_model)}};
}

Json stationarity(const Sample& sample) {
  if (!sample.stationarity) return nullptr;
  return {{"per_client", finite(sample.stationarity->per_client)},
          {"prox_gradient", finite(sample.stationarity->prox_gradient)},
          {"consensus", finite(sample.stationarity->consensus)},
          {"tracking", finite(sample.stationarity->tracking)}};
}

}  // namespace

std::uint64_t wire_bytes(const Traffic& traffic) { return traffic.bytes + traffic.messages * frame_bytes; }

std::string version() { return RUBATO_VERSION; }

std::string summary_json(const config::Experiment& experiment, const RunResult& result) {
  const Sample last = result.samples.empty() ? Sample{} : result.samples.back();
  const double wall = std::max(result.wall_seconds, 1e-9);
  const Json json = {
      {"rubato", version()},
      {"experiment", experiment.name},
      {"algorithm", experiment.algorithm.name},
      {"clock", std::string(config::name_of(experiment.clock))},
      {"threads", result.threads},
      {"seed", experiment.seed},
      {"clients", result.clients},
      {"dimension", result.dimension},
      {"precision", std::string(config::name_of(experiment.precision))},
      {"model_digest", result.digests.model},
      {"timeline_digest", result.digests.timeline},
      {"arithmetic", result.arithmetic},
      {"stopped_early", result.was_stopped},
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
      {"evaluation_seconds", result.evaluation_seconds},
      {"efficiency", result.efficiency()},
      {"peak_rss_bytes", result.peak_rss_bytes},
      {"peak_payload_bytes", result.peak_payload_bytes},
      {"messages", messages(result)},
      {"bytes",
{{"wire", wire_bytes(result.traffic)}, {"paper_bits", result.traffic.paper_bits}}},
      {"gradients", result.traffic.gradients},
      {"cumulated_delay", result.cumulated_delay},
      {"accuracy", accuracy(last)},
      {"loss", {{"mean", finite(last.loss_mean)}, {"mean_model", finite(last.loss_mean_model)}}},
      {"consensus", finite(last.consensus)},
      {"consensus_mean", finite(last.consensus_mean)},
      {"stationarity", stationarity(last)},
      {"staleness_seconds", {{"mean", result.staleness_mean}, {"p95", result.staleness_p95}}},
      {"invariants", {{"mass_defect", last.defect.name.empty() ? Json(nullptr) : finite(last.defect.size)}}},
      {"record_cut", result.record_was_cut},
      {"notes", result.notes}};
  return json.dump(1) + "\n";
}

Digests digests_of_summary(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    return {json.at("model_digest").get<std::string>(), json.at("timeline_digest").get<std::string>()};
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(std::string("summary.json is damaged: ") + error.what());
  }
}

}  // namespace rubato
