#include "web/live/fetch.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <stdexcept>

namespace rubato::web {

ServerPlace parse_url(const std::string& url) {
  constexpr std::string_view scheme = "http://";
  if (!url.starts_with(scheme)) throw std::invalid_argument(url + " is no URL that begins with http://");
  ServerPlace place;
  std::string rest = url.substr(scheme.size());
  if (const std::size_t hash = rest.find('#'); hash != rest.npos) place.token = rest.substr(hash + 1), rest.resize(hash);
  rest.resize(std::min(rest.find('/'), rest.size()));
  const std::size_t end = rest.starts_with('[') ? rest.find(']') : 0, colon = rest.find(':', end == rest.npos ? 0 : end);
  if (colon != rest.npos) place.port = rest.substr(colon + 1), rest.resize(colon);
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  place.host = rest;
  if (place.host.empty() || place.port.empty()) throw std::invalid_argument(url + " names no host and port");
  return place;
}

std::string fetch(const ServerPlace& place, const std::string& target) {
  namespace asio = boost::asio;
  namespace beast = boost::beast;
  namespace http = beast::http;
  constexpr std::chrono::seconds patience{5};
  constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20;
  try {
    asio::io_context io;
    beast::tcp_stream stream(io);
    asio::ip::tcp::resolver resolver(io);
    stream.expires_after(patience);
    stream.connect(resolver.resolve(place.host, place.port));
    http::request<http::empty_body> request{http::verb::get, target, 11};
    const bool is_six = place.host.find(':') != place.host.npos;
    request.set(http::field::host, (is_six ? "[" + place.host + "]" : place.host) + ":" + place.port);
    request.set(http::field::connection, "close");
    if (!place.token.empty()) request.set(http::field::authorization, "Bearer " + place.token);
    http::write(stream, request);
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> answer;
    answer.body_limit(most_bytes);
    http::read(stream, buffer, answer);
    if (answer.get().result() != http::status::ok)
      throw std::runtime_error("answers " + std::to_string(answer.get().result_int()) + ": " +
                               answer.get().body().substr(0, answer.get().body().find('\n')));
    return std::move(answer.get().body());
  } catch (const boost::system::system_error& error) {
    throw std::runtime_error("nothing is shown at http://" + place.host + ":" + place.port + "/: " + error.code().message());
  }
}

}  // namespace rubato::web
