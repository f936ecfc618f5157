#include "tests/app/command.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace rubato::test {

Command::Command(const Arguments& arguments, const Where& where) {
  std::vector<std::string> words{RUBATO_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string out = where.out.empty() ? (streams_ / "out").string() : where.out;
  const std::string err = streams_ / "err";
  int until_exec[2];  // closed by the kernel when the program has taken the place of our copy
  if (pipe2(until_exec, O_CLOEXEC) != 0) std::abort();
  process_ = fork();
  if (process_ != 0) {
    close(until_exec[1]);
    char nothing;
    while (read(until_exec[0], &nothing, 1) < 0) {
    }
    close(until_exec[0]);
    return;
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGFPE, SIGILL}) std::signal(signal, SIG_DFL);
  const int to_out = open(out.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int to_err = open(err.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int from = open("/dev/null", O_RDONLY);
  if (dup2(from, 0) < 0 || dup2(to_out, 1) < 0 || dup2(to_err, 2) < 0 || chdir(where.folder.c_str()) != 0) _exit(126);
  unsetenv("RUBATO_DATA");
  execv(words[0].c_str(), pointers.data());
  _exit(127);
}

Command::~Command() {
  if (has_ended_) return;
  kill(process_, SIGKILL);
  waitpid(process_, &status_, 0);
}

void Command::send(int signal) const {
  if (!has_ended_) kill(process_, signal);  // else the number may be another's
}

bool Command::is_running() {
  if (!has_ended_) has_ended_ = waitpid(process_, &status_, WNOHANG) == process_;
  return !has_ended_;
}

std::string Command::out() const { return text_of(streams_ / "out"); }
std::string Command::err() const { return text_of(streams_ / "err"); }

bool Command::catches(int signal) const {
  std::istringstream status(text_of("/proc/" + std::to_string(process_) + "/status"));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigCgt:")) return std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1;
  return false;
}

Ended Command::wait(std::chrono::seconds limit) {
  if (!becomes_true([this] { return !is_running(); }, limit)) return {-1, false, out(), err()};
  const bool by_signal = WIFSIGNALED(status_);
  return {by_signal ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_), by_signal, out(), err()};
}

Ended run_rubato(const Arguments& arguments, const Command::Where& where) { return Command(arguments, where).wait(); }

bool becomes_true(const std::function<bool()>& condition, std::chrono::seconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // between two looks
  }
  return true;
}

std::string quickstart() { return RUBATO_SOURCE_DIR "/examples/quickstart.toml"; }

std::string small_experiment(const Folder& folder) {
  write_text(folder / "small.toml", R"(name = "small"
seed = 1
until = 30.5

[clients]
count = 6

[topology]
kind = "ring"

[algorithm]
name = "draco"
eta = 0.05
self_apply = true

[data]
name = "quadratic"
dimension = 8

[model]
name = "quadratic"
)");
  return folder / "small.toml";
}

}  // namespace rubato::test
