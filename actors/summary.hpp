// A run in one JSON object: what `--json` prints and summary.json holds.
#pragma once

#include <string>

#include "actors/config.hpp"
#include "actors/experiment.hpp"

namespace rubato {

/// Bytes of a frame around its tensors: header and checksum of the wire format.
inline constexpr std::uint64_t frame_bytes = 64;

/// Bytes on the wire: payloads and a frame for each message.
std::uint64_t wire_bytes(const Traffic& traffic);

/// The version of this library.
std::string version();

std::string summary_json(const config::Experiment& experiment, const RunResult& result);

/// The two digests of a summary that was written earlier. Throws std::runtime_error if the text has none.
Digests digests_of_summary(const std::string& json);

}  // namespace rubato
