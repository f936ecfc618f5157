// rubato compare: what it prints, what it leaves, what it returns.
#include <doctest/doctest.h>

#include <csignal>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/command.hpp"

namespace fs = std::filesystem;
using namespace rubato::test;
using nlohmann::json;

namespace {

// The finished runs that a folder of shards has.
std::vector<fs::path> kept_runs(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder / "runs", none))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  return files;
}

std::string other_experiment(const Folder& folder) {
  std::string text = text_of(small_experiment(folder));
  const std::size_t from = text.find("[algorithm]"), to = text.find("[data]");
  write_text(folder / "other.toml", text.replace(from, to - from, "[algorithm]\nname = \"dpsgd\"\n\n"));
  return folder / "other.toml";
}

}  // namespace

TEST_CASE("compare prints a table of every setting, and leaves it with the curves and a report") {
  const Folder home;
  const Ended ended = run_rubato({"compare", small_experiment(home), other_experiment(home), "--seeds", "3", "--grid",
                                  "algorithm.eta=0.05,0.1", "--target", "0.5", "--out", "both"},
                                 {home.path(), ""});
  CAPTURE(ended.err);
  CHECK(ended.code == 0);
  for (const char* part : {"small algorithm.eta=0.05", "small algorithm.eta=0.1", "other algorithm.eta=0.05", "dpsgd",
                           "loss at seconds", "to accuracy 0.5", "0 of 3", "the comparison is in "})
    CHECK(contains(ended.out, part));
  for (const char* file : {"table.csv", "table.json", "curves.csv", "report.html"}) CHECK(fs::exists(home / "both" / file));
  CHECK(contains(text_of(home / "both/report.html"), "\"curve\""));
  CHECK(json::parse(text_of(home / "both/table.json")).at("settings").size() == 4);
}

TEST_CASE("docs/run-folder.md explains every column and key of a comparison's folder") {
  const Folder home;
  REQUIRE(
      run_rubato({"compare", small_experiment(home), "--seeds", "2", "--target", "0.5", "--quiet", "--out", home / "both"}).code ==
      0);
  const std::string explained = text_of(RUBATO_SOURCE_DIR "/docs/run-folder.md");
  const auto is_explained = [&](const std::string& name) { return contains(explained, "`" + name + "`"); };
  for (const char* table : {"table.csv", "curves.csv"}) {
    CHECK(is_explained(table));
    const std::string text = text_of(home / "both" / table);
    std::istringstream head(text.substr(0, text.find('\n')));
    for (std::string column; std::getline(head, column, ',');) {
      std::string name = column;
      if (name.ends_with("_std")) name.resize(name.size() - 4);
      if (const std::size_t target = name.find("_to_"); target != std::string::npos) name.resize(target);
      if (name.starts_with("reached_")) name = "reached_TARGET";
      CHECK_MESSAGE(is_explained(name), column);
    }
  }
  const json table = json::parse(text_of(home / "both/table.json"));
  const std::function<void(const json&)> check_keys = [&](const json& object) {
    if (!object.is_structured()) return;
    for (const auto& [key, value] : object.items()) {
      if (object.is_object()) CHECK_MESSAGE(is_explained(key), key);
      if (key != "grid") check_keys(value);
    }
  };
  check_keys(table);
}

TEST_CASE("with --json the table is alone on standard output, the same on one thread and on two") {
  const Folder home;
  const Arguments some{"compare", small_experiment(home), "--seeds", "2", "--json", "--axis", "bits", "--threads"};
  Arguments one = some, two = some;
  one.push_back("1"), two.push_back("2");
  json table = json::parse(run_rubato(one).out), other = json::parse(run_rubato(two).out);
  CHECK(contains(table.at("command").get<std::string>(), "compare"));
  for (json* each : {&table, &other}) each->erase("command"), each->erase("started_at");
  CHECK(table == other);
  CHECK(table.at("axis") == "bits");
  CHECK(table.at("settings")[0].at("runs").size() == 2);
}

TEST_CASE("a comparison that cannot be made says why with exit code 2, and leaves foreign folders alone") {
  const Folder home;
  const std::string file = small_experiment(home);
  fs::create_directories(home / "mine");
  write_text(home / "mine/notes.txt", "mine");
  fs::create_directories(home / "theirs/runs");
  for (const Arguments& wrong : {Arguments{"--axis", "joy"},
                                 {"--target", "2"},
                                 {"--grid", "algorithm.zeta=1"},
                                 {"--grid", "algorithm.eta"},
                                 {"--seeds", "0"},
                                 {"--points", "3"},
                                 {"--sample-seed", "3"},
                                 {"--tuning-seeds", "3"},
                                 {"--shard", "1/2"},
                                 {"--shard", "1/2", "--out", home / "new", "--halving", "2"},
                                 {"--shard", "1/2", "--out", home / "new", "--json"},
                                 {"--out", home / "mine"},
                                 {"--out", home / "theirs"},
                                 {"--shard", "1/2", "--out", home / "theirs"}}) {
    Arguments arguments{"compare", file};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    const Ended ended = run_rubato(arguments);
    CAPTURE(wrong[1]);
    CHECK(ended.code == 2);
    CHECK_FALSE(ended.err.empty());
  }
  CHECK(text_of(home / "mine/notes.txt") == "mine");
  CHECK(fs::is_empty(home / "theirs/runs"));
  CHECK_FALSE(fs::exists(home / "theirs/plan.json"));
  const Ended misnamed = run_rubato({"compare", file, "--grid", "eta=0.1"});
  CHECK(misnamed.err == "--grid: eta = 0.1: is not a key of the experiment file; did you mean algorithm.eta?\n");
}

TEST_CASE("one impossible point of a sweep is in the table and the folder, and the exit code is 2") {
  const Folder home;
  const Ended ended =
      run_rubato({"compare", small_experiment(home), "--seeds", "1", "--grid", "clients.count=6,7", "--set", "topology.kind=torus",
                  "--set", "topology.rows=2", "--set", "topology.columns=3", "--out", home / "both"});
  CAPTURE(ended.err);
  CHECK(ended.code == 2);
  CHECK(contains(ended.out, "small clients.count=7 was refused: "));
  const json settings = json::parse(text_of(home / "both/table.json")).at("settings");
  REQUIRE(settings.size() == 2);
  CHECK(settings[0].at("refusal").is_null());
  CHECK(settings[0].at("runs").size() == 1);
  CHECK(settings[1].at("refusal").get<std::string>().size() > 10);
  CHECK(contains(text_of(home / "both/report.html"), "was refused"));
  CHECK(run_rubato({"check", home / "both"}).code == 0);
}

TEST_CASE("Ctrl-C ends a comparison with what is finished") {
  const Folder home;
  Command command({"compare", small_experiment(home), "--seeds", "4", "--set", "until=1e7", "--out", home / "cut"});
  REQUIRE(becomes_true([&] { return command.catches(SIGINT); }));
  command.send(SIGINT);
  const Ended ended = command.wait();
  CHECK(ended.code == 130);
  CHECK(contains(ended.out, "no run has come to its end"));
  CHECK(fs::exists(home / "cut/report.html"));
}

TEST_CASE("four shards, two of them killed and started again, make the table of a single process, byte for byte") {
  const Folder home;
  const Arguments what{"compare", quickstart(), "--seeds",   "6", "--grid", "algorithm.eta=0.05,0.1",
                       "--set",   "until=60.5", "--threads", "1", "--quiet"};
  const auto with = [&](const Arguments& more) {
    Arguments all = what;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto shard = [&](int part) { return with({"--shard", std::to_string(part) + "/4", "--out", home / "shared"}); };
  for (const int killed : {2, 3}) {
    const std::size_t before = kept_runs(home / "shared").size();
    Command command(shard(killed));
    REQUIRE(becomes_true([&] { return kept_runs(home / "shared").size() > before; }));
    command.send(SIGKILL);
    CHECK(command.wait().by_signal);
  }
  const std::vector<fs::path> finished = kept_runs(home / "shared");
  std::vector<fs::file_time_type> written;
  for (const fs::path& file : finished) written.push_back(fs::last_write_time(file));
  const Ended early = run_rubato({"compare", "--merge", home / "shared"});
  CHECK(early.code == 1);
  CHECK(contains(early.err, " runs are missing"));
  std::vector<std::unique_ptr<Command>> shards;
  for (const int part : {1, 2, 3, 4}) shards.push_back(std::make_unique<Command>(shard(part)));
  for (const auto& command : shards) CHECK(command->wait().code == 0);
  for (std::size_t i = 0; i < finished.size(); ++i) CHECK(fs::last_write_time(finished[i]) == written[i]);
  const Ended merged = run_rubato({"compare", "--merge", home / "shared", "--target", "0.5"});
  CAPTURE(merged.err);
  CHECK(merged.code == 0);
  REQUIRE(run_rubato(with({"--target", "0.5", "--out", home / "single"})).code == 0);
  for (const char* file : {"table.csv", "curves.csv"}) CHECK(text_of(home / "shared" / file) == text_of(home / "single" / file));
  json table = json::parse(text_of(home / "shared/table.json")), single = json::parse(text_of(home / "single/table.json"));
  for (json* each : {&table, &single}) each->erase("command"), each->erase("started_at");
  CHECK(table == single);
}

TEST_CASE("shards that begin in the same instant in a new folder find room beside each other") {
  for (int round = 0; round < 5; ++round) {
    const Folder home;
    const std::string experiment = small_experiment(home);
    std::vector<std::unique_ptr<Command>> shards;
    for (const char* part : {"1/6", "2/6", "3/6", "4/6", "5/6", "6/6"})
      shards.push_back(std::make_unique<Command>(Arguments{"compare", experiment, "--seeds", "6", "--quiet", "--threads", "1",
                                                           "--out", home / "shared", "--shard", part}));
    for (const auto& shard : shards) CHECK(shard->wait().code == 0);
    CHECK(kept_runs(home / "shared").size() == 6);
  }
}

TEST_CASE("a failed or impossible point keeps no shard from the others, and its sentence comes to the merged table") {
  const Folder home;
  const Arguments what{"compare", small_experiment(home), "--seeds", "2", "--grid", "algorithm.eta=0.05,-1", "--quiet",
                       "--out",   home / "shared",        "--shard"};
  for (const char* part : {"1/2", "2/2"}) {
    Arguments shard = what;
    shard.emplace_back(part);
    run_rubato(shard);
  }
  const Ended merged = run_rubato({"compare", "--merge", home / "shared"});
  CHECK(merged.code == 2);
  CHECK(contains(merged.err, "algorithm.eta=-1 was refused: "));
  CHECK(contains(text_of(home / "shared/table.csv"), "small algorithm.eta=0.05"));
}

TEST_CASE("the folder of shards takes runs of one comparison only, and merging takes a folder of shards only") {
  const Folder home;
  const auto shard = [&](const Arguments& more) {
    Arguments all{"compare", small_experiment(home), "--quiet", "--out", home / "shared"};
    all.insert(all.end(), more.begin(), more.end());
    return run_rubato(all);
  };
  REQUIRE(shard({"--shard", "1/1", "--seeds", "2"}).code == 0);
  CHECK(contains(shard({"--shard", "1/1", "--seeds", "3"}).err, "another number of seeds"));
  CHECK(contains(shard({"--shard", "1/1", "--seeds", "2", "--set", "until=9.5"}).err, "another file, --grid or --set"));
  const Ended nothing = run_rubato({"compare", "--merge", home / "elsewhere"});
  CHECK(nothing.code == 2);
  CHECK(contains(nothing.err, "has no plan.json"));
}

TEST_CASE("a comparison to a folder that has one keeps that one beside it, and no file of it stays in the folder") {
  const Folder home;
  const std::string file = small_experiment(home);
  const auto compare = [&](const std::vector<std::string>& more) {
    Arguments arguments{"compare", file, "--quiet", "--out", "both"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = run_rubato(arguments, {home.path(), ""});
    CAPTURE(ended.err);
    CHECK(ended.code == 0);
  };
  compare({"--seeds", "2", "--grid", "algorithm.eta=0.05,0.1", "--halving", "2", "--tuning-seeds", "1"});
  const std::string first = text_of(home / "both/table.json");
  CHECK(fs::exists(home / "both/tuning.csv"));
  compare({"--seeds", "1"});
  CHECK(text_of(home / "both.previous/table.json") == first);
  CHECK(fs::exists(home / "both.previous/tuning.csv"));
  CHECK(fs::exists(home / "both.previous/experiments"));
  CHECK_FALSE(fs::exists(home / "both/tuning.csv"));
  CHECK(json::parse(text_of(home / "both/table.json")).at("settings").size() == 1);
  fs::create_directories(home / "other.previous");
  write_text(home / "other.previous/note.txt", "mine");
  compare({"--seeds", "1"});
  fs::rename(home / "both", home / "other");
  const Ended refused = run_rubato({"compare", file, "--seeds", "1", "--out", home / "other"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "other.previous, where an earlier comparison would go, holds something else"));
  CHECK(text_of(home / "other.previous/note.txt") == "mine");
}

TEST_CASE("a share that is none, and a target that only merging knows, are refused before a file is written") {
  const Folder home;
  const std::string file = small_experiment(home);
  for (const char* none : {"0/2", "3/2", "1/0", "1", "-1/2"}) {
    const Ended ended = run_rubato({"compare", file, "--out", home / "shared", "--shard=" + std::string(none)});
    CHECK(ended.code == 2);
    CHECK_MESSAGE(contains(ended.err, "must be I/N"), ended.err);
  }
  for (const Arguments& ours : {Arguments{"--target", "0.5"}, {"--axis", "bits"}}) {
    Arguments arguments{"compare", file, "--out", home / "shared", "--shard", "1/2"};
    arguments.insert(arguments.end(), ours.begin(), ours.end());
    const Ended ended = run_rubato(arguments);
    CHECK(ended.code == 2);
    CHECK(contains(ended.err, "give --target and --axis to rubato compare --merge "));
  }
  CHECK_FALSE(fs::exists(home / "shared"));
}

TEST_CASE("shards and a comparison without them do not come into one folder, and merged ones are kept beside it") {
  const Folder home;
  const std::string file = small_experiment(home);
  const auto compare = [&](const char* out, const Arguments& more) {
    Arguments arguments{"compare", file, "--quiet", "--seeds", "2", "--out", home / out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_rubato(arguments);
  };
  REQUIRE(compare("whole", {}).code == 0);
  CHECK(contains(compare("whole", {"--shard", "1/1"}).err, "holds a comparison that was made without --shard"));
  CHECK_FALSE(fs::exists(home / "whole/plan.json"));
  REQUIRE(compare("shared", {"--shard", "1/2"}).code == 0);
  const char* const not_merged = "holds shards that are not through and merged";
  CHECK(contains(compare("shared", {}).err, not_merged));
  REQUIRE(run_rubato({"compare", "--merge", home / "shared"}).code == 1);  // one of two
  CHECK(contains(compare("shared", {}).err, not_merged));
  REQUIRE(compare("shared", {"--shard", "2/2"}).code == 0);
  REQUIRE(run_rubato({"compare", "--merge", home / "shared"}).code == 0);
  const std::string table = text_of(home / "shared/table.json");
  REQUIRE(compare("shared", {"--set", "algorithm.eta=0.2"}).code == 0);
  CHECK(text_of(home / "shared.previous/table.json") == table);
  CHECK(fs::exists(home / "shared.previous/plan.json"));
  CHECK(run_rubato({"compare", "--merge", home / "shared"}).code == 2);
  CHECK(run_rubato({"compare", "--merge", home / "shared.previous"}).code == 0);
}

TEST_CASE("a kept run that lies in the place of another is refused by name") {
  const Folder home;
  REQUIRE(run_rubato({"compare", small_experiment(home), "--quiet", "--seeds", "2", "--grid", "algorithm.eta=0.05,0.1", "--out",
                      home / "shared", "--shard", "1/1"})
              .code == 0);
  const auto file = [&](const char* name) { return home / "shared/runs" / (name + std::string("-seed-1.json")); };
  const std::string own = text_of(file("1"));
  write_text(file("1"), text_of(file("2")));
  const Ended merged = run_rubato({"compare", "--merge", home / "shared"});
  CHECK(merged.code == 2);
  CHECK(contains(merged.err, "1-seed-1.json: is of another run, small algorithm.eta=0.1, seed 1; remove it"));
  CHECK_FALSE(fs::exists(home / "shared/table.json"));
  write_text(file("1"), own);
  CHECK(run_rubato({"compare", "--merge", home / "shared"}).code == 0);
}

TEST_CASE("comparisons that are stopped without a result leave the one that is there, and the one before") {
  const Folder home;
  const std::string file = small_experiment(home);
  const auto whole = [&](const char* seeds) {
    REQUIRE(run_rubato({"compare", file, "--quiet", "--seeds", seeds, "--out", home / "both"}).code == 0);
    return text_of(home / "both/table.json");
  };
  const auto stop = [&](const char* out, const Arguments& more) {
    Arguments arguments{"compare", file, "--quiet", "--set", "until=1e7", "--out", home / out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Command command(arguments);
    REQUIRE(becomes_true([&] { return command.catches(SIGINT); }));
    command.send(SIGINT);
    const Ended ended = command.wait();
    CHECK(ended.code == 130);
    return ended.err;
  };
  const Arguments tuned{"--grid", "algorithm.eta=0.05,0.1", "--halving", "2", "--tuning-seeds", "1"};
  const std::string first = whole("1"), second = whole("2");
  for (int round = 0; round < 2; ++round) {
    CHECK(contains(stop("both", {}), "both stays as it was"));
    CHECK(contains(stop("both", tuned), "both stays as it was"));
  }
  CHECK(text_of(home / "both/table.json") == second);
  CHECK(text_of(home / "both.previous/table.json") == first);
  // One that has tuned alone does not push out the one before.
  fs::remove_all(home / "both");
  stop("both", tuned);
  CHECK(fs::exists(home / "both/tuning.csv"));
  whole("2");
  CHECK(text_of(home / "both.previous/table.json") == first);
  CHECK_FALSE(fs::exists(home / "both/tuning.csv"));
}

TEST_CASE("a file in the place where an earlier comparison would go is left alone") {
  const Folder home;
  write_text(home / "both.previous", "mine");
  const Ended refused = run_rubato({"compare", small_experiment(home), "--seeds", "1", "--out", home / "both"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "where an earlier comparison would go, holds something else"));
  CHECK(text_of(home / "both.previous") == "mine");
}
