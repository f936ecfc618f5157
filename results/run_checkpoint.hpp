// RunCheckpoint: a virtual run at an instant, on disk: what its timing cannot tell again when it is walked once more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/divergence.hpp"
#include "results/evaluation.hpp"
#include "results/sealed_file.hpp"
#include "runtime/archive.hpp"
#include "runtime/payload.hpp"
#include "runtime/time.hpp"

namespace rubato {

/// What must agree between the life of a run that wrote a checkpoint and the one that goes on from it.
struct RunIdentity {
  std::string rubato;      ///< version
  std::string experiment;  ///< fingerprint; in the checkpoint's head
  std::string arithmetic;
  std::string data;         ///< digest of samples and start model
  bool is_checked = false;  ///< takes the samples of --check

  void archive(Archive& archive) { archive(rubato, arithmetic, data, is_checked); }
};

/// What the clients of a run have answered to the questions of its timing, one bit each.
class Answers {
 public:
  std::size_t size() const { return count_; }
  void add(bool yes) {
    if (count_ % 8 == 0) bits_.push_back(0);
    if (yes) bits_.back() = static_cast<std::uint8_t>(bits_.back() | 1u << count_ % 8);
    ++count_;
  }
  bool operator[](std::size_t i) const { return bits_[i / 8] >> i % 8 & 1; }

  void archive(Archive& archive) {
    archive(count_, bits_);
    if (bits_.size() != count_ / 8 + (count_ % 8 > 0)) throw BadArchive("the answers are not as many as they should be");
  }

 private:
  std::uint64_t count_ = 0;
  std::vector<std::uint8_t> bits_;
};

/// What a checkpoint says before the states of the clients and the payloads under way.
struct RunCheckpoint {
  RunIdentity identity;
  std::uint64_t number = 0;
  Time at{};  ///< events up to this instant have happened
  std::uint64_t steps = 0;
  std::uint64_t events = 0;
  std::string timeline;     ///< digest of the steps so far
  Answers answers;          ///< to the questions so far
  double wall_seconds = 0;  ///< of all lives so far, like the next three
  double math_seconds = 0;
  double message_seconds = 0;
  double evaluation_seconds = 0;
  std::uint64_t peak_payload_bytes = 0;
  std::uint64_t samples_bytes = 0;  ///< of the file of samples
  std::string samples_digest;       ///< of these bytes
  std::optional<Sample> last_sample;
  std::vector<double> stop_values;  ///< that metrics.stop looks at, the oldest first
  Divergences divergences;          ///< in all samples so far
  std::uint64_t clients = 0;
  std::uint64_t payloads = 0;

  void archive(Archive& archive);
};

/// A checkpoint in a folder: a sealed file (sealed_file.hpp) with a checkpoint's head and then lists, each behind its
/// length: RunCheckpoint, each client's state, and the payloads under way, each behind its name.
struct RunCheckpointFile {
  std::filesystem::path file;
  RunCheckpoint head;

  /// Throws BadArchive, and what read_checkpoint_head() throws.
  static RunCheckpoint read_head(SealedReader& reader);
  static void write_head(SealedWriter& writer, RunCheckpoint& head);
};

/// SHA-256 of the first bytes of a file. Throws BadArchive if it is shorter or cannot be read.
std::string digest_of_start(const std::filesystem::path& file, std::uint64_t bytes);

/// The newest one whose samples the file still has, and samples.part, which has so many, where there is one. Throws
/// std::invalid_argument if another version of Rubato or a run in real time wrote the newest.
FoundCheckpoint<RunCheckpointFile> find_run_checkpoint(const std::filesystem::path& folder,
                                                       const std::filesystem::path& samples_file,
                                                       std::optional<std::uint64_t> scored = {});

}  // namespace rubato
