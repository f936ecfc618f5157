// The questions an algorithm answers: what a client does with its model, its data and the payloads; never when.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "learning/learner.hpp"
#include "learning/scratch.hpp"
#include "learning/types.hpp"
#include "runtime/payload.hpp"
#include "runtime/random.hpp"
#include "runtime/step.hpp"

namespace rubato {

/// Which of a client's samples go into which mini-batch: drawn with replacement, addressed by the number of the batch.
struct BatchPlan {
  std::uint64_t seed = 0;
  ClientId client;
  std::uint32_t size = 0;  ///< samples in a batch; 0: every batch is the full data
  /// Where the choices are given instead of drawn: batch number -> samples; must outlive the plan.
  const std::vector<Rows>* table = nullptr;
};

/// What one call of an algorithm may use: this client's task and chance, the memory of the thread it happens to run on.
template <class Real>
class Work {
 public:
  Work(const Learner<Real>& client_learner, const BatchPlan& batches, Scratch<Real>& thread_scratch, TensorPool& run_pool)
      : learner{client_learner}, scratch{thread_scratch}, pool{run_pool}, batches_{batches} {}

  /// The samples of this client's `number`-th mini-batch: a pure function of the number. In scratch memory: valid until
  /// the innermost frame ends. Empty stands for all samples.
  Picks batch(std::uint64_t number) const;

  const Learner<Real>& learner;
  Scratch<Real>& scratch;
  TensorPool& pool;

 private:
  const BatchPlan& batches_;
};

/// One message of a window.
template <class Real>
struct Received {
  ClientId sender;
  Sequence sequence;
  double weight;
  Duration age;
  const Payload& payload;
  std::uint32_t place;  ///< of this receiver among the receivers of the message

  /// The i-th tensor that the sender shared with all receivers.
  ConstVectorRef<Real> common(std::size_t i = 0) const {
    const Tensor& tensor = payload.common[i];
    return {tensor.data<Real>(), static_cast<Index>(tensor.count())};
  }
};

/// Collects named vectors for traces, checks and tests.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual void vector(std::string_view name, std::span<const double> values) = 0;
};

/// One client's algorithm. It owns its state and sees no clock and no socket. Calls come one at a time, in the order of
/// the steps. Starts from the model it is built with.
template <class Real>
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  /// Fix the model that the next compute will start from. Only asked of algorithms that said so in their needs.
  virtual void begin(Work<Real>& work) = 0;
  virtual void compute(Work<Real>& work, const Step& step) = 0;
  virtual Payload publish(Work<Real>& work, const Step& step) = 0;
  virtual void merge(Work<Real>& work, std::span<const Received<Real>> window) = 0;
  /// An increment of this client's own that did not arrive.
  virtual void reclaim(Work<Real>& work, const Payload& payload) = 0;
  /// Overwrite the model: unification, joining.
  virtual void adopt(ConstVectorRef<Real> model) = 0;

  /// The model as it is exchanged by unification and evaluated.
  virtual ConstVectorRef<Real> model() const = 0;
  virtual void inspect(Probe& probe) const = 0;
};

/// A tensor with the same numbers.
template <class Real>
Tensor copy_of(ConstVectorRef<Real> vector, TensorPool& pool);

template <class Real>
VectorRef<Real> numbers_of(Tensor& tensor) {
  return {tensor.writable<Real>(), static_cast<Index>(tensor.count())};
}

template <class Real>
ConstVectorRef<Real> numbers_of(const Tensor& tensor) {
  return {tensor.data<Real>(), static_cast<Index>(tensor.count())};
}

extern template class Work<float>;
extern template class Work<double>;

}  // namespace rubato
