#include "learning/products.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <thread>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::random_matrix;

TEST_CASE("large products are those of Eigen, transposed or not, scaled and added") {
  const ProductSize size{130, 90, 170};
  for (const bool a_lies : {false, true})
    for (const bool b_lies : {false, true}) {
      const Matrix<float> a = a_lies ? random_matrix<float>(170, 130, 1) : random_matrix<float>(130, 170, 1);
      const Matrix<float> b = b_lies ? random_matrix<float>(90, 170, 2) : random_matrix<float>(170, 90, 2);
      Matrix<float> out = random_matrix<float>(130, 90, 3);
      const Matrix<double> wide_a = a.cast<double>(), wide_b = b.cast<double>();
      Matrix<double> product(130, 90);
      if (a_lies)
        product = b_lies ? Matrix<double>(wide_a.transpose() * wide_b.transpose()) : Matrix<double>(wide_a.transpose() * wide_b);
      else
        product = b_lies ? Matrix<double>(wide_a * wide_b.transpose()) : Matrix<double>(wide_a * wide_b);
      const Matrix<double> expected = 0.5 * out.cast<double>() - 2 * product;
      REQUIRE(multiply_large<float>(size, -2, {a.data(), a_lies}, {b.data(), b_lies}, 0.5f, out.data()));
      CHECK((out.cast<double>() - expected).norm() <= 1e-5 * expected.norm());
    }
}

TEST_CASE("small products and those of double are left alone") {
  Matrix<float> a = random_matrix<float>(8, 8, 1), out = Matrix<float>::Ones(8, 8);
  CHECK_FALSE(multiply_large<float>({8, 8, 8}, 1, {a.data()}, {a.data()}, 0, out.data()));
  CHECK(out == Matrix<float>::Ones(8, 8));
  Matrix<double> b = random_matrix<double>(200, 200, 1), wide = Matrix<double>::Ones(200, 200);
  CHECK_FALSE(multiply_large<double>({200, 200, 200}, 1, {b.data()}, {b.data()}, 0, wide.data()));
  CHECK(wide == Matrix<double>::Ones(200, 200));
}

TEST_CASE("a large product has the same bits on every thread") {
  const Matrix<float> a = random_matrix<float>(64, 784, 1), b = random_matrix<float>(784, 128, 2);
  const auto multiplied = [&] {
    Matrix<float> out(64, 128);
    const bool is_done = multiply_large<float>({64, 128, 784}, 1, {a.data()}, {b.data()}, 0, out.data());
    REQUIRE(is_done);
    return out;
  };
  const Matrix<float> here = multiplied();
  std::vector<Matrix<float>> there(4);
  std::vector<std::thread> threads;
  for (Matrix<float>& out : there) threads.emplace_back([&] { out = multiplied(); });
  for (std::thread& thread : threads) thread.join();
  for (const Matrix<float>& out : there) CHECK(out == here);
}
