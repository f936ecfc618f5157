// What launchers say, read from environments that are made up here.
#include <doctest/doctest.h>

#include <map>

#include "experiment/launcher.hpp"
#include "tests/actors/support.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

Environment with(const std::map<std::string, std::string>& variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string in_words(const Launch& launch) {
  std::string text = launch.launcher + " " + std::to_string(launch.rank);
  for (const config::Host& host : launch.hosts) text += " " + host.name + "=" + host.address;
  return text;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("without a launcher there is no launch") {
  CHECK_FALSE(launch_of(with({}), 7001));
  CHECK_FALSE(launch_of(with({{"HOSTNAME", "laptop-7"}}), 7001));
}

TEST_CASE("Slurm's short lists of machines are read as scontrol writes them out") {
  CHECK(names_in("gpu") == Names{"gpu"});
  CHECK(names_in("n[1-3]") == Names{"n1", "n2", "n3"});
  CHECK(names_in("n[08-10,7],login") == Names{"n08", "n09", "n10", "n7", "login"});
  CHECK(names_in("r[1-2]n[1-2]") == Names{"r1n1", "r1n2", "r2n1", "r2n2"});
}

TEST_CASE("a list of machines that cannot be one is refused") {
  for (const char* list : {"", "n[", "n]1[", "n[3-1]", "n[a]", "a,,b", "n[1-4000000000]", "n[0-9999][0-9999]"}) {
    CAPTURE(list);
    CHECK_THROWS_AS(names_in(list), std::invalid_argument);
  }
}

TEST_CASE("Slurm gives rank and roster, one host a task, tasks of one machine side by side on its ports") {
  CHECK(in_words(*launch_of(with({{"SLURM_PROCID", "1"}, {"SLURM_JOB_NODELIST", "n[1-2]"}}), 7001)) ==
        "Slurm 1 n1=tcp://n1:7001 n2=tcp://n2:7001");
  CHECK(in_words(*launch_of(with({{"SLURM_PROCID", "2"},
                                  {"SLURM_JOB_NODELIST", "n[1-9]"},
                                  {"SLURM_STEP_NODELIST", "n[1-3]"},
                                  {"SLURM_STEP_TASKS_PER_NODE", "2,1(x2)"}}),
                            9000)) == "Slurm 2 n1-0=tcp://n1:9000 n1-1=tcp://n1:9001 n2=tcp://n2:9000 n3=tcp://n3:9000");
}

TEST_CASE("what Slurm says and cannot be is refused") {
  const auto refusal = [](std::map<std::string, std::string> variables) {
    variables.emplace("SLURM_PROCID", "0");
    variables.emplace("SLURM_JOB_NODELIST", "n[1-2]");
    return complaint<std::invalid_argument>([&] { launch_of(with(variables), 7001); });
  };
  CHECK(refusal({{"SLURM_PROCID", "first"}}) == "SLURM_PROCID = \"first\" is no number");
  CHECK(refusal({{"SLURM_TASKS_PER_NODE", "1(x3)"}}) == "Slurm names 2 machines and the tasks of 3");
  CHECK(contains(refusal({{"SLURM_TASKS_PER_NODE", "2(x2)"}, {"SLURM_DISTRIBUTION", "cyclic"}}), "it must be block"));
  CHECK(refusal({{"SLURM_TASKS_PER_NODE", "1(x2)"}, {"SLURM_DISTRIBUTION", "cyclic"}}) == "nothing was thrown");
}

TEST_CASE("Open MPI gives the rank, also inside of a Slurm job, and the roster comes from the file") {
  const auto launch =
      launch_of(with({{"OMPI_COMM_WORLD_RANK", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_JOB_NODELIST", "n[1-2]"}}), 7001);
  CHECK(in_words(*launch) == "Open MPI 1");
  config::Experiment named = experiment();
  named.roster.resize(2);
  named.roster[0].name = "one";
  named.roster[1].name = "two";
  CHECK(join_roster(named, *launch) == "two");
  config::Experiment empty = experiment();
  CHECK(complaint<std::invalid_argument>([&] { join_roster(empty, *launch); }) ==
        "Open MPI says which host this is, but not where the others are: name them in [[roster]]");
}

TEST_CASE("a pod of a StatefulSet is the host of its number, behind the service that the manifest names") {
  const std::map<std::string, std::string> pod = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"HOSTNAME", "learn-er-2"}};
  CHECK(in_words(*launch_of(with(pod), 7001)) == "Kubernetes 2");
  auto described = pod;
  described["RUBATO_SERVICE"] = "learners";
  described["RUBATO_HOSTS"] = "3";
  CHECK(in_words(*launch_of(with(described), 7001)) ==
        "Kubernetes 2 learn-er-0=tcp://learn-er-0.learners:7001 learn-er-1=tcp://learn-er-1.learners:7001 "
        "learn-er-2=tcp://learn-er-2.learners:7001");
}

TEST_CASE("a roster in the file comes before the launcher's, and must be long enough") {
  config::Experiment named = experiment();
  const Launch launch = *launch_of(with({{"SLURM_PROCID", "1"}, {"SLURM_JOB_NODELIST", "n[1-2]"}}), 7001);
  config::Experiment unnamed = named;
  CHECK(join_roster(unnamed, launch) == "n2");
  CHECK(unnamed.roster.size() == 2);
  named.roster.resize(1);
  CHECK(complaint<std::invalid_argument>([&] { join_roster(named, launch); }) ==
        "Slurm has started host 1 (counted from 0), and the roster has 1");
}
