#include "experiment/file/fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

#include "experiment/digest.hpp"
#include "experiment/file/keys.hpp"
#include "learning/data/file_stream.hpp"
#include "learning/data/named_sets.hpp"
#include "runtime/checksum.hpp"

namespace rubato {

namespace {

// What the timing follows is compared whole: hosts that differ would wait for each other without end.
std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  return "/" + sha256_of(content);
}

// Data may be large, and lie elsewhere on each machine.
std::string name_and_size_of(const std::filesystem::path& path) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(path, absent);
  return "/" + path.filename().string() + (absent ? "" : "-" + std::to_string(size));
}

// The same whether it is compressed or not.
std::string data_of(const std::filesystem::path& path) try {
  FileStream file(path);
  std::vector<unsigned char> piece(std::size_t{1} << 20);
  std::uint64_t sum = 0, length = 0;
  while (const std::size_t size = file.read(piece)) {
    sum = joined_checksum(sum, checksum(std::as_bytes(std::span{piece}.first(size))));
    length += size;
  }
  return fmt::format("{}, {} bytes, checksum {:016x}", path.filename().string(), length, sum);
} catch (const std::invalid_argument&) {  // reading the data will say it
  return path.filename().string();
}

using DataText = std::string (*)(const std::filesystem::path&);

// In the place of every file of a table and of the tables in it stands what is compared of it.
void compare_files(config::Table& table, const std::string& path, DataText data_text) {
  for (auto& [name, value] : table.entries) {
    const config::Key* key = config::find_key(path, name);
    if (!key) continue;  // an option that no algorithm has
    if (key->type == config::Type::table) compare_files(*value.as<config::Table>(), config::dotted(path, name), data_text);
    if (key->type == config::Type::tables)
      for (config::Value& element : *value.as<config::List>())
        compare_files(*element.as<config::Table>(), std::string(key->element), data_text);
    if (key->type != config::Type::file || value.is_text("none") || value.is_text("")) continue;
    const std::string file = *value.as<std::string>();
    value = {path == "data" || path == "model" ? data_text(file) : content_of(file)};
  }
}

// Short enough to be sent and shown, and another one for another value.
std::string shown(const config::Value& value) {
  constexpr std::size_t most = 100, beginning = 60;
  const auto* name = value.as<std::string>();
  const std::string text = name ? *name : config::to_toml(value);
  if (text.size() <= most) return text;
  return fmt::format("{}... (checksum {:016x})", text.substr(0, beginning), checksum(std::as_bytes(std::span{text})));
}

void add_parts(const config::Table& table, const std::string& path, std::vector<FingerprintPart>& parts) {
  for (const auto& [name, value] : table.entries) {
    const std::string whole = path.empty() ? name : config::dotted(path, name);
    if (const auto* inner = value.as<config::Table>())
      add_parts(*inner, whole, parts);
    else
      parts.push_back({whole, shown(value)});
  }
}

config::Table common_tree(const config::Experiment& experiment, DataText data_text) {
  config::Experiment common = experiment;
  common.record = {};
  common.limits = {};
  common.hosts = {};
  common.impaired = {};
  for (config::Host& host : common.roster) {
    host.address = "tcp://*";
    host.bind.reset();
    host.public_key.reset();
  }
  config::Table root = config::tree_of(common);
  compare_files(root, "", data_text);
  return root;
}

}  // namespace

Fingerprint fingerprint_of(const config::Experiment& experiment, const std::filesystem::path& data_dir) {
  const config::Table root = common_tree(experiment, data_of);
  std::string text = config::to_document(root);
  Fingerprint all;
  add_parts(root, "", all.parts);
  if (std::ranges::count(dataset_names(), experiment.data.name) > 0)
    for (const std::filesystem::path& file : files_of_dataset(experiment.data.name, data_dir)) {
      const std::string name = "data." + experiment.data.name + "." + file.stem().string();
      all.parts.push_back({name, data_of(file)});
      text += name + all.parts.back().value + "\n";
    }
  const auto is_long = [](const FingerprintPart& part) {
    return std::max(part.name.size(), part.value.size()) > longest_fingerprint_part;
  };
  if (all.parts.size() > most_fingerprint_parts || std::ranges::any_of(all.parts, is_long)) all.parts.clear();
  all.sum = sha256_of(text);
  return all;
}

std::string fingerprint(const config::Experiment& experiment) {
  return sha256_of(config::to_document(common_tree(experiment, name_and_size_of)));
}

}  // namespace rubato
