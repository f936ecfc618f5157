#include "learning/data/data_files.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "learning/data/label_coding.hpp"
#include "learning/data/line_reader.hpp"
#include "learning/data/npy_reader.hpp"
#include "learning/data/preparation.hpp"
#include "learning/data/readers.hpp"

namespace rubato {

namespace {

namespace fs = std::filesystem;

// Names of arrays in an .npz archive, the first that is there is taken.
const std::vector<std::string> train_features{"x_train", "X_train", "x", "X", "features", "data"};
const std::vector<std::string> train_labels{"y_train", "Y_train", "y", "Y", "labels", "target"};
const std::vector<std::string> test_features{"x_test", "X_test"};
const std::vector<std::string> test_labels{"y_test", "Y_test"};
const std::vector<std::string> test_file_features{"x_test", "X_test", "x", "X", "features", "data"};
const std::vector<std::string> test_file_labels{"y_test", "Y_test", "y", "Y", "labels", "target"};

FileFormat format_of(const fs::path& file) {
  fs::path name = file.filename();
  if (name.extension() == ".gz" || name.extension() == ".xz") name = name.stem();
  struct Ending {
    std::string_view ending;
    FileFormat format;
  };
  constexpr auto endings = std::to_array<Ending>({{".csv", FileFormat::csv},
                                                  {".tsv", FileFormat::csv},
                                                  {".data", FileFormat::csv},
                                                  {".libsvm", FileFormat::libsvm},
                                                  {".svm", FileFormat::libsvm},
                                                  {".npy", FileFormat::npy},
                                                  {".npz", FileFormat::npz},
                                                  {"ubyte", FileFormat::idx},
                                                  {".idx", FileFormat::idx},
                                                  {".bin", FileFormat::cifar}});
  for (const Ending& known : endings)
    if (name.string().ends_with(known.ending)) return known.format;
  throw std::invalid_argument("data.format is \"auto\", and the name of " + file.string() +
                              " does not say it; allowed are csv, libsvm, npy, npz, idx, cifar");
}

FileFormat format_of(const DataFiles& files, const fs::path& file) {
  return files.format == FileFormat::by_name ? format_of(file) : files.format;
}

}  // namespace

// A key that nothing would read is a fault.
void check_request(const DataFiles& files, const DataOptions& options) {
  const auto refuse = [](bool is_set, const char* key, const char* reason) {
    if (is_set) rubato::refuse("data.", key, " is set, but nothing reads it: ", reason);
  };
  const auto has = [&](FileFormat format) {
    return format_of(files, files.train) == format || (files.test && format_of(files, *files.test) == format);
  };
  refuse(files.features > 0 && !has(FileFormat::libsvm), "features", "it is for libsvm files");
  refuse(files.label != "last" && !has(FileFormat::csv), "label", "it is for csv files");
  refuse(files.header != FirstLine::automatic && !has(FileFormat::csv), "header", "it is for csv files");
  refuse(files.missing != Missing::refuse && !has(FileFormat::csv) && !has(FileFormat::npy) && !has(FileFormat::npz), "missing",
         "it is for csv, npy and npz files");
  refuse(files.test_labels && !files.test, "test_labels", "data.test is missing");
  const bool are_targets = files.learn == LearnKind::number;
  refuse(are_targets && options.classes > 0, "classes", "data.learn is \"number\"");
  refuse(are_targets && files.label_order, "label_order", "data.learn is \"number\"");
}

namespace {

void need(bool is_there, const char* key, const char* format, bool is_needed) {
  if (is_there == is_needed) return;
  refuse("data.", key, is_needed ? " must be set: " : " is not for this format: ", format);
}

struct Part {
  fs::path file;
  std::optional<fs::path> labels;
  bool is_test;
};

// What labels may take beside their features.
template <class Real>
std::size_t left_beside(const Features<Real>& features) {
  return most_stored_bytes - std::min(most_stored_bytes, features.stored_bytes());
}

template <class Real>
Table<Real> read_npz(const Part& part, const std::vector<std::string>& features, const std::vector<std::string>& labels) {
  BadCells bad;
  FeatureArray<Real> array = read_npy_features<Real>(open_npz(part.file, features), most_stored_bytes, &bad);
  LabelColumn column = read_npy_labels(open_npz(part.file, labels), left_beside(array.features));
  return {std::move(array.features), std::move(column), array.shape, {}, std::move(bad)};
}

template <class Real>
Table<Real> read_part(const DataFiles& files, FileFormat format, const Part& part, std::size_t features) {
  const char* const labels_key = part.is_test ? "test_labels" : "train_labels";
  const auto in_two_files = [&](bool is_so) {
    need(part.labels.has_value(), labels_key,
         is_so ? "this format keeps labels in a file of their own" : "it keeps labels beside the features", is_so);
  };
  in_two_files(format == FileFormat::npy || format == FileFormat::idx);
  switch (format) {
    case FileFormat::csv:
      return read_csv<Real>(part.file, {.label = files.label, .first_line = files.header, .keeps_bad_cells = true});
    case FileFormat::libsvm:
      return read_libsvm<Real>(part.file, features);
    case FileFormat::idx:
      return read_idx<Real>(part.file, *part.labels);
    case FileFormat::cifar:
      return read_cifar<Real>(std::array{part.file});
    case FileFormat::npz:
      return read_npz<Real>(part, part.is_test ? test_file_features : train_features,
                            part.is_test ? test_file_labels : train_labels);
    case FileFormat::npy:
    case FileFormat::by_name:
      break;
  }
  BadCells bad;
  FeatureArray<Real> array = read_npy_features<Real>(FileStream(part.file), most_stored_bytes, &bad);
  LabelColumn column = read_npy_labels(FileStream(*part.labels), left_beside(array.features));
  return {std::move(array.features), std::move(column), array.shape, {}, std::move(bad)};
}

template <class Real>
void check_sizes(const Table<Real>& table, const fs::path& file) {
  if (table.labels.size() == static_cast<std::size_t>(table.features.rows())) return;
  refuse(file.string(), ": has ", table.features.rows(), " rows and ", table.labels.size(), " labels");
}

template <class Real>
void drop_rows(Table<Real>& table) {
  const std::vector<std::uint32_t>& bad = table.bad_cells.rows();
  Rows kept;
  std::vector<double> labels;
  for (std::uint32_t row = 0; row < static_cast<std::uint32_t>(table.features.rows()); ++row) {
    if (std::ranges::binary_search(bad, row)) continue;
    kept.push_back(row);
    labels.push_back(table.labels.numbers[row]);
  }
  table.features = table.features.picked(kept);
  table.labels.numbers = std::move(labels);
}

// What data.missing asks for, but means: these are known when the training rows are.
template <class Real>
void judge_bad_cells(Table<Real>& table, const fs::path& file, Missing missing, std::vector<std::string>& notes) {
  if (!table.bad_cells.any()) return;
  const std::string what = table.bad_cells.sentence(file.string(), table.field_names);
  if (missing == Missing::refuse)
    throw std::invalid_argument(what + "; data.missing = \"drop\" leaves such rows out, \"mean\" fills in the mean of the column");
  if (missing == Missing::mean) {
    if (std::ranges::any_of(table.labels.numbers, [](double label) { return std::isnan(label); }))
      throw std::invalid_argument(what +
                                  "; labels are among them, which data.missing = \"mean\" cannot fill in; \"drop\" leaves "
                                  "such rows out");
    return notes.push_back(what + "; they are now the means of their columns");
  }
  drop_rows(table);
  if (table.features.rows() == 0) throw std::invalid_argument(what + "; data.missing = \"drop\" leaves no row");
  notes.push_back(what + "; their rows are left out, which leaves " + std::to_string(table.features.rows()));
}

// Columns are taken by place: where both files name them, the names must agree.
template <class Real>
void check_names(const Table<Real>& train, const Table<Real>& test, const DataFiles& files) {
  if (train.names.size() != test.names.size()) return;
  const auto [mine, other] = std::mismatch(train.names.begin(), train.names.end(), test.names.begin());
  if (mine == train.names.end()) return;
  refuse(files.test->string(), ": feature ", mine - train.names.begin() + 1, " is named ", shown(*other), "; in ",
         files.train.string(), " it is ", shown(*mine), ", and columns must be in the same order");
}

Shape shape_of(const DataFiles& files, const Shape& in_file) {
  if (files.shape.empty()) return in_file;
  if (files.shape.size() != 3) refuse("data.shape has ", files.shape.size(), " numbers; allowed are 3: channels, height and width");
  const Shape shape{static_cast<Index>(files.shape[0]), static_cast<Index>(files.shape[1]), static_cast<Index>(files.shape[2])};
  if (shape.size() == in_file.size()) return shape;
  refuse("data.shape is ", shape.channels, " x ", shape.height, " x ", shape.width, "; a row of ", files.train.string(), " has ",
         in_file.size(), " numbers");
}

template <class Real>
std::vector<Real> targets_of(const LabelColumn& column, const fs::path& file) {
  if (!column.words.empty())
    throw std::invalid_argument(file.string() + ": has words as labels; data.learn = \"number\" needs numbers");
  std::vector<Real> targets(column.numbers.begin(), column.numbers.end());
  const auto odd = std::find_if(targets.begin(), targets.end(), [](Real target) { return !std::isfinite(target); });
  if (odd != targets.end())
    refuse(file.string(), ": row ", odd - targets.begin(), " has a label that is too large for the precision of the experiment");
  return targets;
}

template <class Real>
void set_labels(Dataset<Real>& dataset, const DataFiles& files, const DataOptions& options, const LabelColumn& train,
                const LabelColumn& test) {
  const fs::path test_file = files.test.value_or(files.train);
  const auto classes = static_cast<std::uint32_t>(options.classes);
  if (files.learn == LearnKind::number) {
    dataset.train.targets = targets_of<Real>(train, files.train);
    dataset.test.targets = targets_of<Real>(test, test_file);
    return;
  }
  dataset.classes = classes;
  if (train.words.empty() && classes > 0) {
    dataset.train.labels = numbered_labels(train, classes, 0, files.train.string());
    dataset.test.labels = numbered_labels(test, classes, 0, test_file.string());
    return;
  }
  const ClassNames names(train, files.label_order.value_or(std::vector<std::string>{}), files.train.string());
  if (classes > 0 && classes != names.size())
    refuse("data.classes is ", classes, "; ", files.train.string(), " has ", names.size(), " different labels");
  dataset.classes = names.size();
  dataset.class_names = names.names();
  dataset.train.labels = names.coded(train, files.train.string());
  dataset.test.labels = names.coded(test, test_file.string());
}

template <class Real>
Table<Real> read_test(const DataFiles& files, FileFormat format, std::size_t features) {
  if (files.test) return read_part<Real>(files, format_of(files, *files.test), {*files.test, files.test_labels, true}, features);
  if (format == FileFormat::npz && has_npz(files.train, test_features))
    return read_npz<Real>({files.train, {}, true}, test_features, test_labels);
  return {};
}

}  // namespace

template <class Real>
std::shared_ptr<const Dataset<Real>> load_files(const DataFiles& files, const DataOptions& options, std::uint64_t seed) {
  const FileFormat format = format_of(files, files.train);
  check_request(files, options);
  Table<Real> train =
      read_part<Real>(files, format, {files.train, files.train_labels, false}, static_cast<std::size_t>(files.features));
  check_sizes(train, files.train);
  Table<Real> test = read_test<Real>(files, format, static_cast<std::size_t>(train.features.cols()));
  check_sizes(test, files.test.value_or(files.train));
  check_names(train, test, files);
  const auto dataset = std::make_shared<Dataset<Real>>();
  const bool has_means = files.missing == Missing::mean && (train.bad_cells.any() || test.bad_cells.any());
  judge_bad_cells(train, files.train, files.missing, dataset->notes);
  judge_bad_cells(test, files.test.value_or(files.train), files.missing, dataset->notes);
  dataset->name = "files";
  dataset->shape = shape_of(files, train.shape);
  dataset->train.features = std::move(train.features);
  dataset->test.features = std::move(test.features);
  set_labels(*dataset, files, options, train.labels, test.labels);
  if (dataset->test.size() == 0) split_off_test(*dataset, options.test_share, options.shuffle, seed);
  check(*dataset);
  if (has_means) fill_missing(*dataset);
  const bool are_images = dataset->shape.height > 1;
  const bool is_text = format == FileFormat::csv || format == FileFormat::libsvm;
  if (options.normalise == Normalise::usual && !are_images)
    dataset->notes.push_back(
        "features are scaled to mean 0 and deviation 1 by the training rows; data.normalise = \"none\" leaves them as they are");
  normalise(*dataset, options.normalise, are_images ? Normalise::unit : Normalise::standard,
            !is_text && dataset->train.features.are_bytes(), options.clip);
  return dataset;
}

template std::shared_ptr<const Dataset<float>> load_files(const DataFiles&, const DataOptions&, std::uint64_t);
template std::shared_ptr<const Dataset<double>> load_files(const DataFiles&, const DataOptions&, std::uint64_t);

}  // namespace rubato
