#include "learning/named_sets.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::contains;
using test::Folder;

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

std::filesystem::path write_set(const Folder& folder, const std::string& set, const std::string& prefix,
                                const std::string& test, const std::string& ending) {
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
  CHECK(digits->train.features.minCoeff() == 0);
  CHECK(digits->train.features.maxCoeff() == 1);
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
  CHECK(contains(sentence, (folder.path() / "mnist").string()));
  CHECK(contains(sentence, "RUBATO_DATA"));
}

TEST_CASE("an unknown set is refused with the list of the known") {
  const std::string sentence = test::complaint([] { load_dataset<float>("mnits"); });
  CHECK(contains(sentence, "data.name is \"mnits\""));
  for (const std::string& name : dataset_names()) CHECK(contains(sentence, name));
}

TEST_CASE(
    "official EMNIST images, which lie on their side, are put upright, and derived subsets are left as they are") {
  const Folder official, derived;
  write_set(official, "emnist", "emnist-balanced-", "test", "");
  write_set(derived, "emnist", "emnist-47sub-", "t10k", "");
  const auto turned = load_dataset<double>("emnist", official.path()),
             as_is = load_dataset<double>("emnist", derived.path());
  CHECK(as_is->train.features(0, 1) == 1.0 / 255);
  CHECK(turned->train.features(0, 1) == 28.0 / 255);
  CHECK(turned->train.features(0, 28) == 1.0 / 255);
}

TEST_CASE("images of another size are refused") {
  const Folder folder;
  write_set(folder, "mnist", "", "t10k", "");
  folder.write("mnist/train-images-idx3-ubyte", test::idx_bytes({5, 10, 10}));
  CHECK(contains(test::complaint([&] { load_dataset<float>("mnist", folder.path()); }), "its images have 100 pixels"));
}
