#include "web/live/server.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>

#include "web/live/router.hpp"
#include "web/live_page.hpp"
#include "web/page_json.hpp"

namespace rubato::web {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;

constexpr std::size_t most_head_bytes = 8192;
constexpr std::size_t most_connections = 64;
constexpr std::size_t most_of_an_address = 8, most_of_this_machine = 48;  // tunnels share the machine's own address
constexpr double requests_per_second = 20, requests_at_once = 40;
constexpr double own_requests_per_second = 80, own_requests_at_once = 160;
constexpr std::chrono::milliseconds between_looks{100};
constexpr std::chrono::milliseconds between_ticks{250};
constexpr std::chrono::seconds deaf_after{2};  // without progress; this thread may stand still for a while, too
constexpr std::chrono::seconds keep_alive{15};
constexpr std::chrono::seconds asked_lately{30};  // Prometheus, which comes again
constexpr std::size_t most_drained = std::size_t{4} << 20;
constexpr std::size_t most_said_by_a_page = 1024;

using Text = std::shared_ptr<const std::string>;
enum class Rows { samples, events, views, marks };  // that are numbered

std::string rows_of(const RunSource& run, Rows kind, std::uint64_t from) {
  switch (kind) {
    case Rows::samples:
      return run.samples(from);
    case Rows::events:
      return run.events(from);
    case Rows::views:
      return run.views(from);
    case Rows::marks:
      break;
  }
  return run.marks(from);
}

// What all connections share. Used on the server's thread alone, but for the atomics.
struct Shared {
  explicit Shared(ServerSettings given)
      : settings{std::move(given)}, gate{settings.token, settings.names}, router{settings.runs, gate, counts} {}

  const ServerSettings settings;
  Gate gate;
  ServerCounts counts;
  Router router;
  RequestPace pace{requests_per_second, requests_at_once}, own_pace{own_requests_per_second, own_requests_at_once};
  std::map<std::string, std::size_t> connections;  // by address
  std::size_t all_connections = 0;
  Clock::time_point asked{};          // for numbers, last
  std::atomic<std::size_t> awake{0};  // pages that are connected and read
  struct NewestTick {
    std::uint64_t ticks = ~std::uint64_t{0};
    Text text;
  };
  std::map<const RunSource*, NewestTick> ticks;
  std::uint64_t looks = 0;  // so far
  struct NewestFrame {
    std::uint64_t look = 0, from = 0;
    Text text;
  };
  std::map<std::pair<const RunSource*, Rows>, NewestFrame> frames;

  // Within a look, the same text for every page that knows as much.
  Text frame_of(const RunSource& run, Rows kind, std::uint64_t from) {
    NewestFrame& newest = frames[{&run, kind}];
    if (newest.look == looks && newest.from == from && newest.text) return newest.text;
    newest = {looks, from, std::make_shared<const std::string>(rows_of(run, kind, from))};
    return newest.text;
  }

  // The same text for every page.
  Text tick_of(const RunSource& run, std::uint64_t ticks_so_far) {
    NewestTick& newest = ticks[&run];
    if (newest.ticks != ticks_so_far || !newest.text) {
      ResultJson tick = run.tick();
      tick["viewers"] = counts.viewers, tick["dropped"] = counts.dropped;
      newest = {ticks_so_far, std::make_shared<const std::string>(page_text(tick))};
    }
    return newest.text;
  }
};

bool is_own_address(const std::string& address) { return address == "::1" || address.starts_with("127."); }

// A connection counts while this lives.
class Seat {
 public:
  Seat(Shared& shared, std::string address) : shared_{shared}, address_{std::move(address)} {
    ++shared_.all_connections;
    ++shared_.connections[address_];
  }
  ~Seat() {
    --shared_.all_connections;
    if (--shared_.connections[address_] == 0) shared_.connections.erase(address_);
  }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;
  bool is_one_too_many() const {
    const std::size_t most = is_own_address(address_) ? most_of_this_machine : most_of_an_address;
    return shared_.all_connections > most_connections || shared_.connections.at(address_) > most;
  }
  bool takes_request() { return (is_own_address(address_) ? shared_.own_pace : shared_.pace).take(address_, Clock::now()); }

 private:
  Shared& shared_;
  std::string address_;
};

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

// How far a page has read rows that are numbered. What comes is gathered from look to look, so that pages share their frames and a
// quick page costs no more than a slow one; only what was there at a look already follows at once.
struct Cursor {
  std::uint64_t place = 0;  // of the first row that is not read
  std::uint64_t look = 0;   // the one that read last
  std::uint64_t end = 0;    // of the rows that were there then

  Text next(Shared& shared, const RunSource& run, Rows kind, std::uint64_t rows) {
    if (rows <= place || (look == shared.looks && place >= end)) return nullptr;
    if (look != shared.looks) look = shared.looks, end = rows;
    Text text = shared.frame_of(run, kind, place);
    place = next_in(*text).value_or(rows);
    return text;
  }

 private:
  // "next" of a frame, which stands in its first bytes.
  static std::optional<std::uint64_t> next_in(const std::string& frame) {
    constexpr std::string_view name = "\"next\":";
    const std::size_t found = frame.find(name);
    if (found == frame.npos) return std::nullopt;
    return std::strtoull(frame.c_str() + found + name.size(), nullptr, 10);
  }
};

// A page that watches a run. One write is under way at a time; what is newer takes the place of what waits.
class Viewer : public std::enable_shared_from_this<Viewer> {
 public:
  Viewer(tcp::socket socket, Shared& shared, std::unique_ptr<Seat> seat, std::shared_ptr<RunSource> run, std::uint64_t number)
      : socket_{std::move(socket)}, shared_{shared}, seat_{std::move(seat)}, run_{std::move(run)}, number_{number} {}
  ~Viewer() {
    if (is_counted_) --shared_.counts.viewers;
  }

  void begin(const http::request<http::empty_body>& request, std::function<void(std::shared_ptr<Viewer>)> on_open) {
    const std::string target(view(request.target()));
    if (const auto known = number_in(target, "samples")) samples_.place = *known + 1;
    if (const auto known = number_in(target, "events")) events_.place = *known + 1;
    if (const auto known = number_in(target, "views")) views_.place = *known + 1;
    websocket::stream_base::timeout limits{};
    limits.handshake_timeout = shared_.settings.patience;
    limits.idle_timeout = std::chrono::seconds(60);
    limits.keep_alive_pings = true;
    socket_.set_option(limits);
    socket_.read_message_max(most_said_by_a_page);
    socket_.text(true);
    socket_.async_accept(request, [self = shared_from_this(), on_open = std::move(on_open)](ErrorCode error) {
      if (error) return;
      ++self->shared_.counts.viewers;
      self->is_counted_ = true;
      on_open(self);
      self->listen();
      self->go_on();
    });
  }

  bool is_open() const { return socket_.is_open(); }
  const RunSource* run() const { return run_.get(); }
  bool wants_marks() const { return wants_marks_; }
  /// It is there and reads: at the end it may still want the report.
  bool is_awake() const { return is_open() && !(is_writing_ && Clock::now() - began_ > deaf_after); }

  /// Sends what is next, if anything is; gives up where nothing was taken for too long.
  void go_on() {
    if (!socket_.is_open()) return;
    if (is_writing_) {
      const Clock::time_point now = Clock::now();
      if (now - began_ > shared_.settings.stall) return close();
      if (now - std::max(began_, ticked_) < between_ticks) return;
      ticked_ = now, ++shared_.counts.dropped;  // a newer tick will take the place of the one that was due
      return;
    }
    if (Text next = next_frame()) write(std::move(next));
  }

 private:
  static Text text_of(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

  Text next_frame() {
    if (!has_said_hello_) {
      has_said_hello_ = true;
      ResultJson hello = run_->hello();
      hello["id"] = number_;
      return text_of(page_text(hello));
    }
    const Revision now = run_->revision();
    if (Text rows = samples_.next(shared_, *run_, Rows::samples, now.samples)) return rows;
    if (Text rows = events_.next(shared_, *run_, Rows::events, now.events)) return rows;
    if (Text rows = views_.next(shared_, *run_, Rows::views, now.views)) return rows;
    if (now.hosts > hosts_) {
      hosts_ = now.hosts;
      return text_of(run_->hosts());
    }
    const bool is_due = Clock::now() - ticked_ >= between_ticks || now.is_over;
    if (now.ticks != ticks_ && is_due) {
      ticks_ = now.ticks, ticked_ = Clock::now();
      return shared_.tick_of(*run_, now.ticks);
    }
    if (wants_marks_)
      if (Text rows = marks_.next(shared_, *run_, Rows::marks, now.marks)) return rows;
    const bool has_read_all = samples_.place >= now.samples && events_.place >= now.events && views_.place >= now.views;
    if (now.is_over && has_read_all && !has_seen_end_) {
      has_seen_end_ = true;
      return text_of(run_->end());
    }
    return nullptr;
  }

  void write(Text text) {
    is_writing_ = true, began_ = Clock::now();
    writing_ = std::move(text);
    socket_.async_write(asio::buffer(*writing_), [self = shared_from_this()](ErrorCode error, std::size_t) {
      self->is_writing_ = false;
      if (error) return self->close();
      self->go_on();
    });
  }

  void listen() {
    socket_.async_read(heard_, [self = shared_from_this()](ErrorCode error, std::size_t) {
      if (error) return self->close();
      self->hear(beast::buffers_to_string(self->heard_.data()));
      self->heard_.consume(self->heard_.size());
      self->listen();
    });
  }

  // The one thing that a page may say.
  void hear(const std::string& text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || json.value("type", nlohmann::json{}) != "subscribe") return close();
    const auto marks = json.find("marks");
    if (marks == json.end() || !marks->is_boolean()) return close();
    wants_marks_ = marks->get<bool>();
    if (wants_marks_) marks_.place = run_->revision().marks;
  }

  void close() {
    ErrorCode ignored;
    beast::get_lowest_layer(socket_).socket().close(ignored);
  }

  websocket::stream<beast::tcp_stream> socket_;
  Shared& shared_;
  std::unique_ptr<Seat> seat_;
  std::shared_ptr<RunSource> run_;
  const std::uint64_t number_;
  beast::flat_buffer heard_;
  Text writing_;
  bool is_counted_ = false, is_writing_ = false, has_said_hello_ = false, has_seen_end_ = false, wants_marks_ = false;
  Clock::time_point began_{}, ticked_{};
  std::uint64_t hosts_ = 0, ticks_ = 0;
  Cursor samples_, events_, views_, marks_;
};

// Requests of one connection, one after the other.
class Visit : public std::enable_shared_from_this<Visit> {
 public:
  using OnViewer = std::function<void(std::shared_ptr<Viewer>)>;
  Visit(tcp::socket socket, Shared& shared, const std::string& address, OnViewer on_viewer)
      : stream_{std::move(socket)},
        shared_{shared},
        seat_{std::make_unique<Seat>(shared, address)},
        on_viewer_{std::move(on_viewer)},
        limit_{stream_.get_executor()} {}

  void begin() {
    if (seat_->is_one_too_many()) return send({.status = 429, .body = "too many connections\n"}, true);
    read(shared_.settings.patience);
  }

 private:
  void read(std::chrono::milliseconds limit) {
    parser_.emplace();
    parser_->header_limit(most_head_bytes);
    parser_->body_limit(std::uint64_t{0});
    stream_.expires_never();  // it would close the connection, and the answer would not be heard
    is_too_slow_ = false;
    limit_.expires_after(limit);
    limit_.async_wait([weak = weak_from_this()](ErrorCode error) {
      const auto self = weak.lock();
      if (!self || error) return;
      self->is_too_slow_ = true;
      self->stream_.cancel();
    });
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](ErrorCode error, std::size_t) { self->take(error); });
  }

  void take(ErrorCode error) {
    limit_.cancel();
    if (error == http::error::end_of_stream) return finish();
    if (error && is_too_slow_)  // one that only waits with an open connection asks for nothing
      return has_answered_ && !parser_->got_some() ? finish() : send({.status = 408, .body = "too slow\n"}, true);
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return send({.status = 431, .body = "the head of the request is too long\n"}, true);
    if (error == http::error::body_limit || error == http::error::unexpected_body)
      return send({.status = 413, .body = "requests have no body\n"}, true);
    if (error && error.category() == http::make_error_code(http::error::bad_method).category())
      return send({.status = 400, .body = "not HTTP\n"}, true);
    if (error) return finish();  // the connection is gone
    answer();
  }

  void answer() {
    const auto& message = parser_->get();
    if (!seat_->takes_request()) return send({.status = 429, .body = "too many requests\n"}, true);
    const Request request{view(message.method_string()),
                          view(message.target()),
                          {view(message[http::field::host]), view(message[http::field::origin]),
                           view(message[http::field::authorization]), view(message[http::field::cookie])}};
    shared_.asked = Clock::now();
    if (websocket::is_upgrade(message)) return upgrade(request);
    if (path_of(request.target) == "/live") {
      if (auto refusal = shared_.router.refusal(request)) return send(*std::move(refusal), false);
      return send({.status = 426, .body = "this is a WebSocket\n"}, false);
    }
    send(shared_.router.answer(request), false);
  }

  void upgrade(const Request& request) {
    if (auto refusal = shared_.router.refusal(request)) return send(*std::move(refusal), true);
    const std::shared_ptr<RunSource> run = path_of(request.target) == "/live" ? shared_.router.run_in(request.target) : nullptr;
    if (!run) return send({.status = 404, .body = "there is no such run\n"}, true);
    ++shared_.counts.replies[101];
    stream_.expires_never();
    const std::uint64_t number = number_in(request.target, "run").value_or(0);
    std::make_shared<Viewer>(stream_.release_socket(), shared_, std::move(seat_), run, number)
        ->begin(parser_->release(), on_viewer_);
  }

  // What a browser may do with it is said with every answer.
  void send(Reply reply, bool closes) {
    ++shared_.counts.replies[reply.status];
    has_answered_ = true;
    const bool has_request = parser_ && parser_->is_header_done();
    const bool is_head = has_request && parser_->get().method() == http::verb::head;
    reply_.emplace();
    reply_->result(reply.status);
    reply_->version(11);
    reply_->set(http::field::content_type, beast::string_view(reply.type.data(), reply.type.size()));
    reply_->set(http::field::cache_control, "no-store");
    reply_->set("X-Content-Type-Options", "nosniff");
    reply_->set("Referrer-Policy", "no-referrer");
    reply_->set("Cross-Origin-Resource-Policy", "same-origin");
    reply_->set("Content-Security-Policy", reply.is_page ? beast::string_view(live_policy.data(), live_policy.size())
                                                         : beast::string_view("default-src 'none'; frame-ancestors 'none'"));
    if (reply.status == 405) reply_->set(http::field::allow, "GET, HEAD");
    if (reply.status == 401) reply_->set(http::field::www_authenticate, "Bearer");
    if (!reply.cookie.empty()) reply_->set(http::field::set_cookie, reply.cookie);
    closes = closes || !has_request || !parser_->keep_alive();
    reply_->keep_alive(!closes);
    if (reply.status != 204) reply_->content_length(reply.body.size());
    if (!is_head && reply.status != 204) reply_->body() = std::move(reply.body);
    stream_.expires_after(shared_.settings.stall);
    http::async_write(stream_, *reply_, [self = shared_from_this(), closes](ErrorCode error, std::size_t) {
      if (error) return self->finish();
      if (closes) return self->drain();
      self->read(keep_alive);
    });
  }

  // What is still being sent is read and forgotten for a while: closing at once would take the answer away.
  void drain() {
    ErrorCode ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(std::chrono::seconds(2));
    drain_more();
  }

  void drain_more() {
    rest_.resize(std::size_t{1} << 16);
    stream_.async_read_some(asio::buffer(rest_), [self = shared_from_this()](ErrorCode error, std::size_t bytes) {
      self->drained_ += bytes;
      if (error || self->drained_ > most_drained) return self->finish();
      self->drain_more();
    });
  }

  void finish() {
    ErrorCode ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

  beast::tcp_stream stream_;
  Shared& shared_;
  std::unique_ptr<Seat> seat_;
  OnViewer on_viewer_;
  beast::flat_buffer buffer_{2 * most_head_bytes};
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::optional<http::response<http::string_body>> reply_;
  asio::steady_timer limit_;  // of a request
  bool is_too_slow_ = false, has_answered_ = false;
  std::vector<char> rest_;
  std::size_t drained_ = 0;
};

}  // namespace

class LiveServer::Loop {
 public:
  explicit Loop(ServerSettings settings) : shared_{std::move(settings)}, io_{1}, acceptor_{io_}, timer_{io_} {
    const ListenAddress& listen = shared_.settings.listen;
    ErrorCode error;
    const tcp::endpoint place(asio::ip::make_address(listen.address), listen.port);
    acceptor_.open(place.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(place, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error)
      throw std::invalid_argument("cannot listen at " + listen.address + ":" + std::to_string(listen.port) + ": " +
                                  error.message());
    port_ = acceptor_.local_endpoint().port();
    accept();
    look();
    thread_ = std::thread([this] { io_.run(); });
  }

  ~Loop() {
    io_.stop();
    thread_.join();
  }

  std::uint16_t port() const { return port_; }
  const ServerSettings& settings() const { return shared_.settings; }

  void linger(std::chrono::milliseconds most) {
    const auto until = Clock::now() + most;
    while (shared_.awake.load() > 0 && Clock::now() < until) std::this_thread::sleep_for(between_looks);
  }

 private:
  void accept() {
    acceptor_.async_accept([this](ErrorCode error, tcp::socket socket) {
      if (!error) welcome(std::move(socket));
      if (error == asio::error::no_descriptors) {  // the next look tries again
        is_full_ = true;
        return;
      }
      accept();
    });
  }

  void welcome(tcp::socket socket) {
    ErrorCode error;
    const tcp::endpoint from = socket.remote_endpoint(error);
    if (error) return;
    socket.set_option(tcp::no_delay(true), error);
    const auto on_viewer = [this](std::shared_ptr<Viewer> viewer) {
      viewers_.push_back(std::move(viewer));
      ++shared_.awake;
    };
    std::make_shared<Visit>(std::move(socket), shared_, from.address().to_string(), on_viewer)->begin();
  }

  // Ten times a second: every page gets what is new, and runs learn whether they are watched.
  void look() {
    ++shared_.looks;
    std::erase_if(viewers_, [](const auto& viewer) { return !viewer->is_open(); });
    for (const auto& viewer : viewers_) viewer->go_on();
    const bool is_asked = Clock::now() - shared_.asked < asked_lately;
    for (const auto& run : shared_.settings.runs) {
      const auto is_of = [&](const auto& viewer) { return viewer->run() == run.get(); };
      const auto is_score = [&](const auto& viewer) { return is_of(viewer) && viewer->wants_marks(); };
      run->look(is_asked || std::ranges::any_of(viewers_, is_of), std::ranges::any_of(viewers_, is_score));
    }
    // A page that was told the end asks for the report before it closes its stream.
    shared_.awake =
        static_cast<std::size_t>(std::ranges::count_if(viewers_, [](const auto& viewer) { return viewer->is_awake(); }));
    if (std::exchange(is_full_, false)) accept();
    timer_.expires_after(between_looks);
    timer_.async_wait([this](ErrorCode error) {
      if (!error) look();
    });
  }

  Shared shared_;  // connections refer to it, and the last of them go with the context
  asio::io_context io_;
  tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  std::vector<std::shared_ptr<Viewer>> viewers_;
  std::uint16_t port_ = 0;
  bool is_full_ = false;
  std::thread thread_;
};

LiveServer::LiveServer(ServerSettings settings) : loop_{std::make_unique<Loop>(std::move(settings))} {}

LiveServer::~LiveServer() = default;

std::uint16_t LiveServer::port() const { return loop_->port(); }

std::string LiveServer::url() const {
  const ServerSettings& settings = loop_->settings();
  const std::string& address = settings.listen.address;
  const bool is_any = address == "0.0.0.0" || address == "::";
  const std::string host = is_any                              ? (settings.names.empty() ? "localhost" : settings.names.front())
                           : address.find(':') == address.npos ? address
                                                               : "[" + address + "]";
  return "http://" + host + ":" + std::to_string(port()) + "/" + (settings.token.empty() ? "" : "#" + settings.token);
}

void LiveServer::linger(std::chrono::milliseconds most) { loop_->linger(most); }

}  // namespace rubato::web
