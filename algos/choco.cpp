// CHOCO-SGD: gossip of compressed differences; every client keeps what its neighbours believe its model to be.
// Source: Koloskova, Stich and Jaggi, "Decentralized Stochastic Optimization and Gossip Algorithms with Compressed
// Communication", algorithm 2 (docs/references.md#choco-sgd).
//
// x: model   xhat: what the neighbours believe x to be, at first 0   C: compressor   g: gradient   eta: step size
// w_ij: weight of neighbour j   gamma: consensus step
//
//   compute   x <- x - eta g(x; batch)
//   publish   q = C(x - xhat);  xhat <- xhat + q;  send q to every receiver           for a resync: send xhat whole
//   merge     xhat_j <- xhat_j + q_j;  x <- x + gamma sum_j w_ij (xhat_j - xhat)      for a resync: xhat_j <- xhat of j
//   reset     xhat, all xhat_j <- 0: as at the start, nothing is believed
//
// In rounds a client hears all its neighbours in the first exchange, later those that tell, and one vector, sum_j w_ij
// xhat_j, stands for all copies: a client that tells nothing is believed to be where it was. In continuous
// time there is a copy of each neighbour; every difference must be applied once and in order, and the sum goes over the
// senders of the window, so that a message moves the model as often as in a round: once.
#include <algorithm>
#include <utility>
#include <vector>

#include "algos/compressor.hpp"
#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

template <class Real>
class Choco final : public LocalModel<Real, CompressedGossip> {
  using Base = LocalModel<Real, CompressedGossip>;

 public:
  explicit Choco(const Setup<Real, CompressedGossip>& setup)
      : Base(setup), client_view_{setup.client_view}, xhat_{zeros<Real>(this->count(), setup.pool)} {
    this->settings().compressor.require_dimension(setup.start.size());
    if (this->in_rounds())
      heard_ = zeros<Real>(this->count(), setup.pool);
    else
      copies_.resize(setup.client_view.senders.size());
  }

  void compute(Work<Real>& work, const Step& step) override {
    before_ = {};
    this->descend(work, step);
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    if (step.message == MessageKind::resync) {
      Payload payload;
      payload.common[0] = copy_of<Real>(numbers_of<Real>(std::as_const(xhat_)), work.pool);
      return payload;
    }
    return compressed_difference<Real>(this->settings().compressor, work, step.index, this->client_id(), this->model(), xhat());
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    if (step.message == MessageKind::resync)
      replace(work, window);
    else if (this->in_rounds())
      meet_all(work, window);
    else
      meet(work, window);
  }

  bool fits(const Payload& payload, const Step& step, std::uint32_t place) const override {
    if (step.message == MessageKind::resync) return Base::fits(payload, step, place);
    return fits_compressed<Real>(payload.common[0], payload.common[1], xhat_.count());
  }

  void reset(Work<Real>&) override {
    xhat().setZero();
    if (heard_) numbers_of<Real>(heard_).setZero();
    std::ranges::fill(copies_, Tensor{});
    before_ = {};
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.fixed(xhat_);
    if (heard_) archive.fixed(heard_);
    archive.optional(copies_, scalar_of<Real>, xhat_.count());
    archive.optional(before_, scalar_of<Real>, xhat_.count());
    archive(heard_weight_);
  }

  void round_balance(Probe& probe) const override {
    if (before_) show(probe, "mean of x", this->model() - numbers_of<Real>(before_));
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "xhat", numbers_of<Real>(xhat_));
  }

 private:
  VectorRef<Real> xhat() { return numbers_of<Real>(xhat_); }

  void meet_all(Work<Real>& work, std::span<const Received<Real>> window) {
    if (client_view_.keeps_balance) before_ = copy_of<Real>(this->model(), work.pool);
    double sum = 0;
    for (const Received<Real>& q : window) {
      add_compressed<Real>(q.payload.common[0], q.payload.common[1], q.weight, numbers_of<Real>(heard_));
      sum += q.weight;
    }
    heard_weight_ = std::max(heard_weight_, sum);
    this->x() += static_cast<Real>(this->settings().gamma) * (numbers_of<Real>(heard_) - static_cast<Real>(heard_weight_) * xhat());
  }

  void meet(Work<Real>& work, std::span<const Received<Real>> window) {
    for (std::size_t i = 0; i < window.size(); ++i) {
      const Received<Real>& q = window[i];
      const VectorRef<Real> xhat_j = copy(work, q.sender);
      add_compressed<Real>(q.payload.common[0], q.payload.common[1], 1, xhat_j);
      if (!is_among(q.sender, window.subspan(i + 1)))
        this->x() += static_cast<Real>(this->settings().gamma * q.weight) * (xhat_j - xhat());
    }
  }

  void replace(Work<Real>& work, std::span<const Received<Real>> window) {
    for (const Received<Real>& whole : window) copy(work, whole.sender) = whole.common();
  }

  static bool is_among(ClientId sender, std::span<const Received<Real>> messages) {
    return std::ranges::find(messages, sender, &Received<Real>::sender) != messages.end();
  }

  VectorRef<Real> copy(Work<Real>& work, ClientId sender) {
    Tensor& tensor = copies_[place_of(client_view_.senders, sender)];
    if (!tensor) tensor = zeros<Real>(xhat_.count(), work.pool);
    return numbers_of<Real>(tensor);
  }

  ClientView client_view_;
  Tensor xhat_;
  Tensor before_;               // x before the exchange; empty where the balance is not asked for
  Tensor heard_;                // in rounds: sum_j w_ij xhat_j
  double heard_weight_ = 0;     // sum_j w_ij over all neighbours: all are heard in the first exchange
  std::vector<Tensor> copies_;  // in continuous time: xhat_j by the place of j among the senders; empty: 0
};

}  // namespace

constinit const CatalogueEntry entries::choco{
    .name = "choco",
    .summary = "gossip of compressed differences",
    .options = compressed_gossip_options,
    .graphs = Graphs::undirected,
    .merge = Weights::doubly,
    .allows_missing = false,
    .needs = [](const AlgorithmOptions&) { return Needs{.may_pause = true, .partial = Partial::clients, .in_order = true}; },
    .message_bytes = compressed_bytes,
    .make = made_by<Choco, read_compressed_gossip, compressed_gossip_options>,
};

}  // namespace rubato
