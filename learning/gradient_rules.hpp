// Gradient rules: what is done to a gradient before an algorithm sees it.
#pragma once

#include <memory>
#include <vector>

#include "learning/learner.hpp"
#include "learning/model.hpp"

namespace rubato {

/// First a gradient that is longer than `clip` is shortened to it, then `weight_decay` times x is added; losses stay.
struct GradientRules {
  double clip = 0;  ///< largest Euclidean norm; 0: none
  double weight_decay = 0;
  std::vector<Range> exempt{};  ///< parameters that neither concerns, in ascending order: Model::statistics()
};

/// The same learner with these rules in gradient() and descend(); the learner itself if they ask for nothing.
/// Throws std::invalid_argument if a number is negative.
template <class Real>
std::unique_ptr<Learner<Real>> with_rules(std::unique_ptr<Learner<Real>> learner, std::shared_ptr<const GradientRules> rules);

}  // namespace rubato
