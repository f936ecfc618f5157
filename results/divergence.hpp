// Divergences: whose models are not finite any more, and whether the losses run away, as the samples of a run tell it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/run_result.hpp"
#include "results/sample.hpp"

namespace rubato {

/// Of clients that diverged at one instant, and at no other; at least one.
std::vector<std::string> sentences_about(const std::vector<Divergence>& diverged);

/// Kept in checkpoints: what a run has shown before it was interrupted is known when it goes on.
class Divergences {
 public:
  /// A mean loss runs away when it is so many times that of the first sample, or of 1 where that is less.
  static constexpr double far = 50;

  /// Samples in their order. Sentences about what is new.
  std::vector<std::string> look_at(const Sample& sample);
  /// Clients whose models were not finite in a sample, in the order of time.
  const std::vector<Divergence>& clients() const { return clients_; }
  /// When the mean loss was seen first to run away, in seconds.
  std::optional<double> ran_away_at() const { return ran_away_at_; }
  /// It does at the newest sample.
  bool runs_away() const { return runs_away_; }
  /// All sentences so far.
  const std::vector<std::string>& said() const { return said_; }
  /// Writes all of it, or reads it back; throws BadArchive.
  void archive(Archive& archive);

 private:
  std::vector<Divergence> clients_;
  std::optional<double> first_loss_, ran_away_at_;
  bool runs_away_ = false;
  std::vector<std::string> said_;
};

}  // namespace rubato
