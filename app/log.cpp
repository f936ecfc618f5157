#include "app/log.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "results/result_text.hpp"
#include "runtime/printable.hpp"

namespace rubato::app {

namespace {

constexpr std::size_t longest_sentence = 8000;
constexpr std::array<const char*, 4> words{"error", "warn", "info", "debug"};

const char* word_of(EventLevel level) { return words[static_cast<std::size_t>(level)]; }

struct AsText {
  std::string operator()(const std::string& text) const {
    const std::string value = printable(text);
    return value.find_first_of(" =") == std::string::npos ? value : "\"" + value + "\"";
  }
  std::string operator()(double value) const { return fmt::format("{:.3f}", value); }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(const std::vector<std::string>& value) const {
    return value.empty() ? "none" : fmt::format("{}", fmt::join(value, ","));
  }
};

}  // namespace

EventLevel level_of(const std::string& word) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) throw std::invalid_argument("--log-level: " + word + " is none of error, warn, info, debug");
  return static_cast<EventLevel>(found - words.begin());
}

std::string time_of_day() {
  const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                     now.time_since_epoch().count() % 1000);
}

// What a sentence says stands bare at the end.
std::string Log::text_of(const RunEvent& event, const std::string& time) const {
  std::string line = fmt::format("{} {:<5} {}: {}", time, word_of(event.level), settings_.at, event.event);
  if (!event.host.empty() && event.host != settings_.at) line += " " + event.host;
  std::string sentence;
  for (const auto& [name, value] : event.fields)
    if (name == "text")
      sentence = ": " + printable(std::get<std::string>(value), longest_sentence);
    else
      line += fmt::format(" {}={}", name, std::visit(AsText{}, value));
  return line + sentence;
}

std::string Log::json_of(const RunEvent& event, const std::string& time) const {
  ResultJson line{{"time", time},
                  {"level", word_of(event.level)},
                  {"at", settings_.at},
                  {"event", event.event},
                  {"host", event.host.empty() ? settings_.at : event.host}};
  for (const auto& [name, value] : event.fields) std::visit([&](const auto& each) { line[name] = each; }, value);
  return line.dump(-1, ' ', false, ResultJson::error_handler_t::replace);
}

void Log::say(const RunEvent& event) {
  if (event.level > settings_.level) return;
  const std::string time = time_of_day();
  const std::string line = settings_.is_json ? json_of(event, time) : text_of(event, time);
  const bool is_drawn_on = !settings_.is_json && isatty(STDERR_FILENO) == 1;  // by the line that shows progress
  const std::lock_guard lock(mutex_);
  if (is_drawn_on) std::fputs("\r\x1b[K", stderr);
  stream_ << line + "\n" << std::flush;
}

}  // namespace rubato::app
