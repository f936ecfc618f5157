// A run as an event file of TensorBoard: scalars of its samples, histograms of its clients, the text of its experiment.
//
// The file is a sequence of records: length (8 bytes), masked CRC-32C of the length, an Event in Protocol Buffers, masked CRC-32C
// of that; numbers are little-endian. The step of a sample is its instant in milliseconds of the experiment, and its wall time the
// start of the run plus its seconds of the experiment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace rubato::web {

/// CRC-32C (Castagnoli), as in RFC 3720, appendix B.4.
std::uint32_t crc32c(std::string_view bytes);

/// A record as it stands in the file.
std::string framed(std::string_view event);

/// Writes `out`/events.out.tfevents.SECONDS.rubato of the run in `folder`, finished or at work; the file's place. Throws
/// std::invalid_argument where the folder is none of a run, and RunFailed if the disk does not take it.
std::filesystem::path write_tensorboard(const std::filesystem::path& folder, const std::filesystem::path& out);

}  // namespace rubato::web
