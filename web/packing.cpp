#include "web/packing.hpp"

#include <zlib.h>

#include <stdexcept>

namespace rubato::web {

std::string base64(std::span<const unsigned char> bytes) {
  static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const unsigned word = static_cast<unsigned>(bytes[i]) << 16 | (left > 1 ? static_cast<unsigned>(bytes[i + 1]) << 8 : 0u) |
                          (left > 2 ? static_cast<unsigned>(bytes[i + 2]) : 0u);
    text += letters[word >> 18];
    text += letters[word >> 12 & 63];
    text += left > 1 ? letters[word >> 6 & 63] : '=';
    text += left > 2 ? letters[word & 63] : '=';
  }
  return text;
}

std::string Packer::text() const {
  uLongf size = compressBound(bytes_.size());
  std::vector<unsigned char> packed(size);
  if (compress2(packed.data(), &size, bytes_.data(), bytes_.size(), Z_BEST_COMPRESSION) != Z_OK)
    throw std::runtime_error("zlib cannot pack the marks of a page");
  return base64({packed.data(), size});
}

}  // namespace rubato::web
