#include "results/run_checkpoint.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "experiment/digest.hpp"

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

FoundCheckpoint<RunCheckpointFile> find_run_checkpoint(const fs::path& folder, const fs::path& samples_file) {
  return find_checkpoint<RunCheckpointFile>(folder, [&](SealedReader& reader) {
    RunCheckpoint head = RunCheckpointFile::read_head(reader);
    if (digest_of_start(samples_file, head.samples_bytes) != head.samples_digest)
      throw BadArchive(samples_file.string() + " does not begin as it did");
    return RunCheckpointFile{reader.path(), std::move(head)};
  });
}

}  // namespace rubato
