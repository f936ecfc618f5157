// OwnParts: what a program that embeds Rubato brings along instead of what the experiment names.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "algos/algorithm.hpp"
#include "learning/learner.hpp"
#include "runtime/protocols/needs.hpp"

namespace rubato::config {
struct Experiment;
}

namespace rubato {

/// What a program of your own brings along instead of what the file names. Empty parts come from the file.
template <class Real>
struct OwnParts {
  /// The task of a client. With it [data] and [model] are not looked at, but for model.batch.
  std::function<std::unique_ptr<Learner<Real>>(ClientId)> learner;
  /// All learners test on the same samples, so one of them can score the mean model for all.
  bool shared_test = false;
  /// The algorithm of a client, and what it needs from its protocol. With it [algorithm] is not looked at.
  AlgorithmFactory<Real> algorithm;
  Needs needs;                          ///< with `algorithm`
  Weights merge = Weights::neighbours;  ///< with `algorithm`: what merge steps carry
  Weights share = Weights::none;        ///< with `algorithm`: what publish steps carry
};

/// The program's learner of a client. Throws std::invalid_argument where it is none.
template <class Real>
std::unique_ptr<Learner<Real>> own_learner(const OwnParts<Real>& own, ClientId client) {
  std::unique_ptr<Learner<Real>> learner = own.learner(client);
  if (learner) return learner;
  throw std::invalid_argument("OwnParts::learner gives nothing for client " + std::to_string(client.value) +
                              ": must give every client a learner");
}

/// Learners that take the place of [data] and [model] in all experiments of this program, as those of a plug-in do.
struct OwnLearners {
  std::unique_ptr<Learner<float>> (*of_float)(ClientId, const config::Experiment&) = nullptr;    ///< with precision = "float32"
  std::unique_ptr<Learner<double>> (*of_double)(ClientId, const config::Experiment&) = nullptr;  ///< with precision = "float64"
  bool shared_test = false;                                                                      ///< as OwnParts::shared_test
};

/// Makes them known; they live as long as the program. To be called before anything else, on one thread. Throws
/// std::invalid_argument where a function is missing, or other learners are known already.
void extend_learners(const OwnLearners& own);

/// Those of extend_learners(); null: experiments say what is learned.
const OwnLearners* own_learners();

}  // namespace rubato
