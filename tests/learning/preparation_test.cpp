#include "learning/data/preparation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "learning/data/label_coding.hpp"
#include "learning/data/spectrum.hpp"
#include "tests/learning/support.hpp"

using namespace rubato;
using test::contains;

namespace {

Dataset<double> numbered_rows(std::size_t rows) {
  Dataset<double> dataset;
  dataset.name = "rows";
  dataset.classes = 1000;
  std::vector<double> numbers(rows);
  for (std::size_t i = 0; i < rows; ++i) numbers[i] = static_cast<double>(i) + 0.5;
  dataset.train.features = {numbers, 1};
  for (std::size_t i = 0; i < rows; ++i) dataset.train.labels.push_back(static_cast<Label>(i));
  return dataset;
}

}  // namespace

TEST_CASE("a test part is split off without losing, repeating or disordering a row") {
  for (const bool shuffle : {false, true}) {
    Dataset<double> dataset = numbered_rows(100);
    split_off_test(dataset, 0.2, shuffle, 7);
    REQUIRE(dataset.train.size() == 80);
    REQUIRE(dataset.test.size() == 20);
    std::vector<Label> all;
    for (const Samples<double>* part : {&dataset.train, &dataset.test}) {
      CHECK(std::is_sorted(part->labels.begin(), part->labels.end()));
      for (std::size_t i = 0; i < part->size(); ++i) {
        CHECK(part->features(static_cast<Index>(i), 0) == part->labels[i] + 0.5);
        all.push_back(part->labels[i]);
      }
    }
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == i);
    CHECK((dataset.test.labels.front() == 80) == !shuffle);
  }
}

TEST_CASE("the split depends on the seed alone") {
  Dataset<double> one = numbered_rows(50), same = numbered_rows(50), other = numbered_rows(50);
  split_off_test(one, 0.3, true, 7);
  split_off_test(same, 0.3, true, 7);
  split_off_test(other, 0.3, true, 8);
  CHECK(one.test.labels == same.test.labels);
  CHECK(one.test.labels != other.test.labels);
}

TEST_CASE("both parts keep a row however the share is rounded") {
  Dataset<double> two = numbered_rows(2), one = numbered_rows(1);
  split_off_test(two, 0.01, true, 1);
  CHECK(two.test.size() == 1);
  CHECK(contains(test::complaint([&] { split_off_test(one, 0.5, true, 1); }), "has too few rows"));
}

TEST_CASE("features are standardised with the numbers of the training part, and constant ones become 0") {
  Dataset<double> dataset;
  Matrix<double> train(4, 2), test(1, 2);
  train << 1, 7, 3, 7, 1, 7, 3, 7;
  test << 6, 9;
  dataset.train.features = train;
  dataset.test.features = test;
  dataset.shape = {1, 1, 2};
  normalise(dataset, Normalise::standard, Normalise::none, false);
  CHECK(dataset.train.features.matrix().col(0) == Vector<double>{{-1, 1, -1, 1}});
  CHECK(dataset.train.features.matrix().col(1) == Vector<double>::Zero(4));
  CHECK(dataset.test.features(0, 0) == 4);
}

TEST_CASE("images are standardised by channel and stay bytes") {
  Dataset<double> dataset;
  dataset.shape = {2, 2, 1};
  dataset.train.features = {std::vector<std::uint8_t>{0, 2, 10, 50, 2, 0, 50, 10}, 4};
  normalise(dataset, Normalise::usual, Normalise::standard, true);
  CHECK(dataset.train.features.are_bytes());
  const Matrix<double> expected{{-1, 1, -1, 1}, {1, -1, 1, -1}};
  CHECK((dataset.train.features.matrix() - expected).norm() < 1e-12);
}

TEST_CASE("the unit interval is a byte / 255 for images and from the smallest to the largest number elsewhere") {
  Dataset<double> image, table;
  image.shape = {1, 2, 1};
  image.train.features = {std::vector<std::uint8_t>{0, 51}, 2};
  normalise(image, Normalise::unit, Normalise::none, true);
  CHECK(image.train.features(0, 1) == doctest::Approx(0.2).epsilon(1e-15));
  table.shape = {1, 1, 1};
  table.train.features = {std::vector<std::uint8_t>{10, 20, 30}, 1};
  normalise(table, Normalise::unit, Normalise::none, true);
  CHECK((table.train.features.matrix().col(0) - Vector<double>{{0, 0.5, 1}}).norm() < 1e-15);
}

TEST_CASE("scaled features are cut off at so many deviations of the training rows, in both parts") {
  Dataset<double> dataset = numbered_rows(3);  // mean 1.5, deviation sqrt(2/3)
  dataset.shape = {1, 1, 1};
  dataset.test.features = {std::vector<double>{1e6, 1.5}, 1};
  normalise(dataset, Normalise::usual, Normalise::standard, false, 1);
  CHECK((dataset.train.features.matrix().col(0) - Vector<double>{{-1, 0, 1}}).norm() < 1e-15);
  CHECK((dataset.test.features.matrix().col(0) - Vector<double>{{1, 0}}).norm() < 1e-15);
  Dataset<double> other = numbered_rows(3);
  other.shape = {1, 1, 1};
  CHECK_THROWS_WITH_AS(normalise(other, Normalise::unit, Normalise::none, false, 1),
                       doctest::Contains("needs data.normalise = \"standard\""), std::invalid_argument);
}

TEST_CASE("without a rule the numbers stay as they are in the file") {
  Dataset<double> dataset = numbered_rows(3);
  dataset.shape = {1, 1, 1};
  normalise(dataset, Normalise::none, Normalise::standard, false);
  CHECK(dataset.train.features(2, 0) == 2.5);
}

TEST_CASE("labels are numbered from the first, coded in ascending order, or in the order given") {
  CHECK(numbered_labels({{2, 1}, {}}, 2, 1, "f") == std::vector<Label>{1, 0});
  CHECK(contains(test::complaint([] {
                   numbered_labels({{1, 3}, {}}, 2, 1, "f");
                 }),
                 "f: row 1 has the label 3; allowed are 1 to 2"));
  CHECK(contains(test::complaint([] { numbered_labels({{1.5}, {}}, 2, 1, "f"); }), "row 0 has the label 1.5"));
  CHECK(contains(test::complaint([] { numbered_labels({{0}, {"x"}}, 2, 1, "f"); }), "words as labels where numbers belong"));
  const LabelColumn words{{0, 1, 0}, {"red", "blue"}}, numbers{{5, -1, 5}, {}};
  CHECK(ClassNames(words, {}, "f").coded(words, "f") == std::vector<Label>{1, 0, 1});
  CHECK(ClassNames(words, {"red", "green", "blue"}, "f").coded(words, "f") == std::vector<Label>{0, 2, 0});
  CHECK(ClassNames(words, {"red", "green", "blue"}, "f").size() == 3);
  CHECK(ClassNames(numbers, {}, "f").coded(numbers, "f") == std::vector<Label>{1, 0, 1});
  CHECK(contains(test::complaint([&] { ClassNames(words, {"red"}, "f"); }),
                 "has the label \"blue\", which data.label_order does not name"));
  CHECK(contains(test::complaint([&] {
                   ClassNames(words, {}, "f").coded({{0}, {"pink"}}, "t");
                 }),
                 "t: row 0 has the label \"pink\""));
  CHECK(contains(test::complaint([&] { ClassNames(numbers, {}, "f").coded({{7}, {}}, "t"); }), "t: row 0 has the label 7"));
  CHECK(contains(test::complaint([&] { ClassNames(numbers, {}, "f").coded(words, "t"); }), "t: has words as labels"));
}

TEST_CASE("the spectrum of a segment agrees with the sum that defines it") {
  constexpr Index length = 10;
  std::vector<float> series(25);
  for (std::size_t t = 0; t < series.size(); ++t) series[t] = static_cast<float>(std::sin(0.7 * static_cast<double>(t * t)));
  const Matrix<double> spectra = segment_spectra(series, length, 5);
  REQUIRE(spectra.rows() == 2);
  REQUIRE(spectra.cols() == 5);
  CHECK(segment_spectra(series, length, 1).rows() == 1);
  for (Index row = 0; row < 2; ++row) {
    for (Index k = 0; k < 5; ++k) {
      double real = 0, imaginary = 0;
      for (Index t = 0; t < length; ++t) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(k) * static_cast<double>(t) / length;
        real += series[static_cast<std::size_t>(row * length + t)] * std::cos(angle);
        imaginary -= series[static_cast<std::size_t>(row * length + t)] * std::sin(angle);
      }
      CHECK(spectra(row, k) == doctest::Approx(std::hypot(real, imaginary) * 2 / length).epsilon(1e-10));
    }
  }
}
