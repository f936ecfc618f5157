#include "learning/data/features.hpp"

#include <doctest/doctest.h>

#include "tests/learning/support.hpp"

using namespace rubato;

TEST_CASE("bytes become numbers by the scale and the shift of their column") {
  Features<double> features(std::vector<std::uint8_t>{0, 10, 200, 255}, 2);
  CHECK(features.are_bytes());
  CHECK(features(1, 0) == 200);
  features.rescale(std::vector<double>{100, 10}, std::vector<double>{0.5, 2});
  Matrix<double> expected(2, 2);
  expected << -50, 0, 50, 490;
  CHECK(features.matrix() == expected);
  CHECK(features(1, 1) == 490);
}

TEST_CASE("one scale for all columns gives the same numbers as a scale each") {
  std::vector<std::uint8_t> all(256);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(i);
  Features<float> alike(all, 2), different(all, 2);
  alike.rescale(std::vector<double>(2), std::vector<double>(2, 1.0 / 255));
  different.rescale(std::vector<double>(2), std::vector<double>{1.0 / 255, 1.0 / 16});
  CHECK(alike.matrix().col(0) == different.matrix().col(0));
  CHECK(alike(127, 1) == 1);
  CHECK(different(8, 1) == 17.0f / 16);  // exact: a power of two
}

TEST_CASE("numbers are kept and rescaled as numbers") {
  const Matrix<double> matrix = test::random_matrix<double>(3, 2, 1);
  Features<double> features(matrix);
  CHECK_FALSE(features.are_bytes());
  CHECK(features.matrix() == matrix);
  features.rescale(std::vector<double>{1, 2}, std::vector<double>{3, 4});
  CHECK(features(2, 1) == (matrix(2, 1) - 2) * 4);
}

TEST_CASE("a table of bytes takes a byte a number") {
  const Features<float> features(std::vector<std::uint8_t>(300 * 196), 196);
  CHECK(features.stored_bytes() < 300 * 196 + 100);
}

TEST_CASE("rows are picked in the order named, and square images are transposed") {
  Features<float> features(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8}, 4);
  const Features<float> picked = features.picked({1});
  CHECK(picked.rows() == 1);
  CHECK(picked(0, 0) == 5);
  features.transpose_images(2);
  CHECK(features(0, 1) == 3);
  CHECK(features(1, 2) == 6);
}

TEST_CASE("what lies beyond a limit is cut off, and bytes stay bytes where none does") {
  Features<double> numbers(std::vector<double>{-9, 0.5, 3, 1e9}, 2);
  numbers.clip(3);
  CHECK(numbers.matrix() == Matrix<double>{{-3, 0.5}, {3, 3}});
  Features<double> bytes(std::vector<std::uint8_t>{0, 10, 20, 30}, 2);
  bytes.rescale(std::vector<double>{10, 20}, std::vector<double>{0.1, 0.1});
  bytes.clip(2);
  CHECK(bytes.are_bytes());
  bytes.clip(0.5);
  CHECK_FALSE(bytes.are_bytes());
  CHECK(bytes.matrix() == Matrix<double>{{-0.5, -0.5}, {0.5, 0.5}});
}

TEST_CASE("a column is left out of numbers and of bytes") {
  Features<double> numbers(std::vector<double>{1, 2, 3, 4, 5, 6}, 3);
  numbers.drop_column(1);
  CHECK(numbers.matrix() == Matrix<double>{{1, 3}, {4, 6}});
  Features<double> bytes(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}, 3);
  bytes.drop_column(2);
  CHECK(bytes.are_bytes());
  CHECK(bytes.matrix() == Matrix<double>{{1, 2}, {4, 5}});
}
