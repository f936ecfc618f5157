#include "learning/data/readers.hpp"

#include <doctest/doctest.h>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::contains;
using test::Folder;
using test::idx_bytes;

namespace {

using Bytes = std::vector<unsigned char>;

std::string reading(const Bytes& images, const Bytes& labels, std::size_t limit = 1000) {
  const Folder folder;
  const auto image_file = folder.write("images", images), label_file = folder.write("labels", labels);
  return test::complaint([&] { read_idx<float>(image_file, label_file, limit); });
}

const Bytes good_images = idx_bytes({3, 2, 2});
const Bytes good_labels = idx_bytes({3}, 3);

}  // namespace

TEST_CASE("IDX images are kept as bytes, plain and compressed, with their labels and their shape") {
  const Folder folder;
  const auto images = folder.write("images.gz", test::gzipped(good_images)), labels = folder.write("labels", good_labels);
  const Table<double> table = read_idx<double>(images, labels);
  CHECK(table.labels.numbers == std::vector<double>{0, 1, 2});
  CHECK(table.shape == Shape{1, 2, 2});
  CHECK(table.features.are_bytes());
  CHECK(table.features.rows() == 3);
  CHECK(table.features(2, 3) == 11);
  CHECK(count_idx(images) == 3);
}

TEST_CASE("IDX images with channels have the shape of the file") {
  const Folder folder;
  const auto table = read_idx<float>(folder.write("i", idx_bytes({3, 3, 4, 5})), folder.write("l", good_labels));
  CHECK(table.shape == Shape{3, 4, 5});
  CHECK(table.features.cols() == 60);
}

TEST_CASE("an IDX file with the wrong magic is refused") {
  CHECK(
      contains(reading(good_labels, good_labels), "images: starts with 0x00000801; an IDX file of images starts with 0x00000803"));
  CHECK(
      contains(reading(good_images, good_images), "labels: starts with 0x00000803; an IDX file of labels starts with 0x00000801"));
  Bytes other = good_images;
  other[2] = 9;
  CHECK(contains(reading(other, good_labels), "images: starts with 0x00000903"));
  CHECK(contains(reading({0, 0, 8}, good_labels), "images: is cut short: its IDX header ends after 3 bytes"));
}

TEST_CASE("an IDX file shorter or longer than its header promises is refused") {
  Bytes shorter = good_images, longer = good_images;
  shorter.pop_back();
  longer.push_back(0);
  CHECK(
      contains(reading(shorter, good_labels), "images: is cut short: its header promises 3 items of 4 bytes, but 11 bytes follow"));
  CHECK(contains(reading(longer, good_labels),
                 "images: has trailing bytes: its header promises 3 items of 4 bytes, but more follow"));
  CHECK(contains(reading(idx_bytes({0, 2, 2}), good_labels), "images: is empty"));
}

TEST_CASE("dimensions whose product is beyond the limit are refused before anything is kept") {
  Bytes bytes = good_images;
  for (std::size_t i = 4; i < 16; ++i) bytes[i] = 0xff;
  CHECK(contains(reading(bytes, good_labels), "images: promises items of more than 2^32 bytes"));
  const Bytes many_labels = idx_bytes({300}, 3);
  CHECK(contains(reading(idx_bytes({300, 2, 2}), many_labels, 1199), "images: has 300 rows of 4 bytes; allowed are 1199 bytes"));
  CHECK(contains(reading(idx_bytes({300, 2, 2}), many_labels, 3899), "labels: has 300 rows of 9 bytes"));
  CHECK(reading(idx_bytes({300, 2, 2}), many_labels, 3900) == "nothing was thrown");
}

TEST_CASE("images and labels that differ in number are refused") {
  const std::string sentence = reading(good_images, idx_bytes({2}, 3));
  CHECK(contains(sentence, "labels: has 2 labels, but "));
  CHECK(contains(sentence, "images has 3 images"));
}
