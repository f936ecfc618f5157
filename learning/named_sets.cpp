#include "learning/named_sets.hpp"

#include <array>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <utility>

#include "learning/digits_reader.hpp"
#include "learning/idx_reader.hpp"

namespace rubato {

namespace {

namespace fs = std::filesystem;

enum class Format { idx, digits };

/// Names of a set's files without .gz; idx has images and labels of both parts, digits one file a part.
struct FileNames {
  std::vector<std::string> names;
  bool is_transposed = false;  // images lie on their side, as in the official EMNIST files
};

struct NamedSet {
  std::string name;
  std::string folder;
  std::string home;  // where the official files come from
  Format format;
  std::uint32_t classes;
  std::uint32_t first_label;
  std::vector<FileNames> versions;  // the first complete one is taken
};

FileNames idx_names(const std::string& prefix, const std::string& test, bool is_transposed = false) {
  const std::string images = "-images-idx3-ubyte", labels = "-labels-idx1-ubyte";
  return {{prefix + "train" + images, prefix + "train" + labels, prefix + test + images, prefix + test + labels},
          is_transposed};
}

std::vector<NamedSet> known_sets() {
  const std::string emnist_home = "https://www.nist.gov/itl/products-and-services/emnist-dataset";
  return {
      {"mnist", "mnist", "http://yann.lecun.com/exdb/mnist/", Format::idx, 10, 0, {idx_names("", "t10k")}},
      {"fashion-mnist",
       "fashion-mnist",
       "https://github.com/zalandoresearch/fashion-mnist",
       Format::idx,
       10,
       0,
       {idx_names("", "t10k")}},
      {"emnist",
       "emnist",
       emnist_home,
       Format::idx,
       47,
       0,
       {idx_names("emnist-balanced-", "test", true), idx_names("emnist-47sub-", "t10k")}},
      {"emnist-letters",
       "emnist",
       emnist_home,
       Format::idx,
       26,
       1,
       {idx_names("emnist-letters-", "test", true), idx_names("emnist-letters-sub-", "t10k")}},
      {"digits",
       "digits",
       "https://archive.ics.uci.edu/dataset/80",
       Format::digits,
       10,
       0,
       {{{"optdigits.tra", "optdigits.tes"}}}},
  };
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

NamedSet known_set(const std::string& name) {
  for (NamedSet& set : known_sets()) {
    if (set.name == name) return std::move(set);
  }
  throw std::invalid_argument("data.name is \"" + name + "\"; allowed are " + joined(dataset_names()));
}

fs::path chosen_data_dir(const fs::path& data_dir) {
  if (!data_dir.empty()) return data_dir;
  const char* const from_environment = std::getenv("RUBATO_DATA");
  return from_environment && *from_environment ? fs::path(from_environment) : fs::path("data");
}

// The data that come with Rubato: beside the sources, where it was installed, or relative to the running program.
std::vector<fs::path> shipped_data_dirs() {
  std::vector<fs::path> dirs;
  std::error_code unknown;  // without /proc the other places remain
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (!unknown) {
    dirs.push_back(program.parent_path().parent_path() / "share/rubato/data");
    dirs.push_back(program.parent_path().parent_path() / "examples/data");
  }
  for (const char* const dir : std::initializer_list<const char*>{RUBATO_SHIPPED_DATA}) dirs.emplace_back(dir);
  return dirs;
}

std::vector<fs::path> data_dirs(const fs::path& data_dir) {
  std::vector<fs::path> dirs = shipped_data_dirs();
  dirs.insert(dirs.begin(), chosen_data_dir(data_dir));
  return dirs;
}

std::optional<fs::path> plain_or_gzip(const fs::path& file) {
  std::error_code ignored;  // what cannot be looked at is not there
  for (const fs::path& candidate : {fs::path(file.string() + ".gz"), file}) {
    if (fs::is_regular_file(candidate, ignored)) return candidate;
  }
  return std::nullopt;
}

/// All files of one version in one folder.
struct Found {
  fs::path folder;
  std::vector<fs::path> files;
  bool is_transposed;
};

std::optional<Found> find_version(const fs::path& folder, const FileNames& version) {
  Found found{folder, {}, version.is_transposed};
  for (const std::string& name : version.names) {
    const std::optional<fs::path> file = plain_or_gzip(folder / name);
    if (!file) return std::nullopt;
    found.files.push_back(*file);
  }
  return found;
}

std::optional<Found> find(const NamedSet& set, const fs::path& data_dir) {
  for (const fs::path& dir : data_dirs(data_dir)) {
    for (const FileNames& version : set.versions) {
      if (std::optional<Found> found = find_version(dir / set.folder, version)) return found;
    }
  }
  return std::nullopt;
}

[[noreturn]] void fail_missing(const NamedSet& set, const fs::path& data_dir) {
  const fs::path folder = fs::absolute(chosen_data_dir(data_dir) / set.folder);
  std::vector<std::string> missing;
  for (const std::string& name : set.versions.front().names) {
    if (!plain_or_gzip(folder / name)) missing.push_back(name + ".gz");
  }
  throw std::invalid_argument("data set " + set.name + " is not complete in " + folder.string() + ": missing " +
                              joined(missing) + " (or the same without .gz). They come from " + set.home +
                              "; put them into that folder, or name the folder above it with --data or RUBATO_DATA");
}

// Swaps rows and columns of every square image.
template <class Real>
void put_upright(Samples<Real>& samples, Index side) {
  for (Index row = 0; row < samples.features.rows(); ++row) {
    Eigen::Map<Matrix<Real>> image{samples.features.row(row).data(), side, side};
    image.transposeInPlace();
  }
}

template <class Real>
Samples<Real> read_part(const NamedSet& set, const Found& found, std::size_t part) {
  if (set.format == Format::digits) return read_digits<Real>(found.files[part]);
  Samples<Real> samples =
      read_idx<Real>(found.files[2 * part], found.files[2 * part + 1], set.classes, set.first_label);
  if (samples.features.cols() != 28 * 28) {
    throw std::invalid_argument(found.files[2 * part].string() + ": its images have " +
                                std::to_string(samples.features.cols()) + " pixels; " + set.name + " has 28 x 28");
  }
  if (found.is_transposed) put_upright(samples, 28);
  return samples;
}

}  // namespace

std::vector<std::string> dataset_names() {
  std::vector<std::string> names;
  for (const NamedSet& set : known_sets()) names.push_back(set.name);
  return names;
}

std::filesystem::path find_dataset(const std::string& name, const std::filesystem::path& data_dir) {
  const std::optional<Found> found = find(known_set(name), data_dir);
  return found ? found->folder : fs::path{};
}

template <class Real>
std::shared_ptr<const Dataset<Real>> load_dataset(const std::string& name, const std::filesystem::path& data_dir) {
  const NamedSet set = known_set(name);
  const std::optional<Found> found = find(set, data_dir);
  if (!found) fail_missing(set, data_dir);
  const auto dataset = std::make_shared<Dataset<Real>>();
  dataset->name = set.name;
  dataset->classes = set.classes;
  dataset->train = read_part<Real>(set, *found, 0);
  dataset->test = read_part<Real>(set, *found, 1);
  dataset->shape = set.format == Format::digits ? Shape{1, 8, 8} : Shape{1, 28, 28};
  check(*dataset);
  return dataset;
}

template std::shared_ptr<const Dataset<float>> load_dataset(const std::string&, const std::filesystem::path&);
template std::shared_ptr<const Dataset<double>> load_dataset(const std::string&, const std::filesystem::path&);

}  // namespace rubato
