#include "bench/command.hpp"
#include "experiment/file/experiment_file.hpp"

#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>

namespace rubato::bench {

namespace {

// A line such as "VmRSS:     1234 kB".
std::uint64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return 1024 * std::stoull(line.substr(name.size() + 1));
  return 0;
}

}  // namespace

void add_options(CLI::App& app, Command& command) {
  app.add_option("FILE", command.file, "the experiment file (TOML)")->required();
  app.add_option("--set", command.set, "key=value: another value than the file's; may be given again")->allow_extra_args(false);
  app.add_option("--data", command.data, "folder of the data sets; default: $RUBATO_DATA, then ./data");
  app.add_option("--threads", command.threads, "worker threads; default: 1")->check(CLI::Range(1, 1024));
  app.add_flag("--json", command.json, "print one JSON object");
}

Experiment read(const Command& command) {
  std::ostringstream notes;
  return read_experiment(command.file, command.set, notes);
}

void print(const Json& result, const Command& command) {
  if (command.json) {
    std::cout << result.dump() << std::endl;
    return;
  }
  for (const auto& [key, value] : result.items()) std::cout << key << "  " << value.dump() << "\n";
}

int run_main(CLI::App& app, int argc, char** argv, const std::function<void()>& body) {
  CLI11_PARSE(app, argc, argv);
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": " << error.what() << "\n";
    return 1;
  }
}

std::uint64_t resident_bytes() { return status_bytes("VmRSS"); }
std::uint64_t peak_resident_bytes() { return status_bytes("VmHWM"); }

}  // namespace rubato::bench
