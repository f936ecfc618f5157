// The keys of [data] and [data.partition].
#include "experiment/file/fields.hpp"
#include "learning/data/named_sets.hpp"

namespace rubato::config {

namespace {

constexpr const char* made_up = "quadratic|tridiagonal|pame_regression|pame_logistic";  // the others' samples are dealt
constexpr const char* own_files = "name=files";

std::string all_sets() {
  std::string names;
  for (const std::string& name : dataset_names()) names += name + "|";
  return names + "files|" + made_up;
}

}  // namespace

void describe(Rows<Data>& rows) {
  const std::string on_rows = std::string("name!=") + made_up;
  rows.table = "data";
  rows.required("name", &Data::name,
                "a data set that `rubato list datasets` shows; files: your own; quadratic: f_i = 1/2 ||x - c_i||^2 with random "
                "c_i; tridiagonal: f_i = 1/2 x'Ax + x_1/4 + <u_i, x>, A = tridiag(-1, 2, -1)/4; pame_regression, pame_logistic: "
                "random samples around a sparse solution")
      .as(Type::choice)
      .one_of(all_sets());
  rows.required("dimension", &Data::dimension, {1, 1e9}, "numbers in x").with(std::string("name=") + made_up);
  rows.required("samples_per_client", &Data::samples_per_client, {1, 1e9}, "samples that each client draws for itself")
      .with("name=pame_regression|pame_logistic");
  rows.key("test_per_client", &Data::test_per_client, count_from_0,
           "samples around the same solution that each client is tested with; 0: it is tested with those that it learns from")
      .with("name=pame_regression|pame_logistic");
  rows.key("support", &Data::support, {0, 1, true}, "share of the solution that is not 0 but in [0.5, 2] or [-2, -0.5]")
      .with("name=pame_regression");
  rows.key("support", &Data::support, {0, 1, true}, "the same").with("name=pame_logistic").or_else({0.5});
  rows.key("noise", &Data::noise, not_negative, "standard deviation of what is added to the targets").with("name=pame_regression");
  rows.key("noise", &Data::noise, not_negative, "standard deviation of what is added to each number of a gradient")
      .with("name=tridiagonal")
      .or_else({0.0});
  rows.key("spread", &Data::spread, not_negative,
           "standard deviation of the numbers of u_i, by which clients differ; their sum is 0")
      .with("name=tridiagonal");
  rows.only_with(own_files);
  rows.key("format", &Data::format, "of the files, each plain, .gz or .xz; auto: by the ending of their names");
  rows.required("train", &Data::train, "the training samples");
  rows.key("train_labels", &Data::train_labels, "their labels, where the format keeps them apart (npy, idx)");
  rows.key("test", &Data::test, "the test samples; none: those of an npz archive, else test_share of the training samples");
  rows.key("test_labels", &Data::test_labels, "their labels");
  rows.key("label", &Data::label, "the label's column in a csv file: its name, its number from 1, or last");
  rows.key("header", &Data::header,
           "the first line of a csv file: names of the columns, or none, a sample; auto: names, if a field besides the label is "
           "neither a number nor missing");
  rows.key("label_order", &Data::label_order, "words that are labels, class 0 first; none: in alphabetical order");
  rows.key("learn", &Data::learn, "what labels are: classes, or the numbers to be learned");
  rows.key("missing", &Data::missing,
           "cells of a csv, npy or npz file that are no finite numbers: refuse the file, drop their rows, or take the mean of the "
           "column's training rows; a row without a label is never filled in");
  rows.key("features", &Data::features, {0, 1e8}, "of a libsvm file, which need not use the last ones; 0: the largest index");
  rows.key("shape", &Data::shape, {1, 1e6}, "channels, height and width of a sample; []: as the file says");
  rows.key("classes", &Data::classes, {0, 65536},
           "labels are 0 to classes - 1; 0: those that the training samples have; cwru: 4 or 10; emnist-letters: 26, or 27 with "
           "the unused label 0; iot-device: 10, or 9 without water_sensor, which no test sample is")
      .with("name=files|cwru|emnist-letters|iot-device");
  rows.key("columns", &Data::columns, {296, 297},
           "features of a sample: all 297, or 296 without ds_field_A, the first that is constant in both parts")
      .with("name=iot-device");
  rows.key("one_hot", &Data::one_hot, "a column for every suit and rank of a card, instead of its two numbers")
      .with("name=poker-hand");
  rows.key("normalise", &Data::normalise,
           "features by the training samples: unit (0 to 1), standard (mean 0, deviation 1; images by channel), none, or what the "
           "set is usually given; of own files images unit, all others standard")
      .with(on_rows);
  rows.key("clip", &Data::clip, not_negative,
           "features with mean 0 and deviation 1 are cut off at so many deviations; 0: not at all; only with normalise = "
           "\"standard\", or a set that is usually given so")
      .with(on_rows);
  rows.only_with("name=files|cwru|breast-cancer");
  rows.key("test_share", &Data::test_share, {0, 1, true, true},
           "share of the samples kept for the test where there is no test part");
  rows.key("shuffle", &Data::shuffle, "draw them from the seed, instead of taking the last ones");
  rows.only_with(on_rows);
  rows.key("samples_per_client", &Data::samples_per_client, count_from_0, "most rows of one client; 0: all that are dealt to it");
  rows.key("train_rows", &Data::train_rows, count_from_0, "rows that are dealt; 0: all");
  rows.key("partition", &Data::partition, "how rows are dealt to clients");
}

void describe(Rows<Partition>& rows) {
  rows.table = "data.partition";
  rows.key("kind", &Partition::kind, "the rule");
  rows.only_with("kind=by_class");
  rows.required("classes", &Partition::classes, {1, 1e6}, "classes of one client");
  rows.key("random", &Partition::random, "draw the classes instead of taking them in turn");
  rows.required("alpha", &Partition::alpha, positive, "concentration; small is uneven")
      .with("kind=dirichlet_by_class|dirichlet_by_client");
  rows.key("min_samples", &Partition::min_samples, count_from_0, "fewest rows of a client; redrawn until it holds")
      .with("kind=dirichlet_by_class");
  rows.only_with("kind=dirichlet_by_client");
  rows.key("fewest", &Partition::fewest, {1, 1e9}, "training rows of the client that has the fewest");
  rows.key("most", &Partition::most, {1, 1e9}, "training rows of the client that has the most; uniform between the two");
  rows.key("test_rows", &Partition::test_rows, count_from_0,
           "test rows of a client, of its own mix of classes; 0: as many as it has training rows");
  rows.key("overlap", &Partition::overlap,
           "where two clients may have the same row, so that none goes short: nowhere, among test rows, or in both parts");
}

}  // namespace rubato::config
