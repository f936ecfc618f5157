// A run in one JSON object: what `--json` prints and summary.json holds.
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "results/run_result.hpp"

namespace rubato {

/// Bytes of a frame around its tensors: header and checksum of the wire format.
inline constexpr std::uint64_t frame_bytes = 64;

/// Bytes on the wire: payloads and a frame for each message.
inline std::uint64_t wire_bytes(const Traffic& traffic) { return traffic.bytes + traffic.messages * frame_bytes; }

/// The version of this library.
std::string version();

/// The commit that it was configured at; empty where that is not known.
std::string commit();

/// The text of summary.json; docs/run-folder.md explains its keys.
std::string summary_json(const config::Experiment& experiment, const RunResult& result);

/// What a summary that was written earlier says of the run's end.
struct RecordedEnd {
  Digests digests;               ///< of the whole run
  std::vector<ClientId> absent;  ///< clients that were away at the end
  bool was_stopped = false;      ///< before it was meant to
  std::string gathered_by;       ///< the host whose summary covers all clients; empty: this one
};

/// Throws std::runtime_error if the text says nothing of an end.
RecordedEnd end_of_summary(const std::string& json);

}  // namespace rubato
