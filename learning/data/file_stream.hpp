// FileStream: the contents of a file from beginning to end, decompressed as they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "learning/data/decoder.hpp"
#include "runtime/sentence.hpp"

namespace rubato {

/// What a reader stores at most, unless it is told otherwise.
inline constexpr std::size_t most_stored_bytes = std::size_t{4} << 30;

/// A stretch of a file that holds another one, with what its contents must be like once they are unfolded.
struct Section {
  std::uint64_t offset;
  std::uint64_t length;  // as it is stored
  Coding coding;
  std::uint64_t contents;  // their length
  std::uint32_t checksum;  // their CRC-32
};

/// Holds a few pieces of 64 KiB, however large the file is and however much it unfolds to. All its faults, and those a
/// reader finds, are std::invalid_argument with a sentence that starts with the file's name.
class FileStream {
 public:
  /// Plain, gzip or xz: its first bytes tell, not its name.
  explicit FileStream(const std::filesystem::path& file);
  /// The end of the file, when it is read, tells whether length and checksum are right.
  FileStream(const std::filesystem::path& file, const Section& section);

  /// Fills `out` with what comes next and says how many bytes that were; fewer only at the end.
  std::size_t read(std::span<unsigned char> out);

  /// Appends the next `count` bytes or, at the end, fewer; says how many. Memory grows with what is there, not with
  /// what was promised.
  std::size_t append(std::vector<std::uint8_t>& out, std::size_t count);

  bool is_at_end();
  /// Bytes read so far.
  std::uint64_t position() const { return position_; }
  const std::string& name() const { return name_; }
  /// Throws such a fault, which these parts say.
  template <class... What>
  [[noreturn]] void fail(const What&... what) const {
    refuse(name_, ": ", what...);
  }

 private:
  void open(const std::filesystem::path& file);
  void refill();
  void note(std::span<const unsigned char> unfolded);
  void check_whole() const;

  std::string name_;
  std::ifstream stream_;
  std::optional<Section> section_;
  std::uint64_t stored_left_ = UINT64_MAX;  // of the section
  std::uint64_t unfolded_ = 0;              // likewise
  std::uint32_t checksum_ = 0;              // likewise
  std::vector<unsigned char> piece_;
  std::span<const unsigned char> stored_;  // of the piece, not yet decoded
  bool is_last_piece_ = false;
  std::unique_ptr<Decoder> decoder_;
  std::uint64_t position_ = 0;
  unsigned char ahead_ = 0;  // read by is_at_end()
  bool has_ahead_ = false;
};

/// Throws, in the name of the file, where `rows` of `row_bytes` are more than `limit`.
void check_stored(const FileStream& file, std::uint64_t rows, std::uint64_t row_bytes, std::size_t limit);

}  // namespace rubato
