#include "learning/metrics.hpp"

#include <cassert>
#include <cmath>
#include <numeric>

namespace rubato {

void Score::count(Label truth, Label prediction) {
  assert(truth < classes && prediction < classes && "labels and predictions are below classes");
  ++samples;
  correct += truth == prediction ? 1 : 0;
  by_class[truth].hits += truth == prediction ? 1 : 0;
  ++by_class[truth].of_class;
  ++by_class[prediction].as_class;
}

Score& Score::operator+=(const Score& other) {
  if (by_class.empty()) {
    classes = other.classes;
    by_class.resize(other.by_class.size());
  }
  assert((other.by_class.empty() || other.classes == classes) && "scores that add up have the same classes");
  samples += other.samples;
  correct += other.correct;
  loss_sum += other.loss_sum;
  for (std::size_t c = 0; c < other.by_class.size(); ++c) {
    by_class[c].hits += other.by_class[c].hits;
    by_class[c].of_class += other.by_class[c].of_class;
    by_class[c].as_class += other.by_class[c].as_class;
  }
  return *this;
}

double Score::mean_loss() const { return samples == 0 ? 0 : loss_sum / static_cast<double>(samples); }

double Score::accuracy() const { return samples == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(samples); }

double Score::macro_f1() const { return mean(f1_per_class()); }

std::vector<double> Score::f1_per_class() const {
  std::vector<double> f1(classes);
  for (std::size_t c = 0; c < classes; ++c) {
    const ClassCounts& counts = by_class[c];
    const std::uint64_t both = counts.of_class + counts.as_class;  // 2 TP + FN + FP
    if (both > 0) f1[c] = 2 * static_cast<double>(counts.hits) / static_cast<double>(both);
  }
  return f1;
}

Score empty_score(std::uint32_t classes) {
  Score score;
  score.classes = classes;
  score.by_class.resize(classes);
  return score;
}

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double population_deviation(std::span<const double> values) {
  if (values.empty()) return 0;
  const double centre = mean(values);
  double squares = 0;
  for (double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

template <class Real>
void MeanModel::add(ConstVectorRef<Real> model) {
  ++count_;
  if (count_ == 1) {
    mean_ = model.template cast<double>();
    return;
  }
  assert(model.size() == mean_.size() && "models of one mean have one dimension");
  mean_ += (model.template cast<double>() - mean_) / static_cast<double>(count_);
}

template <class Real>
Vector<Real> MeanModel::mean_as() const {
  return mean_.template cast<Real>();
}

template <class Real>
void ConsensusSum::add(ConstVectorRef<Real> model) {
  const double before = static_cast<double>(mean_.count());
  if (before > 0) squares_ += (model.template cast<double>() - mean_.mean()).squaredNorm() * (before / (before + 1));
  mean_.add(model);
}

double ConsensusSum::squared_mean() const { return count() == 0 ? 0 : squares_ / static_cast<double>(count()); }

template void MeanModel::add(ConstVectorRef<float>);
template void MeanModel::add(ConstVectorRef<double>);
template Vector<float> MeanModel::mean_as() const;
template Vector<double> MeanModel::mean_as() const;
template void ConsensusSum::add(ConstVectorRef<float>);
template void ConsensusSum::add(ConstVectorRef<double>);

}  // namespace rubato
