// Log: the story of a host of a run on standard error, a line for each event.
#pragma once

#include <iostream>
#include <mutex>
#include <string>

#include "results/run_event.hpp"

namespace rubato::app {

/// Lines are docs/many-hosts.md's. May be used on any thread.
class Log {
 public:
  struct Settings {
    EventLevel level = EventLevel::info;  ///< what matters less is left out
    bool is_json = false;                 ///< an object a line
    std::string at;                       ///< the host that tells
  };
  explicit Log(Settings settings, std::ostream& stream = std::cerr) : settings_{std::move(settings)}, stream_{stream} {}

  void say(const RunEvent& event);
  /// A sentence that is worth reading.
  void note(const std::string& sentence) { say({EventLevel::warn, "note", "", {{"text", sentence}}}); }

 private:
  std::string text_of(const RunEvent& event, const std::string& time) const;
  std::string json_of(const RunEvent& event, const std::string& time) const;

  const Settings settings_;
  std::ostream& stream_;
  std::mutex mutex_;  // one line after the other
};

/// UTC, ISO 8601, milliseconds.
std::string time_of_day();

/// error, warn, info or debug.
EventLevel level_of(const std::string& word);

}  // namespace rubato::app
