// NumPy's .npy arrays, alone or in an .npz archive.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "learning/data/file_stream.hpp"
#include "learning/data/table.hpp"

namespace rubato {

/// Little-endian f4, f8, i4, i8 or u1, in C order. Both throw std::invalid_argument with a sentence naming the file.

/// Rows x features, rows x height x width or rows x channels x height x width. What is NaN or infinite is NaN and among
/// `bad_cells`, where they are asked for, and else refused.
template <class Real>
struct FeatureArray {
  Features<Real> features;
  Shape shape;
};
template <class Real>
FeatureArray<Real> read_npy_features(FileStream file, std::size_t limit = most_stored_bytes, BadCells* bad_cells = nullptr);

/// A number for each row: one dimension, or a second one of size 1.
LabelColumn read_npy_labels(FileStream file, std::size_t limit = most_stored_bytes);

/// All numbers of an array of one dimension, or of one row or column.
std::vector<double> read_npy_vector(FileStream file, std::size_t limit = most_stored_bytes);

/// So many rows of numbers, one after the other: of an array of two dimensions.
std::vector<double> read_npy_rows(FileStream file, std::uint64_t rows, std::size_t limit = most_stored_bytes);

/// The first of these names that the .npz archive has (without .npy); throws std::invalid_argument naming what there is
/// if it has none.
FileStream open_npz(const std::filesystem::path& archive, const std::vector<std::string>& names);
/// Whether it has an array of one of these names.
bool has_npz(const std::filesystem::path& archive, const std::vector<std::string>& names);

}  // namespace rubato
