// ANQ-NIDS: NIDS whose messages are levels of an adaptive quantiser.
// Source: Michelusi, Scutari and Lee, "Finite-bit quantization for distributed algorithms with linear convergence"
// (docs/references.md#anq-nids), in a form of our own: AN-1 and AN-2, docs/references.md#anq-nids-decisions.
//
// x: model   g: gradient   eta: step size   w_ij: weight of neighbour j
// chat: what the neighbours believe c to be, at first 0
// Q_k: quantiser of exchange k = 1, 2, ..., with |Q_k(z) - z| <= q_eta0 q_decay^(k-1) + q_omega |z|
//
//   compute   c = x + s+ - s with s+ = x - eta g(x; batch), as in NIDS;  the first time x = s+ and nothing is sent
//   publish   levels l of Q_k for c - chat;  chat <- chat + value(l);  send l to every receiver
//   merge     chat_j <- chat_j + value(l_j);  x <- c + 1/2 sum_j w_ij (chat_j - chat)
//   reset     chat, all chat_j <- 0;  k <- 0;  forget s: the next computation is a first one
//
// c stays where NIDS has it: with chat in its place the error of the quantiser would gather in the mean and move the
// limit (AN-1). Bits are counted as Elias gamma codes of zigzag levels (AN-2). One vector, sum_j w_ij chat_j, stands
// for all copies of neighbours; a client that tells nothing in an exchange is believed to be where it was. Rounds only: the mean
// model follows the mean gradient exactly because all meet at once.
#include <cmath>
#include <limits>
#include <vector>

#include "algos/anq.hpp"
#include "algos/entries.hpp"
#include "algos/gossip.hpp"
#include "algos/nids.hpp"

namespace rubato {

namespace {

struct AnqNidsSettings {
  StepSize eta;
  double q_eta0;
  double q_decay;
  double q_omega;

  Anq quantiser(std::uint64_t exchange) const {
    const double spacing = q_eta0 * std::pow(q_decay, static_cast<double>(exchange - 1));
    return {std::max(spacing, std::numeric_limits<double>::min()), q_omega};
  }
};

template <class Real>
class AnqNids final : public LocalModel<Real, AnqNidsSettings> {
  using Base = LocalModel<Real, AnqNidsSettings>;

 public:
  explicit AnqNids(const Setup<Real, AnqNidsSettings>& setup)
      : Base(setup), chat_{zeros<Real>(this->count(), setup.pool)}, heard_{zeros<Real>(this->count(), setup.pool)} {}

  void compute(Work<Real>& work, const Step& step) override {
    step_.advance(work, step.index, this->settings().eta.at(this->client(), step.index), this->x());
  }

  Payload publish(Work<Real>& work, const Step&) override {
    const Anq quantiser = this->settings().quantiser(exchanges_ + 1);
    levels_ = work.pool.template make<std::uint32_t>(chat_.count());
    std::uint32_t* code = levels_.writable<std::uint32_t>();
    double bits = 0;
    for (Index l = 0; l < chat().size(); ++l) {
      const std::int32_t level = quantiser.level(static_cast<double>(this->x()[l] - chat()[l]));
      chat()[l] += static_cast<Real>(quantiser.value(level));
      code[l] = zigzag(level);
      bits += elias_gamma_bits(code[l]);
    }
    Payload payload;
    payload.common[0] = levels_;
    payload.paper_bits = bits;
    return payload;
  }

  void merge(Work<Real>&, const Step&, std::span<const Received<Real>> window) override {
    const Anq quantiser = this->settings().quantiser(++exchanges_);
    VectorRef<Real> heard = numbers_of<Real>(heard_);
    double sum = 0;
    for (const Received<Real>& message : window) {
      const std::uint32_t* code = message.payload.common[0].template data<std::uint32_t>();
      for (Index l = 0; l < heard.size(); ++l)
        heard[l] += static_cast<Real>(message.weight * quantiser.value(level_of_zigzag(code[l])));
      sum += message.weight;
    }
    heard_weight_ = std::max(heard_weight_, sum);
    this->x() += static_cast<Real>(0.5) * (heard - static_cast<Real>(heard_weight_) * chat());
  }

  bool fits(const Payload& payload, const Step&, std::uint32_t) const override {
    return holds<std::uint32_t>(payload.common[0], chat_.count());
  }

  void round_balance(Probe& probe) const override { step_.show_balance(probe, this->model()); }

  void adopt(ConstVectorRef<Real> model) override {
    Base::adopt(model);
    step_.restart();
  }

  void reset(Work<Real>&) override {
    step_.restart();
    chat().setZero();
    numbers_of<Real>(heard_).setZero();
    exchanges_ = 0;
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    step_.archive(archive, chat_.count());
    archive.fixed(chat_);
    archive.fixed(heard_);
    archive.optional(levels_, Scalar::uint32, chat_.count());
    archive(exchanges_);
    archive(heard_weight_);
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "chat", numbers_of<Real>(chat_));
    if (!levels_) return;
    std::vector<double> levels(levels_.count());
    for (std::size_t l = 0; l < levels.size(); ++l) levels[l] = level_of_zigzag(levels_.data<std::uint32_t>()[l]);
    probe.vector("levels", levels);
  }

 private:
  VectorRef<Real> chat() { return numbers_of<Real>(chat_); }

  NidsStep<Real> step_;
  Tensor chat_;
  Tensor heard_;                 // sum_j w_ij chat_j
  Tensor levels_;                // as they were last sent
  std::uint64_t exchanges_ = 0;  // in which it told or was silent
  double heard_weight_ = 0;      // sum_j w_ij over all neighbours: all are heard in the first exchange
};

constexpr OptionSpec anq_nids_own[] = {
    {"q_eta0", OptionType::number, "0.2", "absolute error of the quantiser in the first exchange", 0, 1e9, true},
    {"q_decay", OptionType::number, "0.95", "what it is multiplied by from exchange to exchange", 0, 1, true},
    {"q_omega", OptionType::number, "0.2", "relative error of the quantiser", 0, 1, false, true},
};
constexpr auto anq_nids_table = combined(step_options(), anq_nids_own);

AnqNidsSettings read_anq_nids(const OptionReader& options) {
  return {StepSize(options), options.number("q_eta0"), options.number("q_decay"), options.number("q_omega")};
}

double level_bytes(const AlgorithmOptions&, const MessageForm& form) {
  return static_cast<double>(form.numbers * sizeof(std::uint32_t));
}

}  // namespace

constinit const CatalogueEntry entries::anq_nids{
    .name = "anq_nids",
    .summary = "NIDS with quantised messages",
    .options = anq_nids_table,
    .runs = {ProtocolKind::rounds},
    .graphs = Graphs::undirected,
    .merge = Weights::doubly,
    .allows_missing = false,
    .needs = [](const AlgorithmOptions&) { return Needs{.may_pause = true, .partial = Partial::clients, .program = nids_program}; },
    .message_bytes = level_bytes,
    .make = made_by<AnqNids, read_anq_nids, anq_nids_table>,
};

}  // namespace rubato
