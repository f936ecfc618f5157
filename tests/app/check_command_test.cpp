// `rubato check`: the files of every kind of run agree, and where they do not a sentence says so.
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include "tests/app/command.hpp"

using namespace rubato::test;

namespace {

const std::string examples = RUBATO_SOURCE_DIR "/examples/";

Ended checked(const std::filesystem::path& folder) { return run_rubato({"check", folder.string()}); }

void check_run(Arguments arguments) {
  const Folder folder;
  const std::string place = (folder / "run").string();
  arguments.insert(arguments.end(), {"--quiet", "--threads", "2", "--out", place});
  REQUIRE(run_rubato(arguments).code == 0);
  const Ended ended = checked(folder / "run");
  CHECK(contains(ended.out, " checks hold"));
  CHECK(ended.code == 0);
}

void replace_in(const std::filesystem::path& file, const std::string& old, const std::string& fresh) {
  std::string text = text_of(file);
  REQUIRE(contains(text, old));
  text.replace(text.find(old), old.size(), fresh);
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("the files of the quick start agree, those of clients that come and go, of a cell, of rounds, and in real time") {
  check_run({"run", examples + "quickstart.toml", "--set", "until=60.5"});
  check_run({"run", examples + "churn/flaky.toml", "--set", "metrics.every_events=100"});
  check_run({"run", examples + "churn/flaky.toml", "--set", "metrics.clients=5"});
  check_run({"run", examples + "channels/wireless.toml", "--set", "until=20.5"});
  check_run(
      {"run", examples + "quickstart.toml", "--set", "until=20.5", "--set", "protocol.kind=rounds", "--set", "mailbox.cap=1"});
  check_run({"run", examples + "quickstart.toml", "--set", "until=40.5", "--set", "clock=wall", "--set", "time_scale=20"});
  check_run({"run", examples + "quickstart.toml", "--set", "until=40.5", "--dry-run"});
}

TEST_CASE("the files of a run that was stopped agree, and those of the whole when it went on") {
  const Folder folder;
  {
    Command run(
        {"run", examples + "quickstart.toml", "--set", "checkpoint_every=5", "--quiet", "--out", (folder / "run").string()});
    const auto has_checkpoints = [&] { return std::filesystem::exists(folder / "run.partial/checkpoint/checkpoint-2.rbc"); };
    REQUIRE(becomes_true([&] { return has_checkpoints() || !run.is_running(); }));
    run.send(SIGINT);
    run.wait();
  }
  CHECK(contains(checked(folder / "run").out, " checks hold"));
  REQUIRE(run_rubato({"resume", (folder / "run").string(), "--quiet"}).code == 0);
  CHECK(contains(checked(folder / "run").out, " checks hold"));
}

TEST_CASE("the files of a comparison agree, and each run's experiment is there") {
  const Folder folder;
  const std::string place = (folder / "c").string();
  const Ended ended = run_rubato({"compare", examples + "quickstart.toml", "--seeds", "2", "--grid", "algorithm.eta=0.05,0.02",
                                  "--set", "until=10.5", "--quiet", "--out", place});
  REQUIRE(ended.code == 0);
  CHECK(checked(folder / "c").code == 0);
  CHECK(run_rubato({"run", (folder / "c/experiments/2-seed-2.toml").string(), "--quiet"}).code == 0);
  std::filesystem::remove(folder / "c/experiments/2-seed-2.toml");
  const Ended missing = checked(folder / "c");
  CHECK(missing.code == 1);
  CHECK(contains(missing.out, "there is no experiment of quickstart algorithm.eta=0.02, seed 2"));
}

TEST_CASE("a number that was changed is found, with a sentence") {
  const Folder folder;
  const std::string place = (folder / "run").string();
  REQUIRE(run_rubato({"run", examples + "churn/flaky.toml", "--quiet", "--out", place}).code == 0);
  const std::string summary = text_of(folder / "run/summary.json"), clients = text_of(folder / "run/clients.csv");
  const auto complaint = [&] {
    const Ended ended = checked(folder / "run");
    CHECK(ended.code == 1);
    return ended.out;
  };
  replace_in(folder / "run/summary.json", "\"wire\": ", "\"wire\": 1");
  CHECK(contains(complaint(), "metrics.csv, last row, and summary.json differ in bytes_wire"));
  std::ofstream(folder / "run/summary.json") << summary;
  replace_in(folder / "run/summary.json", "\"lost_to_absence\": ", "\"lost_to_absence\": 1");
  CHECK(contains(complaint(), "what was sent is not the sum of what became of it"));
  std::ofstream(folder / "run/summary.json") << summary;
  const std::size_t row = clients.find("\n4,"), next = clients.find("\n5,"), after = clients.find("\n6,");
  std::ofstream(folder / "run/clients.csv") << clients.substr(0, row) << "\n4" << clients.substr(next + 2, after - next - 2)
                                            << "\n5" << clients.substr(row + 2, next - row - 2) << clients.substr(after);
  CHECK(contains(complaint(), "clients.csv and models.npy differ in the loss of client 4"));
}
