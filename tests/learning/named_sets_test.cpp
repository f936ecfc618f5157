#include "learning/data/named_sets.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "tests/learning/support.hpp"
#include "tests/support/large_data.hpp"

using namespace rubato;
using test::contains;
using test::Folder;
using test::is_here;
using test::large_data;

namespace {

// Sets RUBATO_DATA and the working directory for a while.
class Surroundings {
 public:
  Surroundings(const char* data, const std::filesystem::path& directory) : directory_{std::filesystem::current_path()} {
    if (const char* const before = std::getenv("RUBATO_DATA")) before_ = before;
    set(data ? data : "");
    std::filesystem::current_path(directory);
  }
  ~Surroundings() {
    set(before_);
    std::filesystem::current_path(directory_);
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

 private:
  static void set(const std::string& data) {
    if (data.empty()) {
      unsetenv("RUBATO_DATA");
    } else {
      setenv("RUBATO_DATA", data.c_str(), 1);
    }
  }
  std::string before_;
  std::filesystem::path directory_;
};

std::filesystem::path write_set(const Folder& folder, const std::string& set, const std::string& prefix, const std::string& test,
                                const std::string& ending) {
  const auto put = [&](const std::string& name, const std::vector<unsigned char>& bytes) {
    folder.write(set + "/" + prefix + name + ending, bytes);
  };
  put("train-images-idx3-ubyte", test::idx_bytes({5, 28, 28}));
  put("train-labels-idx1-ubyte", test::idx_bytes({5}, 5));
  put(test + "-images-idx3-ubyte", test::idx_bytes({4, 28, 28}));
  put(test + "-labels-idx1-ubyte", test::idx_bytes({4}, 4));
  return folder.path();
}

}  // namespace

TEST_CASE("digits come with Rubato and are found from any working directory") {
  const Folder elsewhere;
  const Surroundings surroundings(nullptr, elsewhere.path());
  const auto digits = load_dataset<float>("digits");
  CHECK(digits->train.size() == 3823);
  CHECK(digits->test.size() == 1797);
  CHECK(digits->inputs() == 64);
  CHECK(digits->classes == 10);
  CHECK(digits->shape == Shape{1, 8, 8});
  CHECK(digits->train.features.are_bytes());
  CHECK(digits->train.features.matrix().minCoeff() == 0);
  CHECK(digits->train.features.matrix().maxCoeff() == 1);
}

TEST_CASE("a set is looked for in the given folder, else in RUBATO_DATA, else in ./data") {
  const Folder here, there, working;
  write_set(here, "mnist", "", "t10k", "");
  write_set(there, "mnist", "", "t10k", "");
  write_set(working, "data/mnist", "", "t10k", "");
  {
    const Surroundings surroundings(there.path().c_str(), working.path());
    CHECK(find_dataset("mnist", here.path()) == here.path() / "mnist");
    CHECK(find_dataset("mnist") == there.path() / "mnist");
    CHECK(find_dataset("fashion-mnist").empty());
  }
  const Surroundings surroundings(nullptr, working.path());
  CHECK(find_dataset("mnist") == "data/mnist");
  CHECK(load_dataset<float>("mnist")->train.size() == 5);
}

TEST_CASE("missing files are named, with their home and the place to put them") {
  const Folder folder;
  write_set(folder, "mnist", "", "t10k", "");
  std::filesystem::remove(folder.path() / "mnist/train-labels-idx1-ubyte");
  const std::string sentence = test::complaint([&] { load_dataset<float>("mnist", folder.path()); });
  CHECK(contains(sentence, "missing train-labels-idx1-ubyte.gz (or"));
  CHECK(contains(sentence, "yann.lecun.com"));
  CHECK(contains(sentence, "tools/fetch-data mnist gets them"));
  CHECK(contains(sentence, (folder.path() / "mnist").string()));
  CHECK(contains(sentence, "RUBATO_DATA"));
}

TEST_CASE("an unknown set is refused with the list of the known") {
  const std::string sentence = test::complaint([] { load_dataset<float>("mnits"); });
  CHECK(contains(sentence, "data.name is \"mnits\""));
  for (const std::string& name : dataset_names()) CHECK(contains(sentence, name));
}

TEST_CASE("official EMNIST images, which lie on their side, are put upright, and derived subsets are left as they are") {
  const Folder official, derived;
  write_set(official, "emnist", "emnist-balanced-", "test", "");
  write_set(derived, "emnist", "emnist-47sub-", "t10k", "");
  const auto turned = load_dataset<double>("emnist", official.path()), as_is = load_dataset<double>("emnist", derived.path());
  CHECK(as_is->train.features(0, 1) == 1.0 / 255);
  CHECK(turned->train.features(0, 1) == 28 * (1.0 / 255));
  CHECK(turned->train.features(0, 28) == 1.0 / 255);
}

TEST_CASE("images of another size are refused") {
  const Folder folder;
  write_set(folder, "mnist", "", "t10k", "");
  folder.write("mnist/train-images-idx3-ubyte", test::idx_bytes({5, 10, 10}));
  CHECK(contains(test::complaint([&] { load_dataset<float>("mnist", folder.path()); }),
                 "its images are of 1 x 10 x 10 numbers; those of mnist of 1 x 28 x 28"));
  folder.write("mnist/train-images-idx3-ubyte", test::idx_bytes({5, 14, 56}));  // as many numbers
  CHECK(contains(test::complaint([&] { load_dataset<float>("mnist", folder.path()); }),
                 "train-images-idx3-ubyte: its images are of 1 x 14 x 56 numbers"));
}

namespace {

template <class Real>
std::vector<std::size_t> rows_by_class(const Samples<Real>& samples, std::uint32_t classes) {
  std::vector<std::size_t> rows(classes);
  for (const Label label : samples.labels) ++rows[label];
  return rows;
}

}  // namespace

TEST_CASE("every named set has the rows, the shape and the classes that its page gives") {
  struct Expected {
    std::string name;
    std::size_t train, test;
    Shape shape;
    std::vector<std::size_t> by_class;  // of the training part
  };
  const std::vector<Expected> sets{
      {"mnist", 60000, 10000, {1, 28, 28}, {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}},
      {"fashion-mnist", 60000, 10000, {1, 28, 28}, std::vector<std::size_t>(10, 6000)},
      {"emnist", 37600, 4700, {1, 28, 28}, std::vector<std::size_t>(47, 800)},
      {"emnist-letters", 31200, 5200, {1, 28, 28}, std::vector<std::size_t>(26, 1200)},
      {"a9a", 32561, 16281, {1, 1, 123}, {24720, 7841}},
      {"poker-hand", 25010, 18488, {1, 1, 85}, {12493, 10599, 1206, 513, 93, 54, 36, 6, 5, 5}},
      {"iot-device", 1000, 900, {1, 1, 297}, std::vector<std::size_t>(10, 100)},
      {"digits", 3823, 1797, {1, 8, 8}, {376, 389, 380, 389, 387, 376, 377, 387, 380, 382}},
  };
  for (const Expected& expected : sets) {
    CAPTURE(expected.name);
    if (!is_here(expected.name)) continue;
    const auto dataset = load_dataset<float>(expected.name, large_data());
    CHECK(dataset->train.size() == expected.train);
    CHECK(dataset->test.size() == expected.test);
    CHECK(dataset->shape == expected.shape);
    CHECK(rows_by_class(dataset->train, dataset->classes) == expected.by_class);
    const DatasetFacts facts = facts_of(expected.name, large_data());
    CHECK(usual_facts(expected.name).shape == facts.shape);
    CHECK(usual_facts(expected.name).classes == facts.classes);
    CHECK(facts.train_rows == expected.train);
    CHECK(facts.test_rows == expected.test);
    CHECK(facts.classes == expected.by_class.size());
  }
}

TEST_CASE("images take a byte a pixel in memory, and have the mean and deviation that their page gives") {
  if (!is_here("mnist")) return;
  const auto mnist = load_dataset<float>("mnist", large_data());
  CHECK(mnist->train.features.stored_bytes() <= 60000 * 784 + 100);
  const Matrix<float> numbers = mnist->train.features.matrix();
  const double mean = numbers.cast<double>().mean();
  CHECK(mean == doctest::Approx(0.1307).epsilon(1e-3));
  CHECK(std::sqrt(numbers.cast<double>().array().square().mean() - mean * mean) == doctest::Approx(0.3081).epsilon(1e-3));
}

TEST_CASE("the CIFAR-10 batches that are there are taken, and the run says how many") {
  if (!is_here("cifar10")) return;
  const auto cifar = load_dataset<float>("cifar10", large_data());
  CHECK(cifar->shape == Shape{3, 32, 32});
  CHECK(cifar->train.size() % 10000 == 0);
  CHECK(cifar->test.size() == 10000);
  CHECK(rows_by_class(cifar->test, 10) == std::vector<std::size_t>(10, 1000));
  if (cifar->train.size() == 20000)
    CHECK(cifar->notes == std::vector<std::string>{"cifar10: 2 of the 5 training batches are here"});
}

TEST_CASE("a hand of poker is a 1 for every suit and every rank, or ten numbers") {
  if (!is_here("poker-hand")) return;
  const auto hot = load_dataset<float>("poker-hand", large_data());
  const auto raw = load_dataset<float>("poker-hand", large_data(), {.one_hot = false});
  CHECK(hot->train.features.are_bytes());
  CHECK(hot->train.features.matrix().rowwise().sum() == Vector<float>::Constant(25010, 10));
  REQUIRE(raw->inputs() == 10);
  for (Index card = 0; card < 5; ++card) {
    const auto suit = static_cast<Index>(raw->train.features(7, 2 * card)),
               rank = static_cast<Index>(raw->train.features(7, 2 * card + 1));
    CHECK(hot->train.features(7, 17 * card + suit - 1) == 1);
    CHECK(hot->train.features(7, 17 * card + 4 + rank - 1) == 1);
  }
}

TEST_CASE("what is measured is standardised by the training part, and constant features are 0") {
  for (const std::string name : {"iot-device", "breast-cancer", "cwru"}) {
    CAPTURE(name);
    if (!is_here(name)) continue;
    const Matrix<double> train = load_dataset<double>(name, large_data())->train.features.matrix();
    for (Index c = 0; c < train.cols(); ++c) {
      const double mean = train.col(c).mean(), square = train.col(c).squaredNorm() / static_cast<double>(train.rows());
      CHECK(std::abs(mean) < 1e-9);
      CHECK((train.col(c).isZero(0) || std::abs(square - 1) < 1e-9));
    }
  }
}

TEST_CASE("the devices have 10 classes and 297 features, or the 9 and 296 of KD-PDFL, cut off where that is asked for") {
  if (!is_here("iot-device")) return;
  const auto all = load_dataset<double>("iot-device", large_data(), {.normalise = Normalise::none});
  const auto nine = load_dataset<double>("iot-device", large_data(), {.normalise = Normalise::none, .classes = 9, .columns = 296});
  CHECK(nine->classes == 9);
  CHECK(nine->shape == Shape{1, 1, 296});
  CHECK(rows_by_class(nine->train, 9) == std::vector<std::size_t>(9, 100));
  CHECK(rows_by_class(nine->test, 9) == std::vector<std::size_t>(9, 100));
  // ds_field_A is the same in all rows of both parts: nothing is lost with it.
  for (const Samples<double>* part : {&all->train, &all->test}) {
    const auto column = part->features.matrix().col(7);
    CHECK((column.array() == column[0]).all());
  }
  CHECK(nine->test.features(5, 7) == all->test.features(5, 8));
  CHECK(load_dataset<double>("iot-device", large_data())->test.features.matrix().cwiseAbs().maxCoeff() > 1e6);
  const auto clipped = load_dataset<double>("iot-device", large_data(), {.clip = 10});
  CHECK(clipped->test.features.matrix().cwiseAbs().maxCoeff() == 10);
  CHECK(contains(test::complaint([] { load_dataset<float>("iot-device", large_data(), {.classes = 5}); }), "has 9 or 10"));
  CHECK(contains(test::complaint([] { load_dataset<float>("digits", {}, {.clip = 3}); }), "data.clip counts deviations"));
}

TEST_CASE("the bearings have 4 or 10 classes of 400 segments, in two channels, split by the seed") {
  if (!is_here("cwru")) return;
  for (const std::uint32_t classes : {4u, 10u}) {
    const auto cwru = load_dataset<float>("cwru", large_data(), {.classes = classes});
    CHECK(cwru->classes == classes);
    CHECK(cwru->shape == Shape{1, 1, 300});
    CHECK(cwru->train.size() == 320 * classes);
    CHECK(cwru->test.size() == 80 * classes);
    auto rows = rows_by_class(cwru->train, classes);
    const auto rows_of_test = rows_by_class(cwru->test, classes);
    for (std::size_t c = 0; c < classes; ++c) CHECK(rows[c] + rows_of_test[c] == 400);
    CHECK(load_dataset<float>("cwru", large_data(), {.classes = classes}, 1)->test.labels != cwru->test.labels);
  }
  CHECK(contains(test::complaint([] { load_dataset<float>("cwru", large_data(), {.classes = 5}); }), "cwru has 4 or 10"));
}

TEST_CASE("letters have 26 classes, or 27 of which the first is empty") {
  if (!is_here("emnist-letters")) return;
  const auto usual = load_dataset<float>("emnist-letters", large_data());
  const auto more = load_dataset<float>("emnist-letters", large_data(), {.classes = 27});
  CHECK(more->classes == 27);
  std::vector<std::size_t> rows = rows_by_class(usual->train, 26);
  rows.insert(rows.begin(), 0);
  CHECK(rows_by_class(more->train, 27) == rows);
  CHECK(contains(test::complaint([] { load_dataset<float>("emnist-letters", large_data(), {.classes = 28}); }),
                 "data.classes is 28; emnist-letters has 26, or 27 with the unused label 0"));
}

TEST_CASE("the tumours are split 4 to 1") {
  if (!is_here("breast-cancer")) return;
  const auto tumours = load_dataset<float>("breast-cancer", large_data());
  CHECK(tumours->train.size() == 455);
  CHECK(tumours->test.size() == 114);
  CHECK(rows_by_class(tumours->train, 2)[0] + rows_by_class(tumours->test, 2)[0] == 212);
}
