#include "learning/metrics.hpp"

#include <cassert>
#include <cmath>
#include <numeric>

namespace rubato {

void Score::count(Label truth, Label prediction) {
  assert(truth < classes && prediction < classes && "labels and predictions are below classes");
  ++samples;
  correct += truth == prediction ? 1 : 0;
  ++confusion[std::size_t{truth} * classes + prediction];
}

Score& Score::operator+=(const Score& other) {
  if (confusion.empty()) {
    classes = other.classes;
    confusion.resize(other.confusion.size());
  }
  assert((other.confusion.empty() || other.classes == classes) && "scores that add up have the same classes");
  samples += other.samples;
  correct += other.correct;
  loss_sum += other.loss_sum;
  for (std::size_t i = 0; i < other.confusion.size(); ++i) confusion[i] += other.confusion[i];
  return *this;
}

double Score::mean_loss() const {
  return samples == 0 ? 0 : loss_sum / static_cast<double>(samples);
}

double Score::accuracy() const {
  return samples == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(samples);
}

double Score::macro_f1() const {
  return mean(f1_per_class());
}

std::vector<double> Score::f1_per_class() const {
  std::vector<double> f1(classes);
  for (std::size_t c = 0; c < classes; ++c) {
    std::uint64_t of_class = 0, as_class = 0;  // TP + FN and TP + FP
    for (std::size_t other = 0; other < classes; ++other) {
      of_class += confusion[c * classes + other];
      as_class += confusion[other * classes + c];
    }
    const std::uint64_t hits = confusion[c * classes + c];
    if (of_class + as_class > 0) f1[c] = 2 * static_cast<double>(hits) / static_cast<double>(of_class + as_class);
  }
  return f1;
}

Score empty_score(std::uint32_t classes) {
  Score score;
  score.classes = classes;
  score.confusion.resize(std::size_t{classes} * classes);
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
  if (before > 0) {
    squares_ += (model.template cast<double>() - mean_.mean()).squaredNorm() * (before / (before + 1));
  }
  mean_.add(model);
}

double ConsensusSum::squared_mean() const {
  return count() == 0 ? 0 : squares_ / static_cast<double>(count());
}

template void MeanModel::add(ConstVectorRef<float>);
template void MeanModel::add(ConstVectorRef<double>);
template Vector<float> MeanModel::mean_as() const;
template Vector<double> MeanModel::mean_as() const;
template void ConsensusSum::add(ConstVectorRef<float>);
template void ConsensusSum::add(ConstVectorRef<double>);

}  // namespace rubato
