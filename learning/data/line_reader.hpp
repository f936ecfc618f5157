// LineReader: the lines of a text file, and the numbers in them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "learning/data/file_stream.hpp"

namespace rubato {

/// Lines end with LF or CRLF; the last one need not. A line has at most 4 MiB. A byte order mark of UTF-8 at the
/// start is passed over.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& file) : file_{file} {}

  /// The next line without its end; valid until the next call. Nothing at the end of the file. A line without anything
  /// is a fault, unless the file ends with it.
  std::optional<std::string_view> next();

  /// Counted from 1.
  std::size_t line() const { return line_; }
  const FileStream& file() const { return file_; }
  /// Throws std::invalid_argument naming file and line.
  template <class... What>
  [[noreturn]] void fail(const What&... what) const {
    refuse(file_.name(), ", line ", line_, ": ", what...);
  }

 private:
  bool fill();

  FileStream file_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of what has not been handed out
  std::size_t line_ = 0;
};

/// The field up to the separator, which is taken away with it.
std::string_view take_until(std::string_view& text, char separator);
/// Without these letters at its ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t");
/// A decimal number, possibly not finite; nothing if it is none or something follows.
std::optional<double> number_in(std::string_view text);
/// In quotes and not longer than a sentence bears.
std::string shown(std::string_view text);

}  // namespace rubato
