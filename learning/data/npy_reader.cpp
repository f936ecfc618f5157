#include "learning/data/npy_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "learning/data/zip_directory.hpp"
#include "learning/joined.hpp"

namespace rubato {

static_assert(std::endian::native == std::endian::little, "arrays are read as they lie in the file");

namespace {

constexpr std::size_t longest_header = 64 * 1024;
constexpr std::string_view magic = "\x93NUMPY";

struct NpyHeader {
  std::string type;  // such as "f4"
  std::vector<std::uint64_t> sizes;

  std::uint64_t rows() const { return sizes.front(); }
  std::uint64_t item_bytes() const { return static_cast<std::uint64_t>(type[1] - '0'); }
};

std::string read_text(FileStream& file, std::size_t size) {
  std::string text(size, '\0');
  if (file.read({reinterpret_cast<unsigned char*>(text.data()), size}) < size)
    file.fail("is cut short: it ends within the header of its array");
  return text;
}

// What stands behind 'key': up to one of `ends`.
std::string_view value_of(const FileStream& file, std::string_view header, std::string_view key, std::string_view ends) {
  const std::size_t found = header.find("'" + std::string(key) + "':");
  if (found == std::string_view::npos) file.fail("has an array header without '", key, "'");
  std::string_view value = header.substr(found + key.size() + 3);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value.substr(0, value.find_first_of(ends));
}

std::vector<std::uint64_t> sizes_of(const FileStream& file, std::string_view text) {
  std::vector<std::uint64_t> sizes;
  text.remove_prefix(std::min(text.find_first_not_of("( "), text.size()));
  while (!text.empty()) {
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc{}) file.fail("has an array header with an unreadable shape");
    sizes.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  }
  return sizes;
}

NpyHeader read_npy_header(FileStream& file) {
  if (read_text(file, magic.size()) != magic) file.fail("is not a .npy array: it does not start with \\x93NUMPY");
  const std::string version = read_text(file, 2);
  const bool is_first = version[0] == 1;
  if (version[0] < 1 || version[0] > 3) file.fail("has an unknown version of the .npy format; allowed are 1, 2 and 3");
  std::size_t length = 0;
  const std::string bytes = read_text(file, is_first ? 2 : 4);
  for (std::size_t i = bytes.size(); i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > longest_header) file.fail("promises an array header of ", length, " bytes");
  const std::string text = read_text(file, length);
  std::string_view type = value_of(file, text, "descr", ",}");
  type = type.substr(std::min(type.find_first_not_of('\''), type.size()));
  type = type.substr(0, type.find('\''));
  const auto known = {"<f4", "<f8", "<i4", "<i8", "|u1"};
  if (std::find(known.begin(), known.end(), type) == known.end())
    file.fail("has an array of type \"", type.substr(0, 20),
              "\"; allowed are <f4, <f8, <i4, <i8 and |u1, which numpy.ascontiguousarray(a).astype(...) makes");
  if (value_of(file, text, "fortran_order", ",}") != "False")
    file.fail("has an array in Fortran order; numpy.ascontiguousarray makes it one in C order");
  return {std::string(type.substr(1)), sizes_of(file, value_of(file, text, "shape", ")"))};
}

[[noreturn]] void fail_short(const FileStream& file, const NpyHeader& header, std::uint64_t got) {
  file.fail("is cut short: its array has ", header.rows(), " rows, the file ", got);
}

template <class Stored>
double number_at(const unsigned char* bytes) {
  Stored number;
  std::memcpy(&number, bytes, sizeof number);
  return static_cast<double>(number);
}

using Converter = double (*)(const unsigned char*);
Converter converter_of(const NpyHeader& header) {
  if (header.type == "f4") return number_at<float>;
  if (header.type == "f8") return number_at<double>;
  if (header.type == "i4") return number_at<std::int32_t>;
  return header.type == "i8" ? number_at<std::int64_t> : number_at<std::uint8_t>;
}

void check_end(FileStream& file) {
  if (!file.is_at_end()) file.fail("has trailing bytes behind its array");
}

template <class Number>
std::vector<Number> read_numbers(FileStream& file, const NpyHeader& header, std::uint64_t row, BadCells* kept = nullptr) {
  constexpr std::size_t at_once = 64 * 1024;
  // The old memory, which is there beside the new, is to be small.
  constexpr std::size_t first = (std::size_t{64} << 20) / sizeof(Number), growth = 8;
  const Converter converted = converter_of(header);
  const std::uint64_t count = header.rows() * row, size = header.item_bytes();
  std::vector<Number> numbers;
  std::vector<unsigned char> piece(at_once);
  BadCells bad;
  while (numbers.size() < count) {
    const std::size_t wanted = std::min<std::uint64_t>(count - numbers.size(), at_once / size);
    if (numbers.size() + wanted > numbers.capacity())
      numbers.reserve(std::min<std::uint64_t>(count, std::max<std::uint64_t>(growth * numbers.size(), first)));
    const std::size_t got = file.read(std::span(piece).first(wanted * size)) / size;
    for (std::size_t i = 0; i < got; ++i) {
      numbers.push_back(static_cast<Number>(converted(piece.data() + i * size)));
      if (std::isfinite(numbers.back())) continue;
      numbers.back() = std::numeric_limits<Number>::quiet_NaN();
      const std::size_t place = (numbers.size() - 1) / row, column = (numbers.size() - 1) % row + 1;
      bad.add(place, column,
              bad.has_named() ? std::string{}
                              : "row " + std::to_string(place) + " has a number that is not finite or too large in field " +
                                    std::to_string(column));
    }
    if (got < wanted) fail_short(file, header, numbers.size() / row);
  }
  check_end(file);
  if (bad.any() && !kept) throw std::invalid_argument(bad.sentence(file.name()));
  if (kept) *kept = std::move(bad);
  return numbers;
}

Shape shape_of(const FileStream& file, const NpyHeader& header) {
  constexpr std::uint64_t most = std::uint64_t{1} << 32;
  std::array<std::uint64_t, 3> sizes{1, 1, 1};
  const std::size_t dimensions = header.sizes.size();
  if (dimensions < 2 || dimensions > 4)
    file.fail("has an array of ", dimensions,
              " dimensions; allowed are rows x features, rows x height x width and rows x channels x height x width");
  std::copy(header.sizes.begin() + 1, header.sizes.end(), sizes.end() - static_cast<std::ptrdiff_t>(dimensions - 1));
  std::uint64_t product = 1;
  for (const std::uint64_t size : sizes)
    if (size > most || (product *= size) > most) file.fail("has rows of more than 2^32 numbers");
  if (header.rows() == 0 || product == 0) file.fail("has an array without any numbers");
  return {static_cast<Index>(sizes[0]), static_cast<Index>(sizes[1]), static_cast<Index>(sizes[2])};
}

}  // namespace

template <class Real>
FeatureArray<Real> read_npy_features(FileStream file, std::size_t limit, BadCells* bad_cells) {
  const NpyHeader header = read_npy_header(file);
  const Shape shape = shape_of(file, header);
  const auto row = static_cast<std::uint64_t>(shape.size());
  check_stored(file, header.rows(), row * (header.type == "u1" ? 1 : sizeof(Real)), limit);
  if (header.type != "u1") return {{read_numbers<Real>(file, header, row, bad_cells), shape.size()}, shape};
  std::vector<std::uint8_t> bytes;
  const std::size_t got = file.append(bytes, header.rows() * row);
  if (got < header.rows() * row) fail_short(file, header, got / row);
  check_end(file);
  return {{std::move(bytes), shape.size()}, shape};
}

LabelColumn read_npy_labels(FileStream file, std::size_t limit) {
  const NpyHeader header = read_npy_header(file);
  const bool is_column = header.sizes.size() == 2 && header.sizes[1] == 1;
  if (header.sizes.size() != 1 && !is_column)
    file.fail("has an array of ", header.sizes.size(), " dimensions where labels belong; allowed is a number for each row");
  check_stored(file, header.rows(), sizeof(double), limit);
  return {read_numbers<double>(file, header, 1), {}};
}

std::vector<double> read_npy_vector(FileStream file, std::size_t limit) {
  const NpyHeader header = read_npy_header(file);
  const auto is_one = [](std::uint64_t size) { return size == 1; };
  if (header.sizes.empty() ||
      std::count_if(header.sizes.begin(), header.sizes.end(), is_one) + 1 < static_cast<std::ptrdiff_t>(header.sizes.size())) {
    file.fail("has an array of ", header.sizes.size(),
              " dimensions where a row of numbers belongs; allowed is one dimension, or others of size 1");
  }
  const std::uint64_t count = *std::max_element(header.sizes.begin(), header.sizes.end());
  check_stored(file, count, sizeof(double), limit);
  return read_numbers<double>(file, {header.type, {count}}, 1);
}

std::vector<double> read_npy_rows(FileStream file, std::uint64_t rows, std::size_t limit) {
  const NpyHeader header = read_npy_header(file);
  if (header.sizes.size() != 2 || header.rows() != rows)
    file.fail("has an array of ", header.sizes.size(), " dimensions and ", header.rows(),
              " rows; allowed is one of two dimensions, with ", rows, " rows");
  check_stored(file, rows, header.sizes[1] * sizeof(double), limit);
  return read_numbers<double>(file, header, header.sizes[1]);
}

namespace {

const ZipEntry* find_entry(const std::vector<ZipEntry>& entries, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (const ZipEntry& entry : entries)
      if (entry.name == name + ".npy") return &entry;
  return nullptr;
}

}  // namespace

bool has_npz(const std::filesystem::path& archive, const std::vector<std::string>& names) {
  return find_entry(read_zip_directory(archive), names) != nullptr;
}

FileStream open_npz(const std::filesystem::path& archive, const std::vector<std::string>& names) {
  const std::vector<ZipEntry> entries = read_zip_directory(archive);
  if (const ZipEntry* entry = find_entry(entries, names)) return {archive, section_of(archive, *entry)};
  throw std::invalid_argument(archive.string() + ": has the arrays " + joined(entries, &ZipEntry::name) + "; one of " +
                              joined(names, [](const std::string& name) { return name + ".npy"; }) + " is needed");
}

template FeatureArray<float> read_npy_features(FileStream, std::size_t, BadCells*);
template FeatureArray<double> read_npy_features(FileStream, std::size_t, BadCells*);

}  // namespace rubato
