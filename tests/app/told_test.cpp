// What a run says of itself: on the terminal, in its summary, on its page and in its trace.
#include <doctest/doctest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/app/command.hpp"

namespace fs = std::filesystem;
using namespace rubato::test;
using nlohmann::json;

namespace {

std::string host_name() {
  char name[256] = "";
  REQUIRE(gethostname(name, sizeof name) == 0);
  return name;
}

}  // namespace

TEST_CASE("the quick start's page and trace show its windows, its terminal what became of messages, its summary who ran it") {
  const Folder home;
  const Ended ended = run_rubato({"run", quickstart(), "--set", "until=20", "--out", home / "run"});
  CAPTURE(ended.err);
  REQUIRE(ended.code == 0);
  const json summary = json::parse(text_of(home / "run/summary.json"));

  const std::string page = text_of(home / "run/report.html");
  CHECK(contains(page, "\"window\":0.05"));
  CHECK(contains(page, "\"has_arrivals\":true"));
  const json trace = json::parse(text_of(home / "run/trace.json"));
  std::size_t drawn = 0;
  for (const json& event : trace.at("traceEvents"))
    if (event.at("name") == "window") {
      REQUIRE(event.at("dur").get<double>() == doctest::Approx(50000));  // microseconds
      ++drawn;
    }
  CHECK(drawn > 100);

  const json& messages = summary.at("messages");
  const auto counted = [&](const char* name) { return std::to_string(messages.at(name).get<std::uint64_t>()); };
  CHECK(contains(ended.out, "messages: " + counted("sent") + " sent; " + counted("delivered") + " delivered, " + counted("lost") +
                                " lost by a link; " + counted("models") + " models"));
  CHECK(messages.at("models_lost") == 0);

  const std::string command = summary.at("command");
  CHECK(contains(command, "run"));
  CHECK(contains(command, "--set until=20"));
  CHECK(summary.at("machine") == host_name());
  CHECK(summary.at("measured_clients") == "0-24");
  CHECK(summary.at("rubato").get<std::string>().size() >= 5);
  CHECK(summary.contains("commit"));
  const std::string started = summary.at("started_at");
  CHECK(started.size() == std::string("2026-11-19T08:03:00Z").size());
  CHECK(started.back() == 'Z');
}

TEST_CASE("with --check a model that is not finite ends the run with exit code 1 and names the client") {
  const Folder home;
  const Arguments run{"run", small_experiment(home), "--check"};
  CHECK(run_rubato(run).code == 0);
  Arguments diverging = run;
  diverging.insert(diverging.end(), {"--set", "algorithm.eta=1e9"});
  const Ended ended = run_rubato(diverging);
  CHECK(ended.code == 1);
  CHECK(contains(ended.err, "is not finite"));
  CHECK(contains(ended.err, "client "));
}

TEST_CASE("models that a unification could not deliver are told and counted") {
  const Folder home;
  const Ended ended = run_rubato({"run", quickstart(), "--set", "until=20", "--set", "unification.via=transport", "--set",
                                  "channel.loss=0.5", "--out", home / "run"});
  CAPTURE(ended.err);
  REQUIRE(ended.code == 0);
  const json messages = json::parse(text_of(home / "run/summary.json")).at("messages");
  CHECK(messages.at("models_lost") > 0);
  CHECK(messages.at("models_lost") < messages.at("models"));
  CHECK(contains(ended.out, ", " + std::to_string(messages.at("models_lost").get<std::uint64_t>()) + " of them lost"));
}
