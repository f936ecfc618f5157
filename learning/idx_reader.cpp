#include "learning/idx_reader.hpp"

#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>

#include "learning/gzip.hpp"

namespace rubato {

namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::size_t largest_file = std::size_t{1} << 30;
constexpr std::uint32_t image_magic = 0x0803;
constexpr std::uint32_t label_magic = 0x0801;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw std::invalid_argument(file.string() + ": " + what);
}

std::string hexadecimal(std::uint32_t number) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(number));
  return text;
}

std::uint32_t big_endian(const Bytes& bytes, std::size_t position) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | bytes[position + i];
  return number;
}

/// `count` items of `item_size` bytes after a header.
struct IdxFile {
  Bytes bytes;
  std::size_t count;
  std::size_t item_size;
  std::size_t header;

  const unsigned char* item(std::size_t i) const { return bytes.data() + header + i * item_size; }
};

// Compares by division: the product of three dimensions that a stranger chose may overflow.
void check_length(const std::filesystem::path& file, const IdxFile& idx) {
  const std::size_t body = idx.bytes.size() - idx.header;
  const std::string promised = "its header promises " + std::to_string(idx.count) + " items of " +
                               std::to_string(idx.item_size) + " bytes, but " + std::to_string(body) + " bytes follow";
  if (idx.count == 0 || idx.item_size == 0) fail(file, "is empty: " + promised);
  if (idx.count > body / idx.item_size) fail(file, "is cut short: " + promised);
  if (body != idx.count * idx.item_size) fail(file, "has trailing bytes: " + promised);
}

IdxFile read_idx_file(const std::filesystem::path& file, std::uint32_t magic, std::size_t dimensions) {
  IdxFile idx{read_whole_file(file, largest_file), 0, 1, 4 + 4 * dimensions};
  if (idx.bytes.size() < idx.header) {
    fail(file, "is cut short: an IDX header has " + std::to_string(idx.header) + " bytes, the file " +
                   std::to_string(idx.bytes.size()));
  }
  if (big_endian(idx.bytes, 0) != magic) {
    fail(file, "starts with " + hexadecimal(big_endian(idx.bytes, 0)) + "; an IDX file of " +
                   (magic == image_magic ? "images" : "labels") + " starts with " + hexadecimal(magic));
  }
  idx.count = big_endian(idx.bytes, 4);
  for (std::size_t d = 1; d < dimensions; ++d) idx.item_size *= big_endian(idx.bytes, 4 + 4 * d);
  check_length(file, idx);
  return idx;
}

Label class_of(const std::filesystem::path& file, const IdxFile& labels, std::size_t i, std::uint32_t classes,
               std::uint32_t first_label) {
  const std::uint32_t label = *labels.item(i);
  if (label >= first_label && label - first_label < classes) return label - first_label;
  fail(file, "item " + std::to_string(i) + " is the label " + std::to_string(label) + "; allowed are " +
                 std::to_string(first_label) + " to " + std::to_string(first_label + classes - 1));
}

}  // namespace

template <class Real>
Samples<Real> read_idx(const std::filesystem::path& images, const std::filesystem::path& labels, std::uint32_t classes,
                       std::uint32_t first_label) {
  const IdxFile image_file = read_idx_file(images, image_magic, 3);
  const IdxFile label_file = read_idx_file(labels, label_magic, 1);
  if (image_file.count != label_file.count) {
    fail(labels, "has " + std::to_string(label_file.count) + " labels, but " + images.string() + " has " +
                     std::to_string(image_file.count) + " images");
  }
  Samples<Real> samples;
  samples.features.resize(static_cast<Index>(image_file.count), static_cast<Index>(image_file.item_size));
  const unsigned char* const pixels = image_file.item(0);
  for (Index i = 0; i < samples.features.size(); ++i) samples.features.data()[i] = static_cast<Real>(pixels[i]) / 255;
  for (std::size_t i = 0; i < label_file.count; ++i) {
    samples.labels.push_back(class_of(labels, label_file, i, classes, first_label));
  }
  return samples;
}

template Samples<float> read_idx(const std::filesystem::path&, const std::filesystem::path&, std::uint32_t,
                                 std::uint32_t);
template Samples<double> read_idx(const std::filesystem::path&, const std::filesystem::path&, std::uint32_t,
                                  std::uint32_t);

}  // namespace rubato
