// What a server shows of a run, and whom it answers: without a socket.
#include <doctest/doctest.h>

#include <rapidcheck.h>
#include <array>
#include <cctype>
#include <cmath>
#include <set>
#include <sstream>
#include <thread>

#include "actors/run.hpp"
#include "experiment/file/experiment_file.hpp"
#include "results/columns.hpp"
#include "results/run_folder.hpp"
#include "results/whole_file.hpp"
#include "tests/web/support.hpp"
#include "web/live/folder_run.hpp"
#include "web/live/live_run.hpp"
#include "web/live/metrics_text.hpp"
#include "web/live/router.hpp"
#include "web/report.hpp"
#include "web/run_files.hpp"

using namespace rubato;
using namespace rubato::web;
namespace fs = std::filesystem;

namespace {

std::shared_ptr<LiveRun> small_run() { return std::make_shared<LiveRun>(small_experiment(), LiveFacts{.kind = "run"}); }

// Tells all that a run tells, as the command does.
RunOptions told_to(LiveRun& run) {
  RunOptions options;
  options.on_progress = [&run](const Progress& now) { run.advance(now.virtual_seconds, now.wall_seconds, now.events); };
  options.on_sample = [&run](const Sample& sample) { run.add(sample); };
  options.on_glance = [&run](const Glance& glance) { run.add(glance); };
  options.wants_glance = [] { return true; };
  options.observer = &run.marks_watch();
  return options;
}

Json parsed(const std::string& text) { return Json::parse(text); }

struct Asked {
  ServerCounts counts;
  Gate gate;
  Router router;
  explicit Asked(Router::Runs runs, std::string token = "")
      : gate{std::move(token), {"here"}}, router{std::move(runs), gate, counts} {}
  Reply get(const std::string& target, Knock knock = {.host = "localhost:8080"}) const {
    return router.answer({"GET", target, knock});
  }
};

}  // namespace

TEST_CASE("an address to listen at is a port, or a number and a port") {
  CHECK(parse_listen_address("8080").address == "127.0.0.1");
  CHECK(parse_listen_address("8080").port == 8080);
  CHECK(parse_listen_address("0.0.0.0:1").address == "0.0.0.0");
  CHECK(parse_listen_address("[::1]:99").address == "::1");
  CHECK(parse_listen_address("[::1]:99").is_loopback());
  CHECK(parse_listen_address("localhost:7").is_loopback());
  CHECK_FALSE(parse_listen_address("10.0.0.1:7").is_loopback());
  for (const char* text : {"", "port", "65536", "-1", "80 ", "host:80", "127.0.0.1:", ":", "127.0.0.1", "1.2.3.4:5:6"})
    CHECK_THROWS_AS(parse_listen_address(text), std::invalid_argument);
}

TEST_CASE("a browser that another name has led here is turned away") {
  const Gate gate("", {"here"});
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "10.1.2.3", "here:80", "HERE"})
    CHECK(gate.knows_host(host));
  for (const char* host : {"", "evil.example", "localhost.evil.example:8080", "here.evil.example", "127.0.0.1.evil.example"})
    CHECK_FALSE(gate.knows_host(host));
}

TEST_CASE("a page of another origin is turned away, and a program that names none is not") {
  const auto is_own = [](std::string_view origin) { return Gate::is_own_origin({.host = "localhost:8080", .origin = origin}); };
  CHECK(is_own(""));
  CHECK(is_own("http://localhost:8080"));
  CHECK(is_own("https://localhost:8080"));
  for (const char* origin : {"null", "http://localhost", "http://localhost:80801", "http://evil.example", "localhost:8080"})
    CHECK_FALSE(is_own(origin));
}

TEST_CASE("a token is taken from the header or the cookie, and nothing near it is") {
  const std::string token = new_token();
  CHECK(token.size() == 43);
  CHECK(token != new_token());
  const Gate gate(token, {});
  CHECK(gate.has_token({.authorization = "Bearer " + token}));
  CHECK(gate.has_token({.cookie = "rubato=" + token}));
  CHECK(gate.has_token({.cookie = "a=1; rubato=" + token + "; b=2"}));
  for (const std::string& wrong : {std::string(), token.substr(1), token + "A", token.substr(0, 42) + "*", token + token}) {
    CHECK_FALSE(gate.has_token({.authorization = "Bearer " + wrong}));
    CHECK_FALSE(gate.has_token({.cookie = "rubato=" + wrong}));
  }
  CHECK_FALSE(gate.has_token({.authorization = token}));
  CHECK_FALSE(gate.has_token({}));
  CHECK(Gate("", {}).has_token({}));
}

TEST_CASE("an address has so many requests at once and so many a second") {
  RequestPace pace(20, 40);
  const RequestPace::Time start{};
  int taken = 0;
  for (int i = 0; i < 100; ++i) taken += pace.take("a", start);
  CHECK(taken == 40);
  CHECK(pace.take("b", start));
  taken = 0;
  for (int i = 0; i < 100; ++i) taken += pace.take("a", start + std::chrono::seconds(1));
  CHECK(taken == 20);
}

TEST_CASE("what is not on the table of paths is not there, however it is written") {
  const Asked asked({small_run()});
  CHECK(asked.get("/").type == "text/html; charset=utf-8");
  CHECK(asked.get("/health").body == "ok\n");
  for (const char* target : {"/../etc/passwd", "/..%2f..%2fetc/passwd", "//", "/index.html", "/api/v1/../../etc/passwd", "/api/v1/",
                             "/api/v1/run/", "/report.html", "", "/api/v1/report", "/live/../health", "http://localhost/health"})
    CHECK(asked.get(target).status == 404);
  CHECK(asked.get("/api/v1/run?run=1").status == 404);
  for (const char* target :
       {"/api/v1/run?run=abc", "/api/v1/run?run=", "/api/v1/samples?run=0&after=-1", "/api/v1/events?after=99999999999999999999"})
    CHECK(asked.get(target).status == 400);
  CHECK(asked.get("/api/v1/samples?after=1.5").body.starts_with("after must be a whole number"));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get", ""})
    CHECK(asked.router.answer({method, "/health", {.host = "localhost"}}).status == 405);
}

TEST_CASE("without the token nothing of a run is told, and the page itself is") {
  const std::string token = new_token();
  const Asked asked({small_run()}, token);
  CHECK(asked.get("/").status == 200);
  CHECK(asked.get("/health").status == 200);
  for (const char* path : {"/metrics", "/api/v1/runs", "/api/v1/run", "/api/v1/samples", "/login", "/nothing"})
    CHECK(asked.get(path).status == 401);
  const std::string header = "Bearer " + token;
  const Reply let_in = asked.get("/login", {.host = "here", .authorization = header});
  CHECK(let_in.status == 204);
  CHECK(let_in.cookie.find("HttpOnly; SameSite=Strict") != std::string::npos);
  CHECK(asked.get("/metrics", {.host = "here", .authorization = header}).status == 200);
  CHECK(asked.get("/metrics", {.host = "evil.example", .authorization = header}).status == 421);
  CHECK(asked.get("/metrics", {.host = "here", .origin = "http://evil.example", .authorization = header}).status == 403);
}

TEST_CASE("a run tells every sample once, in its order, to a page that asks from where it is") {
  const auto run = small_run();
  RunOptions options = told_to(*run);
  const RunResult result = rubato::run(small_experiment(), options);
  const Json all = parsed(run->samples(0));
  REQUIRE(all["rows"].size() == result.samples.size());
  REQUIRE(result.samples.size() > 3);
  const Json columns = run->hello()["columns"];
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    REQUIRE(all["rows"][i].size() == columns.size());
    for (std::size_t column = 0; column < sample_columns().size(); ++column) {
      const double value = to_double(sample_columns()[column].read(result.samples[i]));
      CHECK(columns[column]["name"] == sample_columns()[column].name);
      CHECK(all["rows"][i][column] == (std::isfinite(value) ? Json(value) : Json("nan")));
    }
  }
  Json joined = Json::array();
  for (std::uint64_t from = 0; from < result.samples.size();) {
    const Json some = parsed(run->samples(from));
    REQUIRE(some["first"] == from);
    joined.insert(joined.end(), some["rows"].begin(), some["rows"].begin() + 1);  // as if the connection had broken after one
    ++from;
  }
  CHECK(joined == all["rows"]);
  CHECK(parsed(run->samples(result.samples.size()))["rows"].empty());
  CHECK(parsed(run->samples(1'000'000))["rows"].empty());
}

TEST_CASE("watching a run changes none of its digests") {
  const auto run = small_run();
  run->look(true, true);
  const RunResult watched = rubato::run(small_experiment(), told_to(*run));
  const RunResult alone = rubato::run(small_experiment(), {});
  CHECK(watched.digests.model == alone.digests.model);
  CHECK(watched.digests.timeline == alone.digests.timeline);
}

TEST_CASE("the marks of a run are its computations, publications, arrivals and merges") {
  const auto run = small_run();
  run->look(true, true);
  const RunResult result = rubato::run(small_experiment(), told_to(*run));
  run->revision();
  const Json marks = parsed(run->marks(0));
  std::map<int, std::uint64_t> number;
  for (const int kind : marks["kind"]) ++number[kind];
  const auto of = [&](MarkKind kind) { return number[static_cast<int>(kind)]; };
  CHECK(marks["dropped"] == 0);
  CHECK(of(MarkKind::compute) == result.messages.computations);
  CHECK(of(MarkKind::kept) == result.messages.kept);
  CHECK(of(MarkKind::late) == result.messages.late);
  CHECK(of(MarkKind::lost) == result.messages.lost);
  CHECK(of(MarkKind::unification) == result.unifications);
  CHECK(of(MarkKind::absorbed) + result.messages.superseded <= result.messages.kept);
  CHECK(of(MarkKind::absorbed) > 0);
  for (std::size_t i = 0; i < marks["at"].size(); ++i) CHECK(marks["since"][i].get<double>() <= marks["at"][i].get<double>());
  const Json later = parsed(run->marks(marks["next"].get<std::uint64_t>() - 5));
  CHECK(later["at"].size() == 5);
}

TEST_CASE("in real time the marks are those of the clients, too") {
  const auto experiment = small_experiment("clock = \"wall\"\ntime_scale = 20\n");
  const auto run = std::make_shared<LiveRun>(experiment, LiveFacts{.kind = "run"});
  run->look(true, true);
  const RunResult result = rubato::run(experiment, told_to(*run));
  run->revision();
  const Json marks = parsed(run->marks(0));
  std::map<int, std::uint64_t> number;
  for (const int kind : marks["kind"]) ++number[kind];
  const auto of = [&](MarkKind kind) { return number[static_cast<int>(kind)]; };
  CHECK(of(MarkKind::compute) == result.messages.computations);
  CHECK(of(MarkKind::kept) == result.messages.kept);
  CHECK(of(MarkKind::late) == result.messages.late);
  CHECK(of(MarkKind::publish) > 0);
  CHECK(of(MarkKind::absorbed) > 0);
  CHECK(of(MarkKind::unification) > 0);
}

TEST_CASE("without a page nothing is marked but unifications and churn, which are events") {
  const auto run = small_run();
  run->look(false, false);
  const RunResult result = rubato::run(small_experiment(), told_to(*run));
  CHECK(run->revision().marks == 0);
  const Json events = parsed(run->events(0));
  CHECK(events["rows"].size() == result.unifications);
  CHECK(events["rows"][0]["what"] == "unification");
  CHECK(events["rows"][0]["clients"].size() == 1);
  CHECK_FALSE(run->wants_glance());
}

TEST_CASE("marks that are not fetched in time are dropped and counted, and the others keep their order") {
  MarkRing ring(8);
  for (int i = 0; i < 20; ++i) ring.add({Time{Duration{i}}, Time{}, i, 0, MarkKind::compute});
  std::vector<int> seen;
  ring.take_all([&](const Mark& mark) { seen.push_back(mark.client); });
  CHECK(seen == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(ring.dropped() == 12);
}

TEST_CASE("marks pass from one thread to another, none twice") {
  MarkRing ring(64);
  constexpr int all = 100'000;
  std::atomic<bool> is_over{false};
  std::jthread writer([&] {
    for (int i = 0; i < all; ++i) ring.add({Time{}, Time{}, i, 0, MarkKind::compute});
    is_over = true;
  });
  int last = -1;
  std::uint64_t seen = 0;
  bool is_in_order = true;
  for (bool was_over = false; !was_over;) {
    was_over = is_over;
    ring.take_all([&](const Mark& mark) {
      is_in_order = is_in_order && mark.client > last;
      last = mark.client, ++seen;
    });
  }
  CHECK(is_in_order);
  CHECK(seen + ring.dropped() == all);
}

TEST_CASE("a histogram says how many durations are not longer, to a sixteenth") {
  rc::check([] {
    DurationHistogram histogram;
    const auto values = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::arbitrary<std::uint32_t>());
    for (const std::uint32_t value : values) histogram.add(Duration{value});
    const std::uint32_t bound = *rc::gen::arbitrary<std::uint32_t>();
    std::uint64_t surely = 0, perhaps = 0;
    for (const std::uint32_t value : values) surely += value <= bound, perhaps += value / 17 * 16 <= bound;
    const std::uint64_t counted = histogram.count_up_to(Duration{bound});
    RC_ASSERT(counted >= surely);
    RC_ASSERT(counted <= perhaps);
  });
}

TEST_CASE("the numbers for Prometheus keep its format: a name is explained once, histograms never fall, labels name no client") {
  const auto run = small_run();
  run->look(true, false);
  rubato::run(small_experiment(), told_to(*run));
  Glance glance{.at = Time{std::chrono::seconds(100)}, .present = 5, .unifications = 3, .under_way = 2};
  glance.waiting = OverClients{0.5, 0, 2};
  glance.staleness.emplace();
  for (const int milliseconds : {1, 3, 30, 300, 200'000}) glance.staleness->add(std::chrono::milliseconds(milliseconds));
  run->add(glance);
  std::vector<RunNumbers> runs{run->numbers(), run->numbers()};
  runs[1].labels.emplace_back("odd", "a\"b\\c\nd");
  PeerStatus peer{.name = "b", .state = "lost", .silent = 4.1};
  runs[0].peers = {peer};
  ServerCounts server;
  server.replies[404] = 3;
  std::istringstream lines(metrics_text(runs, server));
  std::set<std::string> explained, seen;
  std::map<std::string, double> bucket;
  std::string family;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, second, name;
    words >> first >> second;
    if (first == "#") {
      words >> name;
      if (second == "HELP") CHECK(explained.insert(name).second);
      family = name;
      continue;
    }
    const std::string whole = line.substr(0, line.rfind(' '));
    CHECK(seen.insert(whole).second);
    CHECK(first.starts_with(family));
    CHECK(line.find("client=") == std::string::npos);
    if (whole.find("_bucket{") != std::string::npos) {
      const std::string which = whole.substr(whole.find("run="), 7);
      const double value = std::stod(line.substr(line.rfind(' ')));
      CHECK(value >= bucket[which]);
      bucket[which] = value;
    }
  }
  for (const char* name :
       {"rubato_run_info", "rubato_experiment_seconds", "rubato_events_total", "rubato_steps_total", "rubato_messages_total",
        "rubato_wire_bytes_total", "rubato_paper_bits_total", "rubato_gradients_total", "rubato_joules_total", "rubato_loss",
        "rubato_consensus", "rubato_staleness_seconds", "rubato_mailbox_depth", "rubato_unifications_total",
        "rubato_clients_present", "rubato_host_up", "rubato_view_dropped_total", "rubato_http_requests_total"})
    CHECK_MESSAGE(explained.contains("rubato_" + std::string(name).substr(7)), name);
  CHECK(seen.contains("rubato_http_requests_total{code=\"404\"}"));
}

TEST_CASE("a folder tells the same samples as the run that filled it, and its report's data") {
  const TempFolder temp;
  RunResult result;
  const fs::path folder = run_folder(temp, small_experiment(), false, &result);
  const FolderRun run(folder);
  CHECK(runs_at(temp.path()) == std::vector<fs::path>{folder});
  CHECK(runs_at(folder) == std::vector<fs::path>{folder});
  CHECK(runs_at(temp.path() / "nothing").empty());
  CHECK(run.hello()["state"] == "complete");
  CHECK(run.revision().is_over);
  const Json rows = parsed(run.samples(0))["rows"];
  CHECK(rows.size() == run.revision().samples);
  CHECK(rows.size() > 3);
  CHECK(run.hello()["columns"].size() == rows[0].size());
  CHECK(run.report() == std::nullopt);
  write_report(folder);
  REQUIRE(run.report());
  CHECK(Json::parse(*run.report()) == data_in(folder / "report.html"));
}

TEST_CASE("a folder that is being filled grows, and a line that is half written is no sample yet") {
  const TempFolder temp;
  const fs::path whole = run_folder(temp, small_experiment());
  const fs::path place = temp.file("live"), partial = temp.file("live.partial");
  fs::create_directories(partial);
  fs::copy_file(whole / "experiment.toml", partial / "experiment.toml");
  const std::string text = text_of(whole / "metrics.csv");
  const std::size_t second = text.find('\n', text.find('\n') + 1) + 1;
  write_whole(partial / "metrics.csv", text.substr(0, second + 3));
  const FolderRun run(place);
  CHECK(run.revision().samples == 1);
  write_whole(partial / "metrics.csv", text);
  CHECK(run.revision().samples > 1);
  const auto id = run.hello()["run_id"];
  fs::copy_file(whole / "summary.json", partial / "summary.json");
  CHECK_FALSE(run.revision().is_over);  // the report is still to come
  fs::rename(partial, place);
  CHECK(run.revision().is_over);
  CHECK(run.hello()["run_id"] == id);
  CHECK(FolderRun(place).hello()["run_id"] == id);  // another server, to which the pages of the first one come back
  CHECK(FolderRun(whole).hello()["run_id"] != id);
}

TEST_CASE("a folder that no process fills any more is that of a run that was interrupted, until one goes on with it") {
  const TempFolder temp;
  const fs::path place = temp.file("run");
  const FolderRun run(place);
  const auto states = [&] { return std::array{run.hello()["state"], run.tick()["state"], run.line()["state"]}; };
  const auto all = [](const char* state) { return std::array<ResultJson, 3>{state, state, state}; };
  auto folder = std::make_unique<RunFolder>(place);
  folder->write("experiment.toml", config::write_experiment(small_experiment()));
  folder->write("checkpoint/checkpoint-1.rbc", "");  // so that it stays
  CHECK(states() == all("running"));
  const std::uint64_t ticks = run.revision().ticks;
  folder.reset();
  CHECK(states() == all("interrupted"));
  CHECK(run.revision().ticks > ticks);  // pages hear of it
  CHECK_FALSE(run.revision().is_over);
  folder = RunFolder::reopen(place);
  CHECK(states() == all("running"));
}

TEST_CASE("a page is told how long another host has been silent, and since when in seconds of the experiment") {
  config::Experiment experiment = small_experiment();
  experiment.time_scale = 5;
  LiveRun run(experiment, {.kind = "node", .host = "a"});
  run.add(HostStatus{.state = HostState::running,
                     .seconds = 60,
                     .peers = {{.name = "b", .state = "lost", .silent = 4.0}, {.name = "c", .state = "never met"}},
                     .clients = 2});
  const Json rows = parsed(run.hosts())["rows"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["seconds"] == 60);
  CHECK(rows[1]["name"] == "b");
  CHECK(rows[1]["silent_seconds"] == 4);
  CHECK(rows[1]["seconds"] == 40);
  CHECK(rows[2]["silent_seconds"].is_null());
  CHECK(rows[2]["seconds"].is_null());
}

TEST_CASE("a page is told what each host said last of its clients and how long ago, and a row for each new sample of a host") {
  config::Experiment experiment = small_experiment();
  experiment.roster = {{.name = "a"}, {.name = "b"}};
  LiveRun run(experiment, {.kind = "node", .host = "b"});
  HostStatus status{.state = HostState::running, .seconds = 60, .clients = 3};
  status.counts.computations = 5, status.counts.sent = 6, status.counts.kept = 4;
  status.scores = HostScores{.seconds = 58, .measured = 3, .loss = 0.25};
  status.peers = {{.name = "a", .state = "present", .silent = 0.5, .clients = 2}};
  run.add(status);
  CHECK(run.revision().views == 1);
  PeerStatus& peer = status.peers[0];
  peer.view = HostView{.seconds = 59, .computations = 70, .sent = 80, .delivered = 60};
  peer.view->scores = HostScores{.seconds = 57, .measured = 2, .loss = 0.5, .accuracy = HostAccuracy{0.75, 0.5, {1}}};
  peer.view_age = 1.5;
  run.add(status);
  run.add(status);
  const Json rows = parsed(run.hosts())["rows"];
  CHECK(rows[0]["view_seconds"] == 60);
  CHECK(rows[0]["view_age"] == 0);
  CHECK(rows[0]["delivered"] == 4);
  CHECK(rows[0]["loss"] == 0.25);
  CHECK(rows[0]["accuracy"].is_null());
  CHECK(rows[1]["clients"] == 2);
  CHECK(rows[1]["view_seconds"] == 59);
  CHECK(rows[1]["view_age"] == 1.5);
  CHECK(rows[1]["computations"] == 70);
  CHECK(rows[1]["sent"] == 80);
  CHECK(rows[1]["delivered"] == 60);
  CHECK(rows[1]["scored_seconds"] == 57);
  CHECK(rows[1]["measured"] == 2);
  CHECK(rows[1]["accuracy"] == 0.75);
  CHECK(rows[1]["worst"] == 0.5);
  CHECK(rows[1]["worst_client"] == 1);
  peer.state = "lost", peer.view_age = 8;
  status.seconds = 66;
  run.add(status);
  run.add(status);
  CHECK(parsed(run.hosts())["rows"][1]["accuracy"] == 0.75);  // its last word
  CHECK(parsed(run.hosts())["rows"][1]["view_age"] == 8);
  peer.state = "present", peer.view->scores->seconds = 69, peer.view->scores->loss = std::nan("");
  run.add(status);
  const Json told = parsed(run.views(0));
  CHECK(told["first"] == 0);
  CHECK(told["next"] == 4);
  CHECK(told["rows"] == Json::parse(R"([[1, 58.0, 3, null, null, null, 0.25], [0, 57.0, 2, 0.75, 0.5, 1, 0.5],
                                        [0, 66.0, null, null, null, null, null], [0, 69.0, 2, 0.75, 0.5, 1, "nan"]])"));
  CHECK(parsed(run.views(3))["rows"].size() == 1);
  const auto shared = std::make_shared<LiveRun>(experiment, LiveFacts{.kind = "node", .host = "b"});
  CHECK(Json::parse(Asked({shared}).get("/api/v1/views?after=7").body)["rows"].empty());
}

TEST_CASE("docs/live.md has every name that Prometheus reads, and the board of Grafana uses no other") {
  const auto names_in = [](const std::string& text) {
    std::set<std::string> names;
    for (std::size_t place = text.find("rubato_"); place != text.npos; place = text.find("rubato_", place + 1)) {
      std::size_t end = place;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
      std::string name = text.substr(place, end - place);
      for (const std::string ending : {"_bucket", "_sum", "_count"})
        if (name.ends_with(ending)) name.resize(name.size() - ending.size());
      names.insert(std::move(name));
    }
    return names;
  };
  const std::set<std::string> explained = names_in(text_of(RUBATO_SOURCE_DIR "/docs/live.md"));
  const auto run = small_run();
  run->look(true, false);
  rubato::run(small_experiment(), told_to(*run));
  ServerCounts server;
  server.replies[200] = 1;
  const std::vector<RunNumbers> runs{run->numbers()};
  for (const std::string& name : names_in(metrics_text(runs, server))) CHECK_MESSAGE(explained.contains(name), name);
  const std::string board = text_of(RUBATO_SOURCE_DIR "/examples/live/grafana.json");
  CHECK(Json::parse(board)["panels"].size() == 10);
  for (const std::string& name : names_in(board)) CHECK_MESSAGE(explained.contains(name), name);
}
