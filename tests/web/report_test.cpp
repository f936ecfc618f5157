#include "web/report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "actors/run.hpp"
#include "experiment/build/world_seconds.hpp"
#include "experiment/file/resolve.hpp"
#include "learning/models/problems.hpp"
#include "results/whole_file.hpp"
#include "runtime/world/bounds.hpp"
#include "tests/web/support.hpp"
#include "web/report_data.hpp"
#include "web/run_files.hpp"

using namespace rubato;
using namespace rubato::web;
namespace fs = std::filesystem;

namespace {

Json report_of(const fs::path& folder) {
  write_report(folder);
  return data_in(folder / "report.html");
}

void replace_in(const fs::path& file, const std::string& old, const std::string& fresh) {
  std::string text = text_of(file);
  REQUIRE(text.find(old) != text.npos);
  write_whole(file, text.replace(text.find(old), old.size(), fresh));
}

}  // namespace

TEST_CASE("a report holds the summary, the samples, the clients, the graph and the timeline of its run") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const Json data = report_of(folder);
  const Json summary = json_in(folder / "summary.json");
  CHECK(data["summary"] == summary);
  CHECK(data["samples"]["rows"].size() == Table(folder / "metrics.csv").rows());
  CHECK(data["samples"]["rows"].size() > 2);
  CHECK(data["clients"]["columns"]["computations"].size() == 5);
  CHECK(data["links"]["sender"].size() == 10);
  CHECK(data["graph"]["out_degrees"] == Json::parse("[[2,5]]"));
  CHECK(data["score"]["parts"].size() == 1);
  CHECK(data["events"].size() == 3);
  CHECK(data["events"][0][1] == "unification");
  CHECK(data["events"][0][0] == 3.0);
  CHECK(fs::exists(folder / "trace.json"));
}

TEST_CASE("the columns of clients, those of links and the course of a page add up to the messages of the run") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const Json messages = json_in(folder / "summary.json")["messages"], data = report_of(folder);
  const auto sum = [](const Json& column) {
    double all = 0;
    for (const Json& value : column) all += value.get<double>();
    return all;
  };
  const Json &clients = data["clients"]["columns"], &links = data["links"], &course = data["course"];
  for (const Json* table : {&clients, &links}) {
    CHECK(sum((*table)["sent"]) == messages["sent"]);
    CHECK(sum((*table)["kept"]) == messages["delivered"]);
    CHECK(sum((*table)["lost"]) == messages["lost"]);
    CHECK(sum((*table)["late"]) == messages["late"]);
  }
  CHECK(sum(course["sent"]) == messages["sent"]);
  CHECK(sum(course["lost"]) == messages["lost"]);
  CHECK(sum(course["late"]) == messages["late"]);
  CHECK(messages["late"] > 0);
  CHECK(messages["lost"] > 0);
}

TEST_CASE("the tables of the course hold every event of the page and every merged message once") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const Json data = report_of(folder);
  const std::string events = text_of(folder / "events.csv");
  CHECK(events.starts_with("seconds,what,client,other,host,graph\n3,unification,"));
  CHECK(std::ranges::count(events, '\n') == 1 + static_cast<std::ptrdiff_t>(data["events"].size()));
  const Table ages(folder / "staleness.csv");
  double merged = 0, seconds = 0;
  for (std::size_t i = 0; i < ages.rows(); ++i) {
    const auto row = ages.row(i);
    merged += row[ages.column("messages")];
    seconds += row[ages.column("messages")] * std::sqrt(row[ages.column("age_from")] * row[ages.column("age_to")]);
    CHECK(row[ages.column("from")] < row[ages.column("to")]);
  }
  double expected = 0;
  for (const Json& slice : data["course"]["merged"]) expected += slice.get<double>();
  CHECK(merged == expected);
  // A bin is a quarter of an octave wide: its middle is at most 9.1 % away.
  CHECK(seconds / merged == doctest::Approx(data["summary"]["staleness_seconds"]["mean"].get<double>()).epsilon(0.095));
  CHECK_FALSE(fs::exists(folder / "waits.csv"));  // no client waits
}

TEST_CASE(
    "the graphs of a sequence that come into force are listed, by the clock and as rounds begin, and equal ones in a row are not") {
  config::Experiment experiment = small_experiment();
  experiment.unification = {};
  experiment.mailbox = {};
  experiment.topology = {};
  experiment.topology.kind = config::TopologyKind::edges;
  experiment.topology.edges = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}};
  experiment.topology.cycle = {{{0, 1}, {2, 3}}, {{1, 2}, {3, 4}, {4, 0}}};
  experiment.topology.cycle_rounds = {2, 1};
  experiment.topology.change_every = 2;
  experiment.until = 11;
  const TempFolder temp, other;
  const fs::path folder = run_folder(temp, experiment);
  const Json data = report_of(folder);
  CHECK(text_of(folder / "events.csv") == "seconds,what,client,other,host,graph\n4,graph,,,,2\n6,graph,,,,0\n10,graph,,,,2\n");
  CHECK(data["events"].empty());

  experiment.algorithm = {};
  experiment.algorithm.name = "dpsgd";
  experiment.protocol.kind = ProtocolKind::rounds;
  experiment.channel = {};
  experiment.until = 60;
  const fs::path in_rounds = run_folder(other, experiment);
  write_report(in_rounds);
  const std::string events = text_of(in_rounds / "events.csv");
  std::string graphs;
  for (std::size_t at = events.find("graph,,,,"); at != events.npos; at = events.find("graph,,,,", at + 1))
    graphs += events[at + 9];
  CHECK(graphs.starts_with("202"));
}

TEST_CASE("hosts that were lost, left and came back are rows of the events and marks of the page") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  replace_in(
      folder / "summary.json", "\"host_absences\": []",
      R"("host_absences": [{"host": "b", "how": "lost", "from": 2.5, "to": 3.5}, {"host": "c", "how": "left", "from": 4, "to": null}])");
  const Json events = report_of(folder)["events"];
  const std::string rows = text_of(folder / "events.csv");
  CHECK(rows.find("\n2.5,host lost,,,b,\n3,unification,") != rows.npos);
  CHECK(rows.find("\n3.5,host back,,,b,\n4,host left,,,c,\n") != rows.npos);
  CHECK(events[0] == Json::parse(R"([2.5, "host lost", null, null, "b"])"));
}

TEST_CASE("in rounds a table says who waited for whom, and how long") {
  const TempFolder temp;
  config::Experiment experiment = small_experiment();
  experiment.algorithm = {.name = "nids"};
  experiment.unification = {};
  experiment.mailbox = {};
  const fs::path folder = run_folder(temp, experiment);
  const Json waits = report_of(folder)["waits"];
  const Table table(folder / "waits.csv");
  REQUIRE(table.rows() > 0);
  CHECK(table.rows() == waits["client"].size());
  for (std::size_t i = 0; i < table.rows(); ++i) {
    CHECK(table.row(i)[table.column("client")] == waits["client"][i]);
    CHECK(table.row(i)[table.column("for")] == waits["other"][i]);
    CHECK(table.row(i)[table.column("times")] == waits["times"][i]);
    CHECK(table.row(i)[table.column("seconds")] == doctest::Approx(waits["seconds"][i].get<double>()));
  }
}

TEST_CASE("bounds in seconds stand beside measured gradient norms where the constants of the losses are known") {
  config::Experiment experiment = small_experiment();
  CHECK_FALSE(report_of(run_folder(TempFolder(), experiment)).contains("bounds"));
  experiment.until = 400.5;
  experiment.unification = {};
  experiment.data.name = "tridiagonal";
  experiment.data.dimension = 30;
  experiment.data.noise = 0.05;
  experiment.metrics = {};
  experiment.metrics.every_seconds = 20;
  experiment.metrics.gradient_norm = true;
  const TempFolder temp;
  const fs::path folder = run_folder(temp, experiment);
  const Json data = report_of(folder), &lines = data["bounds"]["lines"];
  REQUIRE(lines.size() == 3);
  CHECK(lines[0]["name"] == "lower bound");
  CHECK(lines[1]["name"] == "Fragile");
  CHECK(lines[2]["name"] == "minibatch over the graph");

  // The other way round: the seconds until the norm that a line has are those of its row.
  Vector<double> best(30), slope(30);
  for (Index j = 0; j < 30; ++j) best[j] = static_cast<double>(j + 1) / 31 - 1;
  Scratch<double> scratch;
  const double least = make_tridiagonal<double>(30, nullptr, 0, 0)->gradient(view(std::as_const(best)), {}, view(slope), scratch);
  CHECK(slope.norm() < 1e-12);
  const Table metrics(folder / "metrics.csv");
  StationarityGoal goal{.smoothness = 1, .gap = metrics.row(0)[metrics.column("objective")] - least, .noise = 0.05 * 0.05 * 30};
  const auto resolved = resolve<double>(experiment, {});
  const std::vector<double> h = gradient_seconds(*resolved.timing);
  const auto travel = travel_seconds(resolved.timing->graph, link_seconds(*resolved.timing).value());
  std::size_t compared = 0;
  for (std::size_t row = 0; row < metrics.rows(); ++row)
    for (std::size_t line = 0; line < 3; ++line) {
      const Json& norm = lines[line]["values"][row];
      if (!norm.is_number()) continue;
      goal.accuracy = norm.get<double>() * norm.get<double>();
      const LinkBounds bounds = link_bounds(h, travel, goal);
      const double seconds = line == 0 ? bounds.lower_homogeneous : line == 1 ? bounds.fragile : bounds.minibatch;
      CHECK(seconds == doctest::Approx(metrics.row(row)[metrics.column("seconds")]).epsilon(0.02));
      ++compared;
    }
  CHECK(compared > 45);

  experiment.data.name = "quadratic";
  const TempFolder others[2];
  CHECK_FALSE(report_of(run_folder(others[0], experiment)).contains("bounds"));
  experiment.metrics.smoothness = 1;
  CHECK(report_of(run_folder(others[1], experiment))["bounds"]["lines"].size() == 2);
}

TEST_CASE("a report made again is the same") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  write_report(folder);
  const std::string page = text_of(folder / "report.html"), trace = text_of(folder / "trace.json");
  write_report(folder);
  CHECK(text_of(folder / "report.html") == page);
  CHECK(text_of(folder / "trace.json") == trace);
}

TEST_CASE("a page made from a result says what one made from the run's folder says") {
  config::Experiment learns = small_experiment();
  learns.data = {};
  learns.data.name = "digits";
  learns.model = {};
  learns.model.name = "softmax";
  config::Experiment unrecorded = small_experiment();
  unrecorded.record.kind = config::Record::Kind::off;
  for (const config::Experiment& experiment : {small_experiment(), learns, unrecorded}) {
    const TempFolder temp;
    RunResult result;
    const fs::path folder = run_folder(temp, experiment, false, &result);
    write_report(folder);
    const std::string page = text_of(folder / "report.html");
    write_report(folder, resolve(experiment, OwnParts<float>{}), result);
    CHECK(text_of(folder / "report.html") == page);
  }
}

TEST_CASE("a page asks nobody else for anything") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  write_report(folder);
  const std::string page = text_of(folder / "report.html");
  CHECK(page.find("src=") == page.npos);
  CHECK(page.find("<link") == page.npos);
  CHECK(page.find("@import") == page.npos);
  CHECK(page.find("default-src 'none'") != page.npos);
  CHECK(page.find("{{") == page.npos);
}

TEST_CASE("a name cannot become a part of the page") {
  const TempFolder temp;
  const std::string name = "</script><script>alert('1')</script> & {{data}} <!--";
  const fs::path folder = run_folder(temp, small_experiment("name = \"" + name + "\"\n"));
  const Json data = report_of(folder);
  const std::string page = text_of(folder / "report.html");
  CHECK(data["summary"]["experiment"] == name);
  CHECK(page.find("<script>alert") == page.npos);
  CHECK(page.find("<!-- ") == page.npos);
  CHECK(page.find("<h1>&lt;/script&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; {{data}} &lt;!--</h1>") != page.npos);
}

TEST_CASE("a dry run has a report without samples") {
  const TempFolder temp;
  const Json data = report_of(run_folder(temp, small_experiment(), true));
  CHECK(data["samples"]["rows"].empty());
  CHECK(data["samples"]["total"] == 0);
  CHECK(data["score"]["parts"].size() == 1);
}

TEST_CASE("one sample is enough") {
  const TempFolder temp;
  config::Experiment experiment = small_experiment();
  experiment.metrics.every_events = 0;
  CHECK(report_of(run_folder(temp, experiment))["samples"]["rows"].size() == 1);
}

TEST_CASE("what is no finite number keeps its name") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const Table metrics(folder / "metrics.csv");
  const auto width = metrics.columns().size();
  std::string row = "nan,inf,-inf";
  for (std::size_t i = 3; i < width; ++i) row += ",1";
  const std::string text = text_of(folder / "metrics.csv");
  write_whole(folder / "metrics.csv", text.substr(0, text.find('\n') + 1) + row + "\n");
  const Json samples = report_of(folder)["samples"];
  CHECK(samples["rows"][0][0] == "nan");
  CHECK(samples["rows"][0][1] == "inf");
  CHECK(samples["rows"][0][2] == "-inf");
}

TEST_CASE("thousands of samples are thinned, and the first and the last stay") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const std::string text = text_of(folder / "metrics.csv");
  std::string rest;
  for (std::size_t i = 1; i < Table(folder / "metrics.csv").columns().size(); ++i) rest += ",0";
  std::string many = text.substr(0, text.find('\n') + 1);
  for (int i = 0; i < 5000; ++i) many += std::to_string(i) + rest + "\n";
  write_whole(folder / "metrics.csv", many);
  const Json samples = report_of(folder)["samples"];
  CHECK(samples["total"] == 5000);
  REQUIRE(samples["rows"].size() == most_samples);
  CHECK(samples["rows"].front()[0] == 0);
  CHECK(samples["rows"].back()[0] == 4999);
}

TEST_CASE("a run without a record has a report without a timeline, and its graph all the same") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment("record = \"off\"\n"));
  const Json data = report_of(folder);
  CHECK_FALSE(data.contains("timeline"));
  CHECK_FALSE(data.contains("score"));
  CHECK(data["links"]["sender"].size() == 10);
  CHECK_FALSE(data["links"].contains("sent"));
  CHECK_FALSE(fs::exists(folder / "trace.json"));
}

TEST_CASE("a graph file that has gone is named") {
  const TempFolder temp;
  temp.write("ring.txt", "0 1\n1 2\n2 3\n3 4\n4 0\n");
  config::Experiment experiment = small_experiment();
  experiment.topology = {.kind = config::TopologyKind::file, .file = temp.file("ring.txt"), .edges = {}};
  const fs::path folder = run_folder(temp, experiment);
  fs::remove(temp.file("ring.txt"));
  CHECK_THROWS_WITH_AS(write_report(folder), doctest::Contains("ring.txt"), std::invalid_argument);
}

TEST_CASE("more links than are listed are summed by groups of clients") {
  const TempFolder temp;
  config::Experiment experiment = small_experiment();
  experiment.clients.count = 150;
  experiment.topology = {};
  experiment.topology.kind = config::TopologyKind::complete;
  experiment.until = 2;
  const fs::path folder = run_folder(temp, experiment, true);
  const Json data = report_of(folder);
  CHECK(data["links"]["groups"] == 75);
  CHECK(data["links"]["per_group"] == 2);
  double sent = 0;
  for (const Json& value : data["links"]["sent"]) sent += value.get<double>();
  CHECK(sent == json_in(folder / "summary.json")["messages"]["sent"]);
  CHECK(data["graph"]["out_degrees"] == Json::parse("[[149,150]]"));
}

TEST_CASE("the rows of clients by class are drawn, many clients folded, and a damaged file is named") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  std::ofstream(folder / "partition.csv") << "client,class,rows\n0,2,5\n1,0,7\n";
  const Json drawn = report_of(folder)["partition"];
  CHECK(drawn["per_column"] == 1);
  CHECK(drawn["cells"] == Json::parse("[[0,1,7.0],[2,0,5.0]]"));
  std::ofstream(folder / "partition.csv") << "client,class,rows\n7777,2,5\n";
  CHECK_THROWS_WITH_AS(write_report(folder), doctest::Contains("partition.csv is damaged"), std::invalid_argument);
}

TEST_CASE("the torn end of a record is told where it is read, and does not matter where the timing is walked") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const Json whole = report_of(folder)["score"];
  fs::resize_file(folder / "timeline.rbt", fs::file_size(folder / "timeline.rbt") - 1);
  CHECK(report_of(folder)["score"] == whole);
  replace_in(folder / "summary.json", "\"timeline_digest\": \"", "\"timeline_digest\": \"0");
  const Json data = report_of(folder);
  CHECK(data["timeline"]["is_incomplete"] == true);
  CHECK(data["score"]["has_arrivals"] == false);
}

TEST_CASE("a file that is missing or damaged is named, and nothing is written") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  const auto check = [&](const char* sentence) {
    CHECK_THROWS_WITH_AS(write_report(folder), doctest::Contains(sentence), std::invalid_argument);
    CHECK_FALSE(fs::exists(folder / "report.html"));
    CHECK_FALSE(fs::exists(folder / "trace.json"));
  };
  for (const char* name : {"experiment.toml", "summary.json", "metrics.csv", "clients.csv"}) {
    fs::rename(folder / name, folder / "away");
    check(name);
    fs::rename(folder / "away", folder / name);
  }
  replace_in(folder / "summary.json", "{", "");
  check("summary.json is damaged");
  replace_in(folder / "summary.json", "\n", "{");
  replace_in(folder / "links.csv", "\n0,", "\n77,");
  check("links.csv is damaged");
  replace_in(folder / "links.csv", "\n77,", "\n0,");
  replace_in(folder / "timeline.rbt", "RBTSTEP3", "RBTSTEP?");
  check("timeline.rbt is not a record");
}

TEST_CASE("a gap is filled with what belongs there, and the filling is not searched") {
  CHECK(filled("<{{a}}|{{b}}|{{c}}>", {{"a", "{{b}}"}, {"b", "2"}}) == "<{{b}}|2|>");
  CHECK(filled("no gap", {}) == "no gap");
  CHECK(filled("open {{a", {{"a", "1"}}) == "open 1");
}

TEST_CASE("the five letters of HTML are escaped") {
  CHECK(escaped("<a href=\"x\">'&'</a>") == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  CHECK(escaped("plain") == "plain");
}

TEST_CASE("a page names its clock, and a host's page names the host and its clients and parts its last sample from the others") {
  const TempFolder temp;
  const fs::path folder = run_folder(temp, small_experiment());
  Json data = report_of(folder);
  CHECK(data["words"]["clock"] == "virtual time");
  CHECK(data["words"]["population"] == "5 clients");
  CHECK(data["words"]["measured"] == "clients 0-4");
  CHECK(data["words"]["part"] == "");
  CHECK(data["samples"]["parted_at"] == nullptr);

  replace_in(folder / "summary.json", "\"host\": \"\"", "\"host\": \"b\"");
  replace_in(folder / "summary.json", "\"host_clients\": \"\"", "\"host_clients\": \"3-4\"");
  const std::string metrics = text_of(folder / "metrics.csv");
  const std::size_t measured = Table(folder / "metrics.csv").column("clients_measured");
  std::string of_part;
  const std::size_t last = metrics.rfind('\n', metrics.size() - 2) + 1;
  for (std::size_t at = 0, end = 0; at < last; at = end + 1) {
    end = metrics.find('\n', at);
    std::string line = metrics.substr(at, end - at);
    std::size_t field = 0;
    for (std::size_t i = 0; i < measured; ++i) field = line.find(',', field) + 1;
    if (at > 0) line.replace(field, std::min(line.find(',', field), line.size()) - field, "2");
    of_part += line + "\n";
  }
  write_whole(folder / "metrics.csv", of_part + metrics.substr(last));
  data = report_of(folder);
  CHECK(data["samples"]["parted_at"] == data["samples"]["rows"].size() - 1);
  CHECK(data["words"]["part"].get<std::string>().find("is of host b, clients 3-4; the last sample is of all") != std::string::npos);

  replace_in(folder / "summary.json", "\"gathered_by\": \"\"", "\"gathered_by\": \"a\"");
  data = report_of(folder);
  CHECK(data["words"]["population"] == "host b, clients 3-4");
}

TEST_CASE("a page of a run in real time does not call its time virtual, and a dry run's shows the forecast") {
  const TempFolder temp;
  CHECK(report_of(run_folder(temp, small_experiment("clock = \"wall\"\ntime_scale = 20\n")))["words"]["clock"] ==
        "time of the experiment");
  const TempFolder other;
  const fs::path whole = run_folder(temp, small_experiment()), dry = run_folder(other, small_experiment(), true);
  const Json forecast = report_of(dry)["summary"]["forecast"], spent = json_in(whole / "summary.json");
  CHECK(spent["forecast"] == nullptr);
  CHECK(forecast["wire_bytes"] == spent["bytes"]["wire"]);
  CHECK(forecast["gradients"] == spent["gradients"]);
}
