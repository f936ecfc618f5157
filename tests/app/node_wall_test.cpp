// `rubato node` in real time: three processes over tcp with CURVE, what they learn, and what becomes of a run when
// hosts come late, are killed, come back or do not. Nothing here waits for a time to pass: every step waits until the
// one before can be seen.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <functional>

#include "tests/app/node_party.hpp"

namespace fs = std::filesystem;
using namespace rubato::test;
using nlohmann::json;

namespace {

const std::string a_minute = "60.5";  // of the experiment: three real seconds
const std::string two_minutes = "120.5";
const std::string three_years = "100000005.0";

// True as soon as an attempt does what it is to do. Each has real time for four times as much of the experiment's time:
// how much is learnt in some of it depends on what else the machine has to do.
bool comes_about(const std::string& until, const std::function<bool(const std::string& until)>& attempt) {
  double seconds = std::stod(until);
  for (int i = 0; i < 3; ++i, seconds *= 4)
    if (attempt(std::to_string(seconds))) return true;
  return false;
}

// The last sample of metrics.csv, but with far more messages delivered.
std::string sample_beyond(const std::string& metrics) {
  const std::vector<std::string> lines = lines_of(metrics);
  std::istringstream names(lines.front()), numbers(lines.back());
  std::string row;
  for (std::string name, number; std::getline(names, name, ',') && std::getline(numbers, number, ',');)
    row += (row.empty() ? "" : ",") + (name == "messages_delivered" ? "1000000000" : number);
  return row;
}

// Six clients, two a host, learn digits: 0, 1 at a; 2, 3 at b; 4, 5 at c.
std::string digits(const std::string& until, const std::string& checkpoint_every = "5.0") {
  return R"(name = "nodes"
seed = 3
clock = "wall"
time_scale = 20.0
until = )" +
         until + "\ncheckpoint_every = " + checkpoint_every + R"(

[hosts]
wait = 30.0
lost_after = 3.0

[clients]
count = 6
compute = { law = "poisson", rate = 2.0 }

[topology]
kind = "ring"

[mailbox]
window = 0.05

[algorithm]
name = "draco"
eta = 0.1
self_apply = true

[data]
name = "digits"

[model]
name = "softmax"
batch = 16

[metrics]
every_events = 0
every_seconds = 2.0
test_samples = 300
)";
}

std::string with(const std::string& experiment, const std::string& was, const std::string& is) {
  std::string text = experiment;
  const std::size_t at = text.find(was);
  REQUIRE(at != std::string::npos);
  return text.replace(at, was.size(), is);
}

const std::vector<std::uint32_t> clients_of_a{0, 1}, clients_of_b{2, 3}, clients_of_c{4, 5};

bool has_note(const json& summary, const std::string& part) {
  return std::any_of(summary.at("notes").begin(), summary.at("notes").end(),
                     [&](const json& note) { return contains(note.get<std::string>(), part); });
}

void check_replays(const Party& party, const std::string& first = "a") {
  const Ended replayed = party.replay(first);
  CAPTURE(replayed.out);
  CAPTURE(replayed.err);
  CHECK(replayed.code == 0);
}

// Also across the lives of a host: what it has spent stays spent.
void check_files(const Party& party) {
  for (const char* host : {"a", "b", "c"}) {
    const Ended checked = run_rubato({"check", party.folder(host).string()});
    CHECK(contains(checked.out, " checks hold"));
    const json summary = party.summary(host);
    const double in_all = summary.at("rates").at("achieved").get<double>() * summary.at("virtual_seconds").get<double>();
    CHECK(in_all < 1.5 * summary.at("computations").get<double>() + 10);  // a life of its own would count for all of them
  }
}

// What was changed in the folder of a host is found.
void check_changes(const fs::path& folder, const std::vector<const char*>& files) {
  for (const char* name : files) {
    const std::string whole = text_of(folder / name);
    const std::string head = whole.substr(0, whole.find('\n') + 1), rows = whole.substr(head.size());
    std::vector<std::string> others{"\x7f\x01 of something else"};
    if (std::string(name).ends_with(".csv")) others = {head, whole + rows};
    for (const std::string& other : others) {
      CAPTURE(name);
      write_text(folder / name, other);
      CHECK(run_rubato({"check", folder}).code == 1);
    }
    std::filesystem::remove(folder / name);
    CHECK(run_rubato({"check", folder}).code == 1);
    write_text(folder / name, whole);
  }
}

double accuracy(const json& summary) { return summary.at("accuracy").at("mean").get<double>(); }

double distance(const std::vector<double>& one, const std::vector<double>& other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) sum += (one[i] - other[i]) * (one[i] - other[i]);
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("three processes started in any order learn to the end, and their records replay to the digests of the first") {
  const bool is_learnt = comes_about(a_minute, [](const std::string& until) {
    Party party(digits(until));
    party.start_all({"c", "a", "b"});
    const Ended first = party.wait("a"), second = party.wait("b");
    party.finish({"a", "b", "c"});
    const json summary = party.summary("a");
    CHECK(summary.at("absent_clients").empty());
    CHECK(summary.at("gathered_by") == "");
    for (const char* host : {"b", "c"}) {
      CHECK(party.summary(host).at("gathered_by") == "a");
      CHECK(party.summary(host).at("messages").at("under_way").is_null());  // they send to others and hear of others
    }
    CHECK(contains(second.out, " delivered to its clients, from all"));
    CHECK_FALSE(contains(first.out, "gathered by"));
    CHECK(second.out.starts_with("gathered by a; what follows is of this host's own 2 clients\n"));
    check_files(party);
    for (const char* host : {"a", "b"})
      check_changes(party.folder(host), {"metrics.csv", "samples.npz", "links.csv", "models/models.npy"});
    for (const char* host : {"a", "b", "c"}) {
      CHECK(party.summary(host).at("virtual_seconds") == std::stod(until));
      const std::string rows = text_of(party.folder(host) / "metrics.csv");
      const std::string last = rows.substr(rows.rfind('\n', rows.size() - 2) + 1);
      CHECK(std::stod(last.substr(last.find(',') + 1)) == std::stod(until));  // the instant of the closing sample
    }
    check_replays(party);
    party.start("b");  // alone, as a supervisor does after its machine went down: there is nothing to do
    const Ended again = party.wait("b");
    CHECK(again.code == 0);
    CHECK(contains(again.out, "is complete: there is nothing to do"));
    CHECK_FALSE(fs::exists(party.home() / "b.previous"));
    return accuracy(summary) > 0.75 && merged_from(party.folder("a") / "timeline.rbt", clients_of_b, 0) > 0;
  });
  CHECK(is_learnt);
}

TEST_CASE(
    "a script of who comes and goes is carried out by three processes, and their records replay to the digests of the "
    "first") {
  const std::string script = R"([churn]
notice = 2.0
checkpoint_every = 5.0
events = [
  { at = 8.0, what = "join", clients = [5] },
  { at = 20.0, what = "crash", clients = [0, 3] },
  { at = 26.0, what = "restart", clients = [0], from = "checkpoint" },
  { at = 30.0, what = "restart", clients = [3] },
  { at = 34.0, what = "partition", groups = [[0, 1, 2]] },
  { at = 40.0, what = "heal" },
  { at = 44.0, what = "leave", clients = [4] },
]

[clients])";
  const bool is_learnt = comes_about(a_minute, [&](const std::string& until) {
    Party party(with(digits(until), "[clients]", script));
    party.start_all(Party::everybody);
    party.finish(Party::everybody);
    const json summary = party.summary("a");
    CHECK(summary.at("absent_clients") == json(std::vector<std::uint32_t>{4}));
    CHECK(summary.at("churn").at("restarts") == 2);
    CHECK(summary.at("churn").at("messages_to_nobody").get<int>() > 0);
    check_replays(party);
    // Client 5 hears the second life of client 0.
    return accuracy(summary) > 0.7 && merged_from(party.folder("c") / "timeline.rbt", clients_of_a, 1) > 0;
  });
  CHECK(is_learnt);
}

TEST_CASE("a host that comes late is waited for only so long, and learns and teaches from then on") {
  Party party(with(digits(three_years), "wait = 30.0", "wait = 1.5"));
  party.start_all({"a", "b"});
  REQUIRE(becomes_true([&] { return party.samples("a") > 2 && party.samples("b") > 2; }));
  CHECK(contains(party.process("a").err() + party.process("b").err(), "waiting for=c"));
  party.start("c");
  REQUIRE(becomes_true([&] { return party.samples("c") > 8; }));
  party.stop({"a", "b", "c"});
  const json summary = party.summary("a");
  CHECK(summary.at("absent_clients").empty());
  CHECK(merged_from(party.folder("b") / "timeline.rbt", clients_of_c, 0) > 0);
  CHECK(merged_from(party.folder("c") / "timeline.rbt", clients_of_b, 0) > 0);
  check_replays(party);
}

TEST_CASE("a host that is killed and started again goes on from its checkpoint, the others never stop, and the logs tell it") {
  Party party(digits(three_years));
  const auto tells = [&](const std::string& host, const std::string& words) {
    CAPTURE(words);
    const bool is_told = becomes_true([&] { return contains(party.process(host).err(), words); });
    CAPTURE(party.process(host).err());
    CHECK(is_told);
  };
  party.start_all(Party::everybody);
  REQUIRE(becomes_true([&] { return party.has_checkpoint("b") && party.samples("c") > 2; }));
  tells("a", "info  a: started version=");
  for (const char* words : {"info  a: met b", "info  a: met c", "info  a: begun with=b,c without=none"}) tells("a", words);
  const auto status = [&](const std::string& host) { return json::parse(text_of(party.folder(host) / "status.json")); };
  CHECK(becomes_true([&] { return status("a").at("state") == "running" && status("a").at("computations") > 0; }));
  CHECK(status("a").at("peers").at(0).at("state") == "present");
  party.kill("b");
  tells("a", "warn  a: lost b silent_seconds=");
  CHECK(becomes_true([&] { return status("a").at("peers").at(0).at("state") == "lost"; }));
  CHECK(status("a").at("peers").at(0).at("silent_seconds") >= 3);
  party.see_go_on({"a", "c"});
  const auto metrics = party.folder("b") / "metrics.csv";
  const std::string unknown = sample_beyond(text_of(metrics));  // neither the record nor the checkpoint has so many
  write_text(metrics, text_of(metrics) + unknown + "\n");
  party.start("b");
  party.see_go_on({"a", "b", "c"});
  CHECK_FALSE(contains(text_of(metrics), unknown));
  CHECK(becomes_true([&] { return status("a").at("peers").at(0).at("life") == 2; }));
  tells("a", "info  a: back b life=2 away_seconds=");
  tells("a", "info  a: going_on b checkpoint=");
  tells("b", "info  b: going_on checkpoint=");
  party.see_learn({"a", "b", "c"}, 0.7);
  party.stop(Party::everybody);
  for (const char* words : {"info  a: stopping\n", "info  a: gathered clients=", "info  a: stopped seconds="}) tells("a", words);
  CHECK(contains(party.process("a").out(), "stopped at "));
  CHECK(status("a").at("state") == "stopped");
  CHECK(status("a").at("messages").at("sent") > 0);
  CHECK(party.summary("a").at("absent_clients").empty());
  CHECK(accuracy(party.summary("a")) > 0.5);
  CHECK(has_note(party.summary("b"), "goes on from its checkpoint"));
  check_files(party);
  const json absences = party.summary("a").at("host_absences");
  REQUIRE_FALSE(absences.empty());  // behind it, perhaps, how all have left
  CHECK(absences[0].at("host") == "b");
  CHECK(absences[0].at("how") == "lost");
  CHECK(absences[0].at("to").get<double>() > absences[0].at("from").get<double>() + 60);  // 3 real seconds
  for (const char* row : {",host lost,,,b,\n", ",host back,,,b,\n"})
    CHECK(contains(text_of(party.folder("a") / "events.csv"), row));
  const json counted = party.summary("a").at("messages");
  CHECK(counted.at("lost_between_hosts") > 0);  // sent to b before its silence was noticed
  CHECK(counted.at("under_way") == 0);
  CHECK(contains(party.process("a").out(), " lost between hosts"));
  for (const char* host : {"a", "c"}) {
    CHECK(merged_from(party.folder(host) / "timeline.rbt", clients_of_b, 0) > 0);
    CHECK(merged_from(party.folder(host) / "timeline.rbt", clients_of_b, 1) > 0);
  }
  check_replays(party);
}

TEST_CASE("a frozen host is lost to the others and back; thawed, it says how long it stood still, and blames no other") {
  Party party(digits(three_years));
  const auto log = [&](const std::string& host) { return party.process(host).err(); };
  const auto tells = [&](const std::string& host, const std::string& words) {
    CAPTURE(words);
    const bool is_told = becomes_true([&] { return contains(log(host), words); });
    CAPTURE(log(host));
    CHECK(is_told);
  };
  party.start_all(Party::everybody);
  party.see_go_on(Party::everybody);
  party.send("b", SIGSTOP);
  for (const char* other : {"a", "c"}) tells(other, "lost b silent_seconds=");
  party.see_go_on({"a", "c"});
  party.send("b", SIGCONT);
  tells("b", "warn  b: stood_still seconds=");
  for (const char* other : {"a", "c"}) tells(other, "back b life=1 away_seconds=");
  party.see_go_on(Party::everybody);
  party.stop(Party::everybody);
  CHECK_FALSE(contains(log("b"), "lost"));
  CHECK_FALSE(contains(log("b"), "a peer"));
  CHECK(party.summary("a").at("absent_clients").empty());
  check_files(party);
  check_replays(party);
}

TEST_CASE("a host that is stopped and started again goes on too, and the others' results are gathered by its new life") {
  const bool is_heard_again = comes_about(two_minutes, [](const std::string& until) {
    Party party(digits(until));
    party.start_all(Party::everybody);
    REQUIRE(becomes_true([&] { return party.has_checkpoint("a") && party.samples("c") > 2; }));
    party.stop({"a"});
    party.start("a");
    party.finish(Party::everybody);
    if (merged_from(party.folder("c") / "timeline.rbt", clients_of_a, 1) == 0) return false;  // it was back too late
    const json summary = party.summary("a");
    CHECK(has_note(summary, "goes on from its checkpoint"));
    CHECK(summary.at("absent_clients").empty());
    CHECK(summary.at("gathered_by") == "");
    CHECK(party.summary("b").at("gathered_by") == "a");
    check_replays(party);
    return true;
  });
  CHECK(is_heard_again);
}

TEST_CASE("when all hosts are killed and started again they begin at an instant that is not before the checkpoint of any") {
  Party party(digits(three_years));
  const auto have_all = [&](const auto& seen) { return becomes_true([&] { return std::ranges::all_of(Party::everybody, seen); }); };
  const auto behind = [&](const std::string& host, const std::string& words) {
    const std::string err = party.process(host).err();
    return std::stod(err.substr(err.find(words) + words.size()));
  };
  party.start_all(Party::everybody);
  REQUIRE(have_all([&](const std::string& host) { return party.has_checkpoint(host); }));
  for (const std::string& host : Party::everybody) party.kill(host);
  party.start_all({"c", "b", "a"});
  REQUIRE(have_all([&](const std::string& host) { return contains(party.process(host).err(), " begun with="); }));
  for (const std::string& host : Party::everybody)
    for (const std::string& each : Party::everybody) CHECK(behind(host, "at_seconds=") >= behind(each, "from_seconds="));
  party.see_go_on(Party::everybody);
  party.stop(Party::everybody);
  check_files(party);
  check_replays(party);
}

TEST_CASE("exchanges of pairs add up at every host, and through lives that all of them have lost") {
  std::string pairs = with(digits(three_years), "name = \"draco\"\neta = 0.1\nself_apply = true", "name = \"adpsgd\"\neta = 0.1");
  pairs = with(pairs, "rate = 2.0 }", "rate = 2.0 }\ntransmit = { law = \"coupled\" }");
  Party party(with(pairs, "window = 0.05", "deadline = 1.0"));
  const auto samples = [&](std::size_t more) {
    for (const std::string& host : Party::everybody) {
      const std::size_t before = party.samples(host);
      REQUIRE(becomes_true([&] { return party.samples(host) > before + more; }));
    }
  };
  party.start_all(Party::everybody);
  REQUIRE(becomes_true(
      [&] { return std::ranges::all_of(Party::everybody, [&](const std::string& host) { return party.has_checkpoint(host); }); }));
  samples(1);
  for (const std::string& host : Party::everybody) party.kill(host);
  party.start_all(Party::everybody);
  samples(1);
  party.stop(Party::everybody);
  check_files(party);
}

TEST_CASE("a host that was killed or stopped while it waited for the others begins with them when it is started again") {
  const bool is_heard = comes_about(a_minute, [](const std::string& until) {
    Party party(digits(until));
    const auto waits = [&] { return contains(party.process("b").err(), "waiting for="); };
    party.start("b");
    REQUIRE(becomes_true(waits));
    party.kill("b");
    party.start("b");
    REQUIRE(becomes_true(waits));
    party.stop({"b"});
    party.start_all(Party::everybody);
    party.finish(Party::everybody);
    CHECK(party.summary("a").at("absent_clients").empty());
    check_replays(party);
    return merged_from(party.folder("c") / "timeline.rbt", clients_of_b, 0) > 0;
  });
  CHECK(is_heard);
}

TEST_CASE("a pace that is not kept is told while it lasts and at the end") {
  Party party(with(digits(three_years), "rate = 2.0", "rate = 200000.0"));
  party.start_all(Party::everybody);
  const bool is_told = becomes_true([&] { return contains(party.process("a").err(), "warn  a: slow skipped_percent="); });
  CAPTURE(party.process("a").err());
  CHECK(is_told);
  CHECK(json::parse(text_of(party.folder("a") / "status.json")).at("skipped_ticks") > 0);
  party.stop(Party::everybody);
  CHECK(contains(party.process("a").err(), "note: this machine does not keep the pace"));
}

TEST_CASE("when a host is killed for good the others finish without its clients, and say so") {
  const bool is_learnt = comes_about(two_minutes, [](const std::string& until) {
    Party party(digits(until));
    party.start_all(Party::everybody);
    REQUIRE(becomes_true([&] { return party.samples("b") > 2 && party.samples("c") > 2; }));
    party.kill("c");
    party.finish({"a", "b"});
    const json summary = party.summary("a");
    CHECK(summary.at("absent_clients") == json(clients_of_c));
    const std::string without_c = "the results are of 4 of 6 clients, the others were absent at the end";
    CHECK(contains(party.process("a").out(), without_c));
    CHECK(contains(run_rubato({"show", party.folder("a").string()}).out, without_c));
    CHECK(contains(run_rubato({"check", party.folder("a").string()}).out, " checks hold"));
    CHECK(party.folder("c").extension() == ".partial");
    check_replays(party);
    const Ended lacking = run_rubato({"replay", party.folder("a"), party.folder("b")});
    CHECK(lacking.code == 1);
    CHECK(contains(lacking.err, "of host c (the first named at"));
    const Ended without = run_rubato({"replay", "--without", "c", party.folder("a"), party.folder("b")});
    CAPTURE(without.out);
    CHECK(without.code == 0);
    CHECK(contains(without.out, summary.at("timeline_digest").get<std::string>() + " agrees"));
    CHECK(contains(without.out, "recorded steps did not depend on what is left out"));
    return accuracy(summary) > 0.75;
  });
  CHECK(is_learnt);
}

TEST_CASE("replay says whose folder is missing, even where hosts need nothing of each other, and whose is given twice") {
  Party party(with(digits(a_minute), "name = \"draco\"\neta = 0.1\nself_apply = true", "name = \"local_only\"\neta = 0.1"));
  party.start_all(Party::everybody);
  party.finish(Party::everybody);
  const fs::path a = party.folder("a"), b = party.folder("b"), c = party.folder("c"), old = party.home() / "c.previous";
  fs::copy(c, old, fs::copy_options::recursive);
  const auto check_says = [](const Arguments& arguments, const std::string& words) {
    const Ended ended = run_rubato(arguments);
    CAPTURE(ended.out);
    CAPTURE(ended.err);
    CHECK(ended.code == 2);
    CHECK(contains(ended.err, words));
  };
  check_says({"replay", a, a, b, c}, a.string() + " and " + a.string() + " are both of host a: leave one out");
  check_says({"replay", a, b, c, old}, c.string() + " and " + old.string() + " are both of host c: leave one out");
  check_says({"replay", a}, "no folder of host b and none of host c among these: add it, or --without b --without c");
  check_says({"replay", a, "--without", "b"}, "there is no folder of host c among these: add it, or --without c");
  const Ended alone = run_rubato({"replay", a, "--without", "b", "--without", "c"});
  CHECK(alone.code == 0);
  CHECK(contains(alone.out, "those of 2 of 6 clients to their end"));
  CHECK(contains(alone.out, "2 of 2 that can be compared agree with models.npy"));
  check_replays(party);
}

TEST_CASE("when the host that would gather the results is killed for good the next one gathers them") {
  const bool is_learnt = comes_about(two_minutes, [](const std::string& until) {
    Party party(digits(until));
    party.start_all(Party::everybody);
    REQUIRE(becomes_true([&] { return party.samples("a") > 2 && party.samples("c") > 2; }));
    party.kill("a");
    party.finish({"b", "c"});
    const json summary = party.summary("b");
    CHECK(summary.at("gathered_by") == "");
    CHECK(summary.at("absent_clients") == json(clients_of_a));
    CHECK(party.summary("c").at("gathered_by") == "b");
    check_replays(party, "b");
    return accuracy(summary) > 0.75;
  });
  CHECK(is_learnt);
}

TEST_CASE("a host that is killed again and again, before its first checkpoint too, leaves a record that replays") {
  Party party(digits(three_years, "20.0"));
  party.start_all(Party::everybody);
  REQUIRE(becomes_true([&] { return party.recorded_bytes("b") > 200; }));
  party.kill("b");  // mostly before its first checkpoint, as soon as it has done something
  party.start("b");
  REQUIRE(becomes_true([&] { return party.has_checkpoint("b"); }));
  party.kill("b");
  const std::uintmax_t recorded = party.recorded_bytes("b");
  party.start("b");
  REQUIRE(becomes_true([&] { return party.recorded_bytes("b") > recorded; }));
  party.kill("b");  // having done hardly anything
  party.see_go_on({"a", "c"});
  party.start("b");
  party.see_go_on({"a", "b", "c"});
  party.stop(Party::everybody);
  CHECK(party.summary("a").at("absent_clients").empty());
  CHECK(merged_from(party.folder("c") / "timeline.rbt", clients_of_b, 3) > 0);
  check_files(party);
  check_replays(party);
}

TEST_CASE("Ctrl-C at one host ends it with its results, and the others go on") {
  Party party(digits(three_years));
  party.start_all(Party::everybody);
  party.see_learn({"b", "c"}, 0.4);
  party.stop({"b"});
  CHECK(party.summary("b").at("stopped_early") == true);
  CHECK(party.summary("b").at("gathered_by") == "");
  CHECK(accuracy(party.summary("b")) > 0.1);
  CHECK(contains(party.process("b").err(), "info  b: kept clients=2: a goes on without this host"));
  CHECK_FALSE(contains(party.process("b").err(), "gathered"));
  CHECK(contains(run_rubato({"check", party.folder("b").string()}).out, " checks hold"));
  party.see_go_on({"a", "c"});
  CHECK(becomes_true([&] { return contains(party.process("a").err(), "info  a: left b: stopped"); }));
  CHECK_FALSE(contains(party.process("a").err(), "lost b"));
  party.stop({"a"});  // the first of the roster, which would gather
  CHECK(contains(party.process("a").err(), "info  a: kept clients=2: c goes on without this host"));
  CHECK_FALSE(contains(party.process("a").err(), "alone"));
  party.see_go_on({"c"});
  party.stop({"c"});
  const std::string events = text_of(party.folder("c") / "events.csv");
  CHECK(contains(events, ",host left,,,b,\n"));
  CHECK(contains(events, ",host left,,,a,\n"));
  CHECK_FALSE(contains(events, ",host back,"));
  CHECK(contains(party.process("c").err(), "summary: b: left before the end"));
  CHECK(contains(run_rubato({"check", party.folder("c").string()}).out, " checks hold"));
  check_replays(party, "c");
}

TEST_CASE("a start with a mistake in the file leaves what a killed host goes on with, and says why it ended") {
  Party party(digits(three_years));
  party.start_all(Party::everybody);
  REQUIRE(becomes_true([&] { return party.has_checkpoint("b"); }));
  party.kill("b");
  const std::string right = text_of(party.file());
  write_text(party.file(), with(right, "eta = 0.1", "eta = 0.2"));
  party.start("b");
  const Ended refused = party.wait("b");
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "algorithm.eta is 0.1 there and 0.2 here"));
  const json status = json::parse(text_of(party.folder("b") / "status.json"));
  CHECK(status.at("state") == "failed");
  CHECK(contains(status.at("text").get<std::string>(), "algorithm.eta"));
  write_text(party.file(), right);
  party.start("b");
  const bool goes_on =
      becomes_true([&] { return contains(party.process("b").err(), "b: note: this host goes on from its checkpoint"); });
  CAPTURE(party.process("b").err());
  CHECK(goes_on);
  party.see_go_on({"b"});
  const json going_on = json::parse(text_of(party.folder("b") / "status.json"));
  CHECK(going_on.at("life") == 2);
  CHECK(going_on.at("checkpoint").at("number") > 0);
  party.stop(Party::everybody);
  check_replays(party);
}

TEST_CASE("a host whose last file cannot be written is not complete, and once it can the results are what was learnt") {
  Party party(digits(a_minute));
  party.start_all(Party::everybody);
  REQUIRE(becomes_true([&] { return party.samples("b") > 2; }));
  const fs::path unfinished = party.folder("b") / "trace.json";
  fs::create_directory(unfinished);
  const Ended ended = party.wait("b");
  party.finish({"a", "c"});
  CAPTURE(ended.err);
  CHECK(ended.code == 3);
  CHECK(contains(ended.err, "info  b: handed_over to=a clients=2"));
  CHECK(contains(ended.err, "error b: failed: cannot write"));
  CHECK_FALSE(contains(ended.err, "b: complete"));
  CHECK(json::parse(text_of(party.folder("b") / "status.json")).at("state") == "failed");
  const json results = json::parse(text_of(party.folder("b") / "summary.json"));
  CHECK(accuracy(results) > 0);
  fs::remove(unfinished);
  party.start("b");
  const Ended again = party.wait("b");
  CAPTURE(again.err);
  CHECK(again.code == 0);
  CHECK(contains(again.err, "info  b: handed_over to=a: an earlier life"));
  CHECK(party.summary("b") == results);
  CHECK(party.summary("b").at("gathered_by") == "a");
  check_replays(party);
}

TEST_CASE("a host that is alone says so when it begins and when it has ended") {
  Party party(with(digits(a_minute), "wait = 30.0", "wait = 1.0"));
  party.start("b");
  const Ended alone = party.wait("b");
  CAPTURE(alone.err);
  CHECK(alone.code == 0);
  CHECK(contains(alone.err, "warn  b: begun with=none without=a,c "));
  CHECK(contains(alone.err, "alone: unless others come, the results are of 2 of 6 clients"));
  CHECK(contains(alone.err, "warn  b: gathered clients=2 of=6 without=a(never met),c(never met)"));
  CHECK(has_note(party.summary("b"), "alone at the end: the results are of 2 of 6 clients"));
}

TEST_CASE("a host that cannot write its checkpoints ends with the exit code for that, and the others go on") {
  Party party(digits(three_years));
  party.start_all(Party::everybody);
  REQUIRE(becomes_true([&] { return party.has_checkpoint("b"); }));
  const fs::path unfinished = party.folder("b") / "checkpoint" / "checkpoint.partial";
  REQUIRE(becomes_true([&] {  // between two checkpoints
    std::error_code is_a_file;
    return fs::create_directory(unfinished, is_a_file);
  }));
  const Ended ended = party.wait("b");
  CAPTURE(ended.err);
  CHECK(ended.code == 3);
  CHECK(contains(ended.err, "cannot open " + unfinished.string()));
  party.see_go_on({"a", "c"});
  party.stop({"a", "c"});
}

// ---- in rounds

namespace {

std::string rounds(const std::string& until) {
  const std::string draco = "name = \"draco\"\neta = 0.1\nself_apply = true";
  return with(digits(until), draco, "name = \"dpsgd\"\neta = 0.2\n\n[protocol]\nkind = \"rounds\"");
}

std::size_t heard(const Party& party, const std::string& host, const std::vector<std::uint32_t>& senders, std::uint32_t life) {
  return merged_from(party.folder(host) / "timeline.rbt", senders, life);
}

}  // namespace

TEST_CASE("in rounds, when a host is killed for good the others go through theirs without its clients") {
  const bool go_on = comes_about(two_minutes, [](const std::string& until) {
    Party party(rounds(until));
    party.start_all(Party::everybody);
    REQUIRE(
        becomes_true([&] { return party.samples("b") > 2 && party.samples("c") > 2 && heard(party, "b", clients_of_c, 0) > 0; }));
    const std::size_t before = heard(party, "b", clients_of_a, 0);
    party.kill("c");
    party.finish({"a", "b"});
    CHECK(party.summary("a").at("absent_clients") == json(clients_of_c));
    check_replays(party);
    return heard(party, "b", clients_of_a, 0) > before + 10 && accuracy(party.summary("a")) > 0.5;
  });
  CHECK(go_on);
}

TEST_CASE("in rounds a host that is killed and started again finds the round of the others, and they wait for it again") {
  Party party(rounds(three_years));
  party.start_all(Party::everybody);
  REQUIRE(
      becomes_true([&] { return party.has_checkpoint("b") && party.samples("c") > 2 && heard(party, "c", clients_of_b, 0) > 3; }));
  party.kill("b");
  const std::size_t before = heard(party, "c", clients_of_a, 0);
  REQUIRE(becomes_true([&] { return heard(party, "c", clients_of_a, 0) > before + 5; }));
  party.start("b");
  for (const char* host : {"a", "c"}) REQUIRE(becomes_true([&] { return heard(party, host, clients_of_b, 1) > 5; }));
  party.stop(Party::everybody);
  CHECK(party.summary("a").at("absent_clients").empty());
  CHECK(has_note(party.summary("b"), "goes on from its checkpoint"));
  check_replays(party);
}

namespace {

// The same six clients under a server, a leader that changes or with a token.
std::string digits_under(const std::string& algorithm, const std::string& topology, const std::string& until) {
  std::string text =
      with(digits(until), "name = \"draco\"\neta = 0.1\nself_apply = true", "name = \"" + algorithm + "\"\neta = 0.1");
  text = with(text, "kind = \"ring\"", "kind = \"" + topology + "\"");
  text = with(text, "window = 0.05", "deadline = 1.0");
  return with(text, "compute = { law = \"poisson\", rate = 2.0 }",
              "compute = { law = \"poisson\", rate = 4.0 }\ntransmit = { law = \"poisson\", rate = 8.0 }");
}

// REQUIREs that clients of the host go on merging what others have sent in that life of theirs.
void see_hear(const Party& party, const std::string& host, const std::vector<std::uint32_t>& senders, std::uint32_t life = 0) {
  CAPTURE(host);
  const std::size_t before = heard(party, host, senders, life);
  REQUIRE(becomes_true([&] { return heard(party, host, senders, life) > before + 20; }));
}

}  // namespace

TEST_CASE(
    "under a server, a leader that changes or with a token the others learn on when a host is killed, and with it when "
    "it is back") {
  const std::pair<const char*, const char*> algorithms[] = {{"fedavg", "star"}, {"swarm", "complete"}, {"digest", "ring"}};
  for (const auto& [algorithm, topology] : algorithms) {
    CAPTURE(algorithm);
    Party party(digits_under(algorithm, topology, three_years));
    party.start_all(Party::everybody);
    REQUIRE(becomes_true([&] { return party.has_checkpoint("b") && party.samples("c") > 2; }));
    party.kill("b");
    see_hear(party, "a", clients_of_c);
    see_hear(party, "c", clients_of_a);
    party.start("b");
    see_hear(party, "a", clients_of_b, 1);
    see_hear(party, "b", clients_of_a);
    party.see_learn({"a", "b", "c"}, 0.5);
    party.stop(Party::everybody);
    CHECK(party.summary("a").at("absent_clients").empty());
    CHECK(accuracy(party.summary("a")) > 0.3);
    CHECK(has_note(party.summary("b"), "goes on from its checkpoint"));
    check_replays(party);
  }
}

TEST_CASE("a centre that is killed is waited for, and goes on from its checkpoint") {
  Party party(digits_under("fedavg", "star", three_years));
  party.start_all(Party::everybody);
  REQUIRE(becomes_true([&] { return party.has_checkpoint("a") && party.samples("c") > 2; }));
  party.kill("a");
  const auto is_silent = [&] {  // what was on its way has come
    const std::size_t before = heard(party, "b", clients_of_a, 0);
    party.see_go_on({"b", "c"});
    return heard(party, "b", clients_of_a, 0) == before;
  };
  REQUIRE(becomes_true(is_silent));
  const std::size_t until_then = heard(party, "b", clients_of_a, 0);
  party.start("a");
  for (const char* host : {"b", "c"}) see_hear(party, host, clients_of_a, 1);
  see_hear(party, "a", clients_of_b);
  party.see_learn({"a", "b", "c"}, 0.7);
  party.stop(Party::everybody);
  CHECK(heard(party, "b", clients_of_a, 0) == until_then);
  CHECK(accuracy(party.summary("a")) > 0.5);
  CHECK(has_note(party.summary("a"), "goes on from its checkpoint"));
  check_replays(party);
}

TEST_CASE("without the centre that is killed for good the others come to the end of the run") {
  Party party(digits_under("fedavg", "star", two_minutes));
  party.start_all(Party::everybody);
  REQUIRE(becomes_true([&] { return party.samples("b") > 2 && party.samples("c") > 2; }));
  party.kill("a");
  party.finish({"b", "c"});
  CHECK(party.summary("b").at("absent_clients") == json(clients_of_a));
  check_replays(party, "b");
}

namespace {

// Six quadratic losses 1/2 |x - c_i|^2 in eight dimensions: the mean of their centres is best for all together.
std::string quadratic(const std::string& head, const std::string& algorithm) {
  return "name = \"quadratic\"\nseed = 3\nprecision = \"float64\"\n" + head + R"(
[topology]
kind = "ring"

[data]
name = "quadratic"
dimension = 8

[model]
name = "quadratic"

[metrics]
every_events = 0

[clients]
count = 6
compute = { law = "poisson", rate = 5.0 }

[algorithm]
)" + algorithm;
}

// Every client alone comes to its own centre.
std::vector<double> mean_of_centres(Party& party) {
  const fs::path file = party.home() / "alone.toml";
  write_text(file, quadratic("until = 20.0\n", "name = \"local_only\"\neta = 1.0\n"));
  REQUIRE(run_rubato({"run", file, "--out", party.home() / "alone", "--quiet"}).code == 0);
  const auto centres = models_of(party.home() / "alone");
  std::vector<double> mean(centres.front().size());
  for (const auto& centre : centres)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += centre[i] / static_cast<double>(centres.size());
  return mean;
}

}  // namespace

TEST_CASE("Spod-GT over three processes finds the optimum and keeps its mass while messages are lost, doubled and overtaken") {
  const bool is_found = comes_about(two_minutes, [](const std::string& until) {
    Party party(quadratic("clock = \"wall\"\ntime_scale = 20.0\nuntil = " + until + R"(

[hosts]
wait = 30.0

[impaired]
loss = 0.1
duplicate = 0.1
reorder = 0.2
)",
                          "name = \"spodgt\"\neta = 0.1\n"));
    party.start_all(Party::everybody);
    party.finish(Party::everybody);
    const json summary = party.summary("a");
    CHECK(summary.at("absent_clients").empty());
    CHECK(summary.at("messages").at("delivered") < summary.at("messages").at("sent"));  // without impairment: as many
    CHECK(summary.at("messages").at("duplicates") > 0);                                 // and none
    CHECK(std::abs(summary.at("invariants").at("mass_defect").get<double>()) < 1e-9);
    const std::vector<double> best = mean_of_centres(party);
    double furthest = 0;
    for (const auto& model : models_of(party.folder("a"))) furthest = std::max(furthest, distance(model, best));
    MESSAGE("mass defect " << summary.at("invariants").at("mass_defect") << ", distance to the optimum " << furthest);
    CHECK(distance(models_of(party.home() / "alone").front(), best) > 0.1);  // nobody is there by itself
    check_replays(party);
    return furthest < 1e-4;
  });
  CHECK(is_found);
}

// ---- what is refused

namespace {

void check_refused(const Arguments& arguments, const std::string& why) {
  const Ended ended = run_rubato(arguments);
  CAPTURE(ended.err);
  CHECK(ended.code == 2);
  CHECK(contains(ended.err, why));
  CHECK(ended.out.empty());
}

}  // namespace

TEST_CASE("a node with the wrong key, or one that others can read, is refused, and so is a host that is not in the roster") {
  Party party(digits(a_minute));
  const fs::path file = party.file(), key_of_a = party.home() / "a.secret", key_of_b = party.home() / "b.secret";
  check_refused({"node", file, "--host", "d"}, "there is no host \"d\" in the roster; there are: a, b, c");
  check_refused({"node", file, "--host", "b", "--key", key_of_a}, "is not the other half of");
  check_refused({"node", file, "--host", "b", "--key", key_of_a}, " error b: failed: ");  // with its time, as all that is told
  check_refused({"node", file, "--host", "b", "--key", party.home() / "none.secret"}, "none.secret");
  fs::permissions(key_of_b, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  check_refused({"node", file, "--host", "b"}, "b.secret");
  check_refused({"node", file, "--host", "b", "--out", party.home() / "b"}, "read");
  CHECK_FALSE(fs::exists(party.folder("b")));
}

TEST_CASE("a node that cannot listen leaves the reason and nothing else") {
  Party party(digits(a_minute));
  party.start("a");
  REQUIRE(becomes_true([&] { return contains(party.process("a").err(), "info  a: started"); }));
  check_refused({"node", party.file(), "--host", "a", "--out", party.home() / "other"}, "cannot listen");
  const fs::path left = party.home() / "other.partial";
  CHECK(json::parse(text_of(left / "status.json")).at("state") == "failed");
  CHECK(contains(json::parse(text_of(left / "status.json")).at("text").get<std::string>(), "cannot listen"));
  for (const char* file : {"timeline.rbt", "metrics.csv", "experiment.toml", "checkpoint"}) CHECK_FALSE(fs::exists(left / file));
  party.kill("a");
}

TEST_CASE("a node without a roster, or in plain text beyond this machine, is refused") {
  const Folder home;
  write_text(home / "alone.toml", digits(a_minute));
  check_refused({"node", home / "alone.toml", "--host", "a"}, "there is no roster");
  write_text(home / "plain.toml", digits(a_minute) + R"(
[[roster]]
name = "a"
address = "tcp://192.0.2.1:7001"
bind = "tcp://127.0.0.1:*"

[[roster]]
name = "b"
address = "tcp://192.0.2.2:7001"
)");
  check_refused({"node", home / "plain.toml", "--host", "a"}, "insecure");
}
