#include "actors/virtual/run_checkpoint.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "experiment/digest.hpp"
#include "runtime/archive.hpp"

namespace rubato {

namespace fs = std::filesystem;

namespace {

constexpr std::array run_mark{'R', 'B', 'C', 'V'};
constexpr std::uint32_t run_format = 3;

}  // namespace

void RunIdentity::archive(Archive& archive) {
  archive(rubato), archive(experiment), archive(arithmetic), archive(data), archive(is_checked);
}

void RunCheckpoint::archive(Archive& archive) {
  identity.archive(archive);
  archive(number), archive(at), archive(steps), archive(events), archive(timeline);
  answers.archive(archive);
  archive(wall_seconds), archive(math_seconds), archive(evaluation_seconds), archive(peak_payload_bytes);
  archive(samples_bytes), archive(samples_digest);
  archive.optional(last_sample, [&](Sample& sample) { sample.archive(archive); });
  archive(clients), archive(payloads);
}

void RunCheckpointFile::write_head(SealedWriter& writer, RunCheckpoint& head) {
  Archive archive;
  auto mark = run_mark;
  std::uint32_t format = run_format;
  archive.raw(mark.data(), mark.size());
  archive(format);
  head.archive(archive);
  writer.add_list(archive.bytes());
}

RunCheckpoint RunCheckpointFile::read_head(SealedReader& reader) {
  Archive archive(reader.take_list());
  auto mark = run_mark;
  std::uint32_t format = 0;
  archive.raw(mark.data(), mark.size());
  if (mark != run_mark) throw BadArchive("it is no checkpoint of a virtual run");
  archive(format);
  if (format != run_format)
    throw std::invalid_argument("it was written by another version of Rubato (format " + std::to_string(format) +
                                ", this one knows " + std::to_string(run_format) + ")");
  RunCheckpoint head;
  head.archive(archive);
  archive.expect_end();
  return head;
}

std::string digest_of_start(const fs::path& file, std::uint64_t bytes) {
  const auto close = [](std::FILE* stream) { std::fclose(stream); };
  const std::unique_ptr<std::FILE, decltype(close)> stream(std::fopen(file.c_str(), "rb"), close);
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

FoundRunCheckpoint find_run_checkpoint(const fs::path& folder, const fs::path& samples_file) {
  FoundRunCheckpoint found;
  const SealedSeries series(folder);
  for (const std::uint64_t number : series.numbers()) {
    const fs::path file = series.file(number);
    try {
      SealedReader reader(file);
      RunCheckpoint head = RunCheckpointFile::read_head(reader);
      if (digest_of_start(samples_file, head.samples_bytes) != head.samples_digest)
        throw BadArchive(samples_file.string() + " does not begin as it did");
      found.newest = {file, std::move(head)};
      break;
    } catch (const BadArchive& fault) {
      found.notes.push_back(file.string() + " is damaged and passed over: " + fault.what());
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(file.string() + ": " + error.what());
    }
  }
  return found;
}

}  // namespace rubato
