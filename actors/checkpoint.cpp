#include "actors/checkpoint.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "actors/digest.hpp"
#include "runtime/archive.hpp"

namespace rubato {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "checkpoints are little endian");

namespace {

constexpr std::array magic{'R', 'B', 'C', 'K'};
constexpr std::uint32_t version = 1;
constexpr std::size_t digest_bytes = 64;
constexpr std::string_view name_before = "checkpoint-", name_after = ".rbc";

fs::path place_of_number(const fs::path& folder, std::uint64_t number) {
  return folder / (std::string(name_before) + std::to_string(number) + std::string(name_after));
}

// ---- writing ---------------------------------------------------------------------------------------------------------

// A file or a folder that the disk is asked to keep.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : path_{path}, number_{::open(path.c_str(), flags | O_CLOEXEC, 0666)} {
    if (number_ < 0) fail("open");
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(number_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("write");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  void sync() {
    if (::fsync(number_) != 0) fail("write");
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw std::system_error(errno, std::generic_category(), std::string("cannot ") + what + " " + path_.string());
  }

  fs::path path_;
  int number_;
};

// A file that ends with the digest of what it holds.
class SealedFile {
 public:
  explicit SealedFile(const fs::path& path) : file_{path, O_WRONLY | O_CREAT | O_TRUNC} {}

  void add(std::span<const std::byte> bytes) {
    digest_.add(bytes);
    file_.write(bytes);
  }
  void seal() {
    const std::string digest = digest_.hex();
    file_.write(std::as_bytes(std::span{digest}));
    file_.sync();
  }

 private:
  Descriptor file_;
  Sha256 digest_;
};

// What stands before the states, by one function for both ways.
void head(Archive& archive, std::string& experiment, Checkpoint& checkpoint) {
  archive(experiment);
  archive(checkpoint.number);
  archive(checkpoint.epoch);
}

void write_list(SealedFile& file, std::span<const std::byte> bytes) {
  std::uint64_t length = bytes.size();
  Archive archive;
  archive(length);
  file.add(archive.bytes());
  file.add(bytes);
}

void write_all(SealedFile& file, std::string_view experiment, const Checkpoint& checkpoint) {
  Archive start;
  auto mark = magic;
  std::uint32_t format = version;
  std::string of(experiment);
  Checkpoint numbers{.number = checkpoint.number, .epoch = checkpoint.epoch, .host = {}, .clients = {}};
  start.raw(mark.data(), mark.size());
  start(format);
  head(start, of, numbers);
  file.add(start.bytes());
  write_list(file, checkpoint.host);
  std::uint64_t count = checkpoint.clients.size();
  file.add(std::as_bytes(std::span{&count, 1}));
  for (const Checkpoint::Part& part : checkpoint.clients) {
    file.add(std::as_bytes(std::span{&part.client.value, 1}));
    write_list(file, part.state);
  }
  file.seal();
}

// ---- reading ---------------------------------------------------------------------------------------------------------

// The numbers of the checkpoints in a folder, the newest first.
std::vector<std::uint64_t> numbers_in(const fs::path& folder) {
  std::vector<std::uint64_t> numbers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    std::uint64_t number = 0;
    if (!name.starts_with(name_before) || !name.ends_with(name_after)) continue;
    const char* const first = name.data() + name_before.size();
    const char* const last = name.data() + name.size() - name_after.size();
    const auto [end, fault] = std::from_chars(first, last, number);
    if (fault == std::errc{} && end == last) numbers.push_back(number);
  }
  std::sort(numbers.rbegin(), numbers.rend());
  return numbers;
}

std::vector<std::byte> bytes_of(const fs::path& file) {
  if (!fs::is_regular_file(file)) throw BadArchive("it is no file");
  std::vector<std::byte> bytes(fs::file_size(file));
  std::ifstream stream(file, std::ios::binary);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!stream) throw BadArchive("it cannot be read");
  return bytes;
}

// What lies before the digest, which must be right.
std::span<const std::byte> unsealed(const std::vector<std::byte>& bytes) {
  if (bytes.size() < digest_bytes) throw BadArchive("it ends too early");
  const auto contents = std::span(bytes).first(bytes.size() - digest_bytes);
  Sha256 digest;
  digest.add(contents);
  if (std::memcmp(digest.hex().data(), contents.data() + contents.size(), digest_bytes) != 0)
    throw BadArchive("its bytes are not those that were written");
  return contents;
}

struct ReadCheckpoint {
  std::uint32_t version = 0;
  std::string experiment;
  Checkpoint checkpoint;
};

// Throws BadArchive if the file is damaged. Of another version nothing else is read.
ReadCheckpoint read(const fs::path& file) {
  const std::vector<std::byte> bytes = bytes_of(file);
  Archive archive(unsealed(bytes));
  ReadCheckpoint found;
  auto mark = magic;
  archive.raw(mark.data(), mark.size());
  if (mark != magic) throw BadArchive("it is no checkpoint");
  archive(found.version);
  if (found.version != version) return found;
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
  if (found.version != version)
    throw std::invalid_argument(file.string() + " was written by another version of Rubato (format " +
                                std::to_string(found.version) + ", this one knows " + std::to_string(version) + ")");
  if (found.experiment != experiment)
    throw std::invalid_argument(file.string() + " belongs to another experiment (digest " + found.experiment +
                                ", this one has " + std::string(experiment) + "); choose another folder or remove it");
}

}  // namespace

void CheckpointFile::write(const fs::path& folder, std::string_view experiment, const Checkpoint& checkpoint) {
  fs::create_directories(folder);
  const fs::path place = place_of_number(folder, checkpoint.number), partial = folder / "checkpoint.partial";
  {
    SealedFile file(partial);
    write_all(file, experiment, checkpoint);
  }
  const std::vector<std::uint64_t> others = numbers_in(folder);
  for (const std::uint64_t number : others)
    if (number > checkpoint.number) fs::remove(place_of_number(folder, number));
  fs::rename(partial, place);
  Descriptor(folder, O_RDONLY | O_DIRECTORY).sync();
  bool is_one_before = true;
  for (const std::uint64_t number : others)
    if (number < checkpoint.number && !std::exchange(is_one_before, false)) fs::remove(place_of_number(folder, number));
}

FoundCheckpoint CheckpointFile::read_newest(const fs::path& folder, std::string_view experiment) {
  FoundCheckpoint found;
  for (const std::uint64_t number : numbers_in(folder)) {
    const fs::path file = place_of_number(folder, number);
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
