// What every program of this folder understands: an experiment file, some options, --json.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"

namespace rubato::bench {

using Json = nlohmann::ordered_json;

struct Command {
  std::filesystem::path file;
  std::vector<std::string> set;
  std::filesystem::path data;
  unsigned threads = 1;
  bool json = false;
};

/// FILE, --set, --data, --threads and --json.
void add_options(CLI::App& app, Command& command);

/// Notes about the experiment go nowhere.
Experiment read(const Command& command);

/// One line of JSON, or one line per value.
void print(const Json& result, const Command& command);

/// Runs a program's body with its command line read; what it throws becomes a line on stderr and exit code 1.
int run_main(CLI::App& app, int argc, char** argv, const std::function<void()>& body);

/// Memory of this process in RAM now, and at most so far. From /proc/self/status: 0 if that is missing.
std::uint64_t resident_bytes();
std::uint64_t peak_resident_bytes();

}  // namespace rubato::bench
