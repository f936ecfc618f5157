// WallCheckpoint: the clients of one host on disk, from which it goes on when it was ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

#include "results/sealed_file.hpp"
#include "runtime/ids.hpp"

namespace rubato {

struct WallCheckpoint {
  std::uint64_t number = 0;  ///< counts up; the save steps that it was made by have the same
  std::map<ClientId, std::vector<std::byte>> states;
  bool operator==(const WallCheckpoint&) const = default;

  /// A file of a SealedSeries, of which the two newest are kept: a checkpoint's head, the number, how many clients
  /// there are (8 bytes each), and of each its id (4 bytes) and its state behind its length. Throws std::system_error
  /// if the disk does not take it.
  void write(const std::filesystem::path& folder, std::string_view experiment) const;
  /// Throws std::invalid_argument if the newest intact one belongs to another experiment, another version of Rubato or
  /// a run in virtual time.
  static FoundCheckpoint<WallCheckpoint> find(const std::filesystem::path& folder, std::string_view experiment);
};

}  // namespace rubato
