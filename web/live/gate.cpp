#include "web/live/gate.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <random>
#include <stdexcept>

namespace rubato::web {

namespace {

bool is_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> place{};
  return inet_pton(AF_INET, text.c_str(), place.data()) == 1 || inet_pton(AF_INET6, text.c_str(), place.data()) == 1;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return result;
}

// Of "name:port", "[address]:port" or either without its port.
std::string name_in(std::string_view host) {
  if (host.starts_with('[')) return std::string(host.substr(1, std::min(host.find(']'), host.size()) - 1));
  return lower(host.substr(0, host.find(':')));
}

std::string_view after(std::string_view text, std::string_view beginning) {
  return text.starts_with(beginning) ? text.substr(beginning.size()) : std::string_view{};
}

// "a=1; rubato=TOKEN; b=2"
std::string_view token_in(std::string_view cookie) {
  while (!cookie.empty()) {
    const std::size_t end = std::min(cookie.find(';'), cookie.size());
    const std::string_view token = after(cookie.substr(0, end), "rubato=");
    if (!token.empty()) return token;
    cookie.remove_prefix(std::min(end + 1, cookie.size()));
    while (cookie.starts_with(' ')) cookie.remove_prefix(1);
  }
  return {};
}

}  // namespace

bool ListenAddress::is_loopback() const { return address == "::1" || address.starts_with("127."); }

ListenAddress parse_listen_address(std::string_view text) {
  const auto refuse = [&] {
    throw std::invalid_argument("cannot listen at " + std::string(text) +
                                ": must be PORT or ADDRESS:PORT, as in 8080, 0.0.0.0:8080 or [::1]:8080");
  };
  ListenAddress listen;
  std::string_view port = text;
  if (const std::size_t colon = text.rfind(':'); colon != text.npos) {
    std::string address(text.substr(0, colon));
    port = text.substr(colon + 1);
    if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
    if (address == "localhost") address = "127.0.0.1";
    if (!is_address(address)) refuse();
    listen.address = address;
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), listen.port);
  if (error != std::errc{} || end != port.data() + port.size() || port.empty()) refuse();
  return listen;
}

std::string new_token() {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr std::size_t length = 43;  // of 6 bits each
  std::random_device chance;          // the kernel's
  std::string token;
  while (token.size() < length) token += letters[chance() % letters.size()];
  return token;
}

bool are_equal(std::string_view secret, std::string_view given) {
  unsigned difference = secret.size() == given.size() ? 0 : 1;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const auto other = static_cast<unsigned char>(given.empty() ? 0 : given[i % given.size()]);
    difference |= static_cast<unsigned>(static_cast<unsigned char>(secret[i]) ^ other);
  }
  return difference == 0;
}

bool Gate::knows_host(std::string_view host) const {
  const std::string name = name_in(host);
  return name == "localhost" || is_address(name) || std::ranges::find(names_, name) != names_.end();
}

bool Gate::is_own_origin(const Knock& knock) {
  if (knock.origin.empty()) return true;
  return after(knock.origin, "http://") == knock.host || after(knock.origin, "https://") == knock.host;
}

bool Gate::has_token(const Knock& knock) const {
  if (!needs_token()) return true;
  return are_equal(token_, after(knock.authorization, "Bearer ")) || are_equal(token_, token_in(knock.cookie));
}

bool RequestPace::take(const std::string& address, Time now) {
  constexpr std::size_t most_addresses = 4096;
  if (buckets_.size() > most_addresses) buckets_.clear();
  const auto [place, is_new] = buckets_.try_emplace(address, Bucket{at_once_, now});
  Bucket& bucket = place->second;
  bucket.tokens = std::min(at_once_, bucket.tokens + per_second_ * std::chrono::duration<double>(now - bucket.filled).count());
  bucket.filled = now;
  if (bucket.tokens < 1) return false;
  --bucket.tokens;
  return true;
}

}  // namespace rubato::web
