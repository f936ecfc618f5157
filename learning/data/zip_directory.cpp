#include "learning/data/zip_directory.hpp"

#include <algorithm>
#include <fstream>
#include <span>

#include "runtime/sentence.hpp"

namespace rubato {

namespace {

constexpr std::uint32_t local_mark = 0x04034b50, central_mark = 0x02014b50, end_mark = 0x06054b50;
constexpr std::uint32_t end64_mark = 0x06064b50, locator64_mark = 0x07064b50;
constexpr std::size_t local_size = 30, central_size = 46, end_size = 22, end64_size = 56, locator64_size = 20;
constexpr std::size_t longest_comment = 65535;
constexpr std::size_t most_entries = 10000, largest_directory = 4 << 20;
constexpr std::uint16_t zip64_extra = 1;
constexpr std::uint32_t in_zip64 = 0xffffffff;

using Bytes = std::vector<unsigned char>;

// Little-endian; the caller knows that it is there.
std::uint64_t number_at(std::span<const unsigned char> bytes, std::size_t place, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = size; i-- > 0;) number = number << 8 | bytes[place + i];
  return number;
}

/// A file of which any stretch can be read.
class Archive {
 public:
  explicit Archive(const std::filesystem::path& path) : path_{path}, stream_{path, std::ios::binary} {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) || !stream_) fail("cannot be opened");
    size_ = std::filesystem::file_size(path);
  }
  std::uint64_t size() const { return size_; }
  template <class... What>
  [[noreturn]] void fail(const What&... what) const {
    refuse(path_.string(), ": ", what...);
  }

  Bytes read(std::uint64_t offset, std::size_t length) {
    if (offset > size_ || length > size_ - offset) fail("is a damaged zip archive: it refers to what is beyond its end");
    Bytes bytes(length);
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(length));
    if (!stream_) fail("cannot be read");
    return bytes;
  }

 private:
  std::filesystem::path path_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
};

struct Directory {
  std::uint64_t entries;
  std::uint64_t size;
  std::uint64_t offset;
};

Directory find_directory(Archive& archive) {
  if (archive.size() < end_size) archive.fail("is not a zip archive: it is too short");
  const std::uint64_t length = std::min<std::uint64_t>(archive.size(), end_size + longest_comment);
  const Bytes tail = archive.read(archive.size() - length, length);
  std::size_t place = tail.size() - end_size + 1;
  while (place > 0 && number_at(tail, place - 1, 4) != end_mark) --place;
  if (place-- == 0) archive.fail("is not a zip archive, or is cut short: its directory is missing");
  const Directory directory{number_at(tail, place + 10, 2), number_at(tail, place + 12, 4), number_at(tail, place + 16, 4)};
  if (directory.offset != in_zip64 && directory.entries != 0xffff) return directory;
  if (place < locator64_size || number_at(tail, place - locator64_size, 4) != locator64_mark) return directory;
  const Bytes end64 = archive.read(number_at(tail, place - locator64_size + 8, 8), end64_size);
  if (number_at(end64, 0, 4) != end64_mark) archive.fail("is a damaged zip archive: its zip64 directory is missing");
  return {number_at(end64, 32, 8), number_at(end64, 40, 8), number_at(end64, 48, 8)};
}

// Sizes that do not fit into 32 bits stand in an extra field, in this order, and only those that do not fit.
void widen(ZipEntry& entry, std::span<const unsigned char> extra) {
  while (extra.size() >= 4) {
    const std::size_t length = std::min<std::size_t>(number_at(extra, 2, 2), extra.size() - 4);
    std::span<const unsigned char> field = extra.subspan(4, length);
    const auto take = [&](std::uint64_t& number) {
      if (number != in_zip64 || field.size() < 8) return;
      number = number_at(field, 0, 8);
      field = field.subspan(8);
    };
    if (number_at(extra, 0, 2) == zip64_extra) take(entry.length), take(entry.stored_length), take(entry.header_offset);
    extra = extra.subspan(4 + length);
  }
}

Coding coding_of_method(const Archive& archive, std::uint64_t method, const std::string& name) {
  if (method == 0) return Coding::plain;
  if (method == 8) return Coding::deflate;
  archive.fail("holds ", name.substr(0, 80), " compressed by method ", method, "; allowed are 0 (stored) and 8 (deflated)");
}

}  // namespace

std::vector<ZipEntry> read_zip_directory(const std::filesystem::path& path) {
  Archive archive(path);
  const Directory directory = find_directory(archive);
  if (directory.entries > most_entries || directory.size > largest_directory)
    archive.fail("has ", directory.entries, " entries; allowed are 10000");
  const Bytes bytes = archive.read(directory.offset, directory.size);
  std::vector<ZipEntry> entries;
  std::span<const unsigned char> rest = bytes;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    const auto damaged = [&] { archive.fail("is a damaged zip archive: its directory is cut short"); };
    if (rest.size() < central_size || number_at(rest, 0, 4) != central_mark) damaged();
    const std::size_t name = number_at(rest, 28, 2), extra = number_at(rest, 30, 2), comment = number_at(rest, 32, 2);
    if (rest.size() < central_size + name + extra + comment) damaged();
    ZipEntry entry{{rest.begin() + central_size, rest.begin() + static_cast<std::ptrdiff_t>(central_size + name)},
                   Coding::plain,
                   number_at(rest, 20, 4),
                   number_at(rest, 24, 4),
                   static_cast<std::uint32_t>(number_at(rest, 16, 4)),
                   number_at(rest, 42, 4)};
    if (number_at(rest, 8, 2) & 1) archive.fail("holds encrypted files");
    entry.coding = coding_of_method(archive, number_at(rest, 10, 2), entry.name);
    widen(entry, rest.subspan(central_size + name, extra));
    entries.push_back(std::move(entry));
    rest = rest.subspan(central_size + name + extra + comment);
  }
  return entries;
}

Section section_of(const std::filesystem::path& path, const ZipEntry& entry) {
  Archive archive(path);
  const Bytes header = archive.read(entry.header_offset, local_size);
  if (number_at(header, 0, 4) != local_mark)
    archive.fail("is a damaged zip archive: " + entry.name.substr(0, 80) + " is not where its directory says");
  const std::uint64_t offset = entry.header_offset + local_size + number_at(header, 26, 2) + number_at(header, 28, 2);
  if (offset > archive.size() || entry.stored_length > archive.size() - offset)
    archive.fail("is a damaged zip archive: " + entry.name.substr(0, 80) + " goes beyond its end");
  return {offset, entry.stored_length, entry.coding, entry.length, entry.checksum};
}

}  // namespace rubato
