#include "learning/data_files.hpp"

#include <doctest/doctest.h>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::contains;
using test::Folder;

namespace {

std::string complaint_about(const DataFiles& files, const DataOptions& options = {}) {
  return test::complaint([&] { load_files<float>(files, options); });
}

const std::string table = "x,y,kind\n1.5,2,red\n3,4,blue\n5,6,red\n7,8,blue\n9,10,red\n";

}  // namespace

TEST_CASE("a CSV file becomes a data set whose test part is split off") {
  const Folder folder;
  const auto dataset =
      load_files<double>({.train = folder.write("t.csv", table)}, {.test_share = 0.4, .shuffle = false});
  CHECK(dataset->classes == 2);
  CHECK(dataset->shape == Shape{1, 1, 2});
  CHECK(dataset->train.labels == std::vector<Label>{1, 0, 1});
  CHECK(dataset->test.labels == std::vector<Label>{0, 1});
  CHECK(dataset->test.features(1, 1) == 10);
}

TEST_CASE("labels may be the numbers that are to be learned") {
  const Folder folder;
  const auto dataset = load_files<double>({.train = folder.write("t.csv", std::string("1,2.5\n3,-4\n")),
                                           .test = folder.write("s.csv.gz", test::gzipped(test::bytes_of("5,6\n"))),
                                           .are_targets = true},
                                          {});
  CHECK(dataset->classes == 0);
  CHECK(dataset->train.labels.empty());
  CHECK(dataset->train.targets == std::vector<double>{2.5, -4});
  CHECK(dataset->test.targets == std::vector<double>{6});
}

TEST_CASE("every format is told by the ending of the name") {
  const Folder folder;
  const auto x = test::npy_of<std::uint8_t>("|u1", "(4, 2, 2)", std::vector<std::uint8_t>(16, 255));
  const auto y = test::npy_of<std::int64_t>("<i8", "(4,)", {3, 7, 3, 7});
  const auto npy = load_files<float>({.train = folder.write("x.npy", x), .train_labels = folder.write("y.npy", y)}, {});
  CHECK(npy->classes == 2);
  CHECK(npy->train.features(0, 0) == 1);  // images are brought to 0 to 1
  const std::vector<test::ZipFile> parts{{"x_train.npy", x}, {"y_train.npy", y}, {"x_test.npy", x}, {"y_test.npy", y}};
  const auto npz = load_files<float>({.train = folder.write("all.npz", test::zip_of(parts, true))}, {});
  CHECK(npz->train.size() == 4);
  CHECK(npz->test.size() == 4);
  const auto idx = load_files<float>({.train = folder.write("a-ubyte.gz", test::gzipped(test::idx_bytes({4, 2, 2}))),
                                      .train_labels = folder.write("b-ubyte", test::idx_bytes({4}, 2))},
                                     {});
  CHECK(idx->shape == Shape{1, 2, 2});
  CHECK(load_files<float>({.train = folder.write("b.bin.xz", test::xz_packed(test::cifar_bytes(6)))}, {.classes = 10})
            ->classes == 10);
  CHECK(load_files<float>({.train = folder.write("a.svm", std::string("1 2:1\n-1 1:1\n")), .features = 7}, {})
            ->inputs() == 7);
}

TEST_CASE("rows are given a shape, which must fit them") {
  const Folder folder;
  const auto file = folder.write("t.csv", std::string("1,2,3,4,0\n5,6,7,8,1\n"));
  CHECK(load_files<float>({.train = file, .shape = {1, 2, 2}}, {})->shape == Shape{1, 2, 2});
  CHECK(contains(complaint_about({.train = file, .shape = {1, 2, 3}}), "data.shape is 1 x 2 x 3; a row of"));
  CHECK(contains(complaint_about({.train = file, .shape = {4}}), "data.shape has 1 numbers; allowed are 3"));
}

TEST_CASE("what does not fit together is refused with the key or the file") {
  const Folder folder;
  const auto csv = folder.write("t.csv", table), other = folder.write("u.csv", std::string("x,y,z,kind\n1,2,3,red\n"));
  const auto x = folder.write("x.npy", test::npy_of<float>("<f4", "(2, 2)", {1, 2, 3, 4}));
  const auto y = folder.write("y.npy", test::npy_of<float>("<f4", "(3,)", {1, 2, 3}));
  CHECK(contains(complaint_about({.train = csv, .train_labels = y}), "data.train_labels is not for this format"));
  CHECK(contains(complaint_about({.train = x}), "data.train_labels must be set"));
  CHECK(contains(complaint_about({.train = x, .train_labels = y}), "x.npy: has 2 rows and 3 labels"));
  CHECK(
      contains(complaint_about({.train = csv, .test = other}), "the training part has 2 features and the test part 3"));
  CHECK(contains(complaint_about({.train = folder.write("what", table)}), "does not say it; allowed are csv"));
  CHECK(contains(complaint_about({.train = csv, .are_targets = true}), "needs numbers"));
  CHECK(contains(complaint_about({.train = csv}, {.classes = 3}), "data.classes is 3"));
}
