#include "web/tensorboard.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "results/columns.hpp"
#include "results/whole_file.hpp"
#include "web/run_files.hpp"

namespace rubato::web {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest & 1) != 0 ? rest >> 1 ^ 0x82F6'3B78 : rest >> 1;
    table[byte] = rest;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> crc_table = make_crc_table();

// A checksum of bytes that hold checksums is changed so that it is none of them.
std::uint32_t masked(std::uint32_t crc) { return std::rotr(crc, 15) + 0xA282'EAD8; }

template <class Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>((number >> (8 * i)) & 0xFF);
  return bytes;
}

// Protocol Buffers: a field is its number and its way of being written, then its value.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}
std::string tag(unsigned field, unsigned wire) { return varint(field << 3 | wire); }
std::string count(unsigned field, std::uint64_t value) { return tag(field, 0) + varint(value); }
std::string real(unsigned field, double value) { return tag(field, 1) + little_endian(std::bit_cast<std::uint64_t>(value)); }
std::string real32(unsigned field, float value) { return tag(field, 5) + little_endian(std::bit_cast<std::uint32_t>(value)); }
std::string bytes(unsigned field, std::string_view value) { return tag(field, 2) + varint(value.size()) + std::string(value); }
std::string reals(unsigned field, const std::vector<double>& values) {
  std::string packed;
  for (const double value : values) packed += little_endian(std::bit_cast<std::uint64_t>(value));
  return bytes(field, packed);
}

// Field numbers are those of TensorBoard's event.proto and summary.proto.
namespace event {
constexpr unsigned wall_time = 1, step = 2, file_version = 3, summary = 5;
}
namespace summary {
constexpr unsigned value = 1, tag = 1, simple_value = 2, histogram = 5, tensor = 8, metadata = 9;
}

std::string event_of(double wall_time, std::uint64_t step, const std::string& values) {
  return real(event::wall_time, wall_time) + count(event::step, step) + bytes(event::summary, values);
}

std::string scalar(std::string_view name, double value) {
  return bytes(summary::value, bytes(summary::tag, name) + real32(summary::simple_value, static_cast<float>(value)));
}

std::string text_value(std::string_view name, std::string_view text) {
  constexpr unsigned string_type = 7, plugin_data = 1, plugin_name = 1, type = 1, shape = 2, string_values = 8;
  const std::string metadata = bytes(plugin_data, bytes(plugin_name, "text"));
  const std::string tensor = count(type, string_type) + bytes(shape, "") + bytes(string_values, text);
  return bytes(summary::value, bytes(summary::tag, name) + bytes(summary::tensor, tensor) + bytes(summary::metadata, metadata));
}

std::string histogram(std::string_view name, const std::vector<double>& values) {
  constexpr std::size_t bins = 30;
  constexpr unsigned min = 1, max = 2, number = 3, sum = 4, sum_of_squares = 5, limits = 6, counts = 7;
  const auto [low, high] = std::ranges::minmax(values);
  const double width = high > low ? (high - low) / static_cast<double>(bins) : 1;
  std::vector<double> limit, in_bin(bins);
  double total = 0, squares = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) limit.push_back(low + width * static_cast<double>(bin + 1));
  limit.back() = std::numeric_limits<double>::max();  // as TensorBoard's own: nothing is beyond
  for (const double value : values) {
    ++in_bin[std::min(static_cast<std::size_t>((value - low) / width), bins - 1)];
    total += value, squares += value * value;
  }
  const std::string whole = real(min, low) + real(max, high) + real(number, static_cast<double>(values.size())) + real(sum, total) +
                            real(sum_of_squares, squares) + reals(limits, limit) + reals(counts, in_bin);
  return bytes(summary::value, bytes(summary::tag, name) + bytes(summary::histogram, whole));
}

// "accuracy/mean", "consensus": where summary.json has it; columns that it has not keep their names.
std::string name_of(const SampleColumn& column) {
  return column.summary.empty() ? "counts/" + std::string(column.name) : std::string(column.summary.substr(1));
}

// Of summary.json, or 0 where there is none yet.
double start_of(const fs::path& folder) try {
  const auto summary = nlohmann::json::parse(text_of(folder / "summary.json"));
  std::tm day{};
  const std::string text = summary.value("started_at", "");
  return strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &day) ? static_cast<double>(timegm(&day)) : 0;
} catch (const std::exception&) {
  return 0;
}

std::string samples_of(const fs::path& folder, double start) {
  const Table metrics(folder / "metrics.csv");
  const std::size_t seconds = metrics.column("seconds");
  std::string records;
  for (std::size_t i = 0; i < metrics.rows(); ++i) {
    const auto row = metrics.row(i);
    std::string values;
    for (std::size_t column = 0; column < metrics.columns().size(); ++column) {
      const SampleColumn* known = find_sample_column(metrics.columns()[column]);
      if (known && column != seconds && !std::isnan(row[column])) values += scalar(name_of(*known), row[column]);
    }
    const auto step = static_cast<std::uint64_t>(std::llround(std::max(row[seconds], 0.0) * 1e3));
    records += framed(event_of(start + row[seconds], step, values));
  }
  return records;
}

std::string clients_of(const fs::path& folder, double start) {
  if (!fs::exists(folder / "clients.csv")) return {};
  const Table clients(folder / "clients.csv"), metrics(folder / "metrics.csv");
  const double end = metrics.rows() > 0 ? metrics.row(metrics.rows() - 1)[metrics.column("seconds")] : 0;
  std::string values;
  for (const char* column : {"accuracy", "loss", "computations"}) {
    std::vector<double> of_clients = clients.values_of(clients.column(column));
    std::erase_if(of_clients, [](double value) { return !std::isfinite(value); });
    if (!of_clients.empty()) values += histogram(std::string("clients/") + column, of_clients);
  }
  return values.empty() ? "" : framed(event_of(start + end, static_cast<std::uint64_t>(std::llround(end * 1e3)), values));
}

}  // namespace

std::uint32_t crc32c(std::string_view text) {
  std::uint32_t crc = 0xFFFF'FFFF;
  for (const char letter : text) crc = crc >> 8 ^ crc_table[(crc ^ static_cast<unsigned char>(letter)) & 0xFF];
  return ~crc;
}

std::string framed(std::string_view text) {
  const std::string length = little_endian(std::uint64_t{text.size()});
  return length + little_endian(masked(crc32c(length))) + std::string(text) + little_endian(masked(crc32c(text)));
}

fs::path write_tensorboard(const fs::path& folder, const fs::path& out) {
  const double start = start_of(folder);
  std::string records = framed(real(event::wall_time, start) + bytes(event::file_version, "brain.Event:2"));
  const std::string toml = text_of(folder / "experiment.toml");
  records += framed(event_of(start, 0, text_value("experiment", "```toml\n" + toml + "\n```")));
  records += samples_of(folder, start);
  records += clients_of(folder, start);
  std::error_code error;
  fs::create_directories(out, error);
  if (error) throw std::invalid_argument(out.string() + ": cannot make the folder: " + error.message());
  const fs::path file = out / ("events.out.tfevents." + std::to_string(static_cast<std::uint64_t>(start)) + ".rubato");
  write_whole(file, records);
  return file;
}

}  // namespace rubato::web
