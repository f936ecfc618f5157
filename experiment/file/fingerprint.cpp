#include "experiment/file/fingerprint.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "experiment/digest.hpp"
#include "experiment/file/experiment_file.hpp"

namespace rubato {

namespace {

// What the timing follows is compared whole: hosts that differ would wait for each other without end.
void keep_content(std::filesystem::path& path) {
  if (path.empty()) return;
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  Sha256 sum;
  sum.add(std::as_bytes(std::span{content}));
  path = "/" + sum.hex();
}

// Data may be large, and lie elsewhere on each machine.
void keep_name_and_size(std::filesystem::path& path) {
  if (path.empty()) return;
  std::error_code absent;
  const auto size = std::filesystem::file_size(path, absent);
  path = "/" + path.filename().string() + (absent ? "" : "-" + std::to_string(size));
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
  for (auto* path : {&common.topology.file, &common.clients.compute.file, &common.clients.transmit.file}) keep_content(*path);
  for (auto* path : {&common.data.train, &common.model.module}) keep_name_and_size(*path);
  for (auto* path : {&common.data.train_labels, &common.data.test, &common.data.test_labels, &common.model.init_from})
    if (*path) keep_name_and_size(**path);
  Sha256 sum;
  const std::string text = write_experiment(common);
  sum.add(std::as_bytes(std::span{text}));
  return sum.hex();
}

}  // namespace rubato
