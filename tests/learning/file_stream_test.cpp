#include "learning/data/file_stream.hpp"

#include <doctest/doctest.h>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::complaint;
using test::contains;
using test::Folder;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes noise(std::size_t size) {
  Stream stream(1, {0}, Purpose::noise);
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(stream.below(50));
  return bytes;
}

Bytes contents(const std::filesystem::path& file) {
  FileStream stream(file);
  Bytes bytes;
  stream.append(bytes, std::size_t{1} << 20);
  CHECK(stream.is_at_end());
  CHECK(stream.position() == bytes.size());
  return bytes;
}

std::string reading(const std::filesystem::path& file) {
  return complaint([&] { contents(file); });
}

Bytes twice(const Bytes& bytes) {
  Bytes both = bytes;
  both.insert(both.end(), bytes.begin(), bytes.end());
  return both;
}

}  // namespace

TEST_CASE("a file is read plain or compressed, in one stretch or several, whatever its name") {
  const Folder folder;
  const Bytes bytes = noise(300'000), gzip = test::gzipped(bytes), xz = test::xz_packed(bytes);
  CHECK(contents(folder.write("plain", bytes)) == bytes);
  CHECK(contents(folder.write("once", gzip)) == bytes);
  CHECK(contents(folder.write("twice.gz", twice(gzip))) == twice(bytes));
  CHECK(contents(folder.write("once.xz", xz)) == bytes);
  CHECK(contents(folder.write("twice.xz", twice(xz))) == twice(bytes));
  CHECK(contents(folder.write("empty", std::string{})).empty());
}

TEST_CASE("small pieces join up to the same contents") {
  const Folder folder;
  const Bytes bytes = noise(100'000);
  for (const auto& packed : {bytes, test::gzipped(bytes), test::xz_packed(bytes)}) {
    FileStream stream(folder.write("f", packed));
    Bytes joined, piece(777);
    for (std::size_t got = piece.size(); got == piece.size();) {
      CHECK(stream.position() == joined.size());
      stream.is_at_end();  // looking ahead loses nothing
      got = stream.read(piece);
      joined.insert(joined.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
    }
    CHECK(joined == bytes);
  }
}

TEST_CASE("a compressed file cut anywhere is refused as cut short") {
  const Folder folder;
  for (const Bytes& whole : {test::gzipped(noise(1000)), test::xz_packed(noise(1000))}) {
    for (std::size_t length = 6; length < whole.size(); ++length) {
      CAPTURE(length);
      REQUIRE(contains(reading(folder.write("cut", std::span(whole).first(length))), "cut: is cut short"));
    }
  }
}

TEST_CASE("corrupt compressed data and trailing bytes are refused") {
  const Folder folder;
  Bytes gzip = test::gzipped(noise(1000)), longer = gzip, xz = test::xz_packed(noise(1000));
  longer.push_back('x');
  gzip[gzip.size() - 6] ^= 1;  // inside the check sum
  xz[xz.size() / 2] ^= 1;
  CHECK(contains(reading(folder.write("bad.gz", gzip)), "bad.gz: the compressed data are corrupt"));
  CHECK(contains(reading(folder.write("bad.xz", xz)), "bad.xz: the compressed data are corrupt"));
  CHECK(contains(reading(folder.write("long.gz", longer)), "long.gz: has trailing bytes after its compressed data"));
}

TEST_CASE("no more is kept than was asked for, however much a file unfolds to") {
  const Folder folder;
  const auto bomb = folder.write("bomb.gz", test::gzipped(Bytes(20'000'000, 7)));
  FileStream stream(bomb);
  Bytes some;
  CHECK(stream.append(some, 1000) == 1000);
  CHECK(some == Bytes(1000, 7));
  CHECK_FALSE(stream.is_at_end());
}

TEST_CASE("a missing file and a folder are refused by name") {
  const Folder folder;
  CHECK(contains(reading(folder.path() / "nowhere"), "nowhere: cannot be opened"));
  CHECK(contains(reading(folder.path()), "is a folder, not a file"));
}
