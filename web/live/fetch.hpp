// What another program's server answers: a small client for a terminal on this machine or behind a tunnel.
#pragma once

#include <string>

namespace rubato::web {

/// A server as its URL names it: http://HOST:PORT/#TOKEN.
struct ServerPlace {
  std::string host;
  std::string port = "80";
  std::string token;
};

/// Throws std::invalid_argument where the text is none.
ServerPlace parse_url(const std::string& url);

/// The body of the answer to GET. Throws std::runtime_error where there is no answer, or another one than 200.
std::string fetch(const ServerPlace& place, const std::string& target);

}  // namespace rubato::web
