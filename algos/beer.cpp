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
//   reset        v <- g;  h, gh, h_j, gh_j <- 0: as after the opening, nobody believes anything
//
// Rounds only: the mean of v is the mean gradient because all meet at once. One vector stands for all copies of
// neighbours, sum_j w_ij h_j, another for sum_j w_ij gh_j.
#include <utility>

#include "algos/compressor.hpp"
#include "algos/entries.hpp"
#include "algos/gossip.hpp"

namespace rubato {

namespace {

struct BeerSettings {
  StepSize eta;
  double gamma;
  Compressor compressor;
};

// A vector as the neighbours know it.
struct Believed {
  Tensor own;
  Tensor heard;  // sum_j w_ij own_j

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
  }
};

template <class Real>
class Beer final : public LocalModel<Real> {
 public:
  Beer(std::shared_ptr<const BeerSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start, TensorPool& pool)
      : LocalModel<Real>(start, pool),
        settings_{std::move(settings)},
        client_{client_view.client},
        v_{zeros<Real>(static_cast<std::size_t>(start.size()), pool)},
        g_{zeros<Real>(static_cast<std::size_t>(start.size()), pool)},
        h_{Believed::nothing<Real>(static_cast<std::size_t>(start.size()), pool)},
        gh_{Believed::nothing<Real>(static_cast<std::size_t>(start.size()), pool)} {
    settings_->compressor.require_dimension(start.size());
  }

  void compute(Work<Real>& work, const Step& step) override {
    approach(v(), gh_);
    if (!step.with_gradient) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    const VectorRef<Real> g = work.scratch.vector(v().size());
    work.learner.gradient(this->model(), work.batch(step.index), g, work.scratch);
    v() += g - numbers_of<Real>(g_);
    numbers_of<Real>(g_) = g;
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    if (step.phase == 1) return tell(work, step, v(), gh_);
    approach(this->x(), h_);
    const std::uint64_t round = step.index / 2;  // two messages a round
    this->x() -= static_cast<Real>(settings_->eta.at(client_.value, round)) * v();
    return tell(work, step, this->x(), h_);
  }

  void merge(Work<Real>&, const Step& step, std::span<const Received<Real>> window) override {
    VectorRef<Real> heard = numbers_of<Real>(step.phase == 1 ? gh_.heard : h_.heard);
    heard_weight_ = 0;
    for (const Received<Real>& q : window) {
      add_compressed<Real>(q.payload.common[0], q.payload.common[1], q.weight, heard);
      heard_weight_ += q.weight;
    }
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
    LocalModel<Real>::archive(archive);
    archive.fixed(v_);
    archive.fixed(g_);
    h_.archive(archive);
    gh_.archive(archive);
    archive(heard_weight_);
  }

  void round_balance(Probe& probe) const override { show(probe, "mean of v", numbers_of<Real>(v_) - numbers_of<Real>(g_)); }

  void inspect(Probe& probe) const override {
    LocalModel<Real>::inspect(probe);
    show(probe, "v", numbers_of<Real>(v_));
    show(probe, "h", numbers_of<Real>(h_.own));
    show(probe, "g", numbers_of<Real>(gh_.own));
  }

 private:
  VectorRef<Real> v() { return numbers_of<Real>(v_); }

  // z <- z + gamma sum_j w_ij (believed_j - believed)
  void approach(VectorRef<Real> z, const Believed& believed) const {
    z += static_cast<Real>(settings_->gamma) *
         (numbers_of<Real>(believed.heard) - static_cast<Real>(heard_weight_) * numbers_of<Real>(believed.own));
  }

  Payload tell(Work<Real>& work, const Step& step, VectorRef<Real> z, Believed& believed) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> difference = work.scratch.vector(z.size());
    difference = z - numbers_of<Real>(believed.own);
    Compressed q = settings_->compressor.compress(work, step.index, client_, read_only(difference));
    add_compressed<Real>(q.values, q.coordinates, 1, numbers_of<Real>(believed.own));
    Payload payload;
    payload.common = {std::move(q.values), std::move(q.coordinates)};
    payload.paper_bits = q.paper_bits;
    return payload;
  }

  std::shared_ptr<const BeerSettings> settings_;
  ClientId client_;
  Tensor v_;
  Tensor g_;  // the gradient that v knows of
  Believed h_, gh_;
  double heard_weight_ = 0;  // sum_j w_ij
};

BeerSettings read(const AlgorithmOptions& options) {
  return {StepSize(options, "eta", 0.05), proper_share(options, "gamma", 0.3), Compressor(options)};
}

Needs needs(const AlgorithmOptions&) {
  Needs needs;
  needs.program.opening = {Phase{PhaseKind::compute}};
  needs.program.round = {Phase{.kind = PhaseKind::exchange, .number = 0}, Phase{PhaseKind::compute},
                         Phase{.kind = PhaseKind::exchange, .number = 1}};
  return needs;
}

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<Beer, Real>(read(options));
}

constexpr OptionSpec options[] = {
    shared_option::eta,
    shared_option::step,
    shared_option::step_offset,
    {"gamma", OptionType::number, "0.3", "consensus step", 0, 1, true},
    compressor_option::compressor,
    compressor_option::k,
    compressor_option::unbiased,
    compressor_option::bits,
};

}  // namespace

constinit const CatalogueEntry entries::beer{
    .name = "beer",
    .summary = "gradient tracking with compressed differences",
    .options = options,
    .runs = only(ProtocolKind::rounds),
    .usual = ProtocolKind::rounds,
    .graphs = Graphs::undirected,
    .merge = Weights::doubly,
    .allows_missing = false,
    .needs = needs,
    .message_bytes = compressed_bytes,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
