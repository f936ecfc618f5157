#include "experiment/experiment.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "algos/catalogue.hpp"
#include "experiment/file/check.hpp"
#include "experiment/file/experiment_file.hpp"
#include "experiment/file/fingerprint.hpp"
#include "experiment/file/keys.hpp"
#include "runtime/random.hpp"
#include "tests/support/files.hpp"

using namespace rubato;
using namespace rubato::config;
using test::Folder;
using test::text_of;

namespace {

const std::string smallest = R"(until = 100.5
[clients]
count = 4
[algorithm]
name = "draco"
[data]
name = "digits"
[model]
name = "softmax"
)";

struct Read {
  Experiment experiment;
  std::string notes;
};

Read read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  std::ostringstream notes;
  Experiment experiment = parse_experiment(text, "experiment.toml", overrides, notes);
  return {experiment, notes.str()};
}

// All faults of the text, one a line; empty where it is read.
std::string faults_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    read(text, overrides);
  } catch (const BadExperiment& bad) {
    return bad.what();
  }
  return "";
}

std::string warnings_of(const std::vector<std::string>& overrides) {
  std::ostringstream notes;
  warn(read(smallest, overrides).experiment, notes);
  return notes.str();
}

// What is wrong with the values of a program; empty where nothing is.
std::string faults_of(const Experiment& experiment, const std::vector<std::string_view>& own = {}) {
  try {
    validate(experiment, own);
  } catch (const BadExperiment& bad) {
    return bad.what();
  }
  return "";
}

// The smallest experiment with `lines` before its first table and `tables` behind its last.
std::string with(const std::string& lines, const std::string& tables = "") { return lines + "\n" + smallest + tables; }

AlgorithmOptions draco_defaults() {
  AlgorithmOptions options;
  options.set("eta", 0.05);
  options.set("step", std::string("constant"));
  options.set("step_offset", 1.0);
  options.set("local_batches", std::int64_t{1});
  options.set("outbox", std::string("accumulate"));
  options.set("self_apply", false);
  options.set("age_half_life", 0.0);
  return options;
}

}  // namespace

TEST_CASE("the smallest experiment has the documented defaults") {
  const auto [experiment, notes] = read(smallest);
  Experiment expected;
  expected.until = 100.5;
  expected.clients.count = 4;
  expected.algorithm.name = "draco";
  expected.algorithm.options = draco_defaults();
  expected.data.name = "digits";
  expected.model.name = "softmax";
  CHECK(experiment == expected);
  CHECK(notes.empty());
}

TEST_CASE("the example of the design is read") {
  const auto [e, notes] = read(R"(
name = "draco-digits"
seed = 1
clock = "virtual"
until = 305.0
clients = { count = 25, compute = { law = "poisson", rate = { law = "lognormal", mean = 1.0, sigma = 0.5 } }, transmit = { law = "coupled" } }
topology.kind = "ring"
channel = { kind = "random", delay = { law = "exponential", mean = 0.05 }, loss = 0.02 }
mailbox = { window = 0.05, deadline = 1.0, cap = 50, cap_period = 10.0 }
unification = { period = 10.0, hub = "round_robin" }
algorithm = { name = "draco", eta = 0.05, local_batches = 4, self_apply = true }
data = { name = "digits", partition = { kind = "dirichlet_by_class", alpha = 0.5 } }
model = { name = "mlp", hidden = [64], batch = 16 }
metrics = { every_events = 500, test_samples = 1000 }
)");
  CHECK(notes.empty());
  CHECK(e.clients.compute.rate.law == LawKind::lognormal);
  CHECK(e.clients.compute.rate.sigma == 0.5);
  CHECK(e.clients.transmit.law == TimerKind::coupled);
  CHECK(e.channel.delay.mean == 0.05);
  CHECK(e.mailbox.cap == 50);
  CHECK(e.unification.period == 10.0);
  CHECK(e.data.partition.kind == PartitionKind::dirichlet_by_class);
  CHECK(e.model.hidden == std::vector<std::int64_t>{64});
}

TEST_CASE("a number, a list and a law may each stand for a parameter of a timer") {
  const auto rate = [](const std::string& text) {
    return read(with("", "[clients.compute]\nrate = " + text)).experiment.clients.compute.rate;
  };
  Law uniform;
  uniform.law = LawKind::uniform;
  uniform.low = 1, uniform.high = 2.5;
  CHECK(rate("2") == Law::constant(2));
  CHECK(rate("[1, 2.5, 3, 4]").values == std::vector<double>{1, 2.5, 3, 4});
  CHECK(rate("{ law = \"list\", values = [1, 2.5, 3, 4] }") == rate("[1, 2.5, 3, 4]"));
  CHECK(rate("{ law = \"uniform\", low = 1, high = 2.5 }") == uniform);
}

TEST_CASE("a timer of another law keeps no parameter of the default one") {
  const auto& compute = read(with("", "[clients.compute]\nlaw = \"fixed\"\nperiod = 2")).experiment.clients.compute;
  CHECK(compute.rate == TimerLaw{}.rate);
  CHECK(compute.period == Law::constant(2));
}

TEST_CASE("an unknown key is a fault with the key that may have been meant") {
  CHECK(faults_of(with("sead = 3")) == "experiment.toml:1: sead = 3: is not a key of the experiment file; did you mean seed?");
  CHECK(faults_of(with("", "[mailbox]\ndeadlnie = 1")) ==
        "experiment.toml:12: mailbox.deadlnie = 1: is not a key of mailbox; did you mean deadline?");
  CHECK(faults_of(with("", "[metrics]\nhidden = [3]")) ==
        "experiment.toml:12: metrics.hidden = [3]: is not a key of metrics; did you mean model.hidden?");
  CHECK(faults_of(with("", "[zzzzzzzz]\na = 1")) ==
        "experiment.toml:11: zzzzzzzz = { a = 1 }: is not a key of the experiment file");
  CHECK(faults_of(with("eta = 1")) ==
        "experiment.toml:1: eta = 1: is not a key of the experiment file; did you mean algorithm.eta?");
}

TEST_CASE("an unknown data set is a fault with the one that may have been meant, and all that there are are named") {
  const std::string faults = faults_of(with(""), {"data.name=minst"});
  CHECK(faults.starts_with("--set: data.name = \"minst\": must be one of mnist, "));
  CHECK(faults.ends_with("files, quadratic, tridiagonal, pame_regression, pame_logistic; did you mean mnist?"));
}

TEST_CASE("a wrong type is a fault that says what is allowed") {
  CHECK(faults_of(with("seed = \"one\"")) == "experiment.toml:1: seed = \"one\": must be a whole number");
  CHECK(faults_of(with("seed = 1.5")) == "experiment.toml:1: seed = 1.5: must be a whole number");
  CHECK(faults_of(with("name = 5")) == "experiment.toml:1: name = 5: must be a text in quotes");
  CHECK(faults_of(with("mailbox = 5")) == "experiment.toml:1: mailbox = 5: must be a table, such as [mailbox]");
  CHECK(faults_of(with("name = 2020-01-01")) == "experiment.toml:1: name = 2020-01-01: must be a text in quotes");
  CHECK(faults_of(with("record = true")).ends_with("record = true: must be \"full\", \"off\" or a number of bytes, at least 1"));
  CHECK(faults_of(with("", "[unification]\nclears_mailbox = 1")).ends_with("= 1: must be true or false"));
  CHECK(faults_of(with("", "[mailbox]\ndeadline = \"never\"")).ends_with("must be a finite number, or \"none\""));
}

TEST_CASE("a number out of range is a fault that says the range") {
  CHECK(faults_of(with("", "[clients.compute]\nrate = -1")) ==
        "experiment.toml:12: clients.compute.rate = -1: must be greater than 0");
  CHECK(faults_of(with("seed = -1")).find("seed = -1: must be at least 0") != std::string::npos);
  CHECK(faults_of(with("", "[channel]\nkind = \"random\"\nloss = 1.0")).ends_with("must be at least 0 and less than 1"));
  CHECK(faults_of(with("", "[channel]\ndelay = 0")).ends_with("must be greater than 0 and at most 9000000000"));
  CHECK(faults_of(smallest, {"until=0"}) == "--set: until = 0: must be at least 1e-09 and at most 9000000000");
  CHECK(faults_of(smallest, {"clients.count=0"}).ends_with("must be at least 1 and at most 10000000"));
}

TEST_CASE("nan and infinity are no numbers of an experiment") {
  CHECK(faults_of(with("", "[mailbox]\nwindow = nan")).ends_with("mailbox.window = nan: must be a finite number"));
  CHECK(faults_of(with("", "[clients.compute]\nrate = inf")).ends_with("clients.compute.rate = inf: must be a finite number"));
  CHECK(faults_of(with("", "[channel]\nkind = \"random\"\ndelay = { law = \"uniform\", low = -inf, high = 1 }"))
            .ends_with("channel.delay.low = -inf: must be a finite number"));
}

TEST_CASE("a list for the clients has one value for each") {
  CHECK(faults_of(with("", "[clients.compute]\nrate = [1, 2]")) ==
        "experiment.toml:12: clients.compute.rate = [1, 2]: has 2 values, must have one for each of the 4 clients");
  CHECK(faults_of(with("", "[clients.compute]\nrate = []")).ends_with("clients.compute.rate = []: must not be empty"));
  CHECK(faults_of(with("", "[clients.compute]\nrate = [1, 2, 0, 4]"))
            .ends_with("clients.compute.rate[2] = 0: must be greater than 0"));
  CHECK(faults_of(with("", "[clients.transmit]\nlaw = \"table\"\nticks = [[1], [2]]"))
            .ends_with("has 2 lists, must have one for each of the 4 clients"));
  CHECK(faults_of(with("", "[clients.transmit]\nlaw = \"table\"\nticks = [[2, 1], [], [], []]"))
            .ends_with("clients.transmit.ticks[0] = [2, 1]: must ascend"));
}

TEST_CASE("a law's numbers obey the law and the key it stands for") {
  const auto delay = [](const std::string& law) { return faults_of(with("", "[channel]\nkind = \"random\"\ndelay = " + law)); };
  CHECK(delay("{ law = \"exponential\" }").find("channel.delay.mean: must be set") != std::string::npos);
  CHECK(delay("{ law = \"exponential\", mean = 0 }").ends_with("channel.delay.mean = 0: must be greater than 0"));
  CHECK(delay("{ law = \"uniform\", low = 2, high = 1 }").ends_with("channel.delay.high = 1: must be at least low"));
  CHECK(delay("{ law = \"uniform\", low = -2, high = 1 }").find("channel.delay.low = -2: must be at least 0") != std::string::npos);
  CHECK(delay("{ law = \"constant\", value = -2 }").find("channel.delay.value = -2: must be greater than 0") != std::string::npos);
  CHECK(delay("{ law = \"exponental\", mean = 1 }").ends_with("did you mean exponential?"));
  CHECK(delay("{ law = \"beta\", a = 1, b = 1, mean = 1 }")
            .ends_with("channel.delay.mean = 1: is not a key of law = \"beta\"; it belongs to exponential, lognormal"));
  CHECK(delay("\"fast\"").ends_with("channel.delay = \"fast\": must be a finite number, a list or a law"));
}

TEST_CASE("a key that the chosen kind does not know is a fault") {
  CHECK(faults_of(with("", "[topology]\nrows = 3")) ==
        "experiment.toml:12: topology.rows = 3: is not a key of kind = \"ring\"; it belongs to torus, grid");
  CHECK(faults_of(with("", "[data.partition]\nalpha = 1"))
            .ends_with("is not a key of kind = \"iid\"; it belongs to dirichlet_by_class, dirichlet_by_client"));
  CHECK(faults_of(with("time_scale = 2.0")).ends_with("is not a key of clock = \"virtual\"; it belongs to wall"));
  CHECK(faults_of(smallest, {"data.name=quadratic", "data.dimension=3", "model.name=quadratic", "model.batch=2"})
            .ends_with("model.batch = 2: is not a key of name = \"quadratic\"; it belongs to every other than quadratic"));
}

TEST_CASE("what a choice needs beyond its defaults must be set") {
  CHECK(faults_of(with("", "[topology]\nkind = \"torus\"")).starts_with("experiment.toml:11: topology.rows: must be set"));
  CHECK(faults_of(with("", "[unification]\nhub = \"fixed\"")).find("unification.client: must be set") != std::string::npos);
}

TEST_CASE("a missing required key is a fault, whether its table is there or not") {
  const std::string faults = faults_of("");
  for (const char* key : {"until", "clients.count", "algorithm.name", "data.name", "model.name"})
    CHECK(faults.find("experiment.toml: " + std::string(key) + ": must be set") != std::string::npos);
}

TEST_CASE("a churn file brings its lines into the experiment, and its faults are told with its name") {
  const Folder folder;
  const auto named = [&](const std::string& text) {
    const std::string file = folder.write("faults.toml", text).string();
    return with("", "[churn]\nfile = \"" + file + "\"\nevents = [{ at = 1.0, what = \"leave\", clients = [0] }]");
  };
  const Experiment experiment = read(named("[[events]]\nat = 5.0\nwhat = \"heal\"\n[[random]]\nup = 2.0\ndown = 1.0\n")).experiment;
  CHECK_FALSE(experiment.churn.file);
  REQUIRE(experiment.churn.events.size() == 2);
  CHECK(experiment.churn.events[1].what == ChurnKind::heal);
  CHECK(experiment.churn.random.size() == 1);
  CHECK(faults_of(named("[[events]]\nat = 0.0\nwhat = \"heal\"\n")).find("faults.toml:2: events[0].at = 0.0: must be at least") !=
        std::string::npos);
  CHECK(faults_of(named("notice = 1.0\n")).find("is not a key of a churn file; it may have events and random") !=
        std::string::npos);
  CHECK(faults_of(with("", "[churn]\nfile = \"nowhere.toml\"")).find("churn.file = \"nowhere.toml\": there is no file") !=
        std::string::npos);
}

TEST_CASE("what is in files belongs to the fingerprint, and its parts name what differs") {
  const Folder folder;
  const std::string file = folder.write("some.txt", "").string();
  const auto differs = [&](const std::string& tables) {
    const Experiment experiment = read(with("", tables)).experiment;
    folder.write("some.txt", "0,1,0,0.5,0");
    const std::string one = fingerprint_of(experiment, {}).sum, without_data = fingerprint(experiment);
    folder.write("some.txt", "0,1,0,0.7,0");
    CHECK((fingerprint(experiment) == without_data) == tables.starts_with("init_from"));  // of [model]: name and size
    return fingerprint_of(experiment, {}).sum != one;
  };
  CHECK(differs("[channel]\nkind = \"trace\"\nfile = \"" + file + "\""));
  CHECK(differs("[channel]\nkind = \"wireless\"\npositions = \"" + file + "\""));
  CHECK(differs("[[churn.random]]\nkind = \"trace\"\nfile = \"" + file + "\""));
  CHECK(differs("[topology]\nkind = \"file\"\nfile = \"" + file + "\""));
  CHECK(differs("[clients.compute]\nlaw = \"trace\"\nfile = \"" + file + "\""));
  CHECK(differs("init_from = \"" + file + "\""));
  const auto parts = [&](const std::string& tables) { return fingerprint_of(read(with("", tables)).experiment, {}).parts; };
  const auto one = parts("init_from = \"" + file + "\""), other = parts("init_from = \"" + file + "\"\nbatch = 3");
  REQUIRE(one.size() == other.size());
  std::vector<std::string> differing;
  for (std::size_t i = 0; i < one.size(); ++i)
    if (one[i].value != other[i].value) differing.push_back(one[i].name + " " + other[i].value);
  CHECK(differing == std::vector<std::string>{"model.batch 3"});
}

TEST_CASE("an event of churn has the keys of what happens") {
  const auto event = [](const std::string& keys) { return faults_of(with("", "[[churn.events]]\nat = 1.0\n" + keys)); };
  CHECK(event("what = \"crash\"\nclients = [1]") == "");
  CHECK(event("what = \"vanish\"").find("must be one of join, leave, crash, restart, pause, go_on, partition, heal") !=
        std::string::npos);
  CHECK(event("what = \"crash\"").find("churn.events[0].clients: must be set") != std::string::npos);
  CHECK(event("what = \"partition\"").find("churn.events[0].groups: must be set") != std::string::npos);
  CHECK(event("what = \"leave\"\nclients = [1]\nfrom = \"start\"")
            .find("is not a key of what = \"leave\"; it belongs to join, restart") != std::string::npos);
}

TEST_CASE("hosts have names of their own, and every client has one host") {
  const auto roster = [](const std::string& first, const std::string& second) {
    return faults_of(with(
        "", "[[roster]]\naddress = \"tcp://127.0.0.1:1\"\n" + first + "\n[[roster]]\naddress = \"tcp://127.0.0.1:2\"\n" + second));
  };
  CHECK(roster("name = \"a\"", "name = \"b\"") == "");
  CHECK(roster("name = \"a\"", "name = \"a\"").find("is the name of two hosts") != std::string::npos);
  CHECK(roster("name = \"a\"", "").find("roster[1].name: must be set") != std::string::npos);
  CHECK(roster("name = \"a\"\nclients = [0]", "name = \"b\"").find("names clients of some hosts only") != std::string::npos);
  CHECK(roster("name = \"a\"\nclients = [0]", "name = \"b\"\nclients = [0, 1]").find("is a client of two hosts") !=
        std::string::npos);
  CHECK(roster("name = \"a\"\nclients = [0]", "name = \"b\"\nclients = [1]").find("has no host for ") != std::string::npos);
  CHECK(roster("name = \"a\"\nclients = [0]", "name = \"b\"\nclients = [10000]").find("must be clients, 0 to ") !=
        std::string::npos);
  CHECK(faults_of(with("", "[[roster]]\nname = \"a\"")).find("roster[0].address: must be set") != std::string::npos);
  CHECK(faults_of(with("roster = 3")).find("must be a list of tables with name and address") != std::string::npos);
}

TEST_CASE("every fault of a roster is said at once, with its line and key") {
  const std::string key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", other = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
  const std::string faults = faults_of(
      "clients.count = 4\ndata.name = \"digits\"\nmodel.name = \"softmax\"\n"
      "algorithm = { name = \"draco\", self_apply = true }\n"
      "[[roster]]\nname = \"a\"\naddress = \"10.0.0.1:7001\"\npublic_key = \"" +
          key +
          "\"\n"
          "[[roster]]\nname = \"b\"\naddress = \"tcp://10.0.0.2:70001\"\nbind = \"*:7001\"\n"
          "[[roster]]\nname = \"c\"\naddress = \"tcp://10.0.0.3:7001\"\npublic_key = \"too short\"\n"
          "[[roster]]\nname = \"d\"\naddress = \"tcp://10.0.0.3:7001\"\npublic_key = \"" +
          key +
          "\"\n"
          "[[roster]]\nname = \"e\"\naddress = \"tcp://10.0.0.4:0\"\nbind = \"tcp://*:0\"\npublic_key = \"" +
          other +
          "\"\n"
          "[[roster]]\nname = \"e\"\nadress = \"ipc:///tmp/f\"\npublic_key = \"" +
          other + "\"\n",
      {"until=100.5"});
  CAPTURE(faults);
  for (const char* fault :
       {":7: roster[0].address = \"10.0.0.1:7001\": must be tcp://HOST:PORT or ipc://PATH; a port is 1 to 65535",
        ":9: roster[1].public_key: must be set: other hosts have one", ":11: roster[1].address = \"tcp://10.0.0.2:70001\": must be",
        ":12: roster[1].bind = \"*:7001\": must be",
        ":16: roster[2].public_key = \"too short\": is no key; a key has 40 characters",
        ":19: roster[3].address = \"tcp://10.0.0.3:7001\": is the address of two hosts", ":20: roster[3].public_key = ",
        ":23: roster[4].address = \"tcp://10.0.0.4:0\": must be", ":26: roster[5].address: must be set",
        ":27: roster[5].name = \"e\": is the name of two hosts", ":28: roster[5].adress = ", ":29: roster[5].public_key = "})
    CHECK_MESSAGE(faults.find(fault) != std::string::npos, fault);
  CHECK(std::count(faults.begin(), faults.end(), '\n') == 11);
}

TEST_CASE("clients are named by numbers below their count") {
  CHECK(faults_of(with("", "[topology]\nkind = \"star\"\ncenter = 4"))
            .ends_with("topology.center = 4: must be a client: at least 0 and at most 3"));
  CHECK(faults_of(with("", "[topology]\nkind = \"edges\"\nedges = [[0, 1], [1, 7]]")).find("topology.edges[1][1] = 7") !=
        std::string::npos);
  CHECK(faults_of(with("", "[topology]\nkind = \"edges\"\nedges = [[1, 1]]")).ends_with("must join two different clients"));
  CHECK(faults_of(with("", "[unification]\nhub = \"table\"\nhubs = [0, -1]")).find("unification.hubs[1] = -1") !=
        std::string::npos);
  CHECK(faults_of(with("", "[topology]\nkind = \"knn\"\nk = 4")).ends_with("must be less than clients.count = 4"));
  CHECK(faults_of(with("", "[metrics]\nclients = 5")).ends_with("must be at most clients.count = 4"));
}

TEST_CASE("keys that must fit each other are checked together") {
  CHECK(faults_of(with("", "[topology]\nkind = \"grid\"\nrows = 2\ncolumns = 3"))
            .ends_with("rows * columns is 6, must be clients.count = 4"));
  CHECK(faults_of(with("", "[mailbox]\ncap = 3")).find("mailbox.cap_period: must be set") != std::string::npos);
  CHECK(faults_of(smallest, {"data.name=quadratic", "data.dimension=3"})
            .ends_with("data.name = \"quadratic\" needs the model quadratic"));
  CHECK(faults_of(smallest, {"model.name=quadratic"}).find("needs another model") != std::string::npos);
  CHECK(faults_of(smallest, {"algorithm.q=explicit", "algorithm.q_matrix=[[1.0]]"}).find("has 1 rows") != std::string::npos);
  CHECK(
      faults_of(smallest, {"clients.count=5", "data.partition.kind=decefl_table3"}).ends_with("needs clients.count = 4, 8 or 16"));
  CHECK(faults_of(with("", "[channel]\ndelay = { law = \"exponential\", mean = 1 }"))
            .find("must be one number for kind = \"ideal\"") != std::string::npos);
}

TEST_CASE("links are listed once, join two clients, and are complete for kind = table") {
  const auto links = [](const std::string& kind, const std::string& list) {
    return faults_of(with("", "[channel]\nkind = \"" + kind + "\"\nlinks = " + list));
  };
  CHECK(links("random", "[{ source = 0, target = 1, loss = 0.5 }]") == "");
  CHECK(links("random", "[{ source = 0, target = 1 }, { source = 0, target = 1 }]").ends_with("is the second entry of this link"));
  CHECK(links("random", "[{ source = 2, target = 2 }]").ends_with("must join two different clients"));
  CHECK(links("random", "[{ source = 2, target = 3, lost = 1 }]")
            .ends_with("channel.links[0].lost = 1: is not a key of channel.links[0]; did you mean loss?"));
  CHECK(links("random", "[3]").ends_with("must be a table with source and target"));
  CHECK(links("table", "[{ source = 2, target = 3 }]").ends_with("channel.links[0].delay: must be set for kind = \"table\""));
  CHECK(links("table", "[]").ends_with("must list every link for kind = \"table\""));
}

TEST_CASE("all faults are reported at once, in the order of the lines") {
  const std::string text = "seed = -1\nuntli = 3\nuntil = \"x\"\n[clients]\ncount = 4\ncompute = { rate = 0 }\n";
  try {
    read(text, {"mailbox.window=-1"});
    FAIL("was read");
  } catch (const BadExperiment& bad) {
    std::vector<std::string> keys;
    for (const Fault& fault : bad.faults()) keys.push_back(fault.key);
    CHECK(keys == std::vector<std::string>{"seed", "untli", "until", "clients.compute.rate", "mailbox.window", "algorithm.name",
                                           "data.name", "model.name"});
    CHECK(bad.faults()[0].line == 1);
    CHECK(bad.faults()[4].file == "--set");
    CHECK(std::count(bad.what(), bad.what() + std::string(bad.what()).size(), '\n') == 7);
  }
}

TEST_CASE("a file of nothing but faults reports the first 200 and counts the rest") {
  std::string text = smallest;
  for (int i = 0; i < 300; ++i) text += "unknown_" + std::to_string(i) + " = 1\n";
  CHECK(faults_of(text).ends_with("experiment.toml: and 100 more faults"));
}

TEST_CASE("what is not TOML is a fault with its line") {
  CHECK(faults_of("until = \n").starts_with("experiment.toml:1: is not TOML: "));
  CHECK(faults_of(with("seed = 1\nseed = 2")).starts_with("experiment.toml:2: is not TOML: "));
  CHECK(faults_of(std::string("name = \"\xff\"")).starts_with("experiment.toml:1: is not TOML: "));
  CHECK(faults_of("x = " + std::string(100000, '[')).starts_with("experiment.toml:1: is not TOML: "));
}

TEST_CASE("what toml++ does not withstand is not TOML either") {
  std::string deep = "a";
  for (int i = 0; i < 300000; ++i) deep += ".a";
  const std::string sentence = "experiment.toml:1: is not TOML: a key has more than 16 dotted parts";
  CHECK(faults_of(deep + " = 1") == sentence);
  CHECK(faults_of("[" + deep + "]") == sentence);
  CHECK(faults_of("x = { a = \"\"\"b\"\"\"\", " + deep + " = 1 }") == sentence);
  CHECK(faults_of("[#\n").starts_with("experiment.toml: is not TOML: "));
  CHECK(faults_of("caf\xc3\xa9 = 1").starts_with("experiment.toml:1: is not TOML: a character beyond ASCII"));
  CHECK(faults_of(with("name = \"caf\xc3\xa9 1.2.3.4.5.6.7.8.9.1.2.3.4.5.6.7.8.9\" # \xc3\xa9 ................")) == "");
}

TEST_CASE("a file that cannot be read is a sentence") {
  const Folder folder;
  std::ostringstream notes;
  CHECK_THROWS_WITH_AS(read_experiment("/nowhere/a.toml", {}, notes), "/nowhere/a.toml: cannot be read: No such file or directory",
                       BadExperiment);
  CHECK_THROWS_WITH_AS(read_experiment(folder.path(), {}, notes),
                       (folder.path().string() + ": cannot be read: it is a folder").c_str(), BadExperiment);
  const auto large = folder.write("large.toml", std::string(max_experiment_bytes + 1, '#'));
  CHECK_THROWS_WITH_AS(read_experiment(large, {}, notes),
                       (large.string() + ": is larger than 16 MB, the limit of an experiment file").c_str(), BadExperiment);
}

TEST_CASE("paths are relative to the folder of the experiment and written as absolute ones") {
  const Folder folder;
  folder.write("graph.txt", "0 1\n");
  const auto file = folder.write("a.toml", with("", "[topology]\nkind = \"file\"\nfile = \"graph.txt\""));
  std::ostringstream notes;
  const Experiment experiment = read_experiment(file, {}, notes);
  CHECK(experiment.topology.file == folder.path() / "graph.txt");
  CHECK(read(write_experiment(experiment)).experiment == experiment);
  const std::vector<std::string> missing{"topology.file=other.txt"}, a_folder{"topology.file=."};
  CHECK_THROWS_AS(read_experiment(file, missing, notes), BadExperiment);
  CHECK_THROWS_AS(read_experiment(file, a_folder, notes), BadExperiment);
}

TEST_CASE("--set lays values over the file: TOML, or one bare word as a text") {
  const auto e = read(smallest, {"seed=7", "name = my run", "mailbox.deadline=2.5", "model.l2=1e-3", "record=off",
                                 "clients.compute.rate=[1, 2, 3, 4]", "precision=float64"})
                     .experiment;
  CHECK(e.seed == 7);
  CHECK(e.name == "my run");
  CHECK(e.mailbox.deadline == 2.5);
  CHECK(e.model.l2 == 1e-3);
  CHECK(e.record.kind == Record::Kind::off);
  CHECK(e.clients.compute.rate.values.size() == 4);
  CHECK(e.precision == Scalar::float64);
}

TEST_CASE("none takes away what the file sets") {
  const std::string text = with("", "[mailbox]\ndeadline = 3\n[unification]\nperiod = 7");
  CHECK(read(text).experiment.mailbox.deadline == 3.0);
  CHECK(read(text, {"mailbox.deadline=none"}).experiment.mailbox.deadline == std::nullopt);
  CHECK(read(text, {"unification.period=none"}).experiment.unification.period == std::nullopt);
}

TEST_CASE("a --set that cannot be understood is a fault") {
  CHECK(faults_of(smallest, {"seed"}) == "--set: seed: must be key=value");
  CHECK(faults_of(smallest, {"=3"}) == "--set: must be key=value");
  CHECK(faults_of(smallest, {"seed="}) == "--set: seed: must be key=value");
  CHECK(faults_of(smallest, {"model.hidden=[1"}).starts_with("--set: model.hidden = [1: must be a TOML value or a bare word"));
  CHECK(faults_of(smallest, {"seed=1\nname=\"x\""}).starts_with("--set: seed = 1\nname=\"x\": must be a TOML value"));
  CHECK(faults_of(smallest, {"seed.x=1"}) == "--set: seed = { x = 1 }: must be a whole number");
  CHECK(faults_of(smallest, {"until.x=1"}).starts_with("--set: until.x = 1: cannot be set: until is 100.5, not a table"));
  CHECK(faults_of(smallest, {"algorithm.etta=1"}) == "--set: algorithm.etta = 1: is not a key of algorithm; did you mean eta?");
  CHECK(faults_of(smallest, {"a..b=1"}).starts_with("--set: a..b = 1: must be table.key=value"));
}

TEST_CASE("--set of another choice drops the keys it does not know and names them") {
  const std::string text =
      with("", "[topology]\nkind = \"torus\"\nrows = 2\ncolumns = 2\n[data.partition]\nkind = \"by_class\"\nclasses = 2");
  const auto [ring, notes] = read(text, {"topology.kind=ring"});
  CHECK(ring.topology == Topology{});
  CHECK(notes ==
        "--set topology.kind = \"ring\" drops topology.rows = 2, which it does not know\n"
        "--set topology.kind = \"ring\" drops topology.columns = 2, which it does not know\n");
  CHECK(read(text, {"topology.kind=grid"}).experiment.topology.rows == 2);
  CHECK(read(text, {"topology.kind=grid"}).notes == "");
  CHECK(read(text, {"topology.kind=torus"}).notes == "");
  CHECK(
      read(text, {"data.name=quadratic", "data.dimension=2", "model.name=quadratic"}).notes.find("drops data.partition = { kind") !=
      std::string::npos);
}

TEST_CASE("--set of another choice needs what that choice has no default for") {
  CHECK(faults_of(smallest, {"topology.kind=erdos_renyi"}).find("topology.probability: must be set") != std::string::npos);
  CHECK(read(smallest, {"topology.probability=0.5", "topology.kind=erdos_renyi"}).experiment.topology.probability == 0.5);
}

TEST_CASE("a key set by --set is never dropped, but judged") {
  CHECK(faults_of(smallest, {"topology.rows=2", "topology.kind=star"})
            .starts_with("--set: topology.rows = 2: is not a key of kind = \"star\""));
}

TEST_CASE("--set law= replaces the law of a timer and of a number") {
  const std::string text =
      with("", "[clients.compute]\nlaw = \"gamma\"\nshape = 2\nrate = { law = \"uniform\", low = 1, high = 2 }");
  const auto poisson = read(text, {"clients.compute.law=poisson"});
  CHECK(poisson.experiment.clients.compute.rate.high == 2);
  CHECK(poisson.notes == "--set clients.compute.law = \"poisson\" drops clients.compute.shape = 2, which it does not know\n");
  const auto exponential = read(text, {"clients.compute.rate.mean=3", "clients.compute.rate.law=exponential"});
  CHECK(exponential.experiment.clients.compute.rate.mean == 3);
  CHECK(exponential.notes.find("drops clients.compute.rate.low = 1") != std::string::npos);
  const auto from_number =
      read(text, {"clients.compute.shape.law=uniform", "clients.compute.shape.low=1", "clients.compute.shape.high=2"});
  CHECK(from_number.experiment.clients.compute.shape.law == LawKind::uniform);
  CHECK(from_number.notes == "--set clients.compute.shape.law replaces clients.compute.shape = 2\n");
}

TEST_CASE("an invalid choice by --set drops nothing and is one fault") {
  const std::string text = with("", "[topology]\nkind = \"torus\"\nrows = 2\ncolumns = 2");
  CHECK(faults_of(text, {"topology.kind=rong"}).ends_with("did you mean ring?"));
  CHECK(faults_of(text, {"topology.kind=rong"}).find('\n') == std::string::npos);
}

TEST_CASE("an end that falls on a unification is noted") {
  CHECK(warnings_of({"unification.period=0.5"}).find("falls on a unification") != std::string::npos);
  CHECK(warnings_of({"unification.period=1"}) == "");
}

TEST_CASE("the cap counts per unification period unless the file says otherwise") {
  CHECK(read(smallest, {"mailbox.cap=3", "unification.period=7"}).experiment.mailbox.cap_period == 7.0);
  CHECK(read(smallest, {"mailbox.cap=3", "mailbox.cap_period=2", "unification.period=7"}).experiment.mailbox.cap_period == 2.0);
  CHECK(warnings_of({"mailbox.cap_period=2"}) == "mailbox.cap_period is not used: there is no mailbox.cap\n");
}

TEST_CASE("the values of a program get the sentences of a file, all at once") {
  Experiment experiment = read(smallest).experiment;
  CHECK(faults_of(experiment) == "");
  experiment.until = -1;
  experiment.clock = ClockKind::wall_time, experiment.time_scale = 0;
  experiment.clients.count = 2;
  experiment.clients.transmit.law = TimerKind::table, experiment.clients.transmit.ticks = {{1, 3, 2}, {1}};
  experiment.channel.kind = ChannelKind::random, experiment.channel.loss = 2;
  experiment.mailbox.cap = 3;
  experiment.algorithm.options.set("etta", 0.1);
  experiment.algorithm.options.set("xi", 0.1);
  experiment.data.name = "";
  CHECK(faults_of(experiment) ==
        "experiment: time_scale = 0.0: must be greater than 0\n"
        "experiment: until = -1.0: must be at least 1e-09 and at most 9000000000\n"
        "experiment: clients.transmit.ticks[0] = [1.0, 3.0, 2.0]: must ascend\n"
        "experiment: channel.loss = 2.0: must be at least 0 and less than 1\n"
        "experiment: algorithm.xi = 0.1: is not a key of name = \"draco\"; it belongs to adpsgd, async_dsgd, dpsgd, "
        "sync_barrier_dsgd, sync_dsgd\n"
        "experiment: algorithm.etta = 0.1: is not a key of algorithm; did you mean eta?\n"
        "experiment: data.name: must be set: a data set that `rubato list datasets` shows; files: your own; "
        "quadratic: f_i = 1/2 ||x - c_i||^2 with random c_i; tridiagonal: f_i = 1/2 x'Ax + x_1/4 + <u_i, x>, A = tridiag(-1, 2, "
        "-1)/4; "
        "pame_regression, pame_logistic: random samples around a sparse solution\n"
        "experiment: mailbox.cap_period: must be set: mailbox.cap counts per cap_period, and there is no unification.period");
}

TEST_CASE("an option that several algorithms have is read as the one of the file takes it, whatever the others do") {
  for (const CatalogueEntry* entry : catalogue())
    for (const OptionSpec& spec : entry->options) {
      if (spec.type != OptionType::whole || spec.name == "local_batches") continue;
      CAPTURE(entry->name);
      CAPTURE(spec.name);
      const std::string key = "algorithm." + std::string(spec.name), name = "algorithm.name=" + std::string(entry->name);
      const double least = spec.low_is_out ? spec.low + 1 : spec.low;
      const std::string value = std::to_string(std::isfinite(least) ? static_cast<std::int64_t>(least) : 1);
      std::ostringstream notes;
      const Experiment read = config::parse_experiment(smallest, "experiment.toml", std::vector{name, key + "=" + value}, notes);
      CHECK(std::holds_alternative<std::int64_t>(read.algorithm.options.all().at(std::string(spec.name))));
    }
}

TEST_CASE("an option of another algorithm is refused in a program, and a key of another choice is not looked at") {
  Experiment experiment = read(smallest).experiment;
  experiment.topology.rows = -3, experiment.time_scale = 0;
  CHECK(faults_of(experiment) == "");
  CHECK(validate(experiment).topology.rows == 0);
  experiment.algorithm.name = "dpsgd";
  CHECK(faults_of(experiment)
            .find("experiment: algorithm.outbox = \"accumulate\": is not a key of name = \"dpsgd\"; it belongs to ") !=
        std::string::npos);
}

TEST_CASE("what follows from other keys is filled in for a program as for a file") {
  Experiment experiment = read(smallest).experiment;
  experiment.mailbox.cap = 3, experiment.unification.period = 7;
  experiment.algorithm.options = {};
  const Experiment complete = validate(experiment);
  CHECK(complete.mailbox.cap_period == 7.0);
  CHECK(complete.algorithm.options == draco_defaults());
  CHECK(validate(complete) == complete);
}

TEST_CASE("addresses of hosts are for the transport of a program to judge, names are not") {
  Experiment experiment = read(smallest).experiment;
  experiment.roster = {{"a", "inproc://a", {}, {}, {}}, {"b", "inproc://b", {}, {}, {}}};
  CHECK(validate(experiment) == experiment);
  experiment.roster[1].name = "a";
  CHECK(faults_of(experiment) == "experiment: roster[1].name = \"a\": is the name of two hosts");
}

TEST_CASE("what a program brings along is not judged in its table, but for the size of batches") {
  Experiment experiment = read(smallest).experiment;
  experiment.data = {}, experiment.model = {}, experiment.algorithm = {};
  experiment.model.batch = 5;
  CHECK(faults_of(experiment, {"data", "model", "algorithm"}) == "");
  CHECK(validate(experiment, std::vector<std::string_view>{"data", "model", "algorithm"}) == experiment);
  experiment.model.batch = -1;
  CHECK(faults_of(experiment, {"data", "model"}) ==
        "experiment: algorithm.name: must be set: the algorithm\n"
        "experiment: model.batch = -1: must be at least 0 and at most 1000000000000");
}

TEST_CASE("an experiment of own learners is written with the batch that it is run with") {
  const std::vector<std::string_view> own{"data", "model"};
  std::ostringstream notes;
  const std::string text = "until = 10\n[clients]\ncount = 4\n[algorithm]\nname = \"draco\"\n[model]\nbatch = 7\n";
  const Experiment experiment = judge_experiment(text, "own.toml", {}, notes, own);
  CHECK(experiment.model.batch == 7);
  CHECK(judge_experiment(write_experiment(experiment), "own.toml", {}, notes, own) == experiment);
}

namespace {

// Random experiments from the table of keys itself: four clients, every choice, every key with values all over its
// range.
class Generator {
 public:
  Generator(std::uint64_t seed, std::string file) : chance_(seed, no_client, Purpose::noise), file_{std::move(file)} {}

  Table table(const std::string& spec) {
    Table table;
    for (const Key* key : keys_of(spec)) {
      const bool is_known = belongs(spec, *key, table) == Belongs::yes;
      const bool is_given = !key->fallback || is_needed(*key) || chance_.uniform() < 0.7;
      if (is_known && is_given) table.set(key->name, value(*key));
    }
    return table;
  }
  std::string text() {
    data_ = data_names[chance_.below(data_names.size())];
    std::string text;
    Table root = table("");
    if (!is_bandwidth_) drop_capacities(root);
    drop_contradictions(root);
    for (const Entry& entry : root.entries) text += entry.name + " = " + to_toml(entry.value) + '\n';
    return text;
  }

 private:
  // Devices have bits per second of their own only where the channel shares them out.
  static void drop_capacities(Table& root) {
    Value* clients = root.find("clients");
    Value* classes = clients ? clients->as<Table>()->find("classes") : nullptr;
    if (!classes) return;
    for (Value& device : *classes->as<List>())
      std::erase_if(device.as<Table>()->entries, [](const Entry& entry) { return entry.name == "up" || entry.name == "down"; });
  }
  // One key says how large batches are, and a rule to stop is whole or absent.
  static void drop_contradictions(Table& root) {
    const auto drop = [](Value* table, std::string_view key) {
      std::erase_if(table->as<Table>()->entries, [&](const Entry& entry) { return entry.name == key; });
    };
    Value* model = root.find("model");
    if (model && model->as<Table>()->find("client_batch")) drop(model, "batch");
    Value* data = root.find("data");
    if (data && word_in(data, "normalise") != "standard") drop(data, "clip");
    Value* partition = data ? data->as<Table>()->find("partition") : nullptr;
    Value* fewest = partition ? partition->as<Table>()->find("fewest") : nullptr;
    Value* most = partition ? partition->as<Table>()->find("most") : nullptr;
    if (fewest && most && *most->as<std::int64_t>() < *fewest->as<std::int64_t>()) std::swap(*fewest, *most);
    if (fewest && !most) drop(partition, "fewest");
    if (most && !fewest) drop(partition, "most");
    Value* metrics = root.find("metrics");
    Value* stop = metrics ? metrics->as<Table>()->find("stop") : nullptr;
    if (stop && !(stop->as<Table>()->find("metric") && stop->as<Table>()->find("below"))) drop(metrics, "stop");
    drop_unlike_layers(root);
  }
  static std::string word_in(Value* table, std::string_view key) {
    Value* word = table ? table->as<Table>()->find(key) : nullptr;
    return word ? *word->as<std::string>() : std::string();
  }
  // Layers of a class are those of its own model, or of the model of all.
  static void drop_unlike_layers(Table& root) {
    Value* clients = root.find("clients");
    Value* classes = clients ? clients->as<Table>()->find("classes") : nullptr;
    if (!classes) return;
    const std::string of_all = word_in(root.find("model"), "name");
    for (Value& device : *classes->as<List>()) {
      std::vector<Entry>& entries = device.as<Table>()->entries;
      const auto drop = [&](std::string_view key) {
        std::erase_if(entries, [&](const Entry& entry) { return entry.name == key; });
      };
      const std::string own = word_in(&device, "model");
      const std::string model = own.empty() ? of_all : own;
      if (model != "mlp") drop("hidden");
      if (model != "cnn") drop("layers");
      const bool is_whole =
          own == of_all || (own != "mlp" && own != "cnn") || device.as<Table>()->find(own == "mlp" ? "hidden" : "layers");
      if (!is_whole) drop("model"), drop("hidden"), drop("layers");
    }
  }
  static bool is_needed(const Key& key) {
    return key.type == Type::table || key.element == "link" || key.name == "cap_period" ||
           (key.table == "link" && key.name == "delay");
  }
  double real(const Range& range) {
    const double low = std::max(range.low, -1e3), high = std::min(range.high, low + 1e3);
    return low + (1 - chance_.uniform()) * (high - low) * (range.high_is_out ? 0.99 : 1);
  }
  std::int64_t whole(const Range& range) {
    const auto low = static_cast<std::int64_t>(range.low);
    return low + static_cast<std::int64_t>(chance_.below(static_cast<std::uint64_t>(std::min(range.high - range.low + 1, 1e6))));
  }
  Value numbers(const Range& range, int count) {
    List list;
    for (int i = 0; i < count; ++i) list.push_back({real(range)});
    return {list};
  }
  static Value hosts() {
    List list;
    for (const char* name : {"a", "b"}) {
      Table host;
      host.set("name", {std::string(name)});
      host.set("address", {"tcp://" + std::string(name) + ":7001"});
      list.push_back({host});
    }
    return {list};
  }
  Value integer(const Key& key) {
    if (key.name == "count") return {std::int64_t{4}};
    if (key.table == "topology" && (key.name == "rows" || key.name == "columns")) return {std::int64_t{2}};
    if (key.name == "k" || (key.table == "metrics" && key.name == "clients")) return {whole({1, 3})};
    return {whole(key.range)};
  }
  Value choice(const Key& key) {
    if (key.table == "data" && key.name == "name") return {data_};
    if (key.table == "model" && key.name == "name" && (data_ == "quadratic" || data_ == "tridiagonal"))
      return {std::string("quadratic")};
    if (key.table == "model" && key.name == "name" && data_ == "pame_regression") return {std::string("least_squares")};
    if (key.table == "model" && key.name == "name" && data_ == "pame_logistic") return {std::string("logistic")};
    const auto words = words_of(key.choices);
    std::string word;
    const auto is_refused = [&] {
      if (key.table == "model") return word == "quadratic" || word == "least_squares" || word == "centre";
      return key.table == "channel" && is_wall_ && (word == "wireless" || word == "bandwidth");
    };
    do word = words[chance_.below(words.size())];
    while (is_refused());
    if (key.table == "channel" && key.name == "kind") is_ideal_ = word == "ideal", is_bandwidth_ = word == "bandwidth";
    if (key.name == "clock") is_wall_ = word == "wall";
    return {word};
  }
  Value law(const Key& key) {
    const bool is_number = key.name == "delay" && key.table == "channel" && is_ideal_;
    if (is_number || chance_.uniform() < 0.3) return {real(key.range)};
    if (chance_.uniform() < 0.3) return numbers(key.range, 4);
    Table law = table("law");
    const double lowest = std::max(key.range.low, 0.25);
    if (Value* low = law.find("low")) *low = {lowest}, law.set("high", {lowest + 0.5});
    if (law.find("values")) law.set("values", numbers(key.range, 4));
    for (const char* name : {"value", "min"})
      if (law.find(name)) law.set(name, {real(key.range)});
    return {law};
  }
  Value text_value() { return {"a \"quoted\" \\ text\twith \xc3\xa9 and " + std::to_string(chance_.below(100))}; }
  Value ticks() {
    List lists;
    for (int i = 0; i < 4; ++i) lists.push_back({List{{0.1 * i}, {real({1, 2})}, {std::int64_t{3}}}});
    return {lists};
  }
  Value links() {
    List links;
    for (std::int64_t target : {1, 2}) {
      Table link = table("link");
      link.set("source", {std::int64_t{0}}), link.set("target", {target});
      links.push_back({link});
    }
    return {links};
  }
  Value devices() {
    List classes;
    for (const char* name : {"phone", "board"}) {
      Table device = table("device");
      device.set("name", {std::string(name)}), device.set("share", {0.25});
      classes.push_back({device});
    }
    return {classes};
  }
  Value tables(std::string_view element) {
    if (element == "link") return links();
    if (element == "host") return hosts();
    if (element == "device") return devices();
    return {List{{table(std::string(element))}, {table(std::string(element))}}};
  }
  Value matrix() {
    List rows;
    for (int i = 0; i < 4; ++i) rows.push_back(numbers({}, 4));
    return {rows};
  }
  Value value(const Key& key) {
    switch (key.type) {
      case Type::boolean:
        return {chance_.uniform() < 0.5};
      case Type::integer:
        return integer(key);
      case Type::number:
        if (key.name == "speed_low" || key.name == "speed_high") return {0.0};
        if (key.name == "least_chance") return {0.01};  // another needs a chance
        return {real(key.range)};
      case Type::text:
        return text_value();
      case Type::choice:
        return choice(key);
      case Type::file:
        return {file_};
      case Type::size:
        return {whole({1, 1e6})};
      case Type::integers:
        return {List{{whole(key.range)}, {whole(key.range)}}};
      case Type::texts:
        return {List{{std::string("dense 4")}, {std::string("relu")}}};
      case Type::client:
        return {whole({0, 3})};
      case Type::clients:
        return {List{{whole({0, 3})}, {whole({0, 3})}}};
      case Type::edges:
        return {List{{List{{std::int64_t{0}}, {std::int64_t{3}}}}}};
      case Type::edge_lists:
        return {List{{List{{List{{std::int64_t{0}}, {std::int64_t{3}}}}}}}};
      case Type::matrix:
        return matrix();
      case Type::ticks:
        return ticks();
      case Type::tables:
        return tables(key.element);
      case Type::groups:
        return {List{{List{{std::int64_t{0}}, {whole({1, 2})}}}, {List{{std::int64_t{3}}}}}};
      case Type::law:
      case Type::per_client:
        return law(key);
      case Type::numbers:
        return numbers(key.range, 4);
      case Type::numbers_or_one:
        return chance_.uniform() < 0.5 ? numbers(key.range, 4) : Value{real(key.range)};
      case Type::table:
        return {table(*table_at(key.table.empty() ? std::string(key.name) : std::string(key.table) + '.' + std::string(key.name)))};
    }
    return {false};
  }

  Stream chance_;
  std::string file_;
  // Every kind of data that has keys of its own.
  static inline const std::vector<std::string> data_names{"digits",        "files",           "cwru",          "poker-hand",
                                                          "breast-cancer", "pame_regression", "pame_logistic", "quadratic",
                                                          "tridiagonal",   "iot-device"};
  std::string data_;
  bool is_ideal_ = true;
  bool is_bandwidth_ = false;
  bool is_wall_ = false;
};

}  // namespace

TEST_CASE("what is written reads back as the same experiment, whatever it holds") {
  const Folder folder;
  const std::string file = folder.write("some.txt", "").string();
  std::set<TopologyKind> seen;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    const std::string text = Generator(seed, file).text();
    REQUIRE_MESSAGE(faults_of(text) == "", text);
    const Experiment experiment = read(text).experiment;
    const std::string written = write_experiment(experiment);
    REQUIRE_MESSAGE(faults_of(written) == "", written);
    REQUIRE_MESSAGE(read(written).experiment == experiment, written);
    REQUIRE(write_experiment(read(written).experiment) == written);
    seen.insert(experiment.topology.kind);
  }
  CHECK(seen.size() == words_of(word_list(TopologyKind{})).size());
}

TEST_CASE("a written file says everything: no key of the table is missing") {
  const Folder folder;
  const std::string file = folder.write("some.txt", "").string();
  std::set<std::string> written;
  for (std::uint64_t seed = 1; seed <= 1600; ++seed) {
    std::istringstream lines(write_experiment(read(Generator(seed, file).text()).experiment));
    for (std::string line, table; std::getline(lines, line);) {
      if (line.starts_with('['))
        table = line.substr(1, line.size() - 2);
      else if (line.find(" = ") != std::string::npos)
        written.insert(table + '|' + line.substr(0, line.find(' ')));
    }
  }
  for (const Key& key : all_keys()) {
    const bool is_line = key.type != Type::table && (table_at(key.table) || key.table == "timer");
    if (!is_line || key.when == "clock=wall" || key.name == "roster") continue;
    const std::string table = key.table == "timer" ? "clients.transmit" : std::string(key.table);
    CHECK_MESSAGE(written.count(table + '|' + std::string(key.name)) == 1, table << "." << key.name);
  }
}

TEST_CASE("cutting or changing a file never does worse than a fault") {
  const Folder folder;
  const std::string text = write_experiment(read(Generator(5, folder.write("some.txt", "").string()).text()).experiment);
  Stream chance(1, no_client, Purpose::noise);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (std::uint64_t k = chance.below(4); k > 0; --k)
      damaged[chance.below(damaged.size())] = static_cast<char>(chance.below(128));
    damaged.resize(chance.below(damaged.size() + 1));
    if (i % 2) damaged += text.substr(damaged.size());
    faults_of(damaged);
  }
}

TEST_CASE("every `when` names a selector of its own table that stands before it, and words of it") {
  for (const Key& key : all_keys()) {
    if (key.when.empty()) continue;
    const std::string path = key.table == "timer" ? "clients.transmit" : std::string(key.table);
    const Condition condition = condition_of(key);
    const Key* selector = find_key(path, condition.selector);
    REQUIRE(selector);
    CHECK(selector < &key);
    for (std::string_view word : words_of(condition.choices))
      CHECK_MESSAGE((selector->type == Type::text || is_word_of(selector->choices, word)), key.name);
  }
}

TEST_CASE("rubato list --keys names every key with its default and its meaning") {
  const std::string text = describe_keys();
  for (const Key& key : all_keys()) {
    CHECK(text.find(std::string(key.name)) != std::string::npos);
    CHECK(text.find(std::string(key.meaning)) != std::string::npos);
  }
  CHECK(text.find("algorithm.eta") != std::string::npos);
}

TEST_CASE("an option has the type that its algorithm gives it, whatever others call by that name") {
  for (const auto& [algorithm, option] : {std::pair{"feddr", "local_steps"},
                                          {"kgt", "local_steps"},
                                          {"swarm_sgd", "local_steps"},
                                          {"fragile", "S"},
                                          {"malenia", "S"},
                                          {"diloco", "H"}}) {
    CAPTURE(algorithm);
    std::ostringstream notes;
    const std::string text = "[algorithm]\nname = \"" + std::string(algorithm) + "\"\n" + option + " = 7\n";
    const Experiment experiment = parse_experiment(R"(
until = 1.0
[clients]
count = 4
[topology]
kind = "complete"
[data]
name = "quadratic"
dimension = 2
[model]
name = "quadratic"
)" + text,
                                                   "whole.toml", {}, notes);
    const auto& specs = catalogue_entry(algorithm).options;
    const bool is_whole = std::ranges::find(specs, std::string_view(option), &OptionSpec::name)->type == OptionType::whole;
    if (is_whole) CHECK(experiment.algorithm.options.whole(option, -1) == 7);
    CHECK(experiment.algorithm.options.number(option, -1) == 7.0);
    CHECK(parse_experiment(write_experiment(experiment), "again.toml", {}, notes) == experiment);
  }
}

TEST_CASE("docs/experiment-file.md is what the table of keys says (RUBATO_WRITE_DOCS=1 rewrites it)") {
  const std::filesystem::path file = std::filesystem::path(RUBATO_SOURCE_DIR) / "docs/experiment-file.md";
  if (std::getenv("RUBATO_WRITE_DOCS")) std::ofstream(file) << experiment_file_document();
  CHECK(text_of(file) == experiment_file_document());
}

namespace {

// What stands in the double quotes of a line of source, but for includes and comments.
std::vector<std::string> texts_in(const std::string& line) {
  if (line.starts_with("#include") || line.find_first_not_of(' ') == line.find("//")) return {};
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '"' || (i > 0 && line[i - 1] == '\'')) continue;
    std::string text;
    for (++i; i < line.size() && line[i] != '"'; ++i) text += line[i] != '\\' ? line[i] : line[++i] == 'n' ? ' ' : line[i];
    texts.push_back(text);
  }
  return texts;
}

// "topology.radius", but no places of files.
std::vector<std::string> dotted_names_in(const std::string& text) {
  const auto is_part = [](unsigned char letter) {
    return std::isalnum(letter) || std::string_view("_./-").find(static_cast<char>(letter)) != std::string_view::npos;
  };
  std::vector<std::string> names;
  for (std::size_t i = 0, end = 0; i < text.size(); i = end + 1) {
    for (end = i; end < text.size() && is_part(static_cast<unsigned char>(text[end])); ++end) {
    }
    std::string name = text.substr(i, end - i);
    while (name.ends_with('.')) name.pop_back();
    const bool is_place =
        name.find_first_of("/-") != name.npos || name.ends_with(".gz") || name.ends_with(".csv") || name.ends_with(".bin");
    if (!is_place && name.find('.') != name.npos && std::islower(static_cast<unsigned char>(name.front()))) names.push_back(name);
  }
  return names;
}

}  // namespace

TEST_CASE("messages name keys that users can write, and no names from inside the program") {
  std::set<std::string> known = {"torch.jit.script", "table.key",     "numpy.ascontiguousarray",
                                 "optdigits.tra",    "optdigits.tes", "a9a.t"};
  for (const Key& key : all_keys()) known.insert(std::string(key.table)), known.insert(dotted(key.table, key.name));
  for (const char* path : {"clients.compute", "clients.transmit"})
    for (const Key* key : keys_of(path)) known.insert(dotted(path, key->name));
  std::size_t seen = 0;
  for (const char* room : {"experiment", "learning", "runtime", "algos"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::path(RUBATO_SOURCE_DIR) / room)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      std::ifstream lines(entry.path());
      for (std::string line; std::getline(lines, line);)
        for (const std::string& text : texts_in(line))
          for (const std::string& name : dotted_names_in(text)) {
            CAPTURE(entry.path().string());
            CAPTURE(name);
            ++seen;
            CHECK(known.contains(name));
          }
    }
  CHECK(seen > 100);
}

TEST_CASE("what a program leaves at its default stands in the written file, options of the algorithm too") {
  Experiment experiment;
  experiment.until = 5;
  experiment.clients.count = 4;
  experiment.algorithm.name = "draco";
  experiment.algorithm.options.set("self_apply", true);
  experiment.data.name = experiment.model.name = "quadratic";
  experiment.data.dimension = 5;
  const std::string text = write_experiment(experiment);
  CHECK(text.find("self_apply = true") != std::string::npos);
  CHECK(text.find("eta = ") != std::string::npos);
  std::ostringstream notes;
  CHECK(write_experiment(parse_experiment(text, "again.toml", {}, notes)) == text);
}

TEST_CASE("the examples of docs/experiment-file.md and docs/many-hosts.md are complete experiments") {
  const std::string many_hosts = text_of(std::filesystem::path(RUBATO_SOURCE_DIR) / "docs/many-hosts.md");
  for (const std::string& text : {experiment_file_document(), many_hosts}) {
    const std::size_t begin = text.find("```toml\n") + 8;
    REQUIRE(begin > 8);
    CHECK(faults_of(text.substr(begin, text.find("```", begin) - begin)) == "");
  }
}
