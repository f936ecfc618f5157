#include "actors/wall/checkpoint.hpp"

#include <array>
#include <bit>
#include <span>
#include <stdexcept>
#include <utility>

#include "actors/core/sealed_file.hpp"
#include "runtime/archive.hpp"

namespace rubato {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "checkpoints are little endian");

namespace {

constexpr std::array state_mark{'R', 'B', 'C', 'K'};
constexpr std::uint32_t state_format = 2;

// What stands before the states, by one function for both ways.
void head(Archive& archive, std::string& experiment, Checkpoint& checkpoint) {
  archive(experiment);
  archive(checkpoint.number);
  archive(checkpoint.epoch);
}

void write_all(SealedWriter& file, std::string_view experiment, const Checkpoint& checkpoint) {
  Archive start;
  auto mark = state_mark;
  std::uint32_t format = state_format;
  std::string of(experiment);
  Checkpoint numbers{.number = checkpoint.number, .epoch = checkpoint.epoch, .host = {}, .clients = {}};
  start.raw(mark.data(), mark.size());
  start(format);
  head(start, of, numbers);
  file.add(start.bytes());
  file.add_list(checkpoint.host);
  std::uint64_t count = checkpoint.clients.size();
  file.add(std::as_bytes(std::span{&count, 1}));
  for (const Checkpoint::Part& part : checkpoint.clients) {
    file.add(std::as_bytes(std::span{&part.client.value, 1}));
    file.add_list(part.state);
  }
}

struct ReadCheckpoint {
  std::uint32_t version = 0;
  std::string experiment;
  Checkpoint checkpoint;
};

// Throws BadArchive if the file is damaged. Of another version nothing else is read.
ReadCheckpoint read(const fs::path& file) {
  SealedReader reader(file);
  Archive archive(reader.take(reader.bytes_left()));
  ReadCheckpoint found;
  auto mark = state_mark;
  archive.raw(mark.data(), mark.size());
  if (mark != state_mark) throw BadArchive("it is no checkpoint");
  archive(found.version);
  if (found.version != state_format) return found;
  head(archive, found.experiment, found.checkpoint);
  archive(found.checkpoint.host);
  archive.list(found.checkpoint.clients, [](Archive& part, Checkpoint::Part& client) {
    part(client.client.value);
    part(client.state);
  });
  archive.expect_end();
  return found;
}

// It is intact; is it ours?
void refuse_foreign(const fs::path& file, const ReadCheckpoint& found, std::string_view experiment) {
  if (found.version != state_format)
    throw std::invalid_argument(file.string() + " was written by another version of Rubato (format " +
                                std::to_string(found.version) + ", this one knows " + std::to_string(state_format) + ")");
  if (found.experiment != experiment)
    throw std::invalid_argument(file.string() + " belongs to another experiment (digest " + found.experiment + ", this one has " +
                                std::string(experiment) + "); choose another folder or remove it");
}

}  // namespace

void CheckpointFile::write(const fs::path& folder, std::string_view experiment, const Checkpoint& checkpoint) {
  SealedSeries(folder).write(checkpoint.number, [&](SealedWriter& file) { write_all(file, experiment, checkpoint); });
}

FoundCheckpoint CheckpointFile::read_newest(const fs::path& folder, std::string_view experiment) {
  FoundCheckpoint found;
  const SealedSeries series(folder);
  for (const std::uint64_t number : series.numbers()) {
    const fs::path file = series.file(number);
    try {
      ReadCheckpoint contents = read(file);
      refuse_foreign(file, contents, experiment);
      found.newest = std::move(contents.checkpoint);
      break;
    } catch (const BadArchive& fault) {
      found.notes.push_back(file.string() + " is damaged and passed over: " + fault.what());
    }
  }
  return found;
}

}  // namespace rubato
