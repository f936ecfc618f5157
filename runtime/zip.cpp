#include "runtime/zip.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace rubato {

namespace {

// APPNOTE 6.3: local header, central directory, end of it.
constexpr std::uint32_t local_mark = 0x0403'4b50, central_mark = 0x0201'4b50, end_mark = 0x0605'4b50;
constexpr std::uint16_t reader = 20, first_day = 0x0021;
constexpr std::size_t local_bytes = 30, most_bytes = 0xFFFF'0000;

void add(std::string& text, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i & 255);
}

std::uint64_t number_in(std::string_view text, std::size_t at, int bytes) {
  std::uint64_t number = 0;
  for (int i = 0; i < bytes; ++i)
    number |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)])) << 8 * i;
  return number;
}

// CRC-32 of ISO 3309, by bytes.
constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    table[byte] = byte;
    for (int bit = 0; bit < 8; ++bit) table[byte] = table[byte] >> 1 ^ (table[byte] & 1 ? 0xEDB8'8320u : 0u);
  }
  return table;
}

std::uint32_t checksum(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> table = make_table();
  std::uint32_t sum = ~std::uint32_t{0};
  for (const char byte : bytes) sum = table[(sum ^ static_cast<unsigned char>(byte)) & 255] ^ sum >> 8;
  return ~sum;
}

// What the local header and the directory have alike: from the version that reads it to the length of the extra field.
std::string facts_of(const ZipMember& member) {
  const auto& [name, bytes] = member;
  std::string text;
  add(text, reader, 2);
  add(text, 0, 2 + 2 + 2);  // flags, stored, midnight
  add(text, first_day, 2);
  add(text, checksum(bytes), 4);
  add(text, bytes.size(), 4);
  add(text, bytes.size(), 4);
  add(text, name.size(), 2);
  add(text, 0, 2);
  return text;
}

}  // namespace

std::string zip(const std::vector<ZipMember>& members) {
  std::string archive, directory;
  for (const ZipMember& member : members) {
    const std::string facts = facts_of(member);
    add(directory, central_mark, 4);
    add(directory, reader, 2);
    directory += facts;
    add(directory, 0, 2 + 2 + 2);  // comment, disk, kind
    add(directory, 0, 4);
    add(directory, archive.size(), 4);
    directory += member.first;
    add(archive, local_mark, 4);
    archive += facts + member.first + member.second;
  }
  const std::size_t place = archive.size();
  if (place > most_bytes) throw std::invalid_argument("an archive of 4 GiB or more is not made");
  archive += directory;
  add(archive, end_mark, 4);
  add(archive, 0, 4);
  add(archive, members.size(), 2);
  add(archive, members.size(), 2);
  add(archive, directory.size(), 4);
  add(archive, place, 4);
  add(archive, 0, 2);
  return archive;
}

std::vector<ZipMember> unzip(std::string_view archive) {
  std::vector<ZipMember> members;
  std::string_view left = archive;
  while (left.size() >= local_bytes && number_in(left, 0, 4) == local_mark) {
    const std::size_t bytes = number_in(left, 18, 4), name = number_in(left, 26, 2);
    if (left.size() - local_bytes < name || left.size() - local_bytes - name < bytes) break;
    members.emplace_back(left.substr(local_bytes, name), left.substr(local_bytes + name, bytes));
    left.remove_prefix(local_bytes + name + bytes);
  }
  if (zip(members) != archive) throw std::invalid_argument("the archive is damaged");
  return members;
}

}  // namespace rubato
