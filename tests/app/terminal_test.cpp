// What a terminal sees of a run, at every width.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "app/text/fitted_line.hpp"
#include "tests/app/command.hpp"

using namespace rubato::test;

namespace {

// What the quick start writes to a terminal of so many columns as its standard error.
std::string seen_on_terminal(unsigned short columns, const std::vector<std::pair<std::string, std::string>>& environment) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE(grantpt(terminal) == 0);
  REQUIRE(unlockpt(terminal) == 0);
  const std::string name = ptsname(terminal);
  const std::string file = quickstart();
  const pid_t process = fork();
  if (process == 0) {
    const int errors = open(name.c_str(), O_RDWR | O_NOCTTY);
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    if (errors < 0 || ioctl(errors, TIOCSWINSZ, &size) != 0) _exit(120);
    dup2(errors, STDERR_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    for (const auto& [key, value] : environment) setenv(key.c_str(), value.c_str(), 1);
    execl(RUBATO_COMMAND, "rubato", "run", file.c_str(), "--threads", "1", static_cast<char*>(nullptr));
    _exit(121);
  }
  std::string seen;
  std::array<char, 4096> bytes{};
  int status = 0;
  bool has_ended = false;
  while (true) {
    pollfd ready{.fd = terminal, .events = POLLIN, .revents = 0};
    const bool is_there = poll(&ready, 1, has_ended ? 0 : 50) > 0 && (ready.revents & POLLIN) != 0;
    const ssize_t count = is_there ? read(terminal, bytes.data(), bytes.size()) : 0;
    if (count > 0) seen.append(bytes.data(), static_cast<std::size_t>(count));
    if (count <= 0 && has_ended) break;
    if (!has_ended) has_ended = waitpid(process, &status, WNOHANG) == process;
  }
  close(terminal);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  return seen;
}

// The lines drawn one over the other; what is between two returns of the cursor, without what steers the terminal.
std::vector<std::string> drawn_lines(const std::string& seen) {
  std::vector<std::string> lines{""};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == '\r')
      lines.emplace_back();
    else if (seen[i] == '\x1b')
      i = seen.find_first_of("Km", i);
    else
      lines.back() += seen[i];
  }
  return lines;
}

}  // namespace

TEST_CASE("on a terminal of any width the progress is one line that is drawn again, and gone at the end") {
  for (const unsigned short columns : {120, 80, 40, 20}) {
    CAPTURE(columns);
    const std::string whole = seen_on_terminal(columns, {{"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}});
    CAPTURE(whole);
    const std::string seen = whole.substr(whole.rfind('\n') + 1);
    for (const std::string& line : lines_of(whole.substr(0, whole.size() - seen.size()))) CHECK(line.starts_with("note: "));
    const std::vector<std::string> lines = drawn_lines(seen);
    CHECK(lines.size() > 2);
    for (const std::string& line : lines) CHECK(rubato::app::columns_of(line) < columns);
    CHECK(seen.ends_with("\r\x1b[K"));
  }
}

TEST_CASE("NO_COLOR leaves out colours, a locale without UTF-8 its characters, and a dumb terminal gets plain lines") {
  const std::string coloured = seen_on_terminal(120, {{"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}, {"NO_COLOR", ""}});
  CHECK(contains(coloured, "\x1b[36m"));
  CHECK(contains(coloured, "━"));
  const std::string plain = seen_on_terminal(120, {{"TERM", "xterm"}, {"LC_ALL", "C"}, {"NO_COLOR", "1"}});
  CHECK_FALSE(contains(plain, "\x1b[36m"));
  CHECK_FALSE(contains(plain, "━"));
  CHECK(contains(plain, "#"));
  CHECK_FALSE(contains(seen_on_terminal(120, {{"TERM", "dumb"}}), "\x1b"));
}
