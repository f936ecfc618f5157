// Columns of whole numbers as a short text: seven bits a byte, deflated, in base64. web/page/score_data.js reads them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rubato::web {

class Packer {
 public:
  /// Small numbers take a byte.
  void add(std::uint64_t number) {
    for (; number >= 128; number >>= 7) bytes_.push_back(static_cast<unsigned char>(number | 128));
    bytes_.push_back(static_cast<unsigned char>(number));
  }
  /// A number of either sign: 0, -1, 1, -2, ...
  void add_signed(std::int64_t number) { add(static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63)); }
  /// What was added, as text.
  std::string text() const;

 private:
  std::vector<unsigned char> bytes_;
};

/// The bytes in the 64 letters of RFC 4648.
std::string base64(std::span<const unsigned char> bytes);

}  // namespace rubato::web
