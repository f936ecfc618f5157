// Comma-separated values and their kin: a line per sample, its numbers and its label.
#pragma once

#include <filesystem>
#include <string>

#include "learning/data/data_options.hpp"
#include "learning/data/file_stream.hpp"
#include "learning/data/table.hpp"

namespace rubato {

struct CsvOptions {
  /// A name from the first line, a number counted from 1, "last", or "none". A name that is a number is one only where
  /// `first_line` says that there are names.
  std::string label = "last";
  FirstLine first_line = FirstLine::automatic;
  char separator = 0;  // 0: the first of , ; and tab that the first line has
};

/// Fields may be in double quotes, with "" for one within; a field ends on its line. Labels are numbers or, if the
/// first one is not, words. Every other field must be a finite number. Plain, gzip or xz. Throws std::invalid_argument
/// with a sentence naming file and line.
template <class Real>
Table<Real> read_csv(const std::filesystem::path& file, const CsvOptions& options = {}, std::size_t limit = most_stored_bytes);

}  // namespace rubato
