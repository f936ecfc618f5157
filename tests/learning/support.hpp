// What several tests of this room need: random numbers, folders that vanish, and the sentence that an error says.
#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "learning/types.hpp"
#include "runtime/random.hpp"
#include "tests/support/files.hpp"

namespace rubato::test {

template <class Real>
Vector<Real> random_vector(Index size, std::uint64_t seed, double scale = 1) {
  Stream stream(seed, {0}, Purpose::noise);
  Vector<Real> vector(size);
  for (Index i = 0; i < size; ++i) vector[i] = static_cast<Real>(scale * stream.normal());
  return vector;
}

template <class Real>
Matrix<Real> random_matrix(Index rows, Index columns, std::uint64_t seed) {
  const Vector<Real> numbers = random_vector<Real>(rows * columns, seed);
  return Eigen::Map<const Matrix<Real>>(numbers.data(), rows, columns);
}

inline std::vector<Label> random_labels(std::size_t size, std::uint32_t classes, std::uint64_t seed) {
  Stream stream(seed, {1}, Purpose::noise);
  std::vector<Label> labels(size);
  for (Label& label : labels) label = static_cast<Label>(stream.below(classes));
  return labels;
}

/// The sentence of the std::invalid_argument that `act` throws; "nothing was thrown" otherwise.
inline std::string complaint(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// `bytes` as one gzip member.
std::vector<unsigned char> gzipped(std::span<const unsigned char> bytes);
/// `bytes` as one xz stream.
std::vector<unsigned char> xz_packed(std::span<const unsigned char> bytes);
/// The same for a text.
inline std::vector<unsigned char> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

/// A .npy file: `shape` as Python writes it, such as "(2, 3)"; `numbers` as they lie in memory.
std::vector<unsigned char> npy_bytes(const std::string& type, const std::string& shape, std::span<const unsigned char> numbers);
template <class Number>
std::vector<unsigned char> npy_of(const std::string& type, const std::string& shape, const std::vector<Number>& numbers) {
  return npy_bytes(type, shape, {reinterpret_cast<const unsigned char*>(numbers.data()), numbers.size() * sizeof(Number)});
}

/// A zip archive of these files, deflated or stored; with zip64 fields as NumPy writes them or without.
struct ZipFile {
  std::string name;
  std::vector<unsigned char> bytes;
};
std::vector<unsigned char> zip_of(const std::vector<ZipFile>& files, bool is_deflated, bool has_zip64 = false);

/// `count` records of CIFAR-10: label i % 10, then its pixels (i + place) % 256.
std::vector<unsigned char> cifar_bytes(std::size_t count);

/// An IDX file of these dimensions whose contents are 0, 1, 2, ... modulo `modulus`.
std::vector<unsigned char> idx_bytes(const std::vector<std::uint32_t>& dimensions, unsigned modulus = 256);

}  // namespace rubato::test
