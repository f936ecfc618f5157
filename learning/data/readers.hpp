// Readers of data files, one a format: csv and its kin, LIBSVM, IDX, CIFAR-10, bare series. Files may be plain, gzip or xz.
// Every reader throws std::invalid_argument with a sentence that names the file and, where there is one, the line or record.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "learning/data/file_stream.hpp"
#include "learning/data/table.hpp"
#include "learning/options.hpp"

namespace rubato {

struct CsvOptions {
  /// A name from the first line, a number counted from 1, "last", or "none". A name that is a number is one only where
  /// `first_line` says that there are names.
  std::string label = "last";
  FirstLine first_line = FirstLine::automatic;
  char separator = 0;            // 0: the first of , ; and tab that the first line has
  bool keeps_bad_cells = false;  // in Table::bad_cells, for the caller to judge
};

/// A line per sample, its numbers and its label. Fields may be in double quotes, with "" for one within; a field ends on
/// its line. Labels are numbers or, if the first one is not, words. Every other field must be a finite number; where one is not, or
/// a label is missing, all such cells are counted, and the file is refused unless the options keep them.
template <class Real>
Table<Real> read_csv(const std::filesystem::path& file, const CsvOptions& options = {}, std::size_t limit = most_stored_bytes);

/// A line per sample, its label and the numbers that are not 0 as index:number. Indices count from 1 and ascend; what
/// stands behind # is skipped. `features`: how many there are, because a file need not use the last ones; 0: the largest
/// index, for which the file is read twice.
template <class Real>
Table<Real> read_libsvm(const std::filesystem::path& file, std::size_t features, std::size_t limit = most_stored_bytes);

/// The format of MNIST and its kin, big-endian magic and dimensions, then unsigned bytes: images (rows x height x width,
/// or rows x channels x height x width) and their labels.
template <class Real>
Table<Real> read_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                     std::size_t limit = most_stored_bytes);

/// The number of images that an IDX file promises.
std::size_t count_idx(const std::filesystem::path& images);

/// The binary version of CIFAR-10, records of one label byte and 3 x 32 x 32 bytes of red, green and blue planes: those
/// of all files, one after the other.
template <class Real>
Table<Real> read_cifar(std::span<const std::filesystem::path> files, std::size_t limit = most_stored_bytes);

/// A bare series of little-endian 32-bit floats, all finite; at least one.
std::vector<float> read_series(const std::filesystem::path& file, std::size_t limit = most_stored_bytes);

}  // namespace rubato
