#include "runtime/printable.hpp"

#include <algorithm>
#include <cstdint>

namespace rubato {

namespace {

constexpr std::string_view cut_mark = "...";

// Bytes of the UTF-8 character that the text begins with; 0 if it begins with none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t count = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < count) return 0;
  for (std::size_t i = 1; i < count; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool is_overlong = (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
  const bool is_beyond = (byte(0) == 0xED && byte(1) >= 0xA0) || (byte(0) == 0xF4 && byte(1) >= 0x90);
  return is_overlong || is_beyond ? 0 : count;
}

std::uint32_t code_of(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  std::uint32_t code = first & (0x7Fu >> character.size());
  for (const char next : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(next) & 0x3Fu);
  return code;
}

bool is_harmless(std::uint32_t code) {
  const bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool is_steering = (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
                           (code >= 0x2060 && code <= 0x206F) || code == 0x61C || code == 0xFEFF;
  return !is_control && !is_steering;
}

std::string escaped(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += "\\x";
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  std::string shown;
  std::size_t cut = 0;  // where "..." would go
  while (!text.empty()) {
    const std::size_t count = character_bytes(text);
    const std::string_view next = text.substr(0, std::max<std::size_t>(count, 1));
    const bool is_plain = count > 0 && is_harmless(code_of(next));
    shown += is_plain ? std::string(next) : escaped(next);
    if (shown.size() > most) return shown.substr(0, cut).append(cut_mark);
    if (shown.size() + cut_mark.size() <= most) cut = shown.size();
    text.remove_prefix(next.size());
  }
  return shown;
}

}  // namespace rubato
