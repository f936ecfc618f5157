// The record of a run: its steps as they happened, compact, in blocks with checksums, and reading them back.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runtime/step.hpp"

namespace rubato {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using RecordFile = std::unique_ptr<std::FILE, CloseFile>;

/// Writes steps to a file. Errors of the disk are kept and asked for, not thrown: they happen in the middle of a run.
class Recorder {
 public:
  /// Throws std::runtime_error if the file cannot be made. `most_bytes` 0: without limit.
  Recorder(const std::filesystem::path& file, std::uint32_t clients, std::uint64_t most_bytes = 0);
  /// Goes on with a record whose first `intact` bytes are whole blocks; what follows them is cut off.
  static std::unique_ptr<Recorder> go_on(const std::filesystem::path& file, std::uint64_t intact, std::uint64_t most_bytes);
  ~Recorder();

  void add(const Step& step);
  /// Hands everything to the kernel.
  void flush();

  /// What went wrong; empty if nothing did.
  const std::string& error() const { return error_; }
  /// The limit was reached: later steps are missing.
  bool is_cut() const { return is_cut_; }
  std::uint64_t bytes() const { return bytes_ + block_.size(); }

 private:
  Recorder(std::FILE* file, std::string name, std::uint64_t most_bytes);
  void number(std::uint64_t value);
  void write_block();
  void write(const void* data, std::size_t size);

  RecordFile file_;
  std::string name_;
  std::vector<unsigned char> block_;
  std::uint64_t bytes_ = 0;
  std::uint64_t most_bytes_;
  std::int64_t last_at_ = 0;
  double last_weight_ = 1;
  bool is_cut_ = false;
  std::string error_;
};

/// Reads a record step by step. A torn or damaged block ends it.
class RecordReader {
 public:
  /// Throws std::runtime_error if the file cannot be read or is no record.
  explicit RecordReader(const std::filesystem::path& file);

  std::uint32_t clients() const { return clients_; }
  /// The next step, valid until the next call; null at the end.
  const Step* next();
  /// The record ended in a damaged block or was cut at its limit.
  bool is_incomplete() const { return is_incomplete_; }
  /// Bytes of the file up to the end of the last block that was read.
  std::uint64_t intact_bytes() const { return intact_bytes_; }

 private:
  bool read_block();
  bool read_bytes(std::size_t size);
  std::uint64_t number();
  bool decode();

  RecordFile file_;
  std::uint32_t clients_ = 0;
  std::vector<unsigned char> block_;
  std::size_t position_ = 0;
  std::int64_t last_at_ = 0;
  double last_weight_ = 1;
  bool is_incomplete_ = false;
  bool is_damaged_ = false;
  std::uint64_t intact_bytes_ = 0;
  Step step_;
  std::vector<StepEntry> entries_;
};

}  // namespace rubato
