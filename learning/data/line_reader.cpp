#include "learning/data/line_reader.hpp"

#include <algorithm>

#include "runtime/number_from.hpp"

namespace rubato {

namespace {

constexpr std::size_t longest_line = std::size_t{4} << 20;
constexpr std::size_t line_piece_size = 64 * 1024;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

bool LineReader::fill() {
  buffer_.erase(0, begin_);
  begin_ = 0;
  if (buffer_.size() > longest_line) {
    ++line_;
    fail("is longer than the allowed 4 MiB");
  }
  const std::size_t before = buffer_.size();
  buffer_.resize(before + line_piece_size);
  const std::size_t got = file_.read({reinterpret_cast<unsigned char*>(buffer_.data()) + before, line_piece_size});
  buffer_.resize(before + got);
  return got > 0;
}

std::optional<std::string_view> LineReader::next() {
  std::size_t end, searched = 0;
  while ((end = buffer_.find('\n', begin_ + searched)) == std::string::npos) {
    searched = buffer_.size() - begin_;
    if (fill()) continue;
    if (buffer_.empty()) return std::nullopt;
    end = buffer_.size();
    break;
  }
  ++line_;
  std::string_view text = std::string_view(buffer_).substr(begin_, end - begin_);
  begin_ = std::min(end + 1, buffer_.size());
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (line_ == 1 && text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (!text.empty()) return text;
  if (begin_ == buffer_.size() && !fill()) return std::nullopt;
  fail("is empty");
}

std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t length = std::min(text.find(separator), text.size());
  const std::string_view field = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return field;
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  return number_from<double>(text);
}

std::string shown(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string quoted = "\"";
  for (const char letter : text.substr(0, most)) quoted += letter >= ' ' && letter != 127 ? letter : '?';
  return quoted + (text.size() > most ? "...\"" : "\"");
}

}  // namespace rubato
