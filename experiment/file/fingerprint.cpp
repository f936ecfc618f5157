#include "experiment/file/fingerprint.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "experiment/digest.hpp"
#include "experiment/file/keys.hpp"

namespace rubato {

namespace {

// What the timing follows is compared whole: hosts that differ would wait for each other without end.
std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  Sha256 sum;
  sum.add(std::as_bytes(std::span{content}));
  return "/" + sum.hex();
}

// Data may be large, and lie elsewhere on each machine.
std::string name_and_size_of(const std::filesystem::path& path) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(path, absent);
  return "/" + path.filename().string() + (absent ? "" : "-" + std::to_string(size));
}

// In the place of every file of a table and of the tables in it stands what is compared of it.
void compare_files(config::Table& table, const std::string& path) {
  for (auto& [name, value] : table.entries) {
    const config::Key* key = config::find_key(path, name);
    if (!key) continue;  // an option that no algorithm has
    if (key->type == config::Type::table) compare_files(*value.as<config::Table>(), config::dotted(path, name));
    if (key->type == config::Type::tables)
      for (config::Value& element : *value.as<config::List>())
        compare_files(*element.as<config::Table>(), std::string(key->element));
    if (key->type != config::Type::file || value.is_text("none") || value.is_text("")) continue;
    const std::string file = *value.as<std::string>();
    value = {path == "data" || path == "model" ? name_and_size_of(file) : content_of(file)};
  }
}

}  // namespace

std::string fingerprint(const config::Experiment& experiment) {
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
  compare_files(root, "");
  Sha256 sum;
  const std::string text = config::to_document(root);
  sum.add(std::as_bytes(std::span{text}));
  return sum.hex();
}

}  // namespace rubato
