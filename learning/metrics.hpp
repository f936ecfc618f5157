// Numbers about models: how often they are right, what they lose, and how far they are apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learning/types.hpp"

namespace rubato {

/// What a model did on some samples. Scores of disjoint samples add up.
struct Score {
  std::uint64_t samples = 0;  ///< that were looked at
  std::uint64_t correct = 0;  ///< of them, those whose class was found
  /// Of the data alone: an l2 term is no part of it.
  double loss_sum = 0;
  std::uint32_t classes = 0;  ///< 0: nothing is classified, only loss_sum and samples mean something
  /// Of one class: samples that were found, that there were, and that were taken for it.
  struct ClassCounts {
    std::uint64_t hits = 0;      ///< of the class, and taken for it
    std::uint64_t of_class = 0;  ///< of the class
    std::uint64_t as_class = 0;  ///< taken for it
    bool operator==(const ClassCounts&) const = default;
  };
  std::vector<ClassCounts> by_class{};  ///< as many as classes

  /// Notes one classified sample.
  void count(Label truth, Label prediction);
  /// Adds the score of other samples with as many classes.
  Score& operator+=(const Score& other);

  /// Loss a sample; 0 without samples, like the next two.
  double mean_loss() const;
  /// In [0, 1].
  double accuracy() const;
  /// Mean over all classes of 2 TP / (2 TP + FP + FN); a class without any of them counts as 0.
  double macro_f1() const;
  /// The numbers of which macro_f1 is the mean.
  std::vector<double> f1_per_class() const;
};

/// How far models are from a point where a loss with a penalty cannot be improved; algos/stationarity.hpp has the sums.
struct Stationarity {
  double prox_gradient = 0;  ///< sum over clients of the squared proximal gradient
  double consensus = 0;      ///< sum over clients of the squared distance to the mean model
  double tracking = 0;       ///< clients times the squared distance of the mean gradient and the mean tracker
  double per_client = 0;     ///< prox_gradient + L^2 consensus + tracking, divided by the clients; L: metrics.smoothness

  /// Writes all of it, or reads it back.
  template <class Archive>
  void archive(Archive& archive) {
    archive(prox_gradient, consensus, tracking, per_client);
  }
};

/// An empty score of so many classes.
Score empty_score(std::uint32_t classes);

/// 0 for no values.
double mean(std::span<const double> values);
/// That of a population: it divides by n. 0 for no values.
double population_deviation(std::span<const double> values);

/// The mean of models that come one after the other, in client order; kept in double, one vector of memory.
/// Equal models have themselves as their mean, to the bit.
class MeanModel {
 public:
  /// All models have one dimension.
  template <class Real>
  void add(ConstVectorRef<Real> model);

  /// Models so far.
  std::uint64_t count() const { return count_; }
  /// Empty before the first model.
  const Vector<double>& mean() const { return mean_; }
  /// The mean rounded to Real.
  template <class Real>
  Vector<Real> mean_as() const;

 private:
  Vector<double> mean_;
  std::uint64_t count_ = 0;
};

/// sum_i ||x_i - mean||^2 of models that come one after the other, in client order; one pass without cancellation
/// (Welford's recurrence), in double. Exactly 0 when all models are equal bit by bit.
class ConsensusSum {
 public:
  /// All models have one dimension.
  template <class Real>
  void add(ConstVectorRef<Real> model);

  /// Models so far.
  std::uint64_t count() const { return mean_.count(); }
  /// 0 without models.
  double squared_sum() const { return squares_; }
  /// squared_sum() / count(); 0 without models.
  double squared_mean() const;
  /// Of the same models.
  const MeanModel& mean_model() const { return mean_; }

 private:
  MeanModel mean_;
  double squares_ = 0;
};

}  // namespace rubato
