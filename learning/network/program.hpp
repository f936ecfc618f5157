// Program: the operations of a network in order, and which arrays they read and write.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "learning/network/operation.hpp"

namespace rubato {

/// An array per number, a row per sample. Array 0 is the input; every other is written by exactly one operation.
using ArrayId = std::size_t;

template <class Real>
struct Node {
  OperationPtr<Real> operation;
  ArrayId in;
  std::optional<ArrayId> other;
  ArrayId out;
};

/// Which arrays share memory because they are never needed at once.
struct MemoryPlan {
  std::vector<std::size_t> slot;  ///< of every array
  std::vector<Index> sizes;       ///< of every slot, numbers per sample

  Index total() const;
};

/// Built once by adding nodes in order; immutable then.
template <class Real>
class Program {
 public:
  explicit Program(Index inputs) : sizes_{inputs} {}

  /// Returns the array that the new operation writes, `size` numbers per sample.
  ArrayId add(OperationPtr<Real> operation, ArrayId in, Index size, std::optional<ArrayId> other = std::nullopt);
  /// Call after the last add.
  void finish();

  const std::vector<Node<Real>>& nodes() const { return nodes_; }
  ArrayId last() const { return sizes_.size() - 1; }
  /// Numbers per sample that a training pass needs.
  Index training_size() const;

  /// The output for evaluation, one row per sample.
  void evaluate(const Pass<Real>& pass, const Real* in, Real* out) const { evaluate(pass, in, last(), out); }
  /// The same of another array than the last.
  void evaluate(const Pass<Real>& pass, const Real* in, ArrayId wanted, Real* out) const;

  /// Runs forwards, calls loss(output, gradient at the output) and runs back. Writes the whole of `gradient`.
  template <class Loss>
  void train(const Pass<Real>& pass, const Real* in, Real* gradient, const Loss& loss) const {
    typename Scratch<Real>::Frame frame(pass.scratch);
    const Memory memory = take_memory(pass, in);
    forward(pass, memory);
    loss(memory.arrays[last()], memory.gradients[last()]);
    backward(pass, memory, gradient);
  }

 private:
  // Pointers by array and by node.
  struct Memory {
    std::vector<Real*> arrays, kept, gradients;
  };

  Memory take_memory(const Pass<Real>& pass, const Real* in) const;
  void forward(const Pass<Real>& pass, const Memory& memory) const;
  void backward(const Pass<Real>& pass, const Memory& memory, Real* gradient) const;
  Arrays<Real> arrays_of(const Node<Real>& node, const std::vector<Real*>& arrays, Real* kept) const;
  std::vector<std::size_t> last_readers() const;
  std::vector<bool> depends_on_parameters() const;

  std::vector<Index> sizes_;  // of every array, numbers per sample
  std::vector<Node<Real>> nodes_;
  MemoryPlan evaluation_;  // of arrays
  MemoryPlan backward_;    // of their gradients
};

extern template class Program<float>;
extern template class Program<double>;

}  // namespace rubato
