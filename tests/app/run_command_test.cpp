// rubato run: what it prints, what it leaves, what it returns.
#include <doctest/doctest.h>
#include <sys/mount.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/command.hpp"

namespace fs = std::filesystem;
using namespace rubato::test;
using nlohmann::json;

namespace {

json summary_of(const Arguments& arguments, const Command::Where& where = {}) {
  const Ended ended = run_rubato(arguments, where);
  CAPTURE(ended.err);
  REQUIRE(ended.code == 0);
  return json::parse(ended.out);
}

Arguments operator+(Arguments some, const Arguments& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

}  // namespace

TEST_CASE("the quick start's mean model recognises more than nine digits in ten, from any working directory") {
  const Folder elsewhere;
  const json summary = summary_of({"run", quickstart(), "--json"}, {elsewhere.path(), ""});
  CHECK(summary.at("accuracy").at("mean_model") > 0.90);
  CHECK(summary.at("clients") == 25);
  CHECK(summary.at("experiment") == "draco-digits");
}

TEST_CASE("the quick start has the same digests on one thread and on two, and others with another seed") {
  const json one = summary_of({"run", quickstart(), "--json", "--quiet", "--threads", "1"});
  const json two = summary_of({"run", quickstart(), "--json", "--quiet", "--threads", "2"});
  const json other = summary_of({"run", quickstart(), "--json", "--quiet", "--seed", "2"});
  CHECK(one.at("threads") == 1);
  CHECK(two.at("threads") == 2);
  for (const char* digest : {"model_digest", "timeline_digest"}) {
    CHECK(one.at(digest) == two.at(digest));
    CHECK(one.at(digest) != other.at(digest));
  }
  CHECK(other.at("seed") == 2);
}

TEST_CASE("a run whose models are not finite at the end keeps its results, says when, and fails") {
  const Folder home;
  const Arguments diverging = {"run",   small_experiment(home),      "--set", "algorithm.eta=1e9",
                               "--set", "metrics.every_seconds=3.0", "--out", home / "run"};
  const Ended ended = run_rubato(diverging);
  CHECK(ended.code == 1);
  CHECK(contains(ended.err, "not finite any more"));
  const json summary = json::parse(text_of(home / "run/summary.json"));
  CHECK(summary.at("diverged_at") > 0);
  CHECK(summary.at("virtual_seconds") == 30.5);
  const Ended stopped = run_rubato(diverging + Arguments{"--set", "metrics.stop_on_nan=true"});
  CHECK(stopped.code == 1);
  CHECK(json::parse(text_of(home / "run/summary.json")).at("virtual_seconds") < 30.5);
}

TEST_CASE("a run whose losses run away says since when, though every number is finite, and fails with --check") {
  const Folder home;
  const Arguments running = {"run", quickstart(), "--set", "algorithm.eta=1000.0", "--set", "until=20.5", "--out", home / "run"};
  const Ended ended = run_rubato(running);
  CAPTURE(ended.err);
  CHECK(ended.code == 0);
  CHECK(contains(ended.err, " at first: the models run away"));
  const json summary = json::parse(text_of(home / "run/summary.json"));
  CHECK(summary.at("diverged_at") > 0);
  CHECK(summary.at("diverged_clients").empty());
  CHECK(summary.at("loss").at("mean") > 50);
  CHECK(run_rubato(running + Arguments{"--check"}).code == 1);
}

TEST_CASE("a run in which nothing arrived or nothing happened says so, and fails with --check") {
  const Folder home;
  const auto expect = [&](const Arguments& settings, const std::string& silence, const std::string& sentence) {
    Arguments arguments = {"run", small_experiment(home), "--out", home / "run"};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    const Ended plain = run_rubato(arguments);
    CAPTURE(plain.err);
    CHECK(plain.code == 0);
    CHECK(contains(plain.err, "note: " + sentence));
    CHECK(json::parse(text_of(home / "run/summary.json")).at("silence") == silence);
    CHECK(run_rubato(arguments + Arguments{"--check"}).code == 1);
    const Ended dry = run_rubato(arguments + Arguments{"--dry-run"});
    CHECK(contains(dry.err, "note: " + sentence));
  };
  expect({"channel.kind=random", "channel.loss=0.99999999"}, "nothing arrived", "no message arrived in 30.5 s");
  expect({"clients.transmit.law=poisson", "clients.transmit.rate=1e-6"}, "nothing arrived", "no message was sent in 30.5 s");
  expect({"until=1e-9"}, "nothing happened", "nothing happened in 1e-09 s");
  expect({"clients.compute.law=poisson", "clients.compute.rate=1e-9", "clients.transmit.law=coupled"}, "nothing happened",
         "nothing happened in 30.5 s");  // but for unifications
  const Ended usual = run_rubato({"run", small_experiment(home), "--out", home / "run", "--check"});
  CHECK(usual.code == 0);
  CHECK(json::parse(text_of(home / "run/summary.json")).at("silence").is_null());
}

TEST_CASE("in real time a run in which no message arrived says so") {
  const Folder home;
  Ended ended;
  for (const std::string pace : {"100", "20", "4", "1"}) {  // until this machine gets as far as a computation
    ended = run_rubato({"run", small_experiment(home), "--check", "--set", "clock=wall", "--set", "time_scale=" + pace, "--set",
                        "channel.kind=random", "--set", "channel.loss=0.99999999"});
    if (!contains(ended.err, "nothing happened")) break;
  }
  CAPTURE(ended.err);
  CHECK(ended.code == 1);
  CHECK(contains(ended.err, "note: no message "));
}

TEST_CASE("a batch larger than the data of a client is noted, with what is done instead") {
  const Folder home;
  const Ended ended = run_rubato({"run", quickstart(), "--json", "--set", "model.batch=60", "--set", "until=0.5"});
  CHECK(contains(ended.err, "note: model.batch is 60: client 14 has fewer rows (48)"));
  CHECK(contains(ended.err, "drawn with replacement"));
  CHECK(json::parse(ended.out).at("clients_below_batch") == "14");
  CHECK(summary_of({"run", quickstart(), "--json", "--set", "until=0.5"}).at("clients_below_batch") == "");
}

TEST_CASE("with --json the summary is alone on standard output, and the same as in the folder") {
  const Folder home;
  const Ended ended = run_rubato({"run", small_experiment(home), "--json", "--out", home / "run"});
  CHECK(ended.code == 0);
  CHECK(json::parse(ended.out) == json::parse(text_of(home / "run/summary.json")));
}

TEST_CASE("the peak of a run is its own, however much memory the process has that starts it") {
  const Folder home;
  const Arguments running = {"run", small_experiment(home), "--json", "--quiet"};
  const auto peak = [&] { return summary_of(running).at("peak_rss_bytes").get<std::size_t>(); };
  const std::size_t before = peak();
  const std::vector<char> ours(before + (std::size_t{256} << 20), 1);
  CHECK(ours.back() == 1);
  CHECK(peak() < before + (std::size_t{128} << 20));
}

TEST_CASE("without --json a run says its digests and where it is, or that nothing was kept") {
  const Folder home;
  const std::string file = small_experiment(home);
  const Ended kept = run_rubato({"run", file, "--out", "runs/first"}, {home.path(), ""});
  CHECK(contains(kept.out, "model_digest "));
  CHECK(contains(kept.out, "the run is in " + (home / "runs/first").string()));
  CHECK(contains(run_rubato({"run", file}).out, "nothing was kept: --out DIR"));
}

TEST_CASE("a run in real time in which no client computed anything says so and ends with 1") {
  const Folder home;
  const Ended ended = run_rubato({"run", small_experiment(home), "--set", "clock=wall", "--set", "until=0.000001"});
  CHECK(ended.code == 1);
  CHECK(contains(ended.err, "nothing was learnt"));
}

TEST_CASE("a run folder holds everything that the design lists, and nothing under another name") {
  const Folder home;
  CHECK(run_rubato({"run", small_experiment(home), "--out", home / "run"}).code == 0);
  for (const std::string name : {"experiment.toml", "metrics.csv", "clients.csv", "links.csv", "summary.json", "timeline.rbt",
                                 "trace.json", "report.html", "models/models.npy"}) {
    CAPTURE(name);
    CHECK(fs::file_size(home / "run" / name) > 0);
  }
  CHECK_FALSE(fs::exists(home / "run.partial"));
  CHECK(json::parse(text_of(home / "run/trace.json")).is_object());
  CHECK(run_rubato({"run", home / "run/experiment.toml", "--out", home / "run"}).code == 0);
  CHECK(text_of(home / "run.previous/experiment.toml") == text_of(home / "run/experiment.toml"));
  CHECK(text_of(home / "run.previous/timeline.rbt") == text_of(home / "run/timeline.rbt"));
}

TEST_CASE("without a record there is no timeline and no table of links, and replay says why") {
  const Folder home;
  CHECK(run_rubato({"run", small_experiment(home), "--set", "record=off", "--out", home / "run"}).code == 0);
  for (const std::string name : {"timeline.rbt", "links.csv", "trace.json"}) CHECK_FALSE(fs::exists(home / "run" / name));
  const Ended replayed = run_rubato({"replay", home / "run"});
  CHECK(replayed.code == 2);
  CHECK(contains(replayed.err, "record = \"off\""));
}

TEST_CASE("a dry run has the timing of the run, forecasts its size and has no models") {
  const Folder home;
  const std::string file = small_experiment(home);
  const json real = summary_of({"run", file, "--json"}), dry = summary_of({"run", file, "--json", "--dry-run"});
  for (const char* same : {"timeline_digest", "events", "steps", "virtual_seconds", "messages", "dimension"})
    CHECK(dry.at(same) == real.at(same));
  CHECK(dry.at("model_digest") == "");
  CHECK(contains(run_rubato({"run", file, "--dry-run"}).out, "forecast: "));
  CHECK(run_rubato({"run", file, "--dry-run", "--out", home / "dry"}).code == 0);
  const Ended replayed = run_rubato({"replay", home / "dry"});
  CHECK(replayed.code == 2);
  CHECK(contains(replayed.err, "dry run"));
}

TEST_CASE("--set lays values over the file, in turn, and --seed over both") {
  const Folder home;
  const Arguments run{"run", small_experiment(home), "--json"};
  const json set = summary_of(run + Arguments{"--set", "clients.count=9", "--set", "name=trial", "--set", "clients.count=7",
                                              "--set", "seed=5", "--seed", "8"});
  CHECK(set.at("clients") == 7);
  CHECK(set.at("experiment") == "trial");
  CHECK(set.at("seed") == 8);
}

TEST_CASE("--set of another kind drops the keys of the old one and names them on standard error") {
  const Folder home;
  write_text(home / "star.toml", text_of(small_experiment(home)) + "\n[channel]\nkind = \"random\"\nloss = 0.25\n");
  const Ended ended = run_rubato({"run", home / "star.toml", "--set", "channel.kind=ideal", "--json"});
  CHECK(ended.code == 0);
  CHECK(contains(ended.err, "channel.loss"));
  CHECK(json::parse(ended.out).at("messages").at("lost") == 0);
}

TEST_CASE("--set of what the file may not say is refused with a suggestion") {
  const Folder home;
  const std::string file = small_experiment(home);
  for (const auto& [setting, said] : {std::pair<std::string, std::string>{"algorithm.etta=0.1", "did you mean eta?"},
                                      {"clients.count=many", "clients.count"},
                                      {"topology.kind=rign", "ring"},
                                      {"nonsense", "nonsense"},
                                      {"until=-1", "until"}}) {
    const Ended ended = run_rubato({"run", file, "--set", setting});
    CAPTURE(setting);
    CAPTURE(ended.err);
    CHECK(ended.code == 2);
    CHECK(contains(ended.err, "--set"));
    CHECK(contains(ended.err, said));
    CHECK(ended.out.empty());
  }
}

TEST_CASE("results that standard output does not take are a failure") {
  const Folder home;
  const std::string file = small_experiment(home);
  for (const Arguments& arguments : {Arguments{"run", file, "--json"}, {"run", file}, {"list", "--keys"}}) {
    const Ended ended = run_rubato(arguments, {"/", "/dev/full"});
    CHECK(ended.code == 3);
    CHECK(contains(ended.err, "cannot write to standard output"));
  }
}

TEST_CASE("a folder that cannot be written is refused before the run, and one that holds something else is not touched") {
  const Folder home;
  const std::string file = small_experiment(home);
  write_text(home / "letter", "dear");
  for (const std::string& place :
       {(home / "letter/run").string(), std::string("/proc/run"), (home / "letter").string(), home.path().string()}) {
    const Ended ended = run_rubato({"run", file, "--out", place});
    CAPTURE(place);
    CAPTURE(ended.err);
    CHECK(ended.code == 2);
    CHECK(contains(ended.err, "--out " + place));
    CHECK(ended.out.empty());
  }
  CHECK(text_of(home / "letter") == "dear");
}

TEST_CASE("a full disk ends with exit code 3 and a sentence, and nothing stands under the final name") {
  const Folder disk;
  if (mount("tmpfs", disk.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    MESSAGE("skipped: no disk can be mounted here");
    return;
  }
  const Folder home;
  const std::string file = small_experiment(home);
  // The record fills it, the models fill it, the report fills it.
  for (const Arguments& size : {Arguments{"--set", "until=100000.0", "--set", "metrics.every_events=0"},
                                {"--set", "data.dimension=4000"},
                                {"--set", "until=60.0"}}) {
    const Ended ended = run_rubato(Arguments{"run", file, "--out", disk / "run"} + size);
    CAPTURE(ended.err);
    CHECK(ended.code == 3);
    CHECK(contains(ended.err, "cannot write"));
    CHECK(contains(ended.err, "No space left on device"));
    CHECK_FALSE(fs::exists(disk / "run"));
  }
  umount2(disk.path().c_str(), MNT_DETACH);
}

TEST_CASE("docs/run-folder.md explains every file, column and key of a run's folder") {
  const std::string explained = text_of(RUBATO_SOURCE_DIR "/docs/run-folder.md");
  const auto is_explained = [&](const std::string& name) { return contains(explained, "`" + name + "`"); };
  const Folder home;
  for (const Arguments& clock : {Arguments{}, {"--set", "clock=wall", "--set", "time_scale=1000.0"}}) {
    run_rubato(Arguments{"run", quickstart(), "--set", "until=60.5", "--quiet", "--out", home / "run"} + clock);
    REQUIRE(fs::exists(home / "run/summary.json"));  // in real time too quick for a busy machine, maybe
    for (const auto& entry : fs::directory_iterator(home / "run")) {
      const std::string name = entry.path().filename();
      CHECK_MESSAGE((is_explained(name) || is_explained(name + "/models.npy")), name);
      if (entry.path().extension() != ".csv") continue;
      std::istringstream head(text_of(entry.path()).substr(0, text_of(entry.path()).find('\n')));
      for (std::string column; std::getline(head, column, ',');) CHECK_MESSAGE(is_explained(column), column);
    }
    const json summary = json::parse(text_of(home / "run/summary.json"));
    for (const auto& [key, value] : summary.items()) {
      CHECK_MESSAGE(is_explained(key), key);
      if (!value.is_object()) continue;
      for (const auto& [part, number] : value.items()) CHECK_MESSAGE(is_explained(part), part);
    }
  }
}

TEST_CASE("the help of the command names every exit code, and every command has help") {
  const Ended help = run_rubato({"--help"});
  CHECK(help.code == 0);
  for (const char* code : {"Exit codes: 0 ", "; 1 ", "; 2 ", "; 3 ", "; 130 "}) CHECK(contains(help.out, code));
  for (const std::string command : {"run", "replay", "report", "golden", "topology", "list", "doctor"}) {
    CAPTURE(command);
    CHECK(contains(help.out, "  " + command));
    const Ended own = run_rubato({command, "--help"});
    CHECK(own.code == 0);
    CHECK(contains(own.out, "Usage"));
    CHECK(run_rubato({"help", command}).out == own.out);
  }
  CHECK(contains(run_rubato({"run", "--help"}).out, "exit 1 if one breaks"));
  const Ended asked = run_rubato({"help"});
  CHECK(asked.code == 0);
  CHECK(asked.out == help.out);
  const Ended version = run_rubato({"--version"});
  CHECK(version.code == 0);
  CHECK(contains(version.out, "0."));
}

TEST_CASE("a command line that cannot be is refused with exit code 2 and a hint") {
  const Folder home;
  const std::string file = small_experiment(home);
  for (const Arguments& arguments : {Arguments{},
                                     {"walk"},
                                     {"run"},
                                     {"run", file, "--fast"},
                                     {"run", file, "--threads", "0"},
                                     {"run", file, "--threads", "two"},
                                     {"run", file, "--seed", "x"},
                                     {"run", file, "--seed", "-1"},
                                     {"golden"},
                                     {"replay"},
                                     {"list", "planets"},
                                     {"run", home / "missing.toml"},
                                     {"topology", home / "missing.toml"}}) {
    const Ended ended = run_rubato(arguments);
    CAPTURE(ended.err);
    CHECK(ended.code == 2);
    CHECK_FALSE(ended.err.empty());
    CHECK(ended.out.empty());
  }
  CHECK(contains(run_rubato({"run", home / "missing.toml"}).err, "missing.toml"));
  CHECK(run_rubato({"rum", file}).err == "rubato: there is no command \"rum\"; did you mean run?\n");
  CHECK(contains(run_rubato({"walk"}).err, "there is no command \"walk\"; there are: run, node, "));
  CHECK(contains(run_rubato({"help", "walk"}).err, "there is no command \"walk\""));
}

TEST_CASE("a run that its own rule ends has come to its end: exit code 0, and the rule is named") {
  const Folder home;
  const Ended ended = run_rubato({"run", small_experiment(home), "--set", "metrics.every_seconds=3.0", "--set",
                                  "metrics.stop={metric=\"loss_mean\",by=\"mean\",window=1,below=1e9}"});
  CAPTURE(ended.err);
  CHECK(ended.code == 0);
  CHECK(contains(ended.err, "because of metrics.stop"));
  CHECK(contains(ended.out, "stopped at "));
}
