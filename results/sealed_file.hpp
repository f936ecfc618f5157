// Sealed files: a series of numbered files in a folder, each ending with the digest of what it holds, so that whatever
// is read is what was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/digest.hpp"
#include "runtime/archive.hpp"
#include "runtime/record.hpp"

namespace rubato {

/// Asks the disk to keep what was written to a file. Throws std::system_error.
void sync_file(const std::filesystem::path& file);

using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

/// Takes a file's bytes piece by piece; memory does not grow with the file. Throws std::system_error where the disk
/// does not take them.
class SealedWriter {
 public:
  explicit SealedWriter(const std::filesystem::path& file);

  void add(std::span<const std::byte> bytes);
  /// A number as it lies in memory.
  template <class Number>
  void add_value(Number number) {
    add(std::as_bytes(std::span{&number, 1}));
  }
  /// Bytes behind their length.
  void add_list(std::span<const std::byte> bytes);
  /// Once, at the end: the digest, and the disk is asked to keep it all.
  void seal();

 private:
  void write(std::span<const std::byte> bytes);

  std::filesystem::path path_;
  OpenFile file_;
  Sha256 digest_;
};

/// Gives a file's bytes back in pieces of the reader's choice.
class SealedReader {
 public:
  /// Reads the whole file once. Throws BadArchive, a sentence about "it", unless the digest is that of the bytes
  /// before.
  explicit SealedReader(const std::filesystem::path& file);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t bytes_left() const { return left_; }
  /// The next so many bytes, until the next call. Throws BadArchive if there are fewer.
  std::span<const std::byte> take(std::uint64_t count);
  /// The next bytes behind their length.
  std::span<const std::byte> take_list();

 private:
  void read(std::byte* to, std::size_t count);

  std::filesystem::path path_;
  OpenFile file_;
  std::uint64_t left_ = 0;
  std::vector<std::byte> piece_;
};

/// "checkpoint-7.rbc" and its like in a folder, of which the two newest are kept.
class SealedSeries {
 public:
  explicit SealedSeries(std::filesystem::path folder) : folder_{std::move(folder)} {}

  std::filesystem::path file(std::uint64_t number) const;
  /// Those there are, the newest first.
  std::vector<std::uint64_t> numbers() const;
  /// `fill` writes the contents. They are written beside their place and renamed when the disk has them; files of
  /// higher numbers are of an abandoned branch and go. Whenever the process ends, the newest or the one before is
  /// intact. Makes the folder. Throws std::system_error if the disk does not take it.
  void write(std::uint64_t number, const std::function<void(SealedWriter&)>& fill) const;
  /// Removes what a writer that was killed has left.
  void remove_unfinished() const;

 private:
  std::filesystem::path folder_;
};

/// The two kinds of runs whose checkpoints have these names.
enum class RunClock : std::uint8_t { virtual_time, real_time };

/// How every checkpoint begins: "RBCK", the version of the format (4 bytes), the clock (1 byte) and the fingerprint of
/// the experiment behind its length (8 bytes), little endian.
void write_checkpoint_head(SealedWriter& writer, RunClock clock, std::string_view experiment);
/// The fingerprint. Throws BadArchive if it is no checkpoint, std::invalid_argument, with the file, if another version
/// of Rubato or a run by the other clock wrote it.
std::string read_checkpoint_head(SealedReader& reader, RunClock clock);

/// The newest intact checkpoint of a folder, if there is one, and a sentence about each newer one that is damaged.
template <class Contents>
struct FoundCheckpoint {
  std::optional<Contents> newest;
  std::vector<std::string> notes;
};

/// `read` makes the contents of a SealedReader, or throws BadArchive.
template <class Contents, class Read>
FoundCheckpoint<Contents> find_checkpoint(const std::filesystem::path& folder, Read read) {
  FoundCheckpoint<Contents> found;
  const SealedSeries series(folder);
  for (const std::uint64_t number : series.numbers()) try {
      SealedReader reader(series.file(number));
      found.newest = read(reader);
      break;
    } catch (const BadArchive& fault) {
      found.notes.push_back(series.file(number).string() + " is damaged and passed over: " + fault.what());
    }
  return found;
}

}  // namespace rubato
