// Ctrl-C and SIGTERM in the middle of a run, and what is said meanwhile. Nothing here waits for a time to pass: every
// step waits until the one before can be seen.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/app/command.hpp"

namespace fs = std::filesystem;
using namespace rubato::test;
using nlohmann::json;

namespace {

// The quick start, as good as without end, and not ending on a unification: the run would note that.
Arguments endless(const fs::path& out) {
  return {"run", quickstart(), "--set", "until=100000005.0", "--threads", "2", "--out", out.string()};
}

std::ptrdiff_t lines_in(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

// Results so far: half a dozen samples are on the disk.
bool has_samples(const fs::path& out) { return lines_in(text_of(out.string() + ".partial/metrics.csv")) > 6; }

}  // namespace

TEST_CASE("Ctrl-C, SIGTERM and a lost terminal end a run with its results so far") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    CAPTURE(signal);
    const Folder home;
    Command command(endless(home / "run"));
    REQUIRE(becomes_true([&] { return has_samples(home / "run"); }));
    CHECK_FALSE(fs::exists(home / "run"));
    command.send(signal);
    const Ended ended = command.wait();
    CAPTURE(ended.err);
    CHECK(ended.code == 130);
    CHECK_FALSE(ended.by_signal);
    const json summary = json::parse(text_of(home / "run/summary.json"));
    CHECK(summary.at("stopped_early") == true);
    CHECK(summary.at("virtual_seconds") > 0);
    CHECK(summary.at("virtual_seconds") < 100000005.0);
    CHECK(summary.at("accuracy").at("mean") > 0.05);
    CHECK(contains(ended.out, "stopped at "));
    CHECK(contains(ended.out, " of 100000005 s\n"));
    CHECK(contains(ended.out, summary.at("model_digest").get<std::string>()));
    for (const char* name : {"metrics.csv", "report.html", "timeline.rbt", "models/models.npy"})
      CHECK(fs::file_size(home / "run" / name) > 0);
    CHECK(run_rubato({"replay", home / "run"}).code == 0);
  }
}

TEST_CASE("a run that was stopped prints its summary alone with --json") {
  const Folder home;
  Command command({"run", quickstart(), "--set", "until=100000005.0", "--set", "metrics.every_events=none", "--json", "--quiet"});
  REQUIRE(becomes_true([&] { return command.catches(SIGINT); }));
  command.send(SIGINT);
  const Ended ended = command.wait();
  CHECK(ended.code == 130);
  CHECK(json::parse(ended.out).at("stopped_early") == true);
  CHECK(ended.err.empty());
}

TEST_CASE("what is noted at the end of a run is said as well: here that the machine does not keep the pace") {
  const Folder home;
  const Ended ended = run_rubato({"run", small_experiment(home), "--quiet", "--set", "clock=wall", "--set", "time_scale=100.0",
                                  "--set", "clients.compute.law=poisson", "--set", "clients.compute.rate=100000.0"});
  CHECK(contains(ended.err, "note: this machine does not keep the pace"));
}

TEST_CASE("a dry run can be stopped as well") {
  Command command({"run", quickstart(), "--set", "until=1000000005.0", "--dry-run", "--json"});
  REQUIRE(becomes_true([&] { return command.catches(SIGTERM); }));
  command.send(SIGTERM);
  const Ended ended = command.wait();
  CHECK(ended.code == 130);
  CHECK(json::parse(ended.out).at("stopped_early") == true);
}

TEST_CASE("a replay that is stopped says so, and does not call the record wrong") {
  const Folder home;
  REQUIRE(run_rubato({"run", quickstart(), "--quiet", "--out", home / "run"}).code == 0);
  Ended ended;
  for (int attempt = 0; ended.code == 0 && attempt < 20; ++attempt) {  // 0: it was done before it heard the signal
    Command command({"replay", home / "run", "--threads", "1"});
    REQUIRE(becomes_true([&] { return command.catches(SIGTERM) || !command.is_running(); }));
    command.send(SIGTERM);
    ended = command.wait();
  }
  CHECK(ended.code == 130);
  CHECK_FALSE(contains(ended.out, "differs"));
}

TEST_CASE("another Ctrl-C within two seconds changes nothing, a later one ends at once and leaves nothing under the final name") {
  const Folder home;
  // One computation takes longer than any test waits: the first Ctrl-C is heard, the step is not done.
  Command command({"run", quickstart(), "--set", "algorithm.local_batches=1000000", "--set", "model.batch=0", "--set", "until=1e6",
                   "--out", home / "run"});
  REQUIRE(becomes_true([&] { return command.catches(SIGINT); }));
  command.send(SIGINT);
  REQUIRE(becomes_true([&] { return contains(command.err(), "stopping, with the results so far"); }));
  command.send(SIGINT);
  CHECK(command.catches(SIGINT));  // taken as an echo of the first
  CHECK(becomes_true([&] {
    command.send(SIGINT);
    return !command.is_running();
  }));
  const Ended ended = command.wait();
  CHECK(ended.by_signal);
  CHECK(ended.code == 128 + SIGINT);
  CHECK_FALSE(fs::exists(home / "run"));
  // The next run into the same folder is not disturbed by the remains.
  CHECK(run_rubato({"run", small_experiment(home), "--out", home / "run"}).code == 0);
  CHECK_FALSE(fs::exists(home / "run.partial"));
}

TEST_CASE("a pipe gets progress as plain lines, and with --quiet nothing at all") {
  const Folder home;
  Command quiet(
      {"run", quickstart(), "--set", "until=100000005.0", "--set", "metrics.every_events=none", "--quiet", "--threads", "1"});
  Command loud({"run", quickstart(), "--set", "until=100000005.0", "--threads", "1"});  // begins later than the quiet one
  REQUIRE(becomes_true([&] { return contains(loud.err(), " left\n"); }));
  quiet.send(SIGTERM);
  loud.send(SIGTERM);
  const Ended of_loud = loud.wait(), of_quiet = quiet.wait();
  CHECK(of_loud.code == 130);
  CHECK(contains(of_loud.err, " events/s"));
  CHECK(contains(of_loud.err, " left\n"));
  CHECK_FALSE(contains(of_loud.err, "\r"));
  CHECK_FALSE(contains(of_loud.err, "\x1b"));
  CHECK_FALSE(contains(of_loud.out, "events/s"));
  CHECK(of_quiet.err.empty());
}

TEST_CASE("timeout(1), which signals its program and then all of its group, leaves complete folders") {
  const Folder home;
  for (const std::string name : {"a", "b", "c"}) {
    const auto run_for = [&](double seconds) {
      const std::string command = "timeout " + std::to_string(seconds) + " " RUBATO_COMMAND " run " + quickstart() +
                                  " --set until=100000005.0 --quiet --threads 1 --out " + (home / name).string() + " > /dev/null";
      CAPTURE(command);
      CHECK(WEXITSTATUS(std::system(command.c_str())) == 124);
      return fs::exists(home / name);
    };
    double seconds = 0.3;
    while (!run_for(seconds) && seconds < 60) seconds *= 2;  // on a busy machine the signal may come before it is watched for
    CHECK(json::parse(text_of(home / name / "summary.json")).at("stopped_early") == true);
  }
}

TEST_CASE("a program under nohup goes on when its terminal is lost") {
  const Folder home;
  write_text(home / "script", "trap '' HUP\n" RUBATO_COMMAND " run " + small_experiment(home) +
                                  " --set until=100000000.5 --quiet --out " + (home / "run").string() + R"( > /dev/null &
until [ -e $2.partial/metrics.csv ]; do kill -0 $! || exit 1; done
kill -HUP $!
kill -TERM $!
wait $!
exit $(($? + $(grep -c '"stopped_early": true' $2/summary.json)))
)");
  CHECK(WEXITSTATUS(std::system(("bash " + (home / "script").string() + " - " + (home / "run").string()).c_str())) == 131);
}

TEST_CASE("a reader that closes its pipe does not end a run") {
  const Folder home;
  const std::string command = "bash -c '" RUBATO_COMMAND " run " + small_experiment(home) + " --set until=300.5 --out " +
                              (home / "run").string() + " 2>&1 | head -c 1 > /dev/null'";
  std::system(command.c_str());
  CHECK(fs::exists(home / "run/summary.json"));
}

TEST_CASE("a file beyond the limit of the shell is a disk that takes no more, with a sentence") {
  const Folder home;
  const std::string command = "bash -c 'ulimit -f 16; exec " RUBATO_COMMAND " run " + quickstart() + " --quiet --out " +
                              (home / "run").string() + "' > /dev/null 2> " + (home / "said").string();
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 3);
  CHECK(contains(text_of(home / "said"), "cannot write"));
}
