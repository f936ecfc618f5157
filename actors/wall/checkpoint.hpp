// Checkpoint: the state of one host on disk, from which it goes on when it was ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ids.hpp"

namespace rubato {

/// What a host needs to go on. The bytes are whatever host and clients have made of their states.
struct Checkpoint {
  struct Part {
    ClientId client;
    std::vector<std::byte> state;
    bool operator==(const Part&) const = default;
  };
  std::uint64_t number = 0;  ///< counts up; the save steps that it was made by have the same
  std::uint64_t epoch = 0;
  std::vector<std::byte> host;
  std::vector<Part> clients;
  bool operator==(const Checkpoint&) const = default;
};

/// The newest intact checkpoint of a folder, if there is one, and a sentence about each newer one that is damaged.
struct FoundCheckpoint {
  std::optional<Checkpoint> newest;
  std::vector<std::string> notes;
};

/// Checkpoints in a folder, one file each: "checkpoint-7.rbc". A file is, little endian,
///
///   bytes   what
///   4       "RBCK"
///   4       version of this format, 2
///   8 + n   digest of the experiment, behind its length
///   8       number
///   8       epoch
///   8 + n   state of the host, behind its length
///   8       how many clients follow
///   each:   4 its id, 8 + n its state, behind its length
///   64      SHA-256 of everything before, in hexadecimal
class CheckpointFile {
 public:
  /// Written beside its place and renamed when the disk has it. It and the one before are kept, those of higher numbers
  /// are of an abandoned branch and go; whenever the process ends, the newest or the one before is intact. Makes the
  /// folder. Throws std::system_error if the disk does not take it.
  static void write(const std::filesystem::path& folder, std::string_view experiment, const Checkpoint& checkpoint);

  /// Throws std::invalid_argument if the newest intact one belongs to another experiment or another version of Rubato.
  static FoundCheckpoint read_newest(const std::filesystem::path& folder, std::string_view experiment);
};

}  // namespace rubato
