// DIGEST: clients train on their own while tokens walk through the network and carry what was learnt.
// Source: Gholami and Seferoglu, "DIGEST: Fast and Communication Efficient Decentralized Learning with Local Updates"
// (docs/references.md#digest). Jeong's thesis names it without an algorithm (BA-1,
// docs/references.md#baseline-decisions).
//
// x: model   a: model at the last visit of a token   G_s: model of stream s   m: clients   eta: step size
//
//   compute   x <- x - eta g(x; batch)
//   merge     of stream s: G_s <- G_s + (x - a) / m;  x <- G_s;  a <- G_s
//   publish   of stream s: send G_s as it was when it left, however often it is asked for
//
// A merge without a message absorbs the token that lies here from the start: G_s is then the start model.
#include <utility>
#include <vector>

#include "algos/algorithm.hpp"
#include "algos/entries.hpp"
#include "algos/local_solver.hpp"

namespace rubato {

namespace {

struct DigestSettings {
  StepSize eta;
  std::uint32_t streams;
};

template <class Real>
class Digest final : public Algorithm<Real> {
 public:
  Digest(std::shared_ptr<const DigestSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
         TensorPool& pool)
      : settings_{std::move(settings)},
        client_{client_view.client},
        clients_{static_cast<double>(client_view.samples.size())},
        x_{copy_of<Real>(start, pool)},
        visited_{copy_of<Real>(start, pool)},
        streams_(settings_->streams, visited_) {}

  void compute(Work<Real>& work, const Step& step) override {
    descend_locally(work, numbers_of<Real>(x_), step.index, 1, settings_->eta.at(client_.value, step.index));
  }

  Payload publish(Work<Real>&, const Step& step) override {
    Payload payload;
    payload.common[0] = streams_.at(step.phase);
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    const Tensor token = window.empty() ? streams_.at(step.phase) : window.back().payload.common[0];
    Tensor next = work.pool.template make<Real>(x_.count());
    VectorRef<Real> x = numbers_of<Real>(x_);
    numbers_of<Real>(next) =
        numbers_of<Real>(token) + static_cast<Real>(1 / clients_) * (x - numbers_of<Real>(std::as_const(visited_)));
    x = numbers_of<Real>(std::as_const(next));
    visited_ = streams_[step.phase] = std::move(next);
  }

  void adopt(ConstVectorRef<Real> model) override { numbers_of<Real>(x_) = model; }

  void archive(Archive& archive) override {
    archive.fixed(x_);
    archive.fixed(visited_);
    for (Tensor& stream : streams_) archive.fixed(stream);
  }

  ConstVectorRef<Real> model() const override { return numbers_of<Real>(x_); }

  void inspect(Probe& probe) const override {
    show(probe, "x", model());
    show(probe, "a", numbers_of<Real>(visited_));
    for (std::size_t stream = 0; stream < streams_.size(); ++stream)
      show(probe, "global" + std::to_string(stream), numbers_of<Real>(streams_[stream]));
  }

 private:
  std::shared_ptr<const DigestSettings> settings_;
  ClientId client_;
  double clients_;
  Tensor x_;
  Tensor visited_;               // a
  std::vector<Tensor> streams_;  // G_s as it left here last; immutable, so tokens are handed out as they are
};

DigestSettings read(const AlgorithmOptions& options) {
  const std::uint64_t streams = positive_whole(options, "streams", 1);
  if (streams >= PhaseList::most) refuse_option("streams", std::to_string(streams), "must be less than 40");
  return {StepSize(options, "eta", 0.05), static_cast<std::uint32_t>(streams)};
}

// One exchange for each stream.
Needs needs(const AlgorithmOptions& options) {
  Needs needs{.program = {.round = {Phase{.kind = PhaseKind::compute}}}};
  for (std::uint32_t stream = 0; stream < read(options).streams; ++stream)
    needs.program.round.add({.kind = PhaseKind::exchange, .number = static_cast<std::uint8_t>(stream)});
  return needs;
}

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<Digest, Real>(read(options));
}

constexpr OptionSpec options[] = {
    {"eta", OptionType::number, "0.05", "step size", 0, 1e9, true},
    {.name = "step",
     .type = OptionType::word,
     .fallback = "\"constant\"",
     .meaning = "constant, or diminishing: eta / (k + step_offset) at a client's k-th computation",
     .choices = "constant|diminishing"},
    {"step_offset", OptionType::number, "1", "offset of the diminishing step", 0, 1e9, true},
    {"streams", OptionType::whole, "1", "tokens that walk through the network", 1, 39},
};

}  // namespace

constinit const CatalogueEntry entries::digest{
    .name = "digest",
    .summary = "local training, and tokens that walk and carry the mean of what was learnt",
    .options = options,
    .runs = only(ProtocolKind::token),
    .usual = ProtocolKind::token,
    .graphs = Graphs::undirected,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
