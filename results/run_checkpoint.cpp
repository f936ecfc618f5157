#include "results/run_checkpoint.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "experiment/digest.hpp"
#include "results/sample_scores.hpp"
#include "results/whole_file.hpp"

namespace rubato {

namespace fs = std::filesystem;

void RunCheckpoint::archive(Archive& archive) {
  archive(identity, number, at, steps, events, timeline, answers);
  archive(wall_seconds, math_seconds, message_seconds, evaluation_seconds, peak_payload_bytes);
  archive(samples_bytes, samples_digest, last_sample, stop_values, divergences, clients, payloads);
}

void RunCheckpointFile::write_head(SealedWriter& writer, RunCheckpoint& head) {
  write_checkpoint_head(writer, RunClock::virtual_time, head.identity.experiment);
  Archive archive;
  head.archive(archive);
  writer.add_list(archive.bytes());
}

RunCheckpoint RunCheckpointFile::read_head(SealedReader& reader) {
  RunCheckpoint head;
  head.identity.experiment = read_checkpoint_head(reader, RunClock::virtual_time);
  Archive archive(reader.take_list());
  head.archive(archive);
  archive.expect_end();
  return head;
}

std::string digest_of_start(const fs::path& file, std::uint64_t bytes) {
  const OpenFile stream(std::fopen(file.c_str(), "rbe"));
  if (!stream) throw BadArchive(file.string() + " cannot be read");
  Sha256 digest;
  std::vector<std::byte> piece(std::size_t{1} << 16);
  while (bytes > 0) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, piece.size()));
    if (std::fread(piece.data(), 1, wanted, stream.get()) != wanted) throw BadArchive(file.string() + " is shorter than it was");
    digest.add(std::span(piece).first(wanted));
    bytes -= wanted;
  }
  return digest.hex();
}

namespace {

// Behind the head of metrics.csv.
std::uint64_t samples_in(const fs::path& samples_file, std::uint64_t bytes) {
  const std::string text = read_whole(samples_file).value_or("");
  const std::string_view rows = std::string_view(text).substr(0, bytes);
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::ranges::count(rows, '\n')), 1) - 1;
}

}  // namespace

FoundCheckpoint<RunCheckpointFile> find_run_checkpoint(const fs::path& folder, const fs::path& samples_file,
                                                       std::optional<std::uint64_t> scored) {
  return find_checkpoint<RunCheckpointFile>(folder, [&](SealedReader& reader) {
    RunCheckpoint head = RunCheckpointFile::read_head(reader);
    if (digest_of_start(samples_file, head.samples_bytes) != head.samples_digest)
      throw BadArchive(samples_file.string() + " does not begin as it did");
    if (const std::uint64_t known = samples_in(samples_file, head.samples_bytes); scored && *scored < known)
      throw BadArchive(std::string(scores_file) + " has " + std::to_string(*scored) + " samples, and had " + std::to_string(known));
    return RunCheckpointFile{reader.path(), std::move(head)};
  });
}

}  // namespace rubato
