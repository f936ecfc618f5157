// Gate: which requests are answered. Checks names, tokens and rates; knows no socket.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::web {

/// Where a server listens.
struct ListenAddress {
  std::string address = "127.0.0.1";  ///< a number, never a name
  std::uint16_t port = 0;             ///< 0: any that is free

  bool is_loopback() const;
};

/// "8080", "127.0.0.1:8080", "[::1]:8080", "0.0.0.0:8080", "localhost:8080". Throws std::invalid_argument.
ListenAddress parse_listen_address(std::string_view text);

/// 256 random bits as letters that stand in a URL.
std::string new_token();
/// In a time that does not depend on where they differ.
bool are_equal(std::string_view secret, std::string_view given);

/// What a gate looks at.
struct Knock {
  std::string_view host;           ///< header Host
  std::string_view origin;         ///< header Origin; empty: there is none
  std::string_view authorization;  ///< header Authorization
  std::string_view cookie;         ///< header Cookie
};

class Gate {
 public:
  /// Without a token no request needs one. `names`: of this machine, beside localhost and any address.
  Gate(std::string token, std::vector<std::string> names) : token_{std::move(token)}, names_{std::move(names)} {}

  /// The browser was not led here by another name (DNS rebinding): an address, localhost, or a name of this machine.
  bool knows_host(std::string_view host) const;
  /// No Origin, or that of the page that this server has sent.
  static bool is_own_origin(const Knock& knock);
  /// The token is in the header or in the cookie.
  bool has_token(const Knock& knock) const;
  bool needs_token() const { return !token_.empty(); }
  /// What a browser that has shown the token is given.
  std::string cookie() const { return "rubato=" + token_ + "; HttpOnly; SameSite=Strict; Path=/"; }

 private:
  std::string token_;
  std::vector<std::string> names_;
};

/// Requests by address: so many at once, and as many more a second.
class RequestPace {
 public:
  using Time = std::chrono::steady_clock::time_point;
  RequestPace(double per_second, double at_once) : per_second_{per_second}, at_once_{at_once} {}
  bool take(const std::string& address, Time now);

 private:
  struct Bucket {
    double tokens = 0;
    Time filled{};
  };
  double per_second_, at_once_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace rubato::web
