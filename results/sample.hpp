// Sample: the numbers about all models of a run at one instant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "learning/metrics.hpp"
#include "runtime/engine/sample_header.hpp"
#include "runtime/ids.hpp"

namespace rubato {

/// What a client has sent and computed so far.
struct Traffic {
  std::uint64_t messages = 0;   ///< a receiver each
  std::uint64_t bytes = 0;      ///< of payloads, without frames
  double paper_bits = 0;        ///< as the papers count
  std::uint64_t gradients = 0;  ///< that were computed

  /// Adds the traffic of another client.
  Traffic& operator+=(const Traffic& other) {
    messages += other.messages;
    bytes += other.bytes;
    paper_bits += other.paper_bits;
    gradients += other.gradients;
    return *this;
  }
  /// Writes all of it, or reads it back; throws BadArchive.
  void archive(Archive& archive) { archive(messages, bytes, gradients, paper_bits); }
};

/// The largest sum over all clients that should be zero and is not.
struct Defect {
  double size = 0;        ///< its absolute value
  double scale = 0;       ///< sum of the absolute values of its parts
  std::string name;       ///< of the quantity; empty: nothing was to be balanced
  std::size_t place = 0;  ///< which of its numbers
  ClientId client{};      ///< with the largest part

  /// Writes all of it, or reads it back; throws BadArchive.
  void archive(Archive& archive) { archive(size, scale, name, place, client); }
};

/// Of models on training rows. Losses are of the data alone, without l2.
struct TrainingScores {
  double accuracy_mean = 0;        ///< over clients, of their own models on their own rows
  double loss_mean = 0;            ///< likewise
  double accuracy_mean_model = 0;  ///< over clients, of the mean of all models on their rows
  double loss_mean_model = 0;      ///< likewise

  /// Writes all of it, or reads it back; throws BadArchive.
  void archive(Archive& archive) { archive(accuracy_mean, loss_mean, accuracy_mean_model, loss_mean_model); }
};

/// The mean of all clients' losses at one model.
struct MeanGradient {
  double norm = 0;       ///< of its gradient, Euclidean
  double objective = 0;  ///< itself, with the models' l2 and the algorithm's penalty

  /// Writes both, or reads them back; throws BadArchive.
  void archive(Archive& archive) { archive(norm, objective); }
};

/// How the accuracies of the measured clients lie; between two clients along a straight line.
struct AccuracySpread {
  double p5 = 0;    ///< one client in twenty does not exceed it
  double p50 = 0;   ///< the median
  double p95 = 0;   ///< one client in twenty exceeds it
  double max = 0;   ///< the highest
  ClientId best{};  ///< whose that is, the first of them

  /// Writes all of it, or reads it back; throws BadArchive.
  void archive(Archive& archive) { archive(p5, p50, p95, max, best); }
};

/// What was measured. Accuracies are shares in [0, 1]; losses are of the data alone, without l2.
struct Sample {
  SampleHeader header;                       ///< when, and of how many models
  Traffic traffic;                           ///< of all clients of the process, absent ones included
  Defect defect;                             ///< the worst broken balance
  std::optional<double> owed_mass;           ///< length of what is owed between all clients, where that is counted
  bool is_classified = false;                ///< else accuracies and F1 mean nothing
  double accuracy_mean = 0;                  ///< over clients
  double accuracy_deviation = 0;             ///< of the population of clients
  double accuracy_mean_model = 0;            ///< of the mean of all models
  double accuracy_min = 0;                   ///< over clients
  std::optional<ClientId> worst;             ///< whose accuracy_min is
  std::optional<AccuracySpread> spread;      ///< of classifiers
  double f1_macro = 0;                       ///< mean over clients
  double f1_macro_mean_model = 0;            ///< of the mean of all models
  double loss_mean = 0;                      ///< mean over clients
  double loss_mean_model = 0;                ///< of the mean of all models
  double consensus = 0;                      ///< sum over clients of the squared distance to the mean model
  double consensus_mean = 0;                 ///< the same divided by the clients
  std::optional<Stationarity> stationarity;  ///< where it is measured
  std::optional<TrainingScores> training;    ///< likewise, with the next ones
  std::optional<MeanGradient> gradient;      ///< at the mean of all models
  std::optional<double> gradient_weighted;   ///< norm at their weighted mean
  std::optional<double> consensus_y;         ///< sum over clients of the squared distance of y to its mean
  std::optional<double> consensus_nu;        ///< the same of nu
  std::optional<double> joint_objective;     ///< where it is measured
  std::vector<double> accuracies;            ///< of the measured clients, in their order
  std::vector<double> losses;                ///< likewise
  std::vector<ClientId> diverged;            ///< of the measured clients: those whose model is not finite
  std::optional<ClientId> different;         ///< after a unification: a client whose model is not the first one's

  /// Writes all of it, or reads it back; throws BadArchive.
  void archive(Archive& archive) {
    archive(header, traffic, defect, is_classified);
    archive(accuracy_mean, accuracy_deviation, accuracy_mean_model, accuracy_min, f1_macro, f1_macro_mean_model);
    archive(loss_mean, loss_mean_model, consensus, consensus_mean, stationarity, accuracies, losses, diverged, different, worst);
    archive(training, gradient, gradient_weighted, consensus_y, consensus_nu, joint_objective, spread, owed_mass);
  }
};

}  // namespace rubato
