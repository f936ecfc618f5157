#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thread>

#include "app/commands.hpp"
#include "app/signals.hpp"
#include "app/text/run_view.hpp"
#include "web/live/fetch.hpp"
#include "web/live/folder_run.hpp"
#include "web/live/router.hpp"

namespace rubato::app {

namespace {

constexpr const char* usual_place = "http://127.0.0.1:8080/";
constexpr std::chrono::milliseconds between_pages{500};
constexpr std::chrono::seconds between_rows{5};

// What is asked: a server, or a folder through the same paths.
Fetch asking(const std::string& place) {
  if (place.starts_with("http://"))
    return [server = web::parse_url(place)](const std::string& target) { return web::fetch(server, target); };
  const auto runs = web::runs_at(place);
  if (runs.size() != 1) throw std::invalid_argument(place + " is neither a URL that begins with http:// nor the folder of one run");
  struct Asked {
    web::ServerCounts counts;
    web::Gate gate{"", {}};
    web::Router router;
    explicit Asked(const std::filesystem::path& run) : router{{std::make_shared<web::FolderRun>(run)}, gate, counts} {}
  };
  return [asked = std::make_shared<Asked>(runs.front())](const std::string& target) {
    return asked->router.answer({"GET", target, {"localhost", {}, {}, {}}}).body;
  };
}

// Another screen of the terminal without a cursor, and keys as they are pressed; all as before when it goes.
class Screen {
 public:
  Screen() {
    is_raw_ = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &before_) == 0;
    if (is_raw_) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    std::fputs("\x1b[?1049h\x1b[?25l", stdout);
  }
  ~Screen() {
    std::fputs("\x1b[?25h\x1b[?1049l", stdout);
    std::fflush(stdout);
    if (is_raw_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void draw(const std::vector<std::string>& lines) const {
    std::string text = "\x1b[H";
    for (std::size_t i = 0; i < lines.size(); ++i) text += (i > 0 ? "\r\n" : "") + lines[i] + "\x1b[K";
    text += "\x1b[J";
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
  /// 0: none was pressed in time. Of an arrow the last letter.
  char key(std::chrono::milliseconds limit) const {
    if (!is_raw_) {
      std::this_thread::sleep_for(limit);
      return 0;
    }
    pollfd keys{STDIN_FILENO, POLLIN, 0};
    if (poll(&keys, 1, static_cast<int>(limit.count())) <= 0) return 0;
    char letters[8];
    const ssize_t size = read(STDIN_FILENO, letters, sizeof letters);
    return size > 0 ? letters[size - 1] : 'q';
  }

 private:
  termios before_{};
  bool is_raw_ = false;
};

int full_screen(RunView& view, const Terminal& terminal, const std::atomic<bool>& stop) {
  {
    const Screen screen;
    while (!stop.load()) {
      const TerminalSize room = size_of_output();
      const ViewSize size{room.columns, room.rows, terminal.has_utf8, terminal.has_colour};
      try {
        view.refresh();
        screen.draw(view.page(size));
      } catch (const std::runtime_error& error) {
        screen.draw({std::string("no answer: ") + error.what()});
      }
      const char key = screen.key(between_pages);
      if (key == 'q') break;
      if (key != 0) view.next_measure();
    }
  }
  return ok;
}

int lines_of(RunView& view, const std::atomic<bool>& stop) {
  constexpr std::size_t columns = 120;
  while (true) {
    view.refresh();
    std::cout << view.line(columns) << std::endl;
    if (view.is_over()) return ok;
    for (std::chrono::milliseconds waited{0}; waited < between_rows; waited += between_pages) {
      if (stop.load()) return ok;
      std::this_thread::sleep_for(between_pages);
    }
  }
}

}  // namespace

int top(const std::string& place, Colour colour) {
  RunView view(asking(place.empty() ? usual_place : place));
  view.refresh();  // a place that does not answer is said at once
  const std::atomic<bool>& stop = watch_signals(true);
  const Terminal terminal = terminal_on_output(colour);
  return terminal.is_there ? full_screen(view, terminal, stop) : lines_of(view, stop);
}

}  // namespace rubato::app
