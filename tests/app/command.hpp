// The command `rubato` in a process of its own, and the files around it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/files.hpp"

namespace rubato::test {

using Arguments = std::vector<std::string>;

/// How long a test waits for what must happen: generous, because only a failing test waits so long.
inline constexpr std::chrono::seconds patience{180};

struct Ended {
  int code = 0;  ///< exit code; 128 + the signal's number, as a shell says, if one ended it
  bool by_signal = false;
  std::string out, err;
};

/// A command that runs. Whoever forgets it ends it.
class Command {
 public:
  struct Where {
    std::filesystem::path folder = "/";  ///< working directory
    std::string out;                     ///< a file for standard output instead of our own
  };
  explicit Command(const Arguments& arguments) : Command(arguments, Where{}) {}
  Command(const Arguments& arguments, const Where& where);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  void send(int signal) const;
  pid_t process() const { return process_; }
  bool is_running();
  std::string out() const;
  std::string err() const;
  /// True once the program handles this signal itself, as the kernel sees it.
  bool catches(int signal) const;
  /// Waits for the end; after `limit` it is forced and the code is -1.
  Ended wait(std::chrono::seconds limit = patience);

 private:
  Folder streams_;
  pid_t process_ = -1;
  bool has_ended_ = false;
  int status_ = 0;
};

/// From start to end.
Ended run_rubato(const Arguments& arguments, const Command::Where& where = {});

/// Looks again and again until the condition holds; false after `limit`.
bool becomes_true(const std::function<bool()>& condition, std::chrono::seconds limit = patience);

/// The quick start's file in this repository.
std::string quickstart();

/// A file with a small experiment in this folder: six clients, eight numbers each, a few milliseconds.
std::string small_experiment(const Folder& folder);

}  // namespace rubato::test
