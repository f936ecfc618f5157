// Clients in few words: "0-8, 12".
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace rubato {

/// Of ascending numbers; behind so many ranges stands "...".
inline std::string ranges_of(std::span<const std::uint32_t> clients, std::size_t most = std::numeric_limits<std::size_t>::max()) {
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t i = 0, end = 0; i < clients.size(); i = end) {
    if (ranges++ == most) return text + ", ...";
    for (end = i + 1; end < clients.size() && clients[end] == clients[end - 1] + 1; ++end) {
    }
    text += (text.empty() ? "" : ", ") + std::to_string(clients[i]);
    if (end - i > 1) text += "-" + std::to_string(clients[end - 1]);
  }
  return text;
}

}  // namespace rubato
