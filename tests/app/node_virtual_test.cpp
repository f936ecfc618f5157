// `rubato node` in virtual time: processes over tcp with CURVE share one run, and launchers and scripts that start
// them.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "tests/app/node_party.hpp"

namespace fs = std::filesystem;
using namespace rubato::test;
using nlohmann::json;

namespace {

json result_of_one_process(const fs::path& file, const fs::path& out) {
  const Ended ended = run_rubato({"run", file, "--json", "--quiet", "--threads", "1", "--out", out});
  CAPTURE(ended.err);
  REQUIRE(ended.code == 0);
  return json::parse(ended.out);
}

// A fifth of an example's time.
std::string example(const std::string& name) {
  std::string text = text_of(fs::path(RUBATO_SOURCE_DIR) / "examples" / name);
  const std::string until = "until = 305.0";
  REQUIRE(contains(text, until));
  return text.replace(text.find(until), until.size(), "until = 60.5");
}

// Eight quadratics for as long as nobody stops them.
std::string endless() {
  return R"(name = "endless"
until = 1e8
[hosts]
lost_after = 5.0
[clients]
count = 8
[topology]
kind = "ring"
[channel]
kind = "random"
delay = { law = "exponential", mean = 0.2 }
[algorithm]
name = "draco"
self_apply = true
[data]
name = "quadratic"
dimension = 16
[model]
name = "quadratic"
[metrics]
every_events = 1000
)";
}

// Variables of a launcher, for the commands that are started meanwhile.
class Surroundings {
 public:
  explicit Surroundings(std::map<std::string, std::string> variables) : variables_{std::move(variables)} {
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Surroundings() {
    for (const auto& [name, value] : variables_) unsetenv(name.c_str());
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

 private:
  std::map<std::string, std::string> variables_;
};

// A script of the examples, with its output in a file; its exit code.
int run_script(const std::string& script, const std::string& arguments, const fs::path& output) {
  const std::string command = "cd / && RUBATO=" RUBATO_COMMAND " bash " RUBATO_SOURCE_DIR "/examples/cluster/" + script + " " +
                              arguments + " > " + output.string() + " 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("three processes have the digests, the metrics and the record of one, for DRACO, Spod-GT, PaME and DEPOSITUM") {
  for (const char* name : {"quickstart.toml", "algorithms/spodgt.toml", "algorithms/pame.toml", "algorithms/depositum.toml"}) {
    CAPTURE(name);
    Folder folder;
    write_text(folder / "alone.toml", example(name));
    const json alone = result_of_one_process(folder / "alone.toml", folder / "alone");
    Party party(example(name));
    party.start_all({"b", "c", "a"});
    party.finish(Party::everybody);
    for (const std::string& host : Party::everybody) {
      CAPTURE(host);
      CHECK(party.summary(host).at("model_digest") == alone.at("model_digest"));
      CHECK(party.summary(host).at("timeline_digest") == alone.at("timeline_digest"));
      CHECK(text_of(party.folder(host) / "timeline.rbt") == text_of(folder / "alone/timeline.rbt"));
      CHECK(contains(run_rubato({"check", party.folder(host)}).out, " checks hold"));
    }
    CHECK(text_of(party.folder("a") / "metrics.csv") == text_of(folder / "alone/metrics.csv"));
    CHECK(text_of(party.folder("a") / "models/models.npy") == text_of(folder / "alone/models/models.npy"));
    CHECK(party.summary("a").at("accuracy") == alone.at("accuracy"));
    CHECK(contains(party.summary("b").at("notes").dump(), "what was measured is with host \\\"a\\\""));
    CHECK(run_rubato({"replay", party.folder("c")}).code == 0);
    CHECK(party.replay().code == 0);
  }
}

TEST_CASE("Ctrl-C at one of them ends all at the same instant with their results") {
  Party party(endless());
  party.start_all(Party::everybody);
  REQUIRE(becomes_true([&] { return party.samples("a") > 3; }));
  party.send("c", SIGINT);
  for (const std::string& host : Party::everybody) CHECK(party.wait(host).code == 130);
  for (const char* host : {"b", "c"}) {
    CHECK(party.summary(host).at("model_digest") == party.summary("a").at("model_digest"));
    CHECK(party.summary(host).at("virtual_seconds") == party.summary("a").at("virtual_seconds"));
  }
}

TEST_CASE("when one is killed the others end soon and say who is gone") {
  Party party(endless());
  party.start_all(Party::everybody);
  REQUIRE(becomes_true([&] { return party.samples("a") > 3; }));
  party.kill("b");
  for (const char* host : {"a", "c"}) {
    const Ended ended = party.wait(host);
    CHECK(ended.code == 1);
    CHECK(contains(ended.err, "host \"b\" is gone"));
  }
}

TEST_CASE("hosts with different files refuse each other before any client runs") {
  Party party(endless());
  const std::string file = party.file();
  Command a({"node", file, "--host", "a", "--quiet"}), b({"node", file, "--host", "b", "--quiet", "--seed", "9"});
  for (Command* host : {&a, &b}) {
    const Ended ended = host->wait();
    CHECK(ended.code == 2);
    CHECK(contains(ended.err, "has another experiment"));
  }
}

TEST_CASE("who is to be waited for is named, and at the limit the run is given up") {
  std::string impatient = endless();
  impatient.insert(impatient.find("lost_after"), "wait = 2.5\n");
  Party party(impatient);
  party.start("b");
  const Ended ended = party.wait("b");
  CHECK(ended.code == 1);
  CHECK(contains(ended.err, "waiting for=a,c"));
  CHECK(contains(ended.err, "these hosts are missing, and a virtual run needs all of them: a, c"));
}

TEST_CASE("a host that the roster does not name, or that nothing names, is refused with a sentence") {
  Party party(endless());
  const std::string file = party.file();
  CHECK(contains(run_rubato({"node", file, "--host", "d"}).err, "there is no host \"d\" in the roster; there are: a, b, c"));
  CHECK(contains(run_rubato({"node", file}).err, "--host: no launcher says which host of the roster this is"));
  fs::rename(party.home() / "a.secret", party.home() / "elsewhere");
  CHECK(run_rubato({"node", file, "--host", "a"}).code == 2);
  fs::copy_file(party.home() / "b.secret", party.home() / "a.secret");
  CHECK(contains(run_rubato({"node", file, "--host", "a"}).err, "is not the other half of the public key of \"a\""));
  write_text(party.home() / "none.toml", endless());
  CHECK(contains(run_rubato({"node", party.home() / "none.toml", "--host", "a"}).err, "there is no roster"));
}

TEST_CASE("checkpoints are for one process: a host of a virtual run that is to write them is refused") {
  Party party("checkpoint_every = 10.0\n" + endless());
  party.start("a");
  const Ended ended = party.wait("a");
  CHECK(ended.code == 2);
  CHECK(contains(ended.err, "checkpoint_every: a virtual run over several hosts writes no checkpoints"));
}

TEST_CASE("tasks that Slurm starts find their places, each other and their keys by themselves") {
  Folder folder;
  fs::create_directory(folder / "keys");
  write_text(folder / "run.toml", example("quickstart.toml"));
  const json alone = result_of_one_process(folder / "run.toml", folder / "alone");
  for (const char* task : {"0", "1", "2"})
    REQUIRE(run_rubato({"keygen", std::string("localhost-") + task, "--out", folder / "keys"}).code == 0);
  const std::string port = std::to_string(20000 + getpid() % 30000);
  std::vector<std::unique_ptr<Command>> tasks;
  for (const std::string task : {"2", "0", "1"}) {
    const Surroundings slurm({{"SLURM_PROCID", task}, {"SLURM_JOB_NODELIST", "localhost"}, {"SLURM_TASKS_PER_NODE", "3"}});
    tasks.push_back(std::make_unique<Command>(
        Arguments{"node", folder / "run.toml", "--keys", folder / "keys", "--port", port, "--json", "--quiet"}));
  }
  for (const auto& task : tasks) {
    const Ended ended = task->wait();
    CAPTURE(ended.err);
    REQUIRE(ended.code == 0);
    CHECK(json::parse(ended.out).at("model_digest") == alone.at("model_digest"));
  }
}

TEST_CASE("the script for one machine starts three processes with keys of their own, and they share the quick start") {
  Folder folder;
  const int code = run_script("local.sh", "'' " + (folder / "out").string(), folder / "said.txt");
  CAPTURE(text_of(folder / "said.txt"));
  REQUIRE(code == 0);
  const json alone = result_of_one_process(quickstart(), folder / "alone");
  for (const char* host : {"a", "b", "c"})
    CHECK(json::parse(text_of(folder / "out" / host / "summary.json")).at("model_digest") == alone.at("model_digest"));
}

TEST_CASE("the script for one machine runs an experiment that names a file beside it, and leaves nothing there") {
  Folder folder;
  const fs::path channels = fs::path(RUBATO_SOURCE_DIR) / "examples/channels";
  const auto files = [&] { return std::distance(fs::directory_iterator(channels), fs::directory_iterator()); };
  const auto before = files();
  const int code =
      run_script("local.sh", (channels / "trace.toml").string() + " " + (folder / "out").string(), folder / "said.txt");
  CAPTURE(text_of(folder / "said.txt"));
  CHECK(code == 0);
  CHECK(files() == before);
}

TEST_CASE("the scripts for launchers are scripts") {
  for (const char* script : {"slurm.sh", "openmpi.sh", "local.sh"}) {
    const std::string command = std::string("bash -n ") + RUBATO_SOURCE_DIR + "/examples/cluster/" + script;
    CHECK(std::system(command.c_str()) == 0);
  }
}
