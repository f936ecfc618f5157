#include "learning/idx_reader.hpp"

#include <doctest/doctest.h>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::contains;
using test::Folder;
using test::idx_bytes;

namespace {

using Bytes = std::vector<unsigned char>;

// What the reader says about these images and labels of 3 classes.
std::string reading(const Bytes& images, const Bytes& labels, std::uint32_t first_label = 0) {
  const Folder folder;
  const auto image_file = folder.write("images", images), label_file = folder.write("labels", labels);
  return test::complaint([&] { read_idx<float>(image_file, label_file, 3, first_label); });
}

const Bytes good_images = idx_bytes({3, 2, 2});
const Bytes good_labels = idx_bytes({3}, 3);

}  // namespace

TEST_CASE("IDX images become rows of brightnesses from 0 to 1, plain and compressed") {
  const Folder folder;
  const auto images = folder.write("images.gz", test::gzipped(good_images)),
             labels = folder.write("labels", good_labels);
  const Samples<double> samples = read_idx<double>(images, labels, 3);
  CHECK(samples.labels == std::vector<Label>{0, 1, 2});
  REQUIRE(samples.features.rows() == 3);
  REQUIRE(samples.features.cols() == 4);
  CHECK(samples.features(2, 3) == 11.0 / 255);
}

TEST_CASE("labels that start at 1 become classes that start at 0") {
  const Folder folder;
  Bytes labels = good_labels;
  for (std::size_t i = 8; i < labels.size(); ++i) ++labels[i];
  const auto samples = read_idx<float>(folder.write("i", good_images), folder.write("l", labels), 3, 1);
  CHECK(samples.labels == std::vector<Label>{0, 1, 2});
}

TEST_CASE("an IDX file with the wrong magic is refused") {
  CHECK(contains(reading(good_labels, good_labels), "images: is cut short: an IDX header has 16 bytes, the file 11"));
  CHECK(contains(reading(good_images, good_images),
                 "labels: starts with 0x00000803; an IDX file of labels starts with 0x00000801"));
  Bytes other = good_images;
  other[2] = 9;
  CHECK(contains(reading(other, good_labels),
                 "images: starts with 0x00000903; an IDX file of images starts with 0x00000803"));
}

TEST_CASE("an IDX file shorter or longer than its header promises is refused") {
  Bytes shorter = good_images, longer = good_images;
  shorter.pop_back();
  longer.push_back(0);
  CHECK(contains(reading(shorter, good_labels),
                 "images: is cut short: its header promises 3 items of 4 bytes, but 11 bytes follow"));
  CHECK(contains(reading(longer, good_labels),
                 "images: has trailing bytes: its header promises 3 items of 4 bytes, but 13 bytes follow"));
  CHECK(contains(reading(idx_bytes({0, 2, 2}), good_labels), "images: is empty"));
}

TEST_CASE("dimensions whose product overflows are refused before anything is allocated") {
  Bytes bytes = good_images;
  for (std::size_t i = 4; i < 16; ++i) bytes[i] = 0xff;
  CHECK(contains(reading(bytes, good_labels), "images: is cut short"));
  // 2^31 images of 2^32 bytes.
  bytes = good_images;
  for (std::size_t dimension : {0u, 1u}) bytes[4 + 4 * dimension] = 0x80;
  CHECK(contains(reading(bytes, good_labels), "images: is cut short"));
}

TEST_CASE("images and labels that differ in number are refused") {
  const std::string sentence = reading(good_images, idx_bytes({2}, 3));
  CHECK(contains(sentence, "labels: has 2 labels, but "));
  CHECK(contains(sentence, "images has 3 images"));
}

TEST_CASE("a label outside the classes is refused with its place") {
  CHECK(contains(reading(good_images, idx_bytes({3}, 3), 1), "labels: item 0 is the label 0; allowed are 1 to 3"));
  Bytes labels = good_labels;
  labels[10] = 9;
  CHECK(contains(reading(good_images, labels), "labels: item 2 is the label 9; allowed are 0 to 2"));
}
