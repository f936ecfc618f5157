// LiveServer: shows runs to browsers and to Prometheus, on one thread of its own. Read-only; a run never waits for it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "web/live/gate.hpp"
#include "web/live/run_source.hpp"

namespace rubato::web {

struct ServerSettings {
  ListenAddress listen;
  std::string token;                             ///< empty: none is asked for
  std::vector<std::shared_ptr<RunSource>> runs;  ///< at least one
  std::vector<std::string> names{};              ///< of this machine, beside its addresses
  std::chrono::milliseconds stall{10'000};       ///< a page that takes nothing for so long is given up
  std::chrono::milliseconds patience{5'000};     ///< for the head of a request
};

class LiveServer {
 public:
  /// Listens from now on. Throws std::invalid_argument where it cannot.
  explicit LiveServer(ServerSettings settings);
  /// Connections end with it.
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  std::uint16_t port() const;
  /// What to open in a browser; with the token, if there is one.
  std::string url() const;
  /// Waits until every page has left that reads what it is sent, at most so long.
  void linger(std::chrono::milliseconds most);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace rubato::web
