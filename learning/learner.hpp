// Learner: one client's task as algorithms see it: a loss over a flat vector, and the samples that make it up.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "learning/metrics.hpp"
#include "learning/scratch.hpp"
#include "learning/types.hpp"
#include "runtime/random.hpp"

namespace rubato {

/// Some of a client's own samples, counted from 0 to samples() - 1, repetitions allowed. Empty: all of them.
class Picks : public std::span<const std::uint32_t> {
 public:
  using std::span<const std::uint32_t>::span;

  /// The same samples with the random numbers of one gradient.
  Picks with(const Chance& chance) const {
    Picks picks = *this;
    picks.chance_ = chance;
    return picks;
  }
  /// None: nothing is random, so nothing is dropped out.
  const std::optional<Chance>& chance() const { return chance_; }

 private:
  std::optional<Chance> chance_;
};

/// On what a model is scored: the samples it learns from, or those kept apart for this client.
enum class Part { train, test };

/// A layer of the model of one architecture of a run.
struct Cut {
  std::uint32_t architecture = 0;  ///< of those that the clients of a run have, counted from 0
  bool is_output = true;           ///< class probabilities; else what comes out of a hidden layer
  std::size_t layer = 0;           ///< which one, from the input; only of a hidden layer
  Index outputs = 0;               ///< numbers of a sample there
  Index parameters = 0;            ///< the first ones of the model, on which they depend
  std::string base{};              ///< equal where these parameters mean the same, number by number
};

/// Write your own to let Rubato learn something else: dimension(), samples() and gradient() are enough.
/// Immutable; several threads may use it at once, each with its own scratch. It outlives the algorithms that use it.
/// x and g have dimension() numbers and do not overlap.
template <class Real>
class Learner {
 public:
  virtual ~Learner() = default;

  /// Numbers of the model; at least 1.
  virtual Index dimension() const = 0;

  /// At least 1. A loss without samples has one.
  virtual std::uint32_t samples() const = 0;

  /// Returns the mean loss over the picked samples at x and writes its gradient to g, both with their l2 term if any.
  virtual Real gradient(ConstVectorRef<Real> x, Picks picks, VectorRef<Real> g, Scratch<Real>& scratch) const = 0;

  /// x <- x - step * gradient(x) and the loss before the step; faster than the two by hand where a learner knows how.
  /// Equal to them to rounding, not to the bit.
  virtual Real descend(VectorRef<Real> x, Picks picks, Real step, Scratch<Real>& scratch) const;

  /// Writes the starting point, zeros by default. The draws come from `stream` alone.
  virtual void initialise(VectorRef<Real> x, Stream& stream) const;

  /// Classes told apart; 0 if nothing is classified.
  virtual std::uint32_t classes() const { return 0; }

  /// By default one sample with the full loss at x, for both parts.
  virtual Score score(ConstVectorRef<Real> x, Part part, Scratch<Real>& scratch) const;

  /// Writes the class probabilities of the picked samples: out has a row per pick (or per sample) and classes()
  /// columns. Called only if classes() > 0; a learner that overrides one of them overrides both. The default throws
  /// std::logic_error.
  virtual void predict(ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out, Scratch<Real>& scratch) const;

  /// Where a model of this architecture has the layer: "output", the number of a hidden layer (1 is the first, -1 the last), or
  /// its words. Throws std::invalid_argument if it has no such layer. By default there is the output of one architecture.
  virtual Cut cut(std::string_view layer, std::uint32_t architecture) const;

  /// Writes what the picked samples make of a model at the cut: out has a row per pick (or per sample) and cut.outputs columns.
  /// x has the first cut.parameters numbers of the model at least. By default predict().
  virtual void outputs_at(const Cut& cut, ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out, Scratch<Real>& scratch) const;
};

extern template class Learner<float>;
extern template class Learner<double>;

}  // namespace rubato
