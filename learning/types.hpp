// The only names under which the project knows Eigen's vectors and matrices.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rubato {

/// A column of numbers that owns its memory.
template <class Real>
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

/// Row-major: one row is one sample.
template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Every numeric buffer starts at a multiple of 64 bytes: Eigen's sums depend on the address modulo 64.
inline constexpr std::size_t buffer_alignment = 64;

/// A vector in aligned memory that something else owns. Passed by value; not kept beyond a call.
template <class Real>
using VectorRef = Eigen::Map<Vector<Real>, Eigen::Aligned64>;

/// The same, for reading.
template <class Real>
using ConstVectorRef = Eigen::Map<const Vector<Real>, Eigen::Aligned64>;

/// The memory of this vector; valid as long as that is neither resized nor destroyed.
template <class Real>
VectorRef<Real> view(Vector<Real>& vector) {
  return {vector.data(), vector.size()};
}

/// The memory of this vector, for reading.
template <class Real>
ConstVectorRef<Real> view(const Vector<Real>& vector) {
  return {vector.data(), vector.size()};
}

/// Rows of samples in aligned memory that something else owns, without gaps between the rows. Passed like a VectorRef.
template <class Real>
using MatrixRef = Eigen::Map<Matrix<Real>, Eigen::Aligned64>;

/// The same, for reading.
template <class Real>
using ConstMatrixRef = Eigen::Map<const Matrix<Real>, Eigen::Aligned64>;

/// The memory of this matrix; valid as long as that is neither resized nor destroyed.
template <class Real>
MatrixRef<Real> view(Matrix<Real>& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols()};
}

/// The memory of this matrix, for reading.
template <class Real>
ConstMatrixRef<Real> view(const Matrix<Real>& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols()};
}

/// The same memory, for reading.
template <class Real>
ConstVectorRef<Real> read_only(VectorRef<Real> vector) {
  return {vector.data(), vector.size()};
}

/// The same memory, for reading.
template <class Real>
ConstMatrixRef<Real> read_only(MatrixRef<Real> matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols()};
}

/// The memory of this vector, for reading.
template <class Real>
ConstVectorRef<Real> read_only(const Vector<Real>& vector) {
  return view(vector);
}

/// The memory of this matrix, for reading.
template <class Real>
ConstMatrixRef<Real> read_only(const Matrix<Real>& matrix) {
  return view(matrix);
}

/// Sizes and positions, signed as in Eigen.
using Index = Eigen::Index;

/// A class, counted from 0.
using Label = std::uint32_t;

/// Rows of a dataset part.
using Rows = std::vector<std::uint32_t>;

/// Fixes Eigen's blocking, so that products have the same bits whatever machine runs them. Call once, before the first
/// product; calling it again changes nothing.
void fix_eigen_blocking();

}  // namespace rubato
