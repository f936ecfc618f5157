// Readers of CIFAR-10 records, NumPy arrays and bare series.
#include <doctest/doctest.h>

#include <cmath>

#include "learning/data/npy_reader.hpp"
#include "learning/data/readers.hpp"
#include "tests/learning/support.hpp"

using namespace rubato;
using test::contains;
using test::Folder;

namespace {

using Bytes = std::vector<unsigned char>;

Table<float> cifar(const Bytes& bytes) {
  const Folder folder;
  return read_cifar<float>(std::array{folder.write("batch", bytes)}, 30'000);
}
FeatureArray<double> npy(const Bytes& bytes) {
  const Folder folder;
  return read_npy_features<double>(FileStream(folder.write("a.npy", bytes)), 1000);
}
std::string npy_fault(const Bytes& bytes) {
  return test::complaint([&] { npy(bytes); });
}

}  // namespace

TEST_CASE("CIFAR-10 records are read from several files, one after the other") {
  const Folder folder;
  const auto table = read_cifar<float>(
      std::array{folder.write("1.bin", test::cifar_bytes(2)), folder.write("2.bin.xz", test::xz_packed(test::cifar_bytes(1)))});
  CHECK(table.shape == Shape{3, 32, 32});
  CHECK(table.labels.numbers == std::vector<double>{0, 1, 0});
  CHECK(table.features.are_bytes());
  CHECK(table.features(1, 3071) == (1 + 3071) % 256);
}

TEST_CASE("faulty CIFAR-10 records are refused with their number") {
  Bytes bytes = test::cifar_bytes(2);
  bytes.pop_back();
  CHECK(contains(test::complaint([&] { cifar(bytes); }), "batch: record 1 is cut short: it has 1 + 3071 bytes"));
  bytes[3073] = 10;
  CHECK(contains(test::complaint([&] { cifar(bytes); }), "batch: record 1 has the label 10; allowed are 0 to 9"));
  CHECK(contains(test::complaint([&] { cifar({}); }), "batch: is empty"));
  CHECK(contains(test::complaint([&] { cifar(test::cifar_bytes(4)); }), "allowed are 10000 bytes"));
}

TEST_CASE("NumPy arrays of every type that is allowed are read") {
  Matrix<double> expected(2, 3);
  expected << 1, 2, 3, 4, 5, 6;
  CHECK(npy(test::npy_of<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6})).features.matrix() == expected);
  CHECK(npy(test::npy_of<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6})).features.matrix() == expected);
  CHECK(npy(test::npy_of<std::int32_t>("<i4", "(2, 3)", {1, 2, 3, 4, 5, 6})).features.matrix() == expected);
  CHECK(npy(test::npy_of<std::int64_t>("<i8", "(2, 3)", {1, 2, 3, 4, 5, 6})).features.matrix() == expected);
  const auto bytes = npy(test::npy_of<std::uint8_t>("|u1", "(2, 1, 3)", {1, 2, 3, 4, 5, 6}));
  CHECK(bytes.features.matrix() == expected);
  CHECK(bytes.features.are_bytes());
  CHECK(bytes.shape == Shape{1, 1, 3});
}

TEST_CASE("NumPy labels are a column of numbers") {
  const Folder folder;
  const auto read = [&](const Bytes& bytes) { return read_npy_labels(FileStream(folder.write("y.npy", bytes)), 1000); };
  CHECK(read(test::npy_of<std::int64_t>("<i8", "(3,)", {-1, 0, 5})).numbers == std::vector<double>{-1, 0, 5});
  CHECK(read(test::npy_of<float>("<f4", "(2, 1)", {0.5, 2})).numbers == std::vector<double>{0.5, 2});
  CHECK(contains(test::complaint([&] { read(test::npy_of<float>("<f4", "(1, 2)", {0.5, 2})); }), "where labels belong"));
}

TEST_CASE("faulty NumPy arrays are refused") {
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  CHECK(contains(npy_fault(test::npy_of<float>("<f4", "(2, 4)", six)), "a.npy: is cut short: its array has 2 rows, the file 1"));
  CHECK(contains(npy_fault(test::npy_of<float>("<f4", "(1, 3)", six)), "has trailing bytes"));
  CHECK(contains(npy_fault(test::npy_of<float>(">f4", "(2, 3)", six)), "has an array of type \">f4\"; allowed are <f4"));
  CHECK(contains(npy_fault(test::npy_of<float>("<f4", "(6,)", six)), "has an array of 1 dimensions"));
  CHECK(contains(npy_fault(test::npy_of<float>("<f4", "(0, 3)", {})), "without any numbers"));
  CHECK(contains(npy_fault(test::npy_of<float>("<f4", "(2, 99999999999999)", six)), "more than 2^32 numbers"));
  CHECK(contains(npy_fault(test::npy_of<float>("<f4", "(1000, 3)", six)), "has 1000 rows of 24 bytes; allowed are 1000"));
  CHECK(contains(npy_fault(test::npy_of<float>("<f4", "(2, 3)", {1, 2, 3, 4, NAN, 6})), "row 1 has a number that is not"));
  CHECK(contains(npy_fault(test::bytes_of("what")), "a.npy: is cut short"));
  CHECK(contains(npy_fault(test::bytes_of("whatever it is")), "is not a .npy array"));
}

TEST_CASE("arrays are found in an archive, stored or deflated, with and without zip64") {
  const Folder folder;
  const std::vector<test::ZipFile> files{{"x.npy", test::npy_of<float>("<f4", "(1, 2)", {1, 2})},
                                         {"y.npy", test::npy_of<std::int64_t>("<i8", "(1,)", {7})}};
  for (const bool is_deflated : {false, true}) {
    for (const bool has_zip64 : {false, true}) {
      const auto archive = folder.write("a.npz", test::zip_of(files, is_deflated, has_zip64));
      CHECK(read_npy_features<float>(open_npz(archive, {"X", "x"})).features(0, 1) == 2);
      CHECK(read_npy_labels(open_npz(archive, {"y"})).numbers == std::vector<double>{7});
      CHECK(has_npz(archive, {"y"}));
      CHECK_FALSE(has_npz(archive, {"x_test"}));
      CHECK(contains(test::complaint([&] {
                       open_npz(archive, {"x_test", "z"});
                     }),
                     "a.npz: has the arrays x.npy, y.npy; one of x_test.npy, z.npy is needed"));
    }
  }
}

TEST_CASE("an array whose bytes or length are not what the archive's directory says is refused") {
  const Folder folder;
  const Bytes array = test::npy_of<float>("<f4", "(1, 2)", {1, 2});
  const auto fault = [&](const Bytes& archive) {
    return test::complaint([&] { read_npy_features<float>(open_npz(folder.write("a.npz", archive), {"x"})); });
  };
  const Bytes whole = test::zip_of({{"x.npy", array}}, false);
  CHECK(fault(whole) == "nothing was thrown");
  Bytes flipped = whole;
  flipped[30 + 5 + array.size() - 2] ^= 1;  // a bit of the last number
  CHECK(contains(fault(flipped), "a.npz: is damaged: the CRC-32"));
  for (const bool is_deflated : {false, true}) {
    Bytes longer = test::zip_of({{"x.npy", array}}, is_deflated);
    ++longer[longer.size() - 22 - 46 - 5 + 24];  // the length in the directory
    CHECK(contains(fault(longer), "bytes; its directory says " + std::to_string(array.size() + 1)));
  }
}

TEST_CASE("a series of floats is read, and refused where it is none") {
  const Folder folder;
  const std::vector<float> numbers{1.5, -2, 1e30f};
  const auto bytes_of = [](const std::vector<float>& list) {
    const auto* first = reinterpret_cast<const unsigned char*>(list.data());
    return Bytes(first, first + list.size() * sizeof(float));
  };
  CHECK(read_series(folder.write("s.gz", test::gzipped(bytes_of(numbers)))) == numbers);
  const auto fault = [&](const Bytes& bytes, std::size_t limit = 300) {
    return test::complaint([&] { read_series(folder.write("s", bytes), limit); });
  };
  CHECK(contains(fault({1, 2, 3}), "s: is cut short"));
  CHECK(contains(fault({}), "s: is empty"));
  CHECK(contains(fault(bytes_of({1, NAN})), "s: number 1 is not finite"));
  CHECK(contains(fault(Bytes(104)), "allowed are 100 bytes"));
}
