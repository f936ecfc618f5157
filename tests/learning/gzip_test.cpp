#include "learning/gzip.hpp"

#include <doctest/doctest.h>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::complaint;
using test::contains;
using test::Folder;

namespace {

std::vector<unsigned char> noise(std::size_t size) {
  Stream stream(1, {0}, Purpose::noise);
  std::vector<unsigned char> bytes(size);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(stream.below(50));
  return bytes;
}

std::string reading(const std::filesystem::path& file, std::size_t limit = 1 << 20) {
  return complaint([&] { read_whole_file(file, limit); });
}

}  // namespace

TEST_CASE("a file is read whole, plain, compressed, or compressed in several members") {
  const Folder folder;
  const std::vector<unsigned char> bytes = noise(300'000);
  std::vector<unsigned char> twice = test::gzipped(bytes);
  const std::vector<unsigned char> once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  std::vector<unsigned char> bytes_twice = bytes;
  bytes_twice.insert(bytes_twice.end(), bytes.begin(), bytes.end());
  CHECK(read_whole_file(folder.write("plain", bytes), 1 << 20) == bytes);
  CHECK(read_whole_file(folder.write("once.gz", once), 1 << 20) == bytes);
  CHECK(read_whole_file(folder.write("twice.gz", twice), 1 << 20) == bytes_twice);
  CHECK(read_whole_file(folder.write("empty", std::string{}), 0).empty());
}

TEST_CASE("a gzip file cut anywhere is refused as cut short") {
  const Folder folder;
  const std::vector<unsigned char> whole = test::gzipped(noise(1000));
  for (std::size_t length = 2; length < whole.size(); ++length) {
    CAPTURE(length);
    const auto file = folder.write("cut.gz", std::span(whole).first(length));
    REQUIRE(contains(reading(file), "cut.gz: is cut short"));
  }
}

TEST_CASE("a corrupt gzip file and trailing bytes are told apart") {
  const Folder folder;
  std::vector<unsigned char> bytes = test::gzipped(noise(1000));
  std::vector<unsigned char> longer = bytes;
  longer.push_back('x');
  bytes[bytes.size() - 6] ^= 1;  // inside the check sum
  CHECK(contains(reading(folder.write("bad.gz", bytes)), "bad.gz: the gzip data are corrupt"));
  CHECK(contains(reading(folder.write("long.gz", longer)), "long.gz: has trailing bytes after its gzip data"));
}

TEST_CASE("no file gives more bytes than the limit, and a file of just the limit is read") {
  const Folder folder;
  const std::vector<unsigned char> bytes(500'000, 7);
  const auto plain = folder.write("plain", bytes), bomb = folder.write("bomb.gz", test::gzipped(bytes));
  CHECK(contains(reading(plain, 499'999), "holds more than the allowed 499999 bytes"));
  CHECK(contains(reading(bomb, 499'999), "holds more than the allowed 499999 bytes"));
  CHECK(read_whole_file(plain, 500'000).size() == 500'000);
  CHECK(read_whole_file(bomb, 500'000).size() == 500'000);
}

TEST_CASE("a missing file and a folder are refused by name") {
  const Folder folder;
  CHECK(contains(reading(folder.path() / "nowhere"), "nowhere: cannot be opened"));
  CHECK(contains(reading(folder.path()), "is a folder, not a file"));
}
