#include "learning/data/readers.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace rubato {

namespace {

constexpr Shape shape{3, 32, 32};
constexpr std::size_t pixels = 3 * 32 * 32;
constexpr unsigned classes = 10;

void read_records(const std::filesystem::path& path, std::vector<std::uint8_t>& images, LabelColumn& labels, std::size_t limit) {
  FileStream file(path);
  std::uint64_t record = 0;
  for (std::array<unsigned char, 1> label; file.read(label) == 1; ++record) {
    const auto fail = [&](const auto&... what) { file.fail("record ", record, " ", what...); };
    if (label[0] >= classes) fail("has the label ", unsigned{label[0]}, "; allowed are 0 to 9");
    check_stored(file, labels.size() + 1, pixels, limit / 3);  // while it grows, the old and the doubled are there
    labels.numbers.push_back(label[0]);
    const std::size_t got = file.append(images, pixels);
    if (got < pixels) fail("is cut short: it has 1 + ", got, " bytes, a CIFAR-10 record has 3073");
  }
  if (record == 0) file.fail("is empty; a CIFAR-10 file has records of 3073 bytes");
}

}  // namespace

template <class Real>
Table<Real> read_cifar(std::span<const std::filesystem::path> files, std::size_t limit) {
  Table<Real> table;
  std::vector<std::uint8_t> images;
  for (const std::filesystem::path& file : files) read_records(file, images, table.labels, limit);
  table.features = {std::move(images), static_cast<Index>(pixels)};
  table.shape = shape;
  return table;
}

template Table<float> read_cifar(std::span<const std::filesystem::path>, std::size_t);
template Table<double> read_cifar(std::span<const std::filesystem::path>, std::size_t);

}  // namespace rubato
