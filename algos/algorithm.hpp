// The questions an algorithm answers: what a client does with its model, its data and the payloads; never when.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "learning/learner.hpp"
#include "learning/scratch.hpp"
#include "learning/types.hpp"
#include "runtime/archive.hpp"
#include "runtime/payload.hpp"
#include "runtime/random.hpp"
#include "runtime/step.hpp"

namespace rubato {

/// Where a client stands among the others. What the spans show outlives the algorithms.
struct ClientView {
  ClientId client;                                 ///< which client it is
  std::span<const ClientId> senders;               ///< clients that can send to it, ascending
  std::span<const ClientId> receivers;             ///< clients that it can send to, ascending
  std::span<const std::uint32_t> samples;          ///< of every client; its size is the number of clients
  double compute_chance = 1;                       ///< of a gradient in a computation
  ClientId centre{};                               ///< the client that gathers and scatters, where the protocol has a centre
  bool in_rounds = false;                          ///< barriers hold all clients together
  bool loses_nothing = false;                      ///< every message that is published is merged by its receiver, once
  bool keeps_balance = false;                      ///< count what balance() needs, at some cost
  bool sends_per_link = false;                     ///< each link has a transmit timer: a publish step has one receiver at most
  std::span<const double> sender_weights{};        ///< of merges, beside the senders; valid while the algorithm is made
  bool counts_increments = false;                  ///< replies of exchanges in pairs tell all that was ever decided
  std::span<const std::uint32_t> architectures{};  ///< of every client's model, counted from 0; empty: all models are alike

  /// Of the model of a client.
  std::uint32_t architecture_of(ClientId whose) const { return architectures.empty() ? 0 : architectures[whose.value]; }
};

/// How much a peer counts to a client that has found that out by itself.
struct PeerWeight {
  ClientId peer{};    ///< another client
  double weight = 0;  ///< at least 0

  bool operator==(const PeerWeight&) const = default;
};

/// Writes a row of them, or reads it back; throws BadArchive.
inline void archive_row(Archive& archive, std::vector<PeerWeight>& row) {
  archive.list(row, [](Archive& part, PeerWeight& one) { part(one.peer, one.weight); });
}

/// The place of a client in an ascending list, such as the receivers of a ClientView. Throws std::runtime_error if it is
/// not in it: a forged record may name any client.
std::size_t place_of(std::span<const ClientId> ascending, ClientId client);

/// Choices that are given instead of drawn, of one client.
struct ChoiceTable {
  std::vector<Rows> batches;                                            ///< number -> samples; empty: the full data
  std::map<std::pair<std::uint64_t, std::uint32_t>, Rows> coordinates;  ///< (number, peer)
  std::map<std::uint64_t, std::vector<double>> uniforms;                ///< number -> values in [0, 1)
  std::map<std::uint64_t, std::vector<double>> noise;                   ///< number -> what is added, as it is
};

/// The samples of one client in a new order each epoch: a shuffle drawn by (seed, client, epoch). It keeps the last one.
class EpochOrder {
 public:
  /// The samples at the places first to first + count - 1 of that epoch; valid until the next call.
  std::span<const std::uint32_t> part(std::uint64_t seed, ClientId client, std::uint64_t epoch, std::uint32_t samples,
                                      std::uint64_t first, std::uint32_t count);

 private:
  std::uint64_t epoch_ = ~std::uint64_t{0};
  std::vector<std::uint32_t> order_;
};

/// A client's own chance: which samples go into which mini-batch, and the like. Drawn by address, so that no choice
/// depends on another: each batch with replacement, or all samples once an epoch, where the last batch of an epoch has what
/// is left.
struct BatchPlan {
  std::uint64_t seed = 0;              ///< of the run
  ClientId client;                     ///< whose chance it is
  std::uint32_t size = 0;              ///< samples in a batch; 0: every batch is the full data
  const ChoiceTable* table = nullptr;  ///< where choices are given; must outlive the plan
  std::uint64_t local_batches = 1;     ///< of one computation
  bool in_epochs = false;              ///< without replacement
  mutable EpochOrder order{};          ///< where there are epochs; a plan is used by one thread at a time
};

/// What one call of an algorithm may use: this client's task and chance, the memory of the thread it happens to run on.
/// Spans and vectors lie in scratch memory: valid until the innermost frame ends.
template <class Real>
class Work {
 public:
  /// All of them outlive it.
  Work(const Learner<Real>& client_learner, const BatchPlan& batches, Scratch<Real>& thread_scratch, TensorPool& run_pool)
      : learner{client_learner}, scratch{thread_scratch}, pool{run_pool}, batches_{batches} {}

  /// The samples of this client's `number`-th mini-batch. Empty stands for all samples.
  Picks batch(std::uint64_t number) const { return batch(number, number); }
  /// The same where not every number is trained on: it is the `trained`-th that is, which is what epochs count.
  Picks batch(std::uint64_t number, std::uint64_t trained) const;

  /// Mini-batches of one computation, at least 1: those of computation k are k local_batches() and the next ones.
  std::uint64_t local_batches() const { return batches_.local_batches; }
  /// Writes the mean over the mini-batches of computation k of the gradient at x to g.
  void gradient(ConstVectorRef<Real> x, std::uint64_t k, VectorRef<Real> g) const;
  /// x <- x - eta g(x; batch), once for each mini-batch of computation k.
  void descend(VectorRef<Real> x, std::uint64_t k, Real eta) const;

  /// How many batches the client's samples fill; 1 where every batch is the full data or given.
  std::uint64_t batches_in_epoch() const;

  /// `count` different coordinates of 0 .. dimension - 1, ascending, for the message `number` to `peer`.
  Picks coordinates(std::uint64_t number, ClientId peer, Index dimension, Index count) const;

  /// `count` numbers in [0, 1).
  VectorRef<Real> uniforms(std::uint64_t number, Index count) const;

  /// `count` normal numbers with this standard deviation; nothing is drawn for 0.
  VectorRef<Real> noise(std::uint64_t number, Index count, double deviation) const;

  const Learner<Real>& learner;  ///< the client's task
  Scratch<Real>& scratch;        ///< of this thread
  TensorPool& pool;              ///< where the tensors of payloads come from

 private:
  const BatchPlan& batches_;
};

/// One message of a window.
template <class Real>
struct Received {
  ClientId sender;    ///< the client that published it
  Sequence sequence;  ///< counted by the sender
  double weight;      ///< in this merge: of the link, or as the algorithm's options say
  /// Of the experiment, from the departure of the message to this merge, waiting in the mailbox included. It is recorded: a replay
  /// hands out the same. Never below 0 within one process; between hosts in real time it is as good as their clocks agree.
  Duration age;
  const Payload& payload;  ///< valid during the call
  std::uint32_t place;     ///< of this receiver among the receivers of the message

  /// The i-th tensor that the sender shared with all receivers.
  template <class Number = Real>
  ConstVectorRef<Number> common(std::size_t i = 0) const {
    const Tensor& tensor = payload.common[i];
    return {tensor.data<Number>(), static_cast<Index>(tensor.count())};
  }
  /// The i-th of the tensors that are this receiver's own.
  const Tensor& own_tensor(std::size_t i = 0) const { return payload.own[place * payload.own_each + i]; }
  /// The same as a vector.
  template <class Number = Real>
  ConstVectorRef<Number> own(std::size_t i = 0) const {
    const Tensor& tensor = own_tensor(i);
    return {tensor.data<Number>(), static_cast<Index>(tensor.count())};
  }
};

/// Collects named vectors for traces, checks and tests.
class Probe {
 public:
  virtual ~Probe() = default;
  /// Called for each of them; what the views show is valid during the call.
  virtual void vector(std::string_view name, std::span<const double> values) = 0;
};

/// One client's algorithm. It owns its state and sees no clock and no socket. Calls come one at a time, in the order of
/// the steps. Starts from the model it is built with.
template <class Real>
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  /// Fix the model that the next compute will start from. Only asked of algorithms that said so in their needs.
  virtual void begin(Work<Real>& work);
  /// `step.index` counts this client's computations; without `step.with_gradient` it is a tick without a gradient.
  virtual void compute(Work<Real>& work, const Step& step) = 0;
  /// `step.entries` are the receivers with their shares, ascending; those included whose links lose the message.
  virtual Payload publish(Work<Real>& work, const Step& step) = 0;
  /// Absorbs the messages of a closed window, in the order of `step.entries`; each sender once unless needs keep all.
  virtual void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) = 0;
  /// Whether merge() with such a step can take this payload: its tensors are there, and as large as they must be.
  /// `place`: of this client among the receivers. Asked of what other machines send and records name. Unless it is overridden one
  /// tensor, common to all receivers and as large as the model, is what fits.
  virtual bool fits(const Payload& payload, const Step& step, std::uint32_t place) const;
  /// An increment of this client's own that did not arrive. Where each link has a timer of its own, the entry's place is the link's
  /// among those that lead away from this client.
  virtual void reclaim(Work<Real>& work, const Step& step, const Payload& payload);
  /// Overwrite the model: unification, joining.
  virtual void adopt(ConstVectorRef<Real> model);
  /// Answers a question that the timing depends on: send now? Only asked of algorithms that said so in their needs.
  virtual bool decide(Work<Real>& work, const Step& step);

  /// A new epoch: what was received is given back, what was sent is taken back, and this client's own contribution is
  /// all that its sums hold. Algorithms that pass no mass on have nothing to do.
  virtual void reset(Work<Real>& work);
  /// Writes the whole state, or takes it from an archive that another of the same algorithm and client has written.
  virtual void archive(Archive& archive);

  /// The model as it is exchanged by unification and evaluated.
  virtual ConstVectorRef<Real> model() const = 0;
  /// A copy of the model as it is evaluated, where that takes more than looking at it.
  virtual Tensor snapshot(Work<Real>& work) const;
  /// Shows the state by name, the model first; for traces, checks and tests.
  virtual void inspect(Probe& probe) const = 0;
  /// The row of this client in the collaboration matrix, peers ascending; empty where there is none.
  virtual std::vector<PeerWeight> collaboration() const { return {}; }
  /// This client's part of quantities whose sum over all clients is zero at every instant, by name. Only what is in
  /// force now: nothing where loss or delay may break it.
  virtual void balance(Probe& probe) const;
  /// The same of sums that are zero between two rounds only, where nothing was lost; to the rounding of the models.
  virtual void round_balance(Probe& probe) const;
  /// A vector, of what this client has decided for others less what it has heard of theirs: over all clients that is what is owed,
  /// on its way or unheard of because a message was lost. Nothing where nothing can be owed, or it is not counted.
  virtual void owed(Probe& probe) const;
};

/// Makes one client's algorithm, which starts from the given model.
template <class Real>
using AlgorithmFactory =
    std::function<std::unique_ptr<Algorithm<Real>>(const ClientView& client_view, ConstVectorRef<Real> start, TensorPool& pool)>;

/// A tensor with the same numbers.
template <class Real>
Tensor copy_of(ConstVectorRef<Real> vector, TensorPool& pool);

/// Whether a tensor is there and has so many numbers of this kind.
template <class Number>
bool holds(const Tensor& tensor, std::size_t count) {
  return tensor && tensor.scalar() == scalar_of<Number> && tensor.count() == count;
}
/// Whether a tensor lists coordinates of a vector with so many numbers, as many as there are values.
template <class Real>
bool are_coordinates(const Tensor& coordinates, const Tensor& values, std::size_t numbers);

/// A tensor of zeros.
template <class Real>
Tensor zeros(std::size_t count, TensorPool& pool);

/// The numbers of a tensor, to be filled before it is published. It is not empty and holds such numbers, as below.
template <class Real>
VectorRef<Real> numbers_of(Tensor& tensor) {
  return {tensor.writable<Real>(), static_cast<Index>(tensor.count())};
}

/// The numbers of a tensor, valid while a handle holds them.
template <class Real>
ConstVectorRef<Real> numbers_of(const Tensor& tensor) {
  return {tensor.data<Real>(), static_cast<Index>(tensor.count())};
}

/// Shows a vector of any scalar to a probe, in doubles.
template <class Numbers>
void show(Probe& probe, std::string_view name, const Eigen::MatrixBase<Numbers>& numbers) {
  const Vector<double> copy = numbers.template cast<double>();
  probe.vector(name, {copy.data(), static_cast<std::size_t>(copy.size())});
}

/// Shows one number.
inline void show(Probe& probe, std::string_view name, double number) { probe.vector(name, {&number, 1}); }

extern template class Work<float>;
extern template class Work<double>;
extern template class Algorithm<float>;
extern template class Algorithm<double>;

}  // namespace rubato
