// What the log of a host writes: a line an event, as text or as JSON, and nothing that matters less than it is to.
#include "app/log.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

using namespace rubato;
using app::Log;

namespace {

const RunEvent lost{EventLevel::warn, "lost", "b", {{"silent_seconds", 3.0125}, {"life", std::uint64_t{2}}}};

std::string written(const Log::Settings& settings, const RunEvent& event) {
  std::ostringstream stream;
  Log(settings, stream).say(event);
  return stream.str();
}

}  // namespace

TEST_CASE("a line of the log says when in UTC, how much it matters, who tells it, what happened to whom and its fields") {
  const std::regex line("\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z warn  a: lost b silent_seconds=3\\.01[23] life=2\n");
  CHECK(std::regex_match(written({EventLevel::info, false, "a"}, lost), line));
  const std::string note = written({EventLevel::info, false, "a"}, {EventLevel::info, "note", "", {{"text", "as it is"}}});
  CHECK(note.substr(24) == " info  a: note: as it is\n");
  const RunEvent begun{
      EventLevel::info, "begun", "", {{"with", std::vector<std::string>{"b", "c"}}, {"without", std::vector<std::string>{}}}};
  CHECK(written({EventLevel::info, false, "a"}, begun).substr(24) == " info  a: begun with=b,c without=none\n");
}

TEST_CASE("with JSON a line is one object, whatever a sentence holds") {
  const auto object = nlohmann::json::parse(written({EventLevel::info, true, "a"}, lost));
  CHECK(object.at("level") == "warn");
  CHECK(object.at("event") == "lost");
  CHECK(object.at("at") == "a");
  CHECK(object.at("host") == "b");
  CHECK(object.at("silent_seconds") == 3.0125);
  CHECK(object.at("life") == 2);
  CHECK(object.at("time").get<std::string>().size() == 24);
  const std::string line =
      written({EventLevel::info, true, "a"}, {EventLevel::warn, "note", "", {{"text", "two\nlines, \"\xff\""}}});
  CHECK(line.find('\n') == line.size() - 1);
  CHECK(nlohmann::json::parse(line).at("host") == "a");
}

TEST_CASE("what matters less than the log's level is left out") {
  for (const EventLevel level : {EventLevel::warn, EventLevel::info, EventLevel::debug})
    CHECK_FALSE(written({level, false, "a"}, lost).empty());
  CHECK(written({EventLevel::error, false, "a"}, lost).empty());
  CHECK(app::level_of("debug") == EventLevel::debug);
  CHECK_THROWS_AS(app::level_of("loud"), std::invalid_argument);
}
