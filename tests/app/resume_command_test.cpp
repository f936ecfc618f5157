// Runs that are killed, and go on. Nothing here waits for a time to pass: every kill waits for something to be seen.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/app/command.hpp"

namespace fs = std::filesystem;
using namespace rubato::test;
using nlohmann::json;

namespace {

Arguments run_to(const fs::path& out, const std::string& checkpoint_every = "10") {
  return {"run", quickstart(), "--quiet", "--set", "checkpoint_every=" + checkpoint_every, "--out", out.string()};
}

fs::path partial(const fs::path& out) { return out.string() + ".partial"; }

// The number of the newest checkpoint; 0: there is none.
std::uint64_t newest_in(const fs::path& folder) {
  std::uint64_t newest = 0;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder / "checkpoint", none)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("checkpoint-")) newest = std::max<std::uint64_t>(newest, std::stoull(name.substr(11)));
  }
  return newest;
}

void kill_when(Command& command, const std::function<bool()>& condition) {
  REQUIRE(becomes_true([&] { return condition() || !command.is_running(); }));
  command.send(SIGKILL);
  command.wait();
}

// A run that was killed when its newest checkpoint had this number or a higher one; once more if it was done before.
void leave_killed_run(const fs::path& out, std::uint64_t number, const std::string& checkpoint_every = "10") {
  for (int attempt = 0; attempt < 20; ++attempt) {
    Command command(run_to(out, checkpoint_every));
    kill_when(command, [&] { return fs::exists(partial(out) / "metrics.csv") && newest_in(partial(out)) >= number; });
    if (fs::exists(partial(out))) return;
    fs::remove_all(out);
  }
  FAIL("a run was always done before it could be killed");
}

std::string digests_in(const fs::path& folder) {
  const json summary = json::parse(text_of(folder / "summary.json"));
  return summary.at("model_digest").get<std::string>() + " " + summary.at("timeline_digest").get<std::string>();
}

// What a run leaves behind, but for clocks on the wall.
void looks_like(const fs::path& folder, const fs::path& other) {
  CHECK(digests_in(folder) == digests_in(other));
  for (const char* name :
       {"metrics.csv", "timeline.rbt", "clients.csv", "links.csv", "models/models.npy", "samples.npz", "experiment.toml"}) {
    CAPTURE(name);
    CHECK(text_of(folder / name) == text_of(other / name));
  }
}

}  // namespace

TEST_CASE("a run that was killed again and again, resumed, leaves what an uninterrupted one leaves") {
  const Folder home;
  REQUIRE(run_rubato(run_to(home / "whole")).code == 0);
  REQUIRE(run_rubato({"run", quickstart(), "--quiet", "--out", home / "without"}).code == 0);
  CHECK(digests_in(home / "whole") == digests_in(home / "without"));
  const fs::path out = home / "run";
  leave_killed_run(out, 3);
  for (const std::uint64_t until : {8, 15, 21}) {
    const std::uint64_t from = newest_in(partial(out));
    if (from == 0 || !fs::exists(partial(out))) break;  // it was done before the kill came
    Command again({"resume", out, "--quiet"});
    kill_when(again, [&] { return newest_in(partial(out)) >= std::max(until, from + 1); });
  }
  const Ended ended = run_rubato({"resume", out, "--quiet"});
  CAPTURE(ended.err);
  CHECK(ended.code == 0);
  looks_like(out, home / "whole");
  CHECK_FALSE(fs::exists(partial(out)));
  CHECK(run_rubato({"replay", out}).code == 0);
}

TEST_CASE("killed before the first checkpoint, a run starts from the beginning and says so") {
  const Folder home;
  leave_killed_run(home / "run", 0, "300");
  REQUIRE(newest_in(partial(home / "run")) == 0);
  const Ended ended = run_rubato({"resume", home / "run", "--quiet", "--json"});
  CHECK(ended.code == 0);
  CHECK(contains(ended.err, "there is no checkpoint to go on from: the run starts from the beginning"));
  CHECK(json::parse(ended.out).at("virtual_seconds") == 305.0);
  REQUIRE(run_rubato(run_to(home / "whole", "300")).code == 0);
  looks_like(home / "run", home / "whole");
}

TEST_CASE("a damaged checkpoint is named and the one before is taken") {
  const Folder home;
  REQUIRE(run_rubato(run_to(home / "whole")).code == 0);
  const fs::path out = home / "run";
  leave_killed_run(out, 4);
  const auto file = partial(out) / "checkpoint" / ("checkpoint-" + std::to_string(newest_in(partial(out))) + ".rbc");
  std::string bytes = text_of(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_text(file, bytes);
  write_text(partial(out) / "checkpoint/checkpoint.partial", "torn");   // a writer was killed
  const Ended ended = run_rubato({"resume", partial(out), "--quiet"});  // the folder's own name will do, too
  CHECK(ended.code == 0);
  CHECK(contains(ended.err, file.filename().string() + " is damaged and passed over: its bytes are not those that were written"));
  CHECK(contains(ended.err, "note: going on from"));
  CHECK_FALSE(fs::exists(out / "checkpoint/checkpoint.partial"));
  looks_like(out, home / "whole");
}

TEST_CASE("a checkpoint is passed over where the scores of its samples are gone or cut short") {
  const Folder home;
  REQUIRE(run_rubato(run_to(home / "whole")).code == 0);
  for (const bool is_gone : {true, false}) {
    CAPTURE(is_gone);
    const fs::path out = home / (is_gone ? "gone" : "cut");
    leave_killed_run(out, 4);
    const fs::path scores = partial(out) / "samples.part";
    if (is_gone)
      fs::remove(scores);
    else
      fs::resize_file(scores, 100);
    const Ended ended = run_rubato({"resume", out, "--quiet"});
    CHECK(ended.code == 0);
    CHECK(contains(ended.err, " is damaged and passed over: samples.part has 0 samples, and had "));
    CHECK(contains(ended.err, "the run starts from the beginning"));
    looks_like(out, home / "whole");
  }
}

TEST_CASE("killed between its last file and its name, or with its checkpoints gone, a run ends all the same") {
  const Folder home;
  REQUIRE(run_rubato(run_to(home / "whole")).code == 0);
  fs::copy(home / "whole", partial(home / "named"), fs::copy_options::recursive);
  CHECK(run_rubato({"resume", home / "named", "--quiet"}).code == 0);
  looks_like(home / "named", home / "whole");

  leave_killed_run(home / "bare", 3);
  fs::remove_all(partial(home / "bare") / "checkpoint");
  const Ended ended = run_rubato({"resume", home / "bare", "--quiet"});
  CHECK(contains(ended.err, "the run starts from the beginning"));
  looks_like(home / "bare", home / "whole");
}

TEST_CASE("a run that was stopped by Ctrl-C keeps its results so far until the resumed one is complete") {
  const Folder home;
  REQUIRE(run_rubato(run_to(home / "whole")).code == 0);
  const fs::path out = home / "run";
  int code = 0;
  for (int attempt = 0; code == 0 && attempt < 20; ++attempt) {  // 0: it was done before it heard the signal
    Command command(run_to(out));
    REQUIRE(becomes_true([&] { return newest_in(partial(out)) >= 2 || !command.is_running(); }));
    command.send(SIGINT);
    code = command.wait().code;
  }
  REQUIRE(code == 130);
  REQUIRE(fs::exists(out / "summary.json"));
  CHECK(run_rubato({"resume", out, "--quiet"}).code == 0);
  looks_like(out, home / "whole");
  CHECK(json::parse(text_of(out.string() + ".previous/summary.json")).at("stopped_early") == true);
}

TEST_CASE("a run that is complete, at work, in real time or not there is not resumed, and the reason is said") {
  const Folder home;
  REQUIRE(run_rubato({"run", small_experiment(home), "--out", home / "done"}).code == 0);
  const std::string summary = text_of(home / "done/summary.json");
  const Ended done = run_rubato({"resume", home / "done"});
  CHECK(done.code == 0);
  CHECK(contains(done.out, "is complete: there is nothing to do"));
  CHECK(run_rubato({"resume", home / "done", "--json"}).out == summary);
  CHECK(text_of(home / "done/summary.json") == summary);

  const Ended nothing = run_rubato({"resume", home / "nowhere"});
  CHECK(nothing.code == 2);
  CHECK(contains(nothing.err, "is not the folder of a run, and no run was interrupted there"));

  Command busy({"run", quickstart(), "--set", "until=100000005.0", "--quiet", "--out", home / "busy"});
  REQUIRE(becomes_true([&] { return fs::exists(home / "busy.partial/metrics.csv"); }));
  for (const Arguments& arguments : {Arguments{"resume", home / "busy"}, {"run", small_experiment(home), "--out", home / "busy"}}) {
    const Ended refused = run_rubato(arguments);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "another process is at work there"));
  }
  busy.send(SIGKILL);
  busy.wait();

  Command wall({"run", quickstart(), "--set", "clock=wall", "--quiet", "--out", home / "wall"});
  REQUIRE(becomes_true([&] { return fs::exists(home / "wall.partial/metrics.csv"); }));
  wall.send(SIGKILL);
  wall.wait();
  const Ended real = run_rubato({"resume", home / "wall"});
  CHECK(real.code == 2);
  CHECK(contains(real.err, "is a run in real time of one process: nothing goes on with it"));
  for (const char* command : {"check", "report", "replay"})
    CHECK(contains(run_rubato({command, home / "wall.partial"}).err, "killed or is at work: nothing goes on with it"));
  const Ended another = run_rubato({"run", small_experiment(home), "--quiet", "--out", home / "wall"});
  CHECK(contains(another.err, "it is now in the folder that ends with .failed\n"));
}

TEST_CASE("a run takes the place of one that was interrupted, and says where that is now") {
  const Folder home;
  leave_killed_run(home / "run", 2);
  const Ended ended = run_rubato(run_to(home / "run"));
  CHECK(ended.code == 0);
  CHECK(contains(ended.err, "--out held a run that was interrupted"));
  fs::remove_all(home / "run");
  fs::rename(home / "run.failed", partial(home / "run"));
  CHECK(contains(run_rubato({"resume", home / "run", "--quiet"}).err, "going on from"));
}

TEST_CASE("another experiment in the folder of a killed run is refused") {
  const Folder home;
  leave_killed_run(home / "run", 2);
  const fs::path file = partial(home / "run") / "experiment.toml";
  std::string text = text_of(file);
  text.replace(text.find("until = 305"), 11, "until = 405");
  write_text(file, text);
  const Ended ended = run_rubato({"resume", home / "run"});
  CHECK(ended.code == 2);
  CHECK(contains(ended.err, "is of another experiment"));
  CHECK(fs::exists(file));
}
