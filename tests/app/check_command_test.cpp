// `rubato check`: the files of every kind of run agree, and where they do not a sentence says so.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/command.hpp"

using namespace rubato::test;

namespace {

const std::string examples = RUBATO_SOURCE_DIR "/examples/";

Ended checked(const std::filesystem::path& folder) { return run_rubato({"check", folder.string()}); }

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

// The test part of the digits: 64 brightnesses and the digit.
std::vector<std::array<double, 65>> digits_to_recognise() {
  const std::string command = "gzip -dc " + examples + "data/digits/optdigits.tes.gz";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::vector<std::array<double, 65>> rows;
  char line[400];
  while (fgets(line, sizeof line, pipe.get())) {
    const std::vector<std::string> fields = fields_of(line);
    REQUIRE(fields.size() == 65);
    for (std::size_t i = rows.size(), k = (rows.emplace_back(), 0); k < 65; ++k)
      rows[i][k] = std::stod(fields[k]) / (k < 64 ? 16 : 1);
  }
  REQUIRE(rows.size() == 1797);
  return rows;
}

// clients.csv against models.npy: a perceptron of these widths, one number after the other, with nothing of the library. Absent
// clients have no scores.
void check_scores_by_loops(const std::filesystem::path& folder, const std::vector<std::size_t>& widths) {
  const auto summary = nlohmann::json::parse(text_of(folder / "summary.json"));
  const auto rows = digits_to_recognise();
  const std::size_t used = summary.at("sampling").at("rows"), dimension = summary.at("dimension");
  const auto absent = summary.at("absent_clients").get<std::vector<std::size_t>>();
  const std::string models = text_of(folder / "models/models.npy");
  std::istringstream table(text_of(folder / "clients.csv"));
  std::string line;
  std::getline(table, line);
  const std::vector<std::string> names = fields_of(line);
  const auto at = [&](const char* name) { return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin()); };
  std::size_t scored = 0;
  for (std::size_t client = 0; std::getline(table, line); ++client) {
    const std::vector<std::string> fields = fields_of(line);
    const bool is_absent = std::ranges::find(absent, client) != absent.end();
    CAPTURE(client);
    CHECK((fields[at("accuracy")] == "nan") == is_absent);
    if (is_absent) continue;
    std::vector<float> model(dimension);
    std::memcpy(model.data(), models.data() + models.size() - (summary.at("clients").get<std::size_t>() - client) * dimension * 4,
                dimension * 4);
    double right = 0, loss = 0;
    for (std::size_t row = 0; row < used; ++row) {
      std::vector<double> values(rows[row].begin(), rows[row].end() - 1);
      std::size_t next = 0;
      for (std::size_t layer = 1; layer < widths.size(); ++layer) {
        std::vector<double> sums(widths[layer]);
        for (double& sum : sums)
          for (const double value : values) sum += static_cast<double>(model[next++]) * value;
        for (double& sum : sums) sum += static_cast<double>(model[next++]);
        if (layer + 1 < widths.size())
          for (double& sum : sums) sum = std::max(sum, 0.0);
        values = sums;
      }
      REQUIRE(next == dimension);
      const auto digit = static_cast<std::size_t>(rows[row][64]);
      right += std::ranges::max_element(values) - values.begin() == static_cast<std::ptrdiff_t>(digit);
      double all = 0;
      for (const double value : values) all += std::exp(value - values[digit]);
      loss += std::log(all);
    }
    const auto count = static_cast<double>(used);
    CHECK(std::abs(std::stod(fields[at("accuracy")]) - right / count) <= 1.5 / count);  // a tie may be rounded either way
    CHECK(std::stod(fields[at("loss")]) == doctest::Approx(loss / count).epsilon(1e-5));
    ++scored;
  }
  CHECK(scored > 3);
}

const std::vector<std::size_t> softmax{64, 10}, one_hidden{64, 64, 10};

void check_run(Arguments arguments, const std::vector<std::size_t>& widths = {}) {
  const Folder folder;
  const std::string place = (folder / "run").string();
  arguments.insert(arguments.end(), {"--quiet", "--threads", "2", "--out", place});
  REQUIRE(run_rubato(arguments).code == 0);
  const Ended ended = checked(folder / "run");
  CHECK(contains(ended.out, " checks hold"));
  CHECK(ended.code == 0);
  if (!widths.empty()) check_scores_by_loops(folder / "run", widths);
}

void replace_in(const std::filesystem::path& file, const std::string& old, const std::string& fresh) {
  std::string text = text_of(file);
  REQUIRE(contains(text, old));
  text.replace(text.find(old), old.size(), fresh);
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("the files of the quick start agree, those of clients that come and go, of a cell, of rounds, and in real time") {
  check_run({"run", examples + "quickstart.toml", "--set", "until=60.5"}, one_hidden);
  check_run({"run", examples + "churn/flaky.toml", "--set", "metrics.every_events=100"}, softmax);
  check_run({"run", examples + "churn/flaky.toml", "--set", "metrics.clients=5"});
  check_run({"run", examples + "channels/wireless.toml", "--set", "until=20.5"});
  check_run({"run", examples + "channels/wandering.toml", "--set", "until=30.5"});
  check_run(
      {"run", examples + "quickstart.toml", "--set", "until=20.5", "--set", "protocol.kind=rounds", "--set", "mailbox.cap=1"});
  check_run({"run", examples + "quickstart.toml", "--set", "until=40.5", "--set", "clock=wall", "--set", "time_scale=20"},
            one_hidden);
  check_run({"run", examples + "quickstart.toml", "--set", "until=40.5", "--dry-run"});
  check_run({"run", examples + "algorithms/kdpdfl.toml", "--set", "until=20.5"});
  check_run({"run", examples + "algorithms/kdpdfl.toml", "--set", "until=20.5", "--set", "algorithm.layer=\"-1\"", "--set",
             R"(clients.classes=[{name="a",share=0.5,hidden=[32,64]}])"});
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
                                  "--set", "until=10.5", "--target", "0.99", "--quiet", "--out", place});
  REQUIRE(ended.code == 0);
  CHECK(checked(folder / "c").code == 0);
  const std::string rows = text_of(folder / "c/table.csv"), last = fields_of(rows).back();
  write_text(folder / "c/table.csv", rows.substr(0, rows.size() - last.size()) + "7\n");  // diverged
  CHECK(contains(checked(folder / "c").out, "table.csv and table.json differ in diverged of quickstart algorithm.eta=0.02"));
  write_text(folder / "c/table.csv", rows);
  replace_in(folder / "c/table.json", "\"reached\": 0", "\"reached\": 1");
  CHECK(contains(checked(folder / "c").out, "that reached 0.99"));
  replace_in(folder / "c/table.json", "\"reached\": 1", "\"reached\": 0");
  const std::string table = text_of(folder / "c/table.json");
  const auto finds = [&](const std::string& text, const std::string& sentence) {
    write_text(folder / "c/table.json", text);
    const std::string found = checked(folder / "c").out;
    write_text(folder / "c/table.json", table);
    CHECK_MESSAGE(contains(found, sentence), found);
  };
  finds("{\"settings\":[]}", "table.csv has 2 settings, table.json 0");
  finds("{\"settings\":[]}", "curves.csv has quickstart algorithm.eta=0.02, which is no setting of table.json");
  auto changed = nlohmann::ordered_json::parse(table);
  auto& setting = changed["settings"][0];
  const auto finds_in = [&](nlohmann::ordered_json& value, const nlohmann::ordered_json& other, const std::string& sentence) {
    const nlohmann::ordered_json before = value;
    value = other;
    finds(changed.dump(), sentence);
    value = before;
  };
  finds_in(setting["algorithm"], "gossip", "table.csv and table.json differ in algorithm of quickstart algorithm.eta=0.05");
  finds_in(setting["grid"]["algorithm.eta"], "7", "differ in grid of");
  finds_in(setting["runs"][0]["end"]["loss"], 7,
           "table.json and curves.csv differ in loss of quickstart algorithm.eta=0.05, seed 1");
  finds_in(setting["runs"], nlohmann::ordered_json::array({setting["runs"][0]}), "table.json has 1 runs of");
  finds_in(setting["accuracy"]["n"], 7, "differ in the runs that have accuracy");
  CHECK(run_rubato({"run", (folder / "c/experiments/2-seed-2.toml").string(), "--quiet"}).code == 0);
  std::filesystem::remove(folder / "c/experiments/2-seed-2.toml");
  const Ended missing = checked(folder / "c");
  CHECK(missing.code == 1);
  CHECK(contains(missing.out, "there is no experiment of quickstart algorithm.eta=0.02, seed 2"));
}

TEST_CASE("a weight that cannot be, a pair that is there twice and a client that is none are found in collaboration.csv") {
  const Folder folder;
  REQUIRE(
      run_rubato({"run", examples + "algorithms/kdpdfl.toml", "--set", "until=20.5", "--quiet", "--out", (folder / "run").string()})
          .code == 0);
  const std::string weights = text_of(folder / "run/collaboration.csv");
  const auto complaint = [&](const std::string& row) {
    std::ofstream(folder / "run/collaboration.csv") << weights << row << "\n";
    const Ended ended = checked(folder / "run");
    CHECK(ended.code == 1);
    return ended.out;
  };
  CHECK(contains(complaint("0,7,-0.5"), "client 0 weighs peer 7 with -0.5, which is no weight"));
  CHECK(contains(complaint("0,1,0.5"), "has client 0 and peer 1 twice"));
  CHECK(contains(complaint("3,25,0.5"), "3 and 25 are not two clients of the run"));
}

TEST_CASE("exchanges that do not add up to what became of them, or to the messages, are found") {
  const Folder folder;
  const std::string place = (folder / "run").string();
  REQUIRE(run_rubato({"run", examples + "algorithms/adpsgd.toml", "--set", "until=20.5", "--quiet", "--out", place}).code == 0);
  CHECK(contains(checked(folder / "run").out, " checks hold"));
  replace_in(folder / "run/summary.json", "\"met\": ", "\"met\": 1");
  const Ended ended = checked(folder / "run");
  CHECK(ended.code == 1);
  CHECK(contains(ended.out, "attempts of exchanges are not the sum of what became of them"));
  CHECK(contains(ended.out, "messages are not the requests and replies of exchanges"));
  CHECK(contains(ended.out, "the timing walked again differ in exchanges.met"));
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

TEST_CASE("a table with fewer or more rows than the run has clients is one fault, and nothing is compared with it") {
  const Folder folder;
  REQUIRE(run_rubato({"run", small_experiment(folder), "--quiet", "--out", folder / "run"}).code == 0);
  const std::string clients = text_of(folder / "run/clients.csv");
  const std::size_t first = clients.find('\n') + 1, second = clients.find('\n', first) + 1;
  const auto complaint = [&](const std::string& text) {
    write_text(folder / "run/clients.csv", text);
    const Ended ended = checked(folder / "run");
    CHECK(ended.code == 1);
    return ended.out;
  };
  const std::string said = (folder / "run").string() + ": clients.csv has ";
  CHECK(complaint(clients.substr(0, first)) == said + "0 rows, the run has 6 clients\n");
  CHECK(complaint(clients.substr(0, second)) == said + "1 rows, the run has 6 clients\n");
  CHECK(complaint(clients + clients.substr(first)) == said + "12 rows, the run has 6 clients\n");
  CHECK(contains(complaint(clients.substr(0, second) + clients.substr(first, second - first) + clients.substr(second)),
                 "clients.csv has 7 rows"));
  write_text(folder / "run/clients.csv", clients);
  for (const char* name : {"links.csv", "versions.csv", "staleness.csv", "link_ages.csv", "events.csv", "metrics.csv"}) {
    CAPTURE(name);
    const std::string whole = text_of(folder / "run" / name);
    write_text(folder / "run" / name, whole.substr(0, whole.find('\n') + 1));
    const Ended ended = checked(folder / "run");
    CHECK((ended.code == 1 || whole.find('\n') + 1 == whole.size()));
    CHECK(std::ranges::count(ended.out, '\n') < 20);
    write_text(folder / "run" / name, whole);
  }
  write_text(folder / "run/models/models.npy", "");
  CHECK(contains(checked(folder / "run").out, "models.npy has another size than its models"));
}

TEST_CASE("the files of a run in real time agree whose clients have all crashed before its end") {
  check_run({"run", quickstart(), "--set", "until=10.5", "--set", "clients.count=4", "--set", "clock=wall", "--set",
             "time_scale=20", "--set", R"(churn.events=[{at=7.25,what="crash",clients=[0,1,2,3]}])"});
}

TEST_CASE("the models of a run that diverged agree with its consensus") {
  for (const char* eta : {"1e7", "1e9"})
    check_run({"run", quickstart(), "--set", "until=303.7", "--set", "algorithm.eta=" + std::string(eta)});
  check_run({"run", quickstart(), "--set", "algorithm.eta=1e9"});
}

TEST_CASE("scores of samples that are damaged, or those of another run, are found") {
  const Folder folder;
  const Arguments run{"run", small_experiment(folder), "--quiet", "--out"};
  const auto made = [&](const char* name, const char* seed) {
    Arguments arguments = run;
    arguments.insert(arguments.end(), {folder / name, "--seed", seed});
    REQUIRE(run_rubato(arguments).code == 0);
    return text_of(folder / name / "samples.npz");
  };
  const std::string own = made("run", "1"), other = made("other", "2");
  CHECK(checked(folder / "run").code == 0);
  write_text(folder / "run/samples.npz", other);
  const Ended exchanged = checked(folder / "run");
  CHECK(exchanged.code == 1);
  CHECK(contains(exchanged.out + exchanged.err, "samples.npz and row "));
  write_text(folder / "run/samples.npz", own.substr(0, own.size() - 1));
  const Ended cut = checked(folder / "run");
  CHECK(cut.code == 1);
  CHECK(contains(cut.out + cut.err, "samples.npz: the archive is damaged"));
}

TEST_CASE("every file of a run that is gone, empty or of something else is found, and every key of the summary that is missing") {
  const Folder folder;
  const auto make = [&](const char* name, const std::string& of, const Arguments& more) {
    Arguments arguments{"run", of, "--quiet", "--out", folder / name};
    arguments.insert(arguments.end(), more.begin(), more.end());
    REQUIRE(run_rubato(arguments).code == 0);
    REQUIRE(checked(folder / name).code == 0);
    return folder / name;
  };
  const auto digits = make("digits", quickstart(), {"--set", "until=10.5"});
  const auto personal =
      make("personal", examples + "algorithms/kdpdfl.toml",
           {"--set", "until=10.5", "--set", "algorithm.layer=\"-1\"", "--set", "clients.classes=[{name=\"a\",share=0.5}]"});
  for (const auto& place : {digits, personal})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
      if (!entry.is_regular_file()) continue;
      CAPTURE(entry.path());
      const std::string whole = text_of(entry.path());
      std::filesystem::remove(entry.path());
      CHECK(checked(place).code != 0);
      for (const std::string& other : {std::string(), std::string("\x7f\x01,\n\xff\n"), whole.substr(0, whole.size() / 2)}) {
        write_text(entry.path(), other);
        CHECK(checked(place).code != 0);
      }
      write_text(entry.path(), whole);
    }
  const std::filesystem::path partial = folder / "digits.partial";  // the disk was full
  std::filesystem::copy(digits, partial, std::filesystem::copy_options::recursive);
  std::filesystem::remove(partial / "report.html");
  std::filesystem::resize_file(partial / "trace.json", 1000);
  const std::string found = checked(partial).out;
  CHECK(contains(found, "there is no report.html, which the run has written"));
  CHECK(contains(found, "trace.json ends early"));
  const auto summary = nlohmann::json::parse(text_of(digits / "summary.json"));
  for (const auto& [key, value] : summary.items()) {
    auto less = summary;
    less.erase(key);
    write_text(digits / "summary.json", less.dump());
    CHECK_MESSAGE(contains(checked(digits).out, "summary.json has no " + key), key);
  }
}

TEST_CASE("what samples.npz says of every sample is compared, and a column that the experiment does not ask for holds nothing") {
  const Folder folder;
  REQUIRE(run_rubato({"run", quickstart(), "--set", "until=20.5", "--quiet", "--out", folder / "run"}).code == 0);
  const std::string whole = text_of(folder / "run/metrics.csv");
  const std::vector<std::string> names = fields_of(whole.substr(0, whole.find('\n')));
  const std::size_t first = whole.find("\n2,") + 1, next = whole.find('\n', first);
  REQUIRE(first > 0);
  for (const char* name : {"accuracy_p5", "accuracy_p50", "accuracy_p95", "accuracy_max", "accuracy_max_client",
                           "accuracy_min_client", "loss_mean", "train_loss_mean", "objective", "consensus_y", "joint_objective"}) {
    std::vector<std::string> fields = fields_of(whole.substr(first, next - first));
    std::string& field = fields[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
    field = field == "nan" || std::string(name) != "loss_mean" ? "0.99" : "nan";
    std::string row;
    for (const std::string& each : fields) row += (row.empty() ? "" : ",") + each;
    write_text(folder / "run/metrics.csv", whole.substr(0, first) + row + whole.substr(next));
    const Ended ended = checked(folder / "run");
    CHECK(ended.code == 1);
    CHECK_MESSAGE(contains(ended.out, name), ended.out);
  }
}

TEST_CASE("whichever number of a table or of the summary is changed, it is found, but for times, memory and who ran it") {
  const Folder folder;
  std::string table = "a,b,kind\n";
  for (int i = 0; i < 90; ++i)
    table += std::to_string(i % 3 * 5 + i % 7) + "," + std::to_string(i % 11) + ",k" + std::to_string(i % 3) + "\n";
  write_text(folder / "table.csv", table);
  write_text(folder / "small.toml", R"(name = "small"
until = 20.5
[clients]
count = 5
[clients.compute]
law = "poisson"
rate = 2.0
[topology]
kind = "ring"
[channel]
kind = "random"
loss = 0.1
delay = { law = "exponential", mean = 0.1 }
[mailbox]
window = 0.05
deadline = 0.2
[churn]
notice = 0.5
[[churn.events]]
at = 5.0
what = "crash"
clients = [2]
[[churn.events]]
at = 9.0
what = "restart"
clients = [2]
[[churn.events]]
at = 12.0
what = "leave"
clients = [1]
[algorithm]
name = "dpsgd"
[data]
name = "files"
train = "table.csv"
label = "kind"
[model]
name = "softmax"
batch = 4
[metrics]
every_seconds = 2.0
)");
  REQUIRE(run_rubato({"run", folder / "small.toml", "--quiet", "--out", folder / "run"}).code == 0);
  const auto is_found = [&] { return checked(folder / "run").code == 1; };
  REQUIRE_FALSE(is_found());
  for (const char* name : {"metrics.csv", "clients.csv", "links.csv", "partition.csv", "events.csv", "staleness.csv",
                           "versions.csv", "link_ages.csv"}) {
    const std::string whole = text_of(folder / "run" / name);
    const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
    const std::vector<std::string> columns = fields_of(whole.substr(0, whole.find('\n')));
    for (std::size_t column = 0; column < columns.size(); ++column) {
      std::vector<std::string> fields = fields_of(whole.substr(last, whole.size() - last - 1));
      fields.resize(columns.size());  // the last ones may be empty
      const bool is_word = fields[column].empty() || std::isalpha(static_cast<unsigned char>(fields[column][0]));
      fields[column] = is_word ? "-1" : std::to_string(std::stod(fields[column]) + 1);
      std::string text;
      for (const std::string& field : fields) text += (text.empty() ? "" : ",") + field;
      write_text(folder / "run" / name, whole.substr(0, last) + text + "\n");
      CHECK_MESSAGE(is_found(), std::string(name), ": ", columns[column]);
    }
    write_text(folder / "run" / name, whole);
  }
  const auto summary = nlohmann::json::parse(text_of(folder / "run/summary.json"));
  const std::vector<std::string> of_this_machine{"/peak_rss_bytes", "/peak_payload_bytes"};
  const auto flat = summary.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    if (!value.is_number() || std::ranges::find(of_this_machine, pointer) != of_this_machine.end()) continue;
    auto changed = summary;
    changed[nlohmann::json::json_pointer(pointer)] = value.get<double>() + 1;
    write_text(folder / "run/summary.json", changed.dump());
    CHECK_MESSAGE((is_found() || pointer == "/messages/not_finite"), pointer);
  }
}

TEST_CASE("an accuracy that is not there, though its loss is, is found") {
  const Folder folder;
  REQUIRE(run_rubato({"run", quickstart(), "--set", "until=5.5", "--quiet", "--out", folder / "run"}).code == 0);
  const std::string whole = text_of(folder / "run/clients.csv");
  const std::vector<std::string> names = fields_of(whole.substr(0, whole.find('\n')));
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  std::vector<std::string> fields = fields_of(whole.substr(last, whole.size() - last - 1));
  fields[static_cast<std::size_t>(std::ranges::find(names, "accuracy") - names.begin())] = "nan";
  std::string row;
  for (const std::string& field : fields) row += (row.empty() ? "" : ",") + field;
  write_text(folder / "run/clients.csv", whole.substr(0, last) + row + "\n");
  CHECK(contains(checked(folder / "run").out, "clients.csv and models.npy differ in the accuracy of client "));
}

TEST_CASE("an infinite number is not near a finite one") {
  const Folder folder;
  REQUIRE(run_rubato({"run", small_experiment(folder), "--quiet", "--out", folder / "run"}).code == 0);
  for (const char* name : {"clients.csv", "links.csv"}) {
    const std::string whole = text_of(folder / "run" / name);
    const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
    std::vector<std::string> fields = fields_of(whole.substr(last, whole.size() - last - 1));
    fields[2] = "inf";
    std::string row;
    for (const std::string& field : fields) row += (row.empty() ? "" : ",") + field;
    write_text(folder / "run" / name, whole.substr(0, last) + row + "\n");
    const Ended ended = checked(folder / "run");
    CHECK(ended.code == 1);
    CHECK_MESSAGE(contains(ended.out, std::string(name) + " and the timing walked again differ in "), ended.out);
    write_text(folder / "run" / name, whole);
  }
}

TEST_CASE("every folder is checked, whatever is wrong with another, and a fault is told by exit code 1") {
  const Folder folder;
  REQUIRE(run_rubato({"run", small_experiment(folder), "--quiet", "--out", folder / "good"}).code == 0);
  std::filesystem::copy(folder / "good", folder / "bad", std::filesystem::copy_options::recursive);
  std::filesystem::remove(folder / "bad/metrics.csv");
  const std::string good = (folder / "good").string(), bad = (folder / "bad").string(), none = (folder / "none").string();
  const Ended all = run_rubato({"check", none, bad, good});
  CHECK(all.code == 1);
  CHECK(contains(all.err, "there is no folder " + none));
  CHECK(contains(all.out, bad + ": cannot read " + bad + "/metrics.csv"));
  CHECK(contains(all.out, good + ": "));
  CHECK(contains(all.out, " checks hold"));
  CHECK(run_rubato({"check", none, good}).code == 2);
  CHECK(run_rubato({"check", folder.path(), good}).code == 2);
  for (const char* other : {"{}", "[]", "x", R"({"model_digest": 1})"}) {
    write_text(folder / "bad/summary.json", other);
    std::filesystem::create_directories(folder / "table");
    write_text(folder / "table/table.json", other);
    for (const char* name : {"table.csv", "curves.csv"}) write_text(folder / "table" / name, "setting,file,algorithm,grid,seed\n");
    const Ended ended = run_rubato({"check", bad, folder / "table"});
    CHECK(ended.code == 1);
    CHECK_FALSE(contains(ended.out + ended.err, "exception"));
    CHECK(contains(ended.out, "table.json is damaged"));
  }
}
