#include "learning/data/named_sets.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <utility>

#include "learning/data/label_coding.hpp"
#include "learning/data/preparation.hpp"
#include "learning/data/readers.hpp"
#include "learning/data/spectrum.hpp"
#include "learning/joined.hpp"

namespace rubato {

namespace {

namespace fs = std::filesystem;

enum class Kind { idx, cifar, a9a, poker, iot, cwru, digits, breast_cancer };

/// Names of a set's files without .gz or .xz. idx has images and labels of both parts; the others end with the test
/// part, if there is one.
struct FileNames {
  std::vector<std::string> names;
  std::string note{};               // what a run should say about this version
  bool is_transposed = false;       // images lie on their side, as in the official EMNIST files
  std::vector<std::string> more{};  // training files that may be missing
};

struct NamedSet {
  std::string name;
  std::string folder;
  std::string home;  // where the official files come from
  Kind kind;
  Shape shape;
  std::uint32_t classes;
  std::vector<FileNames> versions;  // the first complete one is taken
  std::uint32_t first_label = 0;
  bool is_packaged = false;  // tools/fetch-data gets it
};

FileNames idx_names(const std::string& prefix, const std::string& test, const std::string& note = {}, bool is_transposed = false) {
  const std::string images = "-images-idx3-ubyte", labels = "-labels-idx1-ubyte";
  return {
      {prefix + "train" + images, prefix + "train" + labels, prefix + test + images, prefix + test + labels}, note, is_transposed};
}

// Class 0 first. The first, second, fifth and eighth are the four classes of the small task.
constexpr std::array bearing_classes{"normal", "B007", "B014", "B021", "IR007", "IR014", "IR021", "OR007_6", "OR014_6", "OR021_6"};

std::vector<std::string> bearing_files() {
  std::vector<std::string> names;
  for (const std::string name : bearing_classes)
    for (const char* const end : {"DE", "FE"}) names.push_back("12k_0hp_" + name + "_" + end + ".f32le");
  return names;
}

std::vector<NamedSet> known_sets() {
  const std::string emnist_home = "https://www.nist.gov/itl/products-and-services/emnist-dataset";
  const std::string uci = "https://archive.ics.uci.edu/dataset/";
  const Shape digit{1, 28, 28};
  const std::vector<FileNames> mnist{idx_names("", "t10k")};
  const std::vector<FileNames> emnist{
      idx_names("emnist-balanced-", "test", {}, true),
      idx_names("emnist-47sub-", "t10k", "emnist: a subset of the official files, one third of the balanced split")};
  const std::vector<FileNames> letters{
      idx_names("emnist-letters-", "test", {}, true),
      idx_names("emnist-letters-sub-", "t10k", "emnist-letters: a subset of the official files, one quarter of them")};
  const std::vector<FileNames> cifar{{.names = {"data_batch_1.bin", "test_batch.bin"},
                                      .more = {"data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"}}};
  const std::vector<FileNames> poker{{{"poker-hand-training-true.data", "poker-hand-testing.data"}},
                                     {{"poker-hand-training-true.data", "poker-hand-testing-first18488.data"},
                                      "poker-hand: the test part is the first 18,488 of 1,000,000 official rows"}};
  const std::vector<FileNames> bearings{{bearing_files(), "cwru: load 0 hp only; the test part is split off from it"}};
  const std::string zalando = "https://github.com/zalandoresearch/fashion-mnist", lecun = "http://yann.lecun.com/exdb/mnist/";
  const std::string libsvm = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html";
  const std::string kaggle = "https://www.kaggle.com/datasets/fanbyprinciple/iot-device-identification";
  const std::string toronto = "https://www.cs.toronto.edu/~kriz/cifar.html";
  const std::string bearing_home =
      "https://engineering.case.edu/bearingdatacenter, whose 12 kHz records at 0 hp are written as bare little-endian floats";
  return {
      {"mnist", "mnist", lecun, Kind::idx, digit, 10, mnist, 0, true},
      {"fashion-mnist", "fashion-mnist", zalando, Kind::idx, digit, 10, mnist, 0, true},
      {"emnist", "emnist", emnist_home, Kind::idx, digit, 47, emnist},
      {"emnist-letters", "emnist", emnist_home, Kind::idx, digit, 26, letters, 1},
      {"cifar10", "cifar10", toronto, Kind::cifar, {3, 32, 32}, 10, cifar, 0, true},
      {"a9a", "a9a", libsvm, Kind::a9a, {1, 1, 123}, 2, {{{"a9a", "a9a.t"}}}},
      {"poker-hand", "poker-hand", uci + "158", Kind::poker, {1, 1, 85}, 10, poker},
      {"iot-device", "iot-device", kaggle, Kind::iot, {1, 1, 297}, 10, {{{"iot_device_train.csv", "iot_device_test.csv"}}}},
      {"cwru", "cwru", bearing_home, Kind::cwru, {1, 1, 300}, 10, bearings},
      {"digits", "digits", uci + "80", Kind::digits, {1, 8, 8}, 10, {{{"optdigits.tra", "optdigits.tes"}}}},
      {"breast-cancer",
       "breast-cancer",
       uci + "17, in the form that scikit-learn brings",
       Kind::breast_cancer,
       {1, 1, 30},
       2,
       {{{"breast_cancer.csv"}}}},
  };
}

NamedSet known_set(const std::string& name) {
  for (NamedSet& set : known_sets())
    if (set.name == name) return std::move(set);
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

std::optional<fs::path> plain_or_compressed(const fs::path& file) {
  std::error_code ignored;  // what cannot be looked at is not there
  for (const char* const ending : {".gz", ".xz", ""}) {
    const fs::path candidate = file.string() + ending;
    if (fs::is_regular_file(candidate, ignored)) return candidate;
  }
  return std::nullopt;
}

/// All files of one version in one folder.
struct Found {
  fs::path folder;
  std::vector<fs::path> files;
  std::vector<fs::path> more;
  FileNames version;
};

std::optional<Found> find_version(const fs::path& folder, const FileNames& version) {
  Found found{folder, {}, {}, version};
  for (const std::string& name : version.names) {
    const std::optional<fs::path> file = plain_or_compressed(folder / name);
    if (!file) return std::nullopt;
    found.files.push_back(*file);
  }
  for (const std::string& name : version.more)
    if (const std::optional<fs::path> file = plain_or_compressed(folder / name)) found.more.push_back(*file);
  return found;
}

std::optional<Found> find(const NamedSet& set, const fs::path& data_dir) {
  for (const fs::path& dir : data_dirs(data_dir)) {
    for (const FileNames& version : set.versions)
      if (std::optional<Found> found = find_version(dir / set.folder, version)) return found;
  }
  return std::nullopt;
}

[[noreturn]] void fail_missing(const NamedSet& set, const fs::path& data_dir) {
  const fs::path folder = fs::absolute(chosen_data_dir(data_dir) / set.folder);
  std::vector<std::string> missing;
  for (const std::string& name : set.versions.front().names)
    if (!plain_or_compressed(folder / name)) missing.push_back(name + ".gz");
  throw std::invalid_argument("data set " + set.name + " is not complete in " + folder.string() + ": missing " + joined(missing) +
                              " (or the same without .gz, or with .xz). They come from " + set.home +
                              (set.is_packaged ? ", and tools/fetch-data " + set.name + " gets them" : "") +
                              "; put them into that folder, or name the folder above it with --data or RUBATO_DATA");
}

[[noreturn]] void fail_shape(const NamedSet& set, const fs::path& file, const Shape& shape) {
  const auto shown = [](const Shape& of) { return std::to_string(of.height) + " x " + std::to_string(of.width); };
  refuse(file.string(), ": its images are of ", shape.channels, " x ", shown(shape), " numbers; those of ", set.name, " of ",
         set.shape.channels, " x ", shown(set.shape));
}

void need_inputs(const NamedSet& set, const fs::path& file, Index inputs) {
  if (inputs == set.shape.size()) return;
  refuse(file.string(), ": its samples have ", inputs, " numbers; ", set.name, " has ", set.shape.size());
}

template <class Real>
Samples<Real> numbered(const NamedSet& set, const fs::path& file, Table<Real> table) {
  return {std::move(table.features), numbered_labels(table.labels, set.classes, set.first_label, file.string())};
}

template <class Real>
Samples<Real> read_images(const NamedSet& set, const Found& found, std::size_t part) {
  const fs::path &images = found.files[2 * part], &labels = found.files[2 * part + 1];
  Table<Real> table = read_idx<Real>(images, labels);
  if (table.shape != set.shape) fail_shape(set, images, table.shape);
  if (found.version.is_transposed) table.features.transpose_images(set.shape.height);
  return numbered(set, labels, std::move(table));
}

template <class Real>
void load_cifar(const NamedSet& set, const Found& found, Dataset<Real>& dataset) {
  std::vector<fs::path> batches{found.files[0]};
  batches.insert(batches.end(), found.more.begin(), found.more.end());
  dataset.train = numbered(set, batches.front(), read_cifar<Real>(batches));
  dataset.test = numbered(set, found.files[1], read_cifar<Real>(std::span(found.files).last(1)));
  if (batches.size() < 5)
    dataset.notes.push_back("cifar10: " + std::to_string(batches.size()) + " of the 5 training batches are here");
}

template <class Real>
Samples<Real> read_a9a(const NamedSet& set, const fs::path& file) {
  Table<Real> table = read_libsvm<Real>(file, static_cast<std::size_t>(set.shape.size()));
  for (double& label : table.labels.numbers) label = label == -1 ? 0 : label == 1 ? 1 : 2;  // 2 is refused
  return numbered(set, file, std::move(table));
}

// Five cards, each a suit from 1 to 4 and a rank from 1 to 13: a 1 for its suit and a 1 for its rank.
template <class Real>
Features<Real> one_hot_cards(const Features<Real>& cards, const fs::path& file) {
  constexpr std::size_t columns = 5 * (4 + 13);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(cards.rows()) * columns);
  for (Index row = 0; row < cards.rows(); ++row) {
    std::uint8_t* const out = bytes.data() + static_cast<std::size_t>(row) * columns;
    for (Index c = 0; c < 10; ++c) {
      const auto most = static_cast<Real>(c % 2 == 0 ? 4 : 13), number = cards(row, c);
      const auto place = static_cast<std::size_t>(number);
      if (!(number >= 1 && number <= most) || static_cast<Real>(place) != number)
        refuse(file.string(), ": row ", row, " has no card in field ", c + 1, "; suits are 1 to 4, ranks 1 to 13");
      out[static_cast<std::size_t>(c / 2 * 17 + (c % 2) * 4) + place - 1] = 1;
    }
  }
  return {std::move(bytes), static_cast<Index>(columns)};
}

template <class Real>
Samples<Real> read_poker(const NamedSet& set, const fs::path& file, bool one_hot) {
  Table<Real> table = read_csv<Real>(file, {.first_line = FirstLine::sample, .separator = ','});
  if (table.features.cols() != 10) refuse(file.string(), ": has ", table.features.cols(), " numbers a hand; five cards are 10");
  if (one_hot) table.features = one_hot_cards(table.features, file);
  return numbered(set, file, std::move(table));
}

std::uint32_t device_classes_of(const DataOptions& options) {
  if (options.classes == 0 || options.classes == 10) return 10;
  if (options.classes == 9) return 9;
  refuse("data.classes is ", options.classes, "; iot-device has 9 or 10");
}

// The first rows of the label order: without those of later classes.
template <class Real>
void keep_classes(Samples<Real>& samples, std::uint32_t classes) {
  Rows kept;
  for (std::uint32_t row = 0; row < samples.labels.size(); ++row)
    if (samples.labels[row] < classes) kept.push_back(row);
  samples.features = samples.features.picked(kept);
  std::erase_if(samples.labels, [&](Label label) { return label >= classes; });
}

// Words in alphabetical order: the class that the test part lacks is the last.
template <class Real>
void load_iot(const NamedSet& set, const Found& found, const DataOptions& options, Dataset<Real>& dataset) {
  constexpr Index constant_column = 7;  // ds_field_A
  const CsvOptions form{.label = "device_category", .first_line = FirstLine::names, .separator = ','};
  Table<Real> train = read_csv<Real>(found.files[0], form), test = read_csv<Real>(found.files[1], form);
  need_inputs(set, found.files[0], train.features.cols());
  const ClassNames names(train.labels, {}, found.files[0].string());
  dataset.train = {std::move(train.features), names.coded(train.labels, found.files[0].string())};
  dataset.test = {std::move(test.features), names.coded(test.labels, found.files[1].string())};
  dataset.classes = std::min(names.size(), device_classes_of(options));
  for (Samples<Real>* const part : {&dataset.train, &dataset.test}) {
    keep_classes(*part, dataset.classes);
    if (options.columns == set.shape.size()) continue;
    part->features.drop_column(constant_column);
    dataset.shape = {1, 1, part->features.cols()};
  }
}

// Of every class the first 400 segments of 300 numbers: the spectra of the drive end and the fan end side by side.
template <class Real>
void load_cwru(const Found& found, std::uint32_t classes, Dataset<Real>& dataset) {
  constexpr Index length = 300, half = length / 2, most = 400;
  const std::vector<std::size_t> small_task{0, 1, 4, 7};
  std::vector<Real> numbers;
  for (Label label = 0; label < classes; ++label) {
    const std::size_t place = 2 * (classes == 4 ? small_task[label] : label);
    const Matrix<double> drive = segment_spectra(read_series(found.files[place]), length, most);
    const Matrix<double> fan = segment_spectra(read_series(found.files[place + 1]), length, most);
    for (Index row = 0; row < std::min(drive.rows(), fan.rows()); ++row) {
      for (Index k = 0; k < half; ++k) numbers.push_back(static_cast<Real>(drive(row, k)));
      for (Index k = 0; k < half; ++k) numbers.push_back(static_cast<Real>(fan(row, k)));
      dataset.train.labels.push_back(label);
    }
  }
  dataset.train.features = {std::move(numbers), length};
  dataset.classes = classes;
}

template <class Real>
Samples<Real> read_digits(const NamedSet& set, const fs::path& file) {
  Table<Real> table = read_csv<Real>(file, {.first_line = FirstLine::sample, .separator = ','});
  need_inputs(set, file, table.features.cols());
  return numbered(set, file, std::move(table));
}

// Brightnesses from 0 to 16 become 0 to 1.
template <class Real>
void scale_digits(Dataset<Real>& dataset) {
  const std::vector<double> centres(64), factors(64, 1.0 / 16);
  dataset.train.features.rescale(centres, factors);
  dataset.test.features.rescale(centres, factors);
}

std::uint32_t bearing_classes_of(const DataOptions& options) {
  if (options.classes == 0) return bearing_classes.size();
  const auto classes = static_cast<std::uint32_t>(options.classes);
  if (classes == 4 || classes == bearing_classes.size()) return classes;
  refuse("data.classes is ", classes, "; cwru has 4 or 10");
}

// The letters are numbered from 1; with a class more none is renumbered, and class 0 stays empty.
void choose_letters(const DataOptions& options, NamedSet& set) {
  if (set.name != "emnist-letters" || options.classes == 0) return;
  const auto classes = static_cast<std::uint32_t>(options.classes);
  if (classes != set.classes && classes != set.classes + 1)
    refuse("data.classes is ", classes, "; emnist-letters has 26, or 27 with the unused label 0");
  set.first_label -= classes - set.classes;
  set.classes = classes;
}

// Reads both parts as they stand in the files.
template <class Real>
void load_parts(const NamedSet& set, const Found& found, const DataOptions& options, Dataset<Real>& dataset) {
  const auto both = [&](const auto& read) {
    dataset.train = read(0);
    dataset.test = read(1);
  };
  switch (set.kind) {
    case Kind::idx:
      return both([&](std::size_t part) { return read_images<Real>(set, found, part); });
    case Kind::cifar:
      return load_cifar(set, found, dataset);
    case Kind::a9a:
      return both([&](std::size_t part) { return read_a9a<Real>(set, found.files[part]); });
    case Kind::poker:
      if (!options.one_hot) dataset.shape = {1, 1, 10};
      return both([&](std::size_t part) { return read_poker<Real>(set, found.files[part], options.one_hot); });
    case Kind::iot:
      return load_iot(set, found, options, dataset);
    case Kind::cwru:
      return load_cwru(found, bearing_classes_of(options), dataset);
    case Kind::digits:
      return both([&](std::size_t part) { return read_digits<Real>(set, found.files[part]); });
    case Kind::breast_cancer: {
      Table<Real> table = read_csv<Real>(found.files[0], {.first_line = FirstLine::skipped});
      need_inputs(set, found.files[0], table.features.cols());
      dataset.train = numbered(set, found.files[0], std::move(table));
    }
  }
}

template <class Real>
void prepare(const NamedSet& set, const DataOptions& options, std::uint64_t seed, Dataset<Real>& dataset) {
  if (dataset.test.size() == 0) split_off_test(dataset, options.test_share, options.shuffle, seed);
  check(dataset);
  const bool is_digits = set.kind == Kind::digits;
  const bool scales_digits = is_digits && (options.normalise == Normalise::usual || options.normalise == Normalise::unit);
  if (scales_digits && options.clip == 0) return scale_digits(dataset);
  const bool are_images = set.kind == Kind::idx || set.kind == Kind::cifar;
  const bool are_measured = set.kind == Kind::iot || set.kind == Kind::cwru || set.kind == Kind::breast_cancer;
  normalise(dataset, options.normalise,
            are_images     ? Normalise::unit
            : are_measured ? Normalise::standard
                           : Normalise::none,
            are_images, options.clip);
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

std::vector<std::filesystem::path> files_of_dataset(const std::string& name, const std::filesystem::path& data_dir) {
  const std::optional<Found> found = find(known_set(name), data_dir);
  if (!found) return {};
  std::vector<fs::path> files = found->files;
  files.insert(files.end(), found->more.begin(), found->more.end());
  return files;
}

template <class Real>
std::shared_ptr<const Dataset<Real>> load_dataset(const std::string& name, const std::filesystem::path& data_dir,
                                                  const DataOptions& options, std::uint64_t seed) {
  NamedSet set = known_set(name);
  choose_letters(options, set);
  const std::optional<Found> found = find(set, data_dir);
  if (!found) fail_missing(set, data_dir);
  const auto dataset = std::make_shared<Dataset<Real>>();
  dataset->name = set.name;
  dataset->classes = set.classes;
  dataset->shape = set.shape;
  if (!found->version.note.empty()) dataset->notes.push_back(found->version.note);
  load_parts(set, *found, options, *dataset);
  prepare(set, options, seed, *dataset);
  return dataset;
}

DatasetFacts usual_facts(const std::string& name) {
  const NamedSet set = known_set(name);
  return {0, 0, set.shape, set.classes};
}

DatasetFacts facts_of(const std::string& name, const std::filesystem::path& data_dir) {
  const NamedSet set = known_set(name);
  const std::optional<Found> found = find(set, data_dir);
  if (!found) fail_missing(set, data_dir);
  constexpr std::size_t batch = 10000;
  if (set.kind == Kind::idx) return {count_idx(found->files[0]), count_idx(found->files[2]), set.shape, set.classes};
  if (set.kind == Kind::cifar) return {batch * (1 + found->more.size()), batch, set.shape, set.classes};
  const auto dataset = load_dataset<float>(name, data_dir);
  return {dataset->train.size(), dataset->test.size(), dataset->shape, dataset->classes};
}

template std::shared_ptr<const Dataset<float>> load_dataset(const std::string&, const std::filesystem::path&, const DataOptions&,
                                                            std::uint64_t);
template std::shared_ptr<const Dataset<double>> load_dataset(const std::string&, const std::filesystem::path&, const DataOptions&,
                                                             std::uint64_t);

}  // namespace rubato
