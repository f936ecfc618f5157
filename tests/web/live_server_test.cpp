// The server at its socket: what it refuses, what it sends, and that a run never waits for it.
#include <doctest/doctest.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <optional>
#include <thread>

#include "actors/run.hpp"
#include "tests/web/support.hpp"
#include "web/live/live_run.hpp"
#include "web/live/server.hpp"

using namespace rubato;
using namespace rubato::web;
using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;

namespace {

struct Served {
  std::shared_ptr<LiveRun> run = std::make_shared<LiveRun>(small_experiment(), LiveFacts{.kind = "run"});
  LiveServer server;
  explicit Served(std::string token = "", std::chrono::milliseconds stall = 10s, std::chrono::milliseconds patience = 5s)
      : server{{.listen = {"127.0.0.1", 0}, .token = std::move(token), .runs = {run}, .stall = stall, .patience = patience}} {}
};

// What is said on a connection of its own, from this address of the machine, until the other side closes or has answered.
struct Answer {
  unsigned status = 0;
  std::string text;
};

Answer say(std::uint16_t port, const std::string& text, const char* from = "127.0.0.1") {
  asio::io_context io;
  tcp::socket socket(io);
  boost::system::error_code error;
  socket.open(tcp::v4());
  socket.bind({asio::ip::make_address(from), 0});
  socket.connect({asio::ip::make_address("127.0.0.1"), port}, error);
  asio::write(socket, asio::buffer(text), error);  // a server that has heard enough may close first
  Answer answer;
  char some[4096];
  const auto until = std::chrono::steady_clock::now() + 30s;
  while (std::chrono::steady_clock::now() < until) {
    const std::size_t size = socket.read_some(asio::buffer(some), error);
    answer.text.append(some, size);
    if (error) break;
  }
  if (answer.text.size() > 12) answer.status = static_cast<unsigned>(std::stoul(answer.text.substr(9, 3)));
  return answer;
}

std::string get(const std::string& target, const std::string& more = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more + "\r\n";
}

class Page {
 public:
  explicit Page(std::uint16_t port, const std::string& target = "/live", const std::string& cookie = "") : socket_{io_} {
    socket_.next_layer().connect({asio::ip::make_address("127.0.0.1"), port});
    socket_.set_option(websocket::stream_base::decorator(
        [cookie](websocket::request_type& request) { request.set(boost::beast::http::field::cookie, cookie); }));
    socket_.handshake("localhost:" + std::to_string(port), target);
  }
  Json next() {
    boost::beast::flat_buffer heard;
    socket_.read(heard);
    return Json::parse(boost::beast::buffers_to_string(heard.data()));
  }
  Json next_of(const std::string& type) {
    for (Json frame = next();; frame = next())
      if (frame["type"] == type) return frame;
  }
  void send(const std::string& text) { socket_.write(asio::buffer(text)); }

 private:
  asio::io_context io_;
  websocket::stream<tcp::socket> socket_;
};

double count_of(std::uint16_t port, const std::string& line) {
  const std::string text = say(port, get("/metrics"), "127.0.0.99").text;
  const std::size_t place = text.find("\n" + line + " ");
  return place == text.npos ? 0 : std::stod(text.substr(place + line.size() + 2));
}

Sample sample_at(std::uint64_t number) {
  Sample sample;
  sample.header.number = number;
  sample.header.at = Time{from_seconds(static_cast<double>(number))};
  sample.header.clients = 5;
  sample.accuracies.assign(5, 0.5), sample.losses.assign(5, 1.0);
  return sample;
}

}  // namespace

TEST_CASE("whatever is no plain request is answered with its fault, counted, and harms nothing") {
  const Served served;
  const std::uint16_t port = served.server.port();
  const std::string line = " HTTP/1.1\r\nHost: localhost\r\n";
  CHECK(say(port, get("/../../etc/passwd")).status == 404);
  CHECK(say(port, get("/..%2f..%2fetc%2fpasswd")).status == 404);
  CHECK(say(port, "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n").status == 421);
  CHECK(say(port, "GET /metrics HTTP/1.1\r\n\r\n").status == 421);
  CHECK(say(port, get("/metrics", "Origin: http://evil.example\r\n")).status == 403);
  CHECK(say(port, "POST /metrics" + line + "Content-Length: 0\r\n\r\n").status == 405);
  CHECK(say(port, "GET /metrics" + line + "Content-Length: 5\r\n\r\nhello").status == 413);
  CHECK(say(port, "GET /metrics" + line + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n").status == 413);
  CHECK(say(port, "GET /metrics" + line + "X: " + std::string(1 << 20, 'a') + "\r\n\r\n").status == 431);
  CHECK(say(port, "GET /" + std::string(1 << 20, 'a') + line + "\r\n").status == 431);
  CHECK(say(port, "\x16\x03\x01\x02 this is TLS\r\n\r\n").status == 400);
  CHECK(say(port, get("/live")).status == 426);
  CHECK(say(port, "GET /live?run=7" + line + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
            .status == 404);
  CHECK(say(port, get("/health")).text.ends_with("ok\n"));
  CHECK(count_of(port, "rubato_http_requests_total{code=\"404\"}") == 3);
  for (const char* code : {"400", "403", "405", "426"})
    CHECK(count_of(port, std::string("rubato_http_requests_total{code=\"") + code + "\"}") == 1);
  for (const char* code : {"413", "421", "431"})
    CHECK(count_of(port, std::string("rubato_http_requests_total{code=\"") + code + "\"}") == 2);
}

TEST_CASE("a wrong token opens nothing, not even the stream") {
  const Served served("the-token-of-this-test");
  const std::uint16_t port = served.server.port();
  CHECK(served.server.url().ends_with("/#the-token-of-this-test"));
  CHECK(say(port, get("/metrics")).status == 401);
  CHECK(say(port, get("/metrics", "Authorization: Bearer the-token-of-this-tesT\r\n")).status == 401);
  CHECK(say(port, get("/metrics", "Authorization: Bearer the-token-of-this-test\r\n")).status == 200);
  CHECK(say(port, get("/login", "Authorization: Bearer the-token-of-this-test\r\n")).text.find("HttpOnly") != std::string::npos);
  CHECK_THROWS(Page(port, "/live", "rubato=wrong"));
  CHECK(Page(port, "/live", "rubato=the-token-of-this-test").next()["type"] == "hello");
}

TEST_CASE("a flood of requests is answered with 429 until it ends") {
  const Served served;
  const std::uint16_t port = served.server.port();
  // As fast as the server takes them, on a connection that the first that is too many closes.
  std::string flood;
  for (int i = 0; i < 1000; ++i) flood += "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
  while (say(port, flood + get("/health"), "127.0.0.2").text.find("HTTP/1.1 429") == std::string::npos) {
  }
  CHECK(count_of(port, "rubato_http_requests_total{code=\"429\"}") == 1);
  CHECK(say(port, get("/health"), "127.0.0.3").status == 200);
}

TEST_CASE("more connections than there is room for are refused, and those that are there go on") {
  const Served served;
  asio::io_context io;
  std::vector<tcp::socket> idle;
  for (int i = 0; i < 48; ++i) {
    idle.emplace_back(io);
    idle.back().connect({asio::ip::make_address("127.0.0.1"), served.server.port()});
  }
  CHECK(say(served.server.port(), get("/health")).status == 429);
  idle.clear();
  std::this_thread::sleep_for(200ms);
  CHECK(say(served.server.port(), get("/health")).status == 200);
}

TEST_CASE("a request whose head does not come is given up after a while") {
  const Served served("", 10s, 300ms);
  CHECK(say(served.server.port(), "GET /health HTTP/1.1\r\nHost: loc").status == 408);
}

TEST_CASE("a page hears of the run, then of each sample once, then of its end") {
  Served served;
  Page page(served.server.port());
  CHECK(page.next()["run_id"] == served.run->hello()["run_id"]);
  std::jthread teller([&] {
    for (std::uint64_t i = 0; i < 2500; ++i) served.run->add(sample_at(i));
    served.run->finish("complete", Json{{"steps", 7}}, "{}");
  });
  std::uint64_t expected = 0;
  Json frame = page.next();
  for (; frame["type"] != "end"; frame = page.next()) {
    if (frame["type"] != "samples") continue;
    CHECK(frame["first"] == expected);
    for (const Json& row : frame["rows"]) CHECK(row[0] == expected++);
  }
  CHECK(expected == 2500);
  CHECK(frame["summary"]["steps"] == 7);
  CHECK(frame["has_report"] == true);
}

TEST_CASE("at the end the server stays until the page has the report and has left") {
  Served served;
  auto page = std::make_unique<Page>(served.server.port());
  page->next_of("hello");
  served.run->finish("complete", Json{{"steps", 7}}, "{\"some\": \"report\"}");
  std::atomic<bool> has_lingered{false};
  std::jthread end([&] {
    served.server.linger(60s);
    has_lingered = true;
  });
  page->next_of("end");
  std::this_thread::sleep_for(1s);
  CHECK_FALSE(has_lingered);
  CHECK(say(served.server.port(), get("/api/v1/report")).text.ends_with("{\"some\": \"report\"}"));
  page.reset();
  const auto until = std::chrono::steady_clock::now() + 30s;
  while (!has_lingered && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(50ms);
  CHECK(has_lingered);
}

TEST_CASE("a page that comes back goes on where it was, without a gap and without anything twice") {
  Served served;
  for (std::uint64_t i = 0; i < 30; ++i) served.run->add(sample_at(i));
  CHECK(Page(served.server.port()).next_of("samples")["next"] == 30);
  for (std::uint64_t i = 30; i < 40; ++i) served.run->add(sample_at(i));
  const Json rest = Page(served.server.port(), "/live?samples=29").next_of("samples");
  CHECK(rest["first"] == 30);
  CHECK(rest["rows"].size() == 10);
}

TEST_CASE("a page that asks for marks gets them, and one that says anything else is sent away") {
  Served served;
  Page page(served.server.port());
  page.next_of("hello");
  page.send(R"({"type":"subscribe","marks":true})");
  for (int i = 0; i < 100 && !served.run->marks_watch().is_watched(); ++i) std::this_thread::sleep_for(50ms);
  REQUIRE(served.run->marks_watch().is_watched());
  served.run->marks_watch().on_compute(Time{1s}, {3});
  CHECK(page.next_of("marks")["client"] == Json{3});
  for (const std::string& text :
       {std::string("{}"), std::string("subscribe"), std::string(R"({"type":"subscribe","marks":1})"), std::string(2000, ' ')}) {
    Page other(served.server.port());
    other.send(text);
    CHECK_THROWS(other.next_of("never"));
  }
}

// The kernel takes what it likes for a page that does not read: samples are added, megabytes each time, until the condition holds.
template <class Condition, class BetweenAdditions>
void add_samples_until(Served& served, Condition holds, BetweenAdditions act) {
  for (std::uint64_t added = 0; !holds(); act(added))
    for (const std::uint64_t more = added + 8'000; added < more; ++added) served.run->add(sample_at(added));
}

TEST_CASE("the run and the other pages do not wait for a page that never reads") {
  Served served("", std::chrono::hours(24));  // it is not given up: a run that waited for it would wait for the whole day
  Page deaf(served.server.port()), other(served.server.port());
  deaf.next_of("hello");
  std::uint64_t seen = 0;
  add_samples_until(
      served, [&] { return count_of(served.server.port(), "rubato_view_dropped_total") > 0; },
      [&](std::uint64_t added) {
        while (seen < added) seen = other.next_of("samples")["next"];
      });
  CHECK(seen >= 8'000);
  CHECK(count_of(served.server.port(), "rubato_viewers") == 2);
}

TEST_CASE("a page that never reads is given up") {
  Served served("", 300ms);
  Page deaf(served.server.port());
  deaf.next_of("hello");
  add_samples_until(
      served, [&] { return count_of(served.server.port(), "rubato_viewers") == 0; },
      [](std::uint64_t) { std::this_thread::sleep_for(100ms); });
  CHECK_THROWS(deaf.next_of("never"));
}

TEST_CASE("a port that is taken is refused with a sentence") {
  const Served served;
  CHECK_THROWS_WITH_AS(LiveServer({.listen = {"127.0.0.1", served.server.port()}, .token = {}, .runs = {served.run}}),
                       doctest::Contains("cannot listen at 127.0.0.1:"), std::invalid_argument);
}
