#include "learning/data/preparation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "learning/data/partition.hpp"
#include "runtime/sentence.hpp"

namespace rubato {

namespace {

template <class Number>
std::vector<Number> picked(const std::vector<Number>& all, const Rows& rows) {
  if (all.empty()) return {};
  std::vector<Number> some;
  some.reserve(rows.size());
  for (const std::uint32_t row : rows) some.push_back(all[row]);
  return some;
}

template <class Real>
Samples<Real> picked(const Samples<Real>& all, const Rows& rows) {
  return {all.features.picked(rows), picked(all.labels, rows), picked(all.targets, rows)};
}

/// Of a group of columns.
struct Moments {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double sum = 0;
  double squares = 0;  // of the distances to the mean
};

// Calls act(group, number) for all numbers, row by row.
template <class Real>
void for_each_number(const Features<Real>& features, Index columns_per_group, const auto& act) {
  std::vector<Real> row(static_cast<std::size_t>(features.cols()));
  for (Index i = 0; i < features.rows(); ++i) {
    features.copy_row(i, row.data());
    for (std::size_t c = 0; c < row.size(); ++c) act(c / static_cast<std::size_t>(columns_per_group), static_cast<double>(row[c]));
  }
}

template <class Real>
std::vector<Moments> moments_of(const Features<Real>& features, Index columns_per_group) {
  std::vector<Moments> groups(static_cast<std::size_t>(features.cols() / columns_per_group));
  const double count = static_cast<double>(features.rows() * columns_per_group);
  for_each_number(features, columns_per_group, [&](std::size_t group, double number) {
    Moments& of = groups[group];
    of.low = std::min(of.low, number);
    of.high = std::max(of.high, number);
    of.sum += number;
  });
  for_each_number(features, columns_per_group, [&](std::size_t group, double number) {
    const double distance = number - groups[group].sum / count;
    groups[group].squares += distance * distance;
  });
  return groups;
}

}  // namespace

template <class Real>
void split_off_test(Dataset<Real>& dataset, double share, bool shuffle, std::uint64_t seed) {
  const std::size_t all = dataset.train.size();
  if (all < 2) throw std::invalid_argument("data set " + dataset.name + " has too few rows for a training and a test part");
  const auto wanted = static_cast<std::size_t>(std::llround(share * static_cast<double>(all)));
  const std::size_t test = std::clamp<std::size_t>(wanted, 1, all - 1);
  Stream stream(seed, no_client, Purpose::split);
  Rows rows(all);
  if (shuffle)
    rows = draw_order(all, stream);
  else
    std::iota(rows.begin(), rows.end(), 0u);
  Rows kept(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(test));
  Rows moved(rows.end() - static_cast<std::ptrdiff_t>(test), rows.end());
  std::sort(kept.begin(), kept.end());
  std::sort(moved.begin(), moved.end());
  dataset.test = picked(dataset.train, moved);
  dataset.train = picked(dataset.train, kept);
}

template <class Real>
void fill_missing(Dataset<Real>& dataset) {
  const auto columns = static_cast<std::size_t>(dataset.inputs());
  std::vector<double> means(columns), counts(columns);
  for_each_number(dataset.train.features, 1, [&](std::size_t column, double number) {
    if (!std::isnan(number)) means[column] += number, ++counts[column];
  });
  for (std::size_t c = 0; c < columns; ++c) {
    if (counts[c] == 0)
      refuse("data.missing = \"mean\": feature ", c + 1, " has no number in any training row, so that it has no mean");
    means[c] /= counts[c];
  }
  dataset.train.features.fill_missing(means);
  dataset.test.features.fill_missing(means);
}

template <class Real>
void normalise(Dataset<Real>& dataset, Normalise how, Normalise usually, bool are_pixels, double clip) {
  if (how == Normalise::usual) how = usually;
  if (clip > 0 && how != Normalise::standard)
    throw std::invalid_argument("data.clip counts deviations, and the features of " + dataset.name +
                                " are not scaled to a deviation of 1; needs data.normalise = \"standard\"");
  if (how == Normalise::none) return;
  const auto columns = static_cast<std::size_t>(dataset.inputs());
  const Index plane = dataset.shape.height * dataset.shape.width;
  const bool are_images = dataset.shape.height > 1;
  std::vector<double> centres(columns), factors(columns, 1.0 / 255);
  if (how == Normalise::standard || !are_images || !are_pixels) {
    const Index per_group = are_images ? plane : 1;
    const std::vector<Moments> groups = moments_of(dataset.train.features, per_group);
    for (std::size_t c = 0; c < columns; ++c) {
      const Moments& of = groups[c / static_cast<std::size_t>(per_group)];
      const double count = static_cast<double>(dataset.train.size()) * static_cast<double>(per_group);
      const bool is_constant = of.low == of.high, is_unit = how == Normalise::unit;
      const double spread = is_unit ? of.high - of.low : std::sqrt(of.squares / count);
      centres[c] = is_unit || is_constant ? of.low : of.sum / count;
      factors[c] = is_constant || spread == 0 ? 0 : 1 / spread;
    }
  }
  dataset.train.features.rescale(centres, factors);
  if (dataset.test.size() > 0) dataset.test.features.rescale(centres, factors);
  if (clip == 0) return;
  dataset.train.features.clip(clip);
  if (dataset.test.size() > 0) dataset.test.features.clip(clip);
}

template void split_off_test(Dataset<float>&, double, bool, std::uint64_t);
template void split_off_test(Dataset<double>&, double, bool, std::uint64_t);
template void fill_missing(Dataset<float>&);
template void fill_missing(Dataset<double>&);
template void normalise(Dataset<float>&, Normalise, Normalise, bool, double);
template void normalise(Dataset<double>&, Normalise, Normalise, bool, double);

}  // namespace rubato
