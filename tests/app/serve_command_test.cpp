// --serve and rubato serve: where they say that they are, and what is to be seen there.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/app/command.hpp"

namespace fs = std::filesystem;
using namespace rubato::test;
using nlohmann::json;

namespace {

// The port that the command has printed; 0: it has not yet.
std::uint16_t port_in(const std::string& said) {
  const std::string before = "is shown at http://";
  const std::size_t place = said.find(before);
  if (place == said.npos || said.find('\n', place) == said.npos) return 0;
  return static_cast<std::uint16_t>(std::stoul(said.substr(said.find(':', place + before.size()) + 1)));
}

std::string get(std::uint16_t port, const std::string& target, const std::string& more = "") {
  const int place = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in there{};
  there.sin_family = AF_INET, there.sin_port = htons(port), there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(place, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0) {
    const std::string request = "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more + "\r\n";
    if (write(place, request.data(), request.size()) > 0) {
      char some[4096];
      for (ssize_t size = read(place, some, sizeof some); size > 0; size = read(place, some, sizeof some))
        answer.append(some, static_cast<std::size_t>(size));
    }
  }
  close(place);
  const std::size_t body = answer.find("\r\n\r\n");
  return body == answer.npos ? answer : answer.substr(0, 12) + "\n" + answer.substr(body + 4);
}

json body_of(const std::string& answer) { return json::parse(answer.substr(answer.find('\n') + 1)); }

std::uint16_t port_of(const Command& command) {
  std::uint16_t port = 0;
  becomes_true([&] { return (port = port_in(command.err())) != 0; });
  return port;
}

}  // namespace

TEST_CASE("a run with --serve can be looked at while it goes on, and ends as without it") {
  const Folder home;
  const Ended alone = run_rubato({"run", small_experiment(home), "--json", "--quiet"});
  Command long_run({"run", small_experiment(home), "--set", "until=1e9", "--quiet", "--serve", "0"});
  const std::uint16_t port = port_of(long_run);
  REQUIRE(port > 0);
  CHECK(get(port, "/health") == "HTTP/1.1 200\nok\n");
  CHECK(contains(get(port, "/"), "<!DOCTYPE html>"));
  CHECK(body_of(get(port, "/api/v1/run"))["name"] == "small");
  CHECK(becomes_true([&] { return body_of(get(port, "/api/v1/tick"))["messages"]["sent"].get<std::uint64_t>() > 0; }));
  CHECK(becomes_true([&] { return contains(get(port, "/metrics"), "rubato_staleness_seconds_count"); }));
  CHECK(body_of(get(port, "/api/v1/samples"))["rows"].size() > 0);
  long_run.send(SIGINT);
  CHECK(long_run.wait().code == 130);
  const Ended shown = run_rubato({"run", small_experiment(home), "--json", "--quiet", "--serve", "127.0.0.1:0"});
  CHECK(shown.code == 0);
  CHECK(json::parse(shown.out)["model_digest"] == json::parse(alone.out)["model_digest"]);
  CHECK(json::parse(shown.out)["timeline_digest"] == json::parse(alone.out)["timeline_digest"]);
}

TEST_CASE("on another address than this machine's own a token is asked for, and printed unless it is in a file") {
  const Folder home;
  const Arguments run{"run", small_experiment(home), "--set", "until=1e9", "--quiet", "--serve", "0.0.0.0:0"};
  Command command(run);
  const std::uint16_t port = port_of(command);
  REQUIRE(port > 0);
  const std::string said = command.err(), token = said.substr(said.find('#') + 1, 43);
  CHECK(contains(get(port, "/metrics"), "401"));
  CHECK(contains(get(port, "/metrics", "Authorization: Bearer " + token + "\r\n"), "rubato_run_info"));
  command.send(SIGINT);
  command.wait();
  write_text(home / "token", "a-secret-of-this-test\n");
  chmod((home / "token").c_str(), 0600);
  Arguments with_file = run;
  with_file.insert(with_file.end(), {"--serve-token", home / "token"});
  Command other(with_file);
  const std::uint16_t other_port = port_of(other);
  REQUIRE(other_port > 0);
  CHECK_FALSE(contains(other.err(), "a-secret-of-this-test"));
  CHECK(contains(get(other_port, "/api/v1/runs", "Authorization: Bearer a-secret-of-this-test\r\n"), "200"));
  other.send(SIGINT);
  other.wait();
  chmod((home / "token").c_str(), 0644);
  const Ended refused = run_rubato(with_file);
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "others than its owner may read it"));
}

TEST_CASE("rubato serve shows every run of a folder, with its report") {
  const Folder home;
  for (const char* name : {"runs/one", "runs/two"})
    REQUIRE(run_rubato({"run", small_experiment(home), "--quiet", "--out", home / name}).code == 0);
  Command command({"serve", home / "runs", "--listen", "0"});
  const std::uint16_t port = port_of(command);
  REQUIRE(port > 0);
  const json runs = body_of(get(port, "/api/v1/runs"))["runs"];
  REQUIRE(runs.size() == 2);
  CHECK(runs[1]["state"] == "complete");
  CHECK(runs[1]["folder"] == (home / "runs/two").string());
  CHECK(body_of(get(port, "/api/v1/report?run=1")).contains("summary"));
  CHECK(contains(get(port, "/metrics"), "rubato_experiment_seconds{run=\"1\"}"));
  command.send(SIGTERM);
  CHECK(command.wait().code == 0);
  const Ended none = run_rubato({"serve", home / "nothing"});
  CHECK(none.code == 2);
  CHECK(contains(none.err, "is no folder of a run, and holds none"));
}

TEST_CASE("a comparison with --serve tells how many of its runs are finished") {
  const Folder home;
  Command command({"compare", small_experiment(home), "--seeds", "2", "--set", "until=1e8", "--quiet", "--serve", "0"});
  const std::uint16_t port = port_of(command);
  REQUIRE(port > 0);
  CHECK(body_of(get(port, "/api/v1/tick"))["runs"] == 2);
  CHECK(contains(get(port, "/metrics"), "rubato_compared_runs{state=\"planned\"} 2"));
  command.send(SIGINT);
  CHECK(command.wait().code == 130);
}

TEST_CASE("an address that is none is refused before anything runs") {
  const Folder home;
  for (const char* address : {"somewhere:80", "99999", "8080x"}) {
    const Ended ended = run_rubato({"run", small_experiment(home), "--serve", address});
    CHECK(ended.code == 2);
    CHECK(contains(ended.err, "must be PORT or ADDRESS:PORT"));
  }
  REQUIRE(run_rubato({"run", small_experiment(home), "--quiet", "--out", home / "run"}).code == 0);
  const Ended served = run_rubato({"serve", home / "run", "--listen", "99999"});
  CHECK(served.code == 2);
  CHECK(contains(served.err, "cannot listen at 99999: must be PORT"));
  CHECK_FALSE(contains(served.err, "--serve"));
}
