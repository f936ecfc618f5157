#include "results/sealed_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace rubato {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t digest_bytes = 64;
constexpr std::array checkpoint_mark{'R', 'B', 'C', 'K'};
constexpr std::uint32_t checkpoint_format = 8;
constexpr std::size_t piece_bytes = std::size_t{1} << 18;
constexpr std::string_view name_before = "checkpoint-", name_after = ".rbc", unfinished = "checkpoint.partial";

[[noreturn]] void fail_with(const fs::path& path, const char* what) {
  throw std::system_error(errno, std::generic_category(), std::string("cannot ") + what + " " + path.string());
}

// Where all descriptors are taken one is waited for: connections of strangers are shut down as long as they are short.
template <class Open>
void open_patiently(const fs::path& path, Open opens) {
  constexpr int attempts = 200;
  for (int attempt = 1; !opens(); ++attempt) {
    if ((errno != EMFILE && errno != ENFILE) || attempt == attempts) fail_with(path, "open");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

OpenFile new_file(const fs::path& path) {
  OpenFile file;
  open_patiently(path, [&] { return file.reset(std::fopen(path.c_str(), "wbe")), file != nullptr; });
  return file;
}

void sync(const fs::path& path, int flags) {
  int file = -1;
  open_patiently(path, [&] { return (file = ::open(path.c_str(), flags | O_CLOEXEC)) >= 0; });
  const int result = ::fsync(file);
  const int fault = errno;
  ::close(file);
  errno = fault;
  if (result != 0) fail_with(path, "write");
}

}  // namespace

void sync_file(const fs::path& file) { sync(file, O_WRONLY); }

// ---- writing

SealedWriter::SealedWriter(const fs::path& file) : path_{file}, file_{new_file(file)} {}

void SealedWriter::write(std::span<const std::byte> bytes) {
  if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail_with(path_, "write");
}

void SealedWriter::add(std::span<const std::byte> bytes) {
  digest_.add(bytes);
  write(bytes);
}

void SealedWriter::add_list(std::span<const std::byte> bytes) {
  add_value(std::uint64_t{bytes.size()});
  add(bytes);
}

void SealedWriter::seal() {
  const std::string digest = digest_.hex();
  write(std::as_bytes(std::span{digest}));
  if (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0) fail_with(path_, "write");
}

// ---- reading

SealedReader::SealedReader(const fs::path& file) : path_{file} {
  if (!fs::is_regular_file(file)) throw BadArchive("it is no file");
  const std::uint64_t size = fs::file_size(file);
  if (size < digest_bytes) throw BadArchive("it ends too early");
  file_.reset(std::fopen(file.c_str(), "rbe"));
  if (!file_) throw BadArchive(std::string("it cannot be read: ") + std::strerror(errno));
  Sha256 digest;
  left_ = size - digest_bytes;
  while (left_ > 0) digest.add(take(std::min<std::uint64_t>(left_, piece_bytes)));
  std::string sealed(digest_bytes, ' ');
  read(reinterpret_cast<std::byte*>(sealed.data()), digest_bytes);
  if (sealed != digest.hex()) throw BadArchive("its bytes are not those that were written");
  std::rewind(file_.get());
  left_ = size - digest_bytes;
}

void SealedReader::read(std::byte* to, std::size_t count) {
  if (count > 0 && std::fread(to, 1, count, file_.get()) != count) throw BadArchive("it cannot be read");
}

std::span<const std::byte> SealedReader::take(std::uint64_t count) {
  if (count > left_) throw BadArchive("it ends too early");
  piece_.resize(count);
  read(piece_.data(), count);
  left_ -= count;
  return piece_;
}

std::span<const std::byte> SealedReader::take_list() {
  std::uint64_t length = 0;
  std::memcpy(&length, take(sizeof length).data(), sizeof length);
  return take(length);
}

// ---- the series

fs::path SealedSeries::file(std::uint64_t number) const { return folder_ / fmt::format("{}{}{}", name_before, number, name_after); }

std::vector<std::uint64_t> SealedSeries::numbers() const {
  std::vector<std::uint64_t> numbers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    std::uint64_t number = 0;
    if (!name.starts_with(name_before) || !name.ends_with(name_after)) continue;
    const char* const first = name.data() + name_before.size();
    const char* const last = name.data() + name.size() - name_after.size();
    const auto [end, fault] = std::from_chars(first, last, number);
    if (fault == std::errc{} && end == last) numbers.push_back(number);
  }
  std::ranges::sort(numbers, std::greater{});
  return numbers;
}

void SealedSeries::remove_unfinished() const {
  std::error_code none;  // if it stays the next writer begins it anew
  fs::remove(folder_ / unfinished, none);
}

void SealedSeries::write(std::uint64_t number, const std::function<void(SealedWriter&)>& fill) const {
  fs::create_directories(folder_);
  const fs::path partial = folder_ / unfinished;
  {
    SealedWriter writer(partial);
    fill(writer);
    writer.seal();
  }
  const std::vector<std::uint64_t> others = numbers();
  for (const std::uint64_t other : others)
    if (other > number) fs::remove(file(other));
  fs::rename(partial, file(number));
  sync(folder_, O_RDONLY | O_DIRECTORY);
  bool is_one_before = true;
  for (const std::uint64_t other : others)
    if (other < number && !std::exchange(is_one_before, false)) fs::remove(file(other));
}

// ---- checkpoints

void write_checkpoint_head(SealedWriter& writer, RunClock clock, std::string_view experiment) {
  Archive head;
  auto mark = checkpoint_mark;
  std::uint32_t format = checkpoint_format;
  head(mark, format, clock);
  writer.add(head.bytes());
  writer.add_list(std::as_bytes(std::span{experiment}));
}

std::string read_checkpoint_head(SealedReader& reader, RunClock clock) {
  auto mark = checkpoint_mark;
  std::uint32_t format = 0;
  Archive(reader.take(sizeof mark + sizeof format))(mark, format);
  if (mark != checkpoint_mark) throw BadArchive("it is no checkpoint");
  if (format != checkpoint_format)
    throw std::invalid_argument(fmt::format("{} was written by another version of Rubato (format {}, this one knows {})",
                                            reader.path().string(), format, checkpoint_format));
  RunClock found{};
  Archive(reader.take(sizeof found))(found);
  const auto name = [](RunClock one) { return one == RunClock::real_time ? "real time" : "virtual time"; };
  if (found != clock)
    throw std::invalid_argument(
        fmt::format("{} is of a run in {}, and this one is in {}", reader.path().string(), name(found), name(clock)));
  const auto experiment = reader.take_list();
  return {reinterpret_cast<const char*>(experiment.data()), experiment.size()};
}

}  // namespace rubato
