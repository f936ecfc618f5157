#include "learning/network/program.hpp"

#include <numeric>

namespace rubato {

namespace {

constexpr std::size_t no_slot = static_cast<std::size_t>(-1);

/// Hands slots out while arrays live, the smallest that is large enough.
class SlotPlanner {
 public:
  explicit SlotPlanner(std::size_t arrays) { plan_.slot.assign(arrays, no_slot); }

  bool has(ArrayId array) const { return plan_.slot[array] != no_slot; }

  void begin(ArrayId array, Index size) {
    std::size_t best = no_slot;
    for (std::size_t s = 0; s < plan_.sizes.size(); ++s)
      if (is_free_[s] && plan_.sizes[s] >= size && (best == no_slot || plan_.sizes[s] < plan_.sizes[best])) best = s;
    if (best == no_slot) {
      best = plan_.sizes.size();
      plan_.sizes.push_back(size);
      is_free_.push_back(true);
    }
    is_free_[best] = false;
    plan_.slot[array] = best;
  }

  void end(ArrayId array) { is_free_[plan_.slot[array]] = true; }

  MemoryPlan plan() const { return plan_; }

 private:
  MemoryPlan plan_;
  std::vector<bool> is_free_;
};

}  // namespace

Index MemoryPlan::total() const { return std::accumulate(sizes.begin(), sizes.end(), Index{0}); }

template <class Real>
ArrayId Program<Real>::add(OperationPtr<Real> operation, ArrayId in, Index size, std::optional<ArrayId> other) {
  sizes_.push_back(size);
  nodes_.push_back({std::move(operation), in, other, last()});
  return last();
}

// For every array the node that reads it last.
template <class Real>
std::vector<std::size_t> Program<Real>::last_readers() const {
  std::vector<std::size_t> readers(sizes_.size(), nodes_.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    readers[nodes_[n].in] = n;
    if (nodes_[n].other) readers[*nodes_[n].other] = n;
  }
  return readers;
}

// Which gradients are needed: what comes from the input alone has none.
template <class Real>
std::vector<bool> Program<Real>::depends_on_parameters() const {
  std::vector<bool> depends(sizes_.size(), false);
  for (const Node<Real>& node : nodes_)
    depends[node.out] = node.operation->parameters() > 0 || depends[node.in] || (node.other && depends[*node.other]);
  return depends;
}

template <class Real>
void Program<Real>::finish() {
  const std::vector<std::size_t> readers = last_readers();
  SlotPlanner forwards(sizes_.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    forwards.begin(nodes_[n].out, sizes_[nodes_[n].out]);
    for (ArrayId array = 1; array < sizes_.size(); ++array)
      if (readers[array] == n) forwards.end(array);
  }
  evaluation_ = forwards.plan();

  const std::vector<bool> matters = depends_on_parameters();
  SlotPlanner backwards(sizes_.size());
  backwards.begin(last(), sizes_[last()]);
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    const Node<Real>& node = nodes_[n];
    if (!backwards.has(node.out)) continue;
    for (const std::optional<ArrayId>& array : {node.other, std::optional<ArrayId>(node.in)})
      if (array && matters[*array] && !backwards.has(*array)) backwards.begin(*array, sizes_[*array]);
    backwards.end(node.out);
  }
  backward_ = backwards.plan();
}

template <class Real>
Index Program<Real>::training_size() const {
  Index size = std::accumulate(sizes_.begin() + 1, sizes_.end(), Index{0}) + backward_.total();
  for (const Node<Real>& node : nodes_) size += node.operation->kept();
  return size;
}

template <class Real>
Arrays<Real> Program<Real>::arrays_of(const Node<Real>& node, const std::vector<Real*>& arrays, Real* kept) const {
  return {arrays[node.in], node.other ? arrays[*node.other] : nullptr, arrays[node.out], kept};
}

template <class Real>
void Program<Real>::evaluate(const Pass<Real>& pass, const Real* in, ArrayId wanted, Real* out) const {
  typename Scratch<Real>::Frame frame(pass.scratch);
  std::vector<Real*> slots, arrays(sizes_.size());
  for (const Index size : evaluation_.sizes) slots.push_back(pass.scratch.vector(pass.rows * size).data());
  for (ArrayId array = 1; array < sizes_.size(); ++array) arrays[array] = slots[evaluation_.slot[array]];
  arrays[0] = const_cast<Real*>(in);
  arrays[wanted] = out;
  for (const Node<Real>& node : nodes_) {
    if (node.out > wanted) return;  // arrays are written in their order
    typename Scratch<Real>::Frame kept_frame(pass.scratch);
    Real* const kept = pass.scratch.vector(pass.rows * node.operation->kept()).data();
    node.operation->forward(pass, arrays_of(node, arrays, kept));
  }
}

template <class Real>
auto Program<Real>::take_memory(const Pass<Real>& pass, const Real* in) const -> Memory {
  const auto take = [&](Index size) { return pass.scratch.vector(pass.rows * size).data(); };
  Memory memory;
  std::vector<Real*> slots;
  memory.arrays.push_back(const_cast<Real*>(in));
  for (ArrayId array = 1; array < sizes_.size(); ++array) memory.arrays.push_back(take(sizes_[array]));
  for (const Node<Real>& node : nodes_) memory.kept.push_back(take(node.operation->kept()));
  for (const Index size : backward_.sizes) slots.push_back(take(size));
  for (const std::size_t slot : backward_.slot) memory.gradients.push_back(slot == no_slot ? nullptr : slots[slot]);
  return memory;
}

template <class Real>
void Program<Real>::forward(const Pass<Real>& pass, const Memory& memory) const {
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    nodes_[n].operation->forward(pass, arrays_of(nodes_[n], memory.arrays, memory.kept[n]));
}

// An array that two operations read gets the sum of what flows back from both: the first writes, the second is added.
template <class Real>
void Program<Real>::backward(const Pass<Real>& pass, const Memory& memory, Real* gradient) const {
  std::vector<bool> is_written(sizes_.size(), false);
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    typename Scratch<Real>::Frame frame(pass.scratch);
    const Node<Real>& node = nodes_[n];
    if (!memory.gradients[node.out]) continue;
    Real* const whole = memory.gradients[node.in];
    const bool adds = whole && is_written[node.in];
    Real* const in = adds ? pass.scratch.vector(pass.rows * sizes_[node.in]).data() : whole;
    Real* const other = node.other ? memory.gradients[*node.other] : nullptr;
    node.operation->backward(pass, arrays_of(node, memory.arrays, memory.kept[n]),
                             {memory.gradients[node.out], in, other, gradient});
    is_written[node.in] = true;
    if (node.other) is_written[*node.other] = true;
    if (!adds) continue;
    const Index count = pass.rows * sizes_[node.in];
    Eigen::Map<Vector<Real>>(whole, count) += Eigen::Map<const Vector<Real>>(in, count);
  }
}

template class Program<float>;
template class Program<double>;

}  // namespace rubato
