#include "learning/data/readers.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace rubato {

namespace {

constexpr std::uint32_t bytes_of_one_dimension = 0x0801;
constexpr std::uint64_t most_numbers_a_row = std::uint64_t{1} << 32;

std::string hexadecimal(std::uint32_t number) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(number));
  return text;
}

std::uint32_t read_number(FileStream& file) {
  std::array<unsigned char, 4> bytes{};
  if (file.read(bytes) < bytes.size()) file.fail("is cut short: its IDX header ends after ", file.position(), " bytes");
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

struct IdxHeader {
  std::uint64_t count;
  std::vector<std::uint64_t> sizes;  // of one item
  std::uint64_t item = 1;            // their product
};

IdxHeader read_idx_header(FileStream& file, std::uint32_t fewest_dimensions, std::uint32_t most_dimensions) {
  const std::uint32_t magic = read_number(file), dimensions = magic - bytes_of_one_dimension + 1;
  if (magic < bytes_of_one_dimension || dimensions < fewest_dimensions || dimensions > most_dimensions) {
    file.fail("starts with " + hexadecimal(magic) + "; an IDX file of " + (most_dimensions > 1 ? "images" : "labels") +
              " starts with " + hexadecimal(bytes_of_one_dimension + fewest_dimensions - 1));
  }
  IdxHeader header{read_number(file), {}};
  for (std::uint32_t d = 1; d < dimensions; ++d) {
    header.sizes.push_back(read_number(file));
    header.item *= header.sizes.back();
    if (header.item > most_numbers_a_row) file.fail("promises items of more than 2^32 bytes");
  }
  if (header.count == 0 || header.item == 0) file.fail("is empty: its header promises no items or none of any size");
  return header;
}

std::vector<std::uint8_t> read_items(FileStream& file, const IdxHeader& header) {
  std::vector<std::uint8_t> items;
  const std::size_t got = file.append(items, header.count * header.item);
  const std::string promised =
      "its header promises " + std::to_string(header.count) + " items of " + std::to_string(header.item) + " bytes, but ";
  if (got < header.count * header.item) file.fail("is cut short: ", promised, got, " bytes follow");
  if (!file.is_at_end()) file.fail("has trailing bytes: " + promised + "more follow");
  return items;
}

Shape shape_of(const std::vector<std::uint64_t>& sizes) {
  const auto size = [&](std::size_t from_behind) {
    return sizes.size() < from_behind ? Index{1} : static_cast<Index>(sizes[sizes.size() - from_behind]);
  };
  return {size(3), size(2), size(1)};
}

}  // namespace

template <class Real>
Table<Real> read_idx(const std::filesystem::path& images, const std::filesystem::path& labels, std::size_t limit) {
  FileStream image_file(images), label_file(labels);
  const IdxHeader of_images = read_idx_header(image_file, 3, 4), of_labels = read_idx_header(label_file, 1, 1);
  if (of_images.count != of_labels.count)
    label_file.fail("has ", of_labels.count, " labels, but ", image_file.name(), " has ", of_images.count, " images");
  check_stored(image_file, of_images.count, of_images.item, limit);
  check_stored(label_file, of_labels.count, 1 + sizeof(double), limit - of_images.count * of_images.item);
  Table<Real> table;
  table.shape = shape_of(of_images.sizes);
  table.features = {read_items(image_file, of_images), table.shape.size()};
  const std::vector<std::uint8_t> numbers = read_items(label_file, of_labels);
  table.labels.numbers.assign(numbers.begin(), numbers.end());
  return table;
}

std::size_t count_idx(const std::filesystem::path& images) {
  FileStream file(images);
  return read_idx_header(file, 3, 4).count;
}

template Table<float> read_idx(const std::filesystem::path&, const std::filesystem::path&, std::size_t);
template Table<double> read_idx(const std::filesystem::path&, const std::filesystem::path&, std::size_t);

}  // namespace rubato
