// Three hosts of one run, a, b and c, on this machine: their keys, their file, their processes and what those leave
// behind.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/command.hpp"

namespace rubato::test {

using Names = std::vector<std::string>;

class Party {
 public:
  static inline const Names everybody{"a", "b", "c"};

  /// Makes the keys with `rubato keygen` and the file: the experiment, and a roster of addresses that nobody uses.
  explicit Party(const std::string& experiment);

  /// Another life of a host, if it had one before.
  void start(const std::string& host);
  void start_all(const Names& hosts);
  /// Nothing of it is left but what it has written.
  void kill(const std::string& host);
  void send(const std::string& host, int signal) { process(host).send(signal); }
  Ended wait(const std::string& host);
  /// Ctrl-C at all of them; REQUIREs that each ends with its results.
  void stop(const Names& hosts);
  /// REQUIREs that each comes to the end of the run by itself.
  void finish(const Names& hosts);
  Command& process(const std::string& host) { return *processes_.at(host); }

  /// Where its files are now: until it has ended beside the place they are to have.
  std::filesystem::path folder(const std::string& host) const;
  std::filesystem::path file() const { return home_ / "run.toml"; }
  /// Samples that a host has written, in all of its lives.
  std::size_t samples(const std::string& host) const;
  bool has_checkpoint(const std::string& host) const;
  std::uintmax_t recorded_bytes(const std::string& host) const;
  /// REQUIREs that each of them measures again and again from now on.
  void see_go_on(const Names& hosts);
  /// REQUIREs that each of them measures an accuracy of its own clients that is higher.
  void see_learn(const Names& hosts, double accuracy);
  nlohmann::json summary(const std::string& host) const;

  /// With the folders of all hosts.
  Ended replay(const std::string& first = "a") const;

  Folder& home() { return home_; }

 private:
  Folder home_;
  std::map<std::string, std::unique_ptr<Command>> processes_;
};

/// How many messages that a host has sent in its life `incarnation` (0, 1, ...) the clients of another have merged.
std::size_t merged_from(const std::filesystem::path& record, const std::vector<std::uint32_t>& senders, std::uint32_t incarnation);

/// The models of a run, one row a client, float64.
std::vector<std::vector<double>> models_of(const std::filesystem::path& folder);

}  // namespace rubato::test
