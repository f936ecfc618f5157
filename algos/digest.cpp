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
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "algos/entries.hpp"
#include "algos/local_solver.hpp"
#include "algos/one_model.hpp"

namespace rubato {

namespace {

struct DigestSettings {
  StepSize eta;
  std::uint32_t streams;
};

template <class Real>
class Digest final : public OneModel<Real, DigestSettings> {
 public:
  explicit Digest(const Setup<Real, DigestSettings>& setup)
      : OneModel<Real, DigestSettings>(setup),
        clients_{static_cast<double>(setup.client_view.samples.size())},
        visited_{copy_of<Real>(setup.start, setup.pool)},
        streams_(this->settings().streams, visited_) {}

  void compute(Work<Real>& work, const Step& step) override {
    descend_locally(work, this->x(), step.index, 1, this->settings().eta.at(this->client(), step.index));
  }

  Payload publish(Work<Real>&, const Step& step) override {
    Payload payload;
    payload.common[0] = stream(step);
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    const Tensor token = window.empty() ? stream(step) : window.back().payload.common[0];
    Tensor next = work.pool.template make<Real>(this->count());
    numbers_of<Real>(next) =
        numbers_of<Real>(token) + static_cast<Real>(1 / clients_) * (this->x() - numbers_of<Real>(std::as_const(visited_)));
    this->x() = numbers_of<Real>(std::as_const(next));
    visited_ = stream(step) = std::move(next);
  }

  void archive(Archive& archive) override {
    OneModel<Real, DigestSettings>::archive(archive);
    archive.fixed(visited_);
    for (Tensor& stream : streams_) archive.fixed(stream);
  }

  void inspect(Probe& probe) const override {
    OneModel<Real, DigestSettings>::inspect(probe);
    show(probe, "a", numbers_of<Real>(visited_));
    for (std::size_t stream = 0; stream < streams_.size(); ++stream)
      show(probe, "global" + std::to_string(stream), numbers_of<Real>(streams_[stream]));
  }

 private:
  Tensor& stream(const Step& step) {
    if (step.phase >= streams_.size()) throw std::runtime_error("there is no stream " + std::to_string(step.phase));
    return streams_[step.phase];
  }

  double clients_;
  Tensor visited_;               // a
  std::vector<Tensor> streams_;  // G_s as it left here last; immutable, so tokens are handed out as they are
};

constexpr OptionSpec digest_own[] = {
    {"streams", OptionType::whole, "1", "tokens that walk through the network", 1, PhaseList::most - 1},
};
constexpr auto digest_table = combined(step_options(), digest_own);

DigestSettings read_digest(const OptionReader& options) {
  return {StepSize(options), static_cast<std::uint32_t>(options.whole("streams"))};
}

// One exchange for each stream.
Needs digest_needs(const AlgorithmOptions& given) {
  Needs needs{.program = {.round = {Phase{.kind = PhaseKind::compute}}}};
  for (std::uint32_t stream = 0; stream < read_digest({given, digest_table}).streams; ++stream)
    needs.program.round.add({.kind = PhaseKind::exchange, .number = static_cast<std::uint8_t>(stream)});
  return needs;
}

}  // namespace

constinit const CatalogueEntry entries::digest{
    .name = "digest",
    .summary = "local training, and tokens that walk and carry the mean of what was learnt",
    .options = digest_table,
    .runs = {ProtocolKind::token},
    .graphs = Graphs::undirected,
    .needs = digest_needs,
    .make = made_by<Digest, read_digest, digest_table>,
};

}  // namespace rubato
