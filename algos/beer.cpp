// BEER: gradient tracking in which models and trackers are exchanged as compressed differences.
// Source: Zhao, Li, Li, Richtárik and Chi, "BEER: Fast O(1/T) Rate for Decentralized Nonconvex Optimization with
// Communication Compression", algorithm 1 (docs/references.md#beer).
//
// x: model   v: tracker of the mean gradient   h, gh: what the neighbours believe x and v to be, at first 0
// g: gradient   C: compressor   eta: step size   w_ij: weight of neighbour j   gamma: consensus step
//
//   opening   v = g(x)
//   exchange 0   x <- x + gamma sum_j w_ij (h_j - h) - eta v;  q = C(x - h);  h <- h + q;  send q;  h_j <- h_j + q_j
//   compute      v <- v + gamma sum_j w_ij (gh_j - gh) + g(x) - g;  g <- g(x)
//   exchange 1   q = C(v - gh);  gh <- gh + q;  send q;  gh_j <- gh_j + q_j
//   reset        v <- g;  h, gh, h_j, gh_j <- 0: as after the opening, nothing is believed
//
// In a round without an exchange the matrix w is the identity: x <- x - eta v, v <- v + g(x) - g. A client that tells nothing in an
// exchange is believed to be where it was. Rounds only: the mean of v is the mean gradient because all meet at once. One vector
// stands for all copies of neighbours, sum_j w_ij h_j, another for sum_j w_ij gh_j.
#include <algorithm>
#include <utility>

#include "algos/compressor.hpp"
#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

// A vector as the neighbours know it.
struct Believed {
  Tensor own;
  Tensor heard;           // sum_j w_ij own_j
  double weight = 0;      // sum_j w_ij over all neighbours: all are heard in the first exchange
  bool is_fresh = false;  // heard since it was last approached

  template <class Real>
  static Believed nothing(std::size_t count, TensorPool& pool) {
    return {zeros<Real>(count, pool), zeros<Real>(count, pool)};
  }

  template <class Real>
  void forget() {
    numbers_of<Real>(own).setZero();
    numbers_of<Real>(heard).setZero();
  }
  void archive(Archive& archive) {
    archive.fixed(own);
    archive.fixed(heard);
    archive(weight);
    archive(is_fresh);
  }
};

template <class Real>
class Beer final : public LocalModel<Real, CompressedGossip> {
  using Base = LocalModel<Real, CompressedGossip>;

 public:
  explicit Beer(const Setup<Real, CompressedGossip>& setup)
      : Base(setup),
        v_{zeros<Real>(this->count(), setup.pool)},
        g_{zeros<Real>(this->count(), setup.pool)},
        h_{Believed::nothing<Real>(this->count(), setup.pool)},
        gh_{Believed::nothing<Real>(this->count(), setup.pool)} {
    this->settings().compressor.require_dimension(setup.start.size());
  }

  void compute(Work<Real>& work, const Step& step) override {
    if (step.index > 0) move_once();  // the first computation is the opening
    has_moved_ = false;
    approach(v(), gh_);
    if (!step.with_gradient) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    const VectorRef<Real> g = work.scratch.vector(v().size());
    work.gradient(this->model(), step.index, g);
    v() += g - numbers_of<Real>(g_);
    numbers_of<Real>(g_) = g;
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    if (step.phase == 1) return tell(work, step, v(), gh_);
    move_once();
    return tell(work, step, this->x(), h_);
  }

  void merge(Work<Real>&, const Step& step, std::span<const Received<Real>> window) override {
    if (step.phase == 0) move_once();
    Believed& believed = step.phase == 1 ? gh_ : h_;
    double weight = 0;
    for (const Received<Real>& q : window) {
      add_compressed<Real>(q.payload.common[0], q.payload.common[1], q.weight, numbers_of<Real>(believed.heard));
      weight += q.weight;
    }
    believed.weight = std::max(believed.weight, weight);
    believed.is_fresh = true;
  }

  bool fits(const Payload& payload, const Step&, std::uint32_t) const override {
    return fits_compressed<Real>(payload.common[0], payload.common[1], v_.count());
  }

  void reset(Work<Real>&) override {
    v() = numbers_of<Real>(g_);
    h_.template forget<Real>();
    gh_.template forget<Real>();
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.fixed(v_);
    archive.fixed(g_);
    h_.archive(archive);
    gh_.archive(archive);
    archive(has_moved_);
    archive(moves_);
  }

  void round_balance(Probe& probe) const override { show(probe, "mean of v", numbers_of<Real>(v_) - numbers_of<Real>(g_)); }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "v", numbers_of<Real>(v_));
    show(probe, "h", numbers_of<Real>(h_.own));
    show(probe, "g", numbers_of<Real>(gh_.own));
  }

 private:
  VectorRef<Real> v() { return numbers_of<Real>(v_); }

  // The step of a round, which its first exchange sends, or the computation of a round without one needs.
  void move_once() {
    if (std::exchange(has_moved_, true)) return;
    approach(this->x(), h_);
    this->x() -= static_cast<Real>(this->settings().eta.at(this->client(), moves_++)) * v();
  }

  // z <- z + gamma sum_j w_ij (believed_j - believed), once after each exchange
  void approach(VectorRef<Real> z, Believed& believed) const {
    if (!std::exchange(believed.is_fresh, false)) return;
    z += static_cast<Real>(this->settings().gamma) *
         (numbers_of<Real>(believed.heard) - static_cast<Real>(believed.weight) * numbers_of<Real>(believed.own));
  }

  Payload tell(Work<Real>& work, const Step& step, VectorRef<Real> z, Believed& believed) {
    return compressed_difference<Real>(this->settings().compressor, work, step.index, this->client_id(), read_only(z),
                                       numbers_of<Real>(believed.own));
  }

  Tensor v_;
  Tensor g_;  // the gradient that v knows of
  Believed h_, gh_;
  bool has_moved_ = false;   // in this round
  std::uint64_t moves_ = 0;  // the k of eta
};

Needs beer_needs(const AlgorithmOptions&) {
  Needs needs{.may_pause = true, .partial = Partial::clients};
  needs.program.opening = {Phase{PhaseKind::compute}};
  needs.program.round = {Phase{.kind = PhaseKind::exchange, .number = 0}, Phase{PhaseKind::compute},
                         Phase{.kind = PhaseKind::exchange, .number = 1}};
  return needs;
}

}  // namespace

constinit const CatalogueEntry entries::beer{
    .name = "beer",
    .summary = "gradient tracking with compressed differences",
    .options = compressed_gossip_options,
    .runs = {ProtocolKind::rounds},
    .graphs = Graphs::undirected,
    .merge = Weights::doubly,
    .allows_missing = false,
    .needs = beer_needs,
    .message_bytes = compressed_bytes,
    .make = made_by<Beer, read_compressed_gossip, compressed_gossip_options>,
};

}  // namespace rubato
