// Operation: one step of a network from numbers to numbers, forwards and backwards.
#pragma once

#include <memory>
#include <optional>

#include "learning/model.hpp"
#include "learning/scratch.hpp"
#include "learning/shape.hpp"
#include "learning/types.hpp"
#include "runtime/random.hpp"

namespace rubato {

/// What all operations of one pass share.
template <class Real>
struct Pass {
  Index rows;              ///< samples
  const Real* parameters;  ///< the whole vector of the network
  Scratch<Real>& scratch;
  const Chance* chance = nullptr;  ///< null: nothing is random
  bool trains = false;             ///< else running statistics are used instead of the batch's
};

/// What an operation read and wrote on its way forwards. Every array has a row per sample; images lie pixel by pixel,
/// the channels of a pixel side by side.
template <class Real>
struct Arrays {
  const Real* in;
  const Real* other;  ///< the second input, where there is one
  Real* out;
  Real* kept;  ///< what the way back needs besides, kept() numbers per sample
};

/// What flows back. `out` is the gradient at the output and may be overwritten; the other two are written, not added
/// to, and null where they are not wanted.
template <class Real>
struct Gradients {
  Real* out;
  Real* in;
  Real* other;
  Real* parameters;  ///< of the whole network; an operation writes its own part, all of it
};

/// How weights start: normal numbers with variance 2 / inputs (he) or 2 / (inputs + outputs) (xavier).
enum class StartLaw { he, xavier };

/// Immutable; all threads may use one operation at once. Its parameters begin at `offset` of the network's vector.
template <class Real>
class Operation {
 public:
  explicit Operation(Index offset) : offset_{offset} {}
  virtual ~Operation() = default;

  virtual Index parameters() const { return 0; }
  /// Numbers per sample that it keeps for the way back.
  virtual Index kept() const { return 0; }
  /// Writes its part of a starting point x; zeros unless it says otherwise.
  virtual void initialise(Real* x, StartLaw law, Stream& stream) const;
  /// Its parameters that are measured, not learned.
  virtual std::optional<Range> statistics() const { return std::nullopt; }

  virtual void forward(const Pass<Real>& pass, const Arrays<Real>& arrays) const = 0;
  virtual void backward(const Pass<Real>& pass, const Arrays<Real>& arrays, const Gradients<Real>& gradients) const = 0;

 protected:
  Index offset() const { return offset_; }

 private:
  Index offset_;
};

template <class Real>
using OperationPtr = std::unique_ptr<const Operation<Real>>;

/// What a ReLU that gave `out` lets flow back.
template <class Real>
void mask(const Real* __restrict out, Real* __restrict delta, Index count) {
  for (Index i = 0; i < count; ++i) delta[i] = out[i] > 0 ? delta[i] : 0;
}

/// Writes `count` normal numbers of this law.
template <class Real>
void start_weights(Real* weights, Index count, Index inputs, Index outputs, StartLaw law, Stream& stream);

extern template class Operation<float>;
extern template class Operation<double>;

}  // namespace rubato
