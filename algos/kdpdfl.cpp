// KD-PDFL: personal models that meet by co-distillation; a client trusts those whose outputs are like its own.
// Source: Jeong and Kountouris, "Personalized Decentralized Federated Learning with Knowledge Distillation",
// algorithm 4 and equations 4.1 to 4.4 of Jeong's thesis (docs/references.md#kd-pdfl).
//
// theta: model   w_j: collaboration weight of peer j, 1/m at the start   p_j(x): class probabilities of model j at x
// N: the peers whose models have come   X: a batch of the client's own   |D|: its samples   m: clients   eta: step size
//
//   compute   theta <- theta - eta g(theta; batch)
//   merge 0   d_j = (1/|X|) sum_{x in X} |p(x) - p_j(x)|^2                            for j in N          (4.3)
//             G_j = mu1 d_j - mu2 / (delta + sum over all peers w)                    for j in N
//             beta = beta0 / |G|, or 0 where G = 0;  w_j <- max(0, w_j - beta G_j)    for j in N          (4.2)
//             c = min(|D| / c_base, 1 / (|N| + 1))                                                        (4.4)
//             theta <- c theta + (1 - c) sum_{j in N} w_j theta_j / sum_{j in N} w_j  unchanged where the sum is 0
//   publish   send theta: on request (phase 0), and after a merge to everybody (phase 1)
//   merge 1   footprint cache of j <- theta_j; the model stays (KD-5)
//
// Where we differ from the printed algorithm: the step of (4.2) is a scalar norm (KD-1; beta_mode = "elementwise"
// gives the printed step of exactly one), its regulariser is a log barrier (KD-2), and the weights are normalised
// (KD-4). Decisions: docs/references.md#kd-pdfl-decisions.
// Computation k takes batch 2 k, exchange e batch 2 e + 1.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "algos/algorithm.hpp"
#include "algos/entries.hpp"
#include "algos/local_solver.hpp"

namespace rubato {

namespace {

constexpr std::uint8_t distillation = 0, footprint = 1;  // phases

struct KdPdflSettings {
  StepSize eta;
  double mu1, mu2, delta, c_base;
  double beta0;  // 0: one over the number of clients
  bool steps_elementwise;
  std::uint32_t exchange_every;  // rounds
  double asked_share;
};

template <class Real>
class KdPdfl final : public Algorithm<Real> {
 public:
  KdPdfl(std::shared_ptr<const KdPdflSettings> settings, const ClientView& client_view, ConstVectorRef<Real> start,
         TensorPool& pool)
      : settings_{std::move(settings)},
        seat_{client_view},
        theta_{copy_of<Real>(start, pool)},
        weights_(client_view.senders.size(), 1.0 / clients()),
        distances_(client_view.senders.size()),
        slopes_(client_view.senders.size()),
        cache_(client_view.senders.size()) {}

  void compute(Work<Real>& work, const Step& step) override {
    descend_locally(work, theta(), 2 * step.index, 1, settings_->eta.at(seat_.client.value, step.index));
  }

  Payload publish(Work<Real>& work, const Step&) override {
    Payload payload;
    payload.common[0] = copy_of<Real>(model(), work.pool);
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    if (step.phase == footprint) {
      for (const Received<Real>& peer : window) cache_[place(peer)] = peer.payload.common[0];
    } else if (!window.empty()) {
      compare(work, window);
      reweigh(window);
      combine(work, window);
      ++exchanges_;
    }
  }

  void adopt(ConstVectorRef<Real> model) override { theta() = model; }

  void archive(Archive& archive) override {
    archive.fixed(theta_);
    for (std::vector<double>* numbers : {&weights_, &distances_, &slopes_}) archive.fixed(*numbers);
    archive.optional(cache_, scalar_of<Real>, theta_.count());
    archive(confidence_);
    archive(exchanges_);
  }

  ConstVectorRef<Real> model() const override { return numbers_of<Real>(theta_); }

  /// "distance" and "grad" are those of the last exchange, 0 for who did not take part.
  void inspect(Probe& probe) const override {
    show(probe, "x", model());
    show_by_client(probe, "collab", weights_, 1.0 / clients());
    show_by_client(probe, "distance", distances_, 0);
    show_by_client(probe, "grad", slopes_, 0);
    show(probe, "confidence", confidence_);
  }

 private:
  double clients() const { return static_cast<double>(seat_.samples.size()); }
  VectorRef<Real> theta() { return numbers_of<Real>(theta_); }
  std::size_t place(const Received<Real>& peer) const { return place_of(seat_.senders, peer.sender); }

  // d_j of every peer in the window.
  void compare(Work<Real>& work, std::span<const Received<Real>> window) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    const Picks picks = work.batch(2 * exchanges_ + 1);
    const auto rows = static_cast<Index>(picks.empty() ? work.learner.samples() : picks.size());
    const auto classes = static_cast<Index>(work.learner.classes());
    MatrixRef<Real> mine = work.scratch.matrix(rows, classes), theirs = work.scratch.matrix(rows, classes);
    work.learner.predict(model(), picks, mine, work.scratch);
    std::ranges::fill(distances_, 0);
    for (const Received<Real>& peer : window) {
      work.learner.predict(peer.common(), picks, theirs, work.scratch);
      distances_[place(peer)] = static_cast<double>((mine - theirs).squaredNorm()) / static_cast<double>(rows);
    }
  }

  // One step on the weights of the peers in the window.
  void reweigh(std::span<const Received<Real>> window) {
    double all = (clients() - 1 - static_cast<double>(weights_.size())) / clients();  // of those it never hears
    for (const double weight : weights_) all += weight;
    std::ranges::fill(slopes_, 0);
    double squares = 0;
    for (const Received<Real>& peer : window) {
      double& slope = slopes_[place(peer)];
      slope = settings_->mu1 * distances_[place(peer)] - settings_->mu2 / (settings_->delta + all);
      squares += slope * slope;
    }
    const double beta0 = settings_->beta0 > 0 ? settings_->beta0 : 1 / clients();
    const double beta = squares > 0 ? beta0 / std::sqrt(squares) : 0;
    for (const Received<Real>& peer : window) {
      const double slope = slopes_[place(peer)];
      const double sign = slope > 0 ? 1 : slope < 0 ? -1 : 0;
      double& weight = weights_[place(peer)];
      weight = std::max(0.0, weight - (settings_->steps_elementwise ? sign : beta * slope));
    }
  }

  void combine(Work<Real>& work, std::span<const Received<Real>> window) {
    const double own_samples = static_cast<double>(seat_.samples[seat_.client.value]);
    confidence_ = std::min(own_samples / settings_->c_base, 1 / (static_cast<double>(window.size()) + 1));
    double heard = 0;
    for (const Received<Real>& peer : window) heard += weights_[place(peer)];
    if (!(heard > 0)) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> mean = work.scratch.vector(model().size());
    mean.setZero();
    for (const Received<Real>& peer : window) mean += static_cast<Real>(weights_[place(peer)] / heard) * peer.common();
    theta() = static_cast<Real>(confidence_) * model() + static_cast<Real>(1 - confidence_) * mean;
  }

  void show_by_client(Probe& probe, std::string_view name, const std::vector<double>& numbers, double of_others) const {
    std::vector<double> all(seat_.samples.size(), of_others);
    all[seat_.client.value] = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) all[seat_.senders[i].value] = numbers[i];
    probe.vector(name, all);
  }

  std::shared_ptr<const KdPdflSettings> settings_;
  ClientView seat_;
  Tensor theta_;
  std::vector<double> weights_, distances_, slopes_;  // by sender
  std::vector<Tensor> cache_;                         // by sender: the model it told of last
  double confidence_ = 0;
  std::uint64_t exchanges_ = 0;
};

KdPdflSettings read(const AlgorithmOptions& options) {
  const auto not_negative = [&](const char* name, double fallback) {
    const double value = options.number(name, fallback);
    if (!(value >= 0)) refuse_option(name, value, "must be at least 0");
    return value;
  };
  const std::string mode = options.word("beta_mode", "norm");
  if (mode != "norm" && mode != "elementwise") refuse_option("beta_mode", '"' + mode + '"', "must be \"norm\" or \"elementwise\"");
  const std::int64_t every = options.whole("T_ex", 20);
  if (every < 2 || every > 1'000'000) refuse_option("T_ex", std::to_string(every), "must be from 2 to 1000000");
  const double asked = positive_number(options, "ask_share", 1);
  if (asked > 1) refuse_option("ask_share", asked, "must be at most 1");
  return {.eta = StepSize(options, "eta", 0.05),
          .mu1 = not_negative("mu1", 1),
          .mu2 = not_negative("mu2", 0.2),
          .delta = positive_number(options, "delta", 1e-6),
          .c_base = positive_number(options, "c_base", 100),
          .beta0 = not_negative("beta0", 0),
          .steps_elementwise = mode == "elementwise",
          .exchange_every = static_cast<std::uint32_t>(every),
          .asked_share = asked};
}

// Rounds r = 1, 2, ...: an exchange where T_ex divides r; the footprint is told in the round behind it; else everybody
// computes. Rounds count from 0 in a program.
RoundProgram program_of(std::uint32_t every) {
  RoundProgram program;
  program.round = Phase{.kind = PhaseKind::compute, .every = 0xFFFF'FFFF};  // r = 1: nothing to tell yet
  program.round.add({.kind = PhaseKind::compute, .every = every, .offset = 1, .span = every - 2});
  program.round.add({.kind = PhaseKind::exchange, .number = distillation, .every = every, .offset = every - 1});
  program.round.add({.kind = PhaseKind::exchange, .number = footprint, .every = every, .first = every});
  return program;
}

Needs needs(const AlgorithmOptions& options) {
  const KdPdflSettings settings = read(options);
  Needs needs;
  needs.fanout = {.share = settings.asked_share, .chosen_by_receiver = settings.asked_share < 1};
  needs.program = program_of(settings.exchange_every);
  return needs;
}

template <class Real>
AlgorithmFactory<Real> make(const AlgorithmOptions& options) {
  return factory_of<KdPdfl, Real>(read(options));
}

constexpr OptionSpec options[] = {
    {"eta", OptionType::number, "0.05", "step size", 0, 1e9, true},
    {.name = "step",
     .type = OptionType::word,
     .fallback = "\"constant\"",
     .meaning = "constant, or diminishing: eta / (k + step_offset) at a client's k-th computation",
     .choices = "constant|diminishing"},
    {"step_offset", OptionType::number, "1", "offset of the diminishing step", 0, 1e9, true},
    {"T_ex", OptionType::whole, "20", "in rounds: from one exchange to the next", 2, 1e6},
    {"ask_share", OptionType::number, "1", "share of the neighbours that an exchange asks", 0, 1, true},
    {"mu1", OptionType::number, "1", "weight of the distance of outputs", 0, 1e9},
    {"mu2", OptionType::number, "0.2", "weight of the barrier that keeps collaboration alive", 0, 1e9},
    {"delta", OptionType::number, "1e-6", "what keeps the barrier finite", 0, 1, true},
    {"c_base", OptionType::number, "100", "samples that make a client sure of itself", 0, 1e12, true},
    {.name = "beta_mode",
     .type = OptionType::word,
     .fallback = "\"norm\"",
     .meaning = "norm: steps of the length beta0; elementwise: every weight steps by one, as printed",
     .choices = "norm|elementwise"},
    {"beta0", OptionType::number, "0", "length of a step of the weights; 0: one over the number of clients", 0, 1e9},
};

}  // namespace

constinit const CatalogueEntry entries::kdpdfl{
    .name = "kdpdfl",
    .summary = "personal models, weighed by how alike their outputs are",
    .options = options,
    .runs = ProtocolKind::pull | ProtocolKind::rounds,
    .usual = ProtocolKind::pull,
    .graphs = Graphs::undirected,
    .may_be_unified = true,
    .needs = needs,
    .make_float = make<float>,
    .make_double = make<double>,
};

}  // namespace rubato
