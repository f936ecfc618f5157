// KD-PDFL: personal models that meet by co-distillation; a client trusts those whose outputs are like its own.
// Source: Jeong and Kountouris, "Personalized Decentralized Federated Learning with Knowledge Distillation",
// algorithm 4 and equations 4.1 to 4.4 of Jeong's thesis (docs/references.md#kd-pdfl).
//
// theta: model   w_j: collaboration weight of peer j, 1/m at the start
// p_j(x): what model j makes of x at the layer that is compared: class probabilities, or what comes out of a hidden layer
// N: the peers whose models have come   X: a batch of the client's own   |D|: its samples   m: clients   eta: step size
//
//   compute   theta <- theta - eta g(theta; batch)
//   merge 0   d_j = (1/|X|) sum_{x in X} |p(x) - p_j(x)|^2                            for j in N          (4.3)
//             G_j = mu1 d_j - mu2 / (delta + sum over all peers w)                    for j in N
//             beta = beta0 / |G|, or 0 where G = 0;  w_j <- max(0, w_j - beta G_j)    for j in N          (4.2)
//             c = min(|D| / c_base, 1 / (|N| + 1))                                                        (4.4)
//             theta <- c theta + (1 - c) sum_{j in F} w_j theta_j / sum_{j in F} w_j  unchanged where the sum is 0
//   publish   send theta: on request (phase 0), and after a merge to the peers in N (phase 1, KD-12)
//   merge 1   theta_j <- what j has become; the model stays (KD-5)
// F: all peers whose models have ever come, each with its newest (footprints = "all", KD-10), or N ("fresh").
// With a hidden layer only the parameters below it are sent and mixed; those above stay the client's own (KD-8). Where clients
// have models of unlike architecture, F has the peers whose parameters below the layer are alike; of the others a client learns
// how much they count, and nothing else (KD-14).
// In rounds one client, drawn anew, is the star of an exchange (KD-11), or all of them are (stars = "all").
//
// Where we differ from the printed algorithm: the step of (4.2) is a scalar norm (KD-1; beta_mode = "elementwise"
// gives the printed step of exactly one), its regulariser is a log barrier (KD-2), and the weights are normalised
// (KD-4). Decisions: docs/references.md#kd-pdfl-decisions.
// Computation k takes batch 2 k, exchange e batch 2 e + 1.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algos/entries.hpp"
#include "algos/exchange_slots.hpp"
#include "algos/local_solver.hpp"
#include "algos/one_model.hpp"

namespace rubato {

namespace {

struct KdPdflSettings {
  StepSize eta;
  double mu1, mu2, delta, c_base;
  double beta0;  // 0: a tenth of one over the number of clients
  bool steps_elementwise, mixes_all;
  std::string layer;
};

template <class Real>
class KdPdfl final : public OneModel<Real, KdPdflSettings> {
  using Base = OneModel<Real, KdPdflSettings>;

 public:
  explicit KdPdfl(const Setup<Real, KdPdflSettings>& setup)
      : Base(setup),
        client_view_{setup.client_view},
        weights_(senders().size(), 1.0 / clients()),
        distances_(senders().size()),
        slopes_(senders().size()),
        cache_(senders().size()),
        cuts_(client_view_.architectures.empty() ? 1 : std::ranges::max(client_view_.architectures) + 1) {}

  void compute(Work<Real>& work, const Step& step) override {
    const auto eta = static_cast<Real>(this->settings().eta.at(this->client(), step.index));
    for (std::uint64_t b = 0; b < work.local_batches(); ++b) {
      const typename Scratch<Real>::Frame frame(work.scratch);
      const std::uint64_t trained = step.index * work.local_batches() + b;
      work.learner.descend(this->x(), work.batch(2 * trained, trained), eta, work.scratch);
    }
  }

  Payload publish(Work<Real>& work, const Step&) override {
    const Cut& mine = own_cut(work);
    if (mine.parameters == this->model().size()) return this->model_message();
    Payload payload;
    payload.common[0] = copy_of<Real>({this->model().data(), mine.parameters}, work.pool);
    return payload;
  }

  // Where messages are no whole models it is seen in the merge which of their lengths they must have.
  bool fits(const Payload& payload, const Step& step, std::uint32_t place) const override {
    if (this->settings().layer == "output" && client_view_.architectures.empty()) return Base::fits(payload, step, place);
    const Tensor& model = payload.common[0];
    return model && holds<Real>(model, model.count()) && model.count() <= this->count();
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> all) override {
    std::vector<Received<Real>> sound;  // takes no memory where all are
    const std::span<const Received<Real>> window = sound_ones(work, all, sound);
    if (step.phase == ExchangeSlots::news) {
      if (this->settings().mixes_all) keep(work, window);
    } else if (!window.empty()) {
      compare(work, window);
      reweigh(window);
      keep(work, window);
      combine(work, window.size());
      if (!this->settings().mixes_all) std::ranges::fill(cache_, Tensor{});
      ++exchanges_;
    }
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    for (std::vector<double>* numbers : {&weights_, &distances_, &slopes_}) archive.fixed(*numbers);
    archive_cache(archive);
    archive(confidence_);
    archive(exchanges_);
  }

  std::vector<PeerWeight> collaboration() const override {
    std::vector<PeerWeight> row;
    for (std::size_t j = 0; j < weights_.size(); ++j) row.push_back({senders()[j], weights_[j]});
    return row;
  }

  /// "distance" and "grad" are those of the last exchange, 0 for clients that did not take part.
  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show_by_client(probe, "collab", weights_, 1.0 / clients());
    show_by_client(probe, "distance", distances_, 0);
    show_by_client(probe, "grad", slopes_, 0);
    show(probe, "confidence", confidence_);
  }

 private:
  std::span<const ClientId> senders() const { return client_view_.senders; }
  std::span<const std::uint32_t> samples() const { return client_view_.samples; }
  double clients() const { return static_cast<double>(samples().size()); }
  std::size_t place(const Received<Real>& peer) const { return place_of(senders(), peer.sender); }

  // Those of the architectures of the run, of which a client looks its own and its peers' up once.
  const Cut& cut_of(Work<Real>& work, ClientId client) {
    const std::uint32_t architecture = client_view_.architecture_of(client);
    std::optional<Cut>& cut = cuts_[architecture];
    if (!cut) cut = work.learner.cut(this->settings().layer, architecture);
    return *cut;
  }
  const Cut& own_cut(Work<Real>& work) { return cut_of(work, this->client_id()); }
  bool can_mix(Work<Real>& work, ClientId peer) {
    return client_view_.architectures.empty() || own_cut(work).base == cut_of(work, peer).base;
  }

  // Messages that are as long as their senders' models have it: what another machine sends may be anything.
  std::span<const Received<Real>> sound_ones(Work<Real>& work, std::span<const Received<Real>> all,
                                             std::vector<Received<Real>>& sound) {
    const auto is_sound = [&](const Received<Real>& peer) { return peer.common().size() == cut_of(work, peer.sender).parameters; };
    if (std::ranges::all_of(all, is_sound)) return all;
    std::ranges::copy_if(all, std::back_inserter(sound), is_sound);
    return sound;
  }

  // Of unlike models there is nothing to be mixed.
  void keep(Work<Real>& work, std::span<const Received<Real>> window) {
    for (const Received<Real>& peer : window)
      if (can_mix(work, peer.sender)) cache_[place(peer)] = peer.payload.common[0];
  }

  // All cached models have one length: that of the own parameters below the layer.
  void archive_cache(Archive& archive) {
    std::size_t length = 0;
    for (const Tensor& model : cache_)
      if (model) length = model.count();
    archive(length);
    archive.require(length <= this->count());
    archive.optional(cache_, scalar_of<Real>, length);
  }

  // d_j of every peer in the window.
  void compare(Work<Real>& work, std::span<const Received<Real>> window) {
    const typename Scratch<Real>::Frame frame(work.scratch);
    const Picks picks = work.batch(2 * exchanges_ + 1);
    const auto rows = static_cast<Index>(picks.empty() ? work.learner.samples() : picks.size());
    const Index outputs = own_cut(work).outputs;
    MatrixRef<Real> mine = work.scratch.matrix(rows, outputs), theirs = work.scratch.matrix(rows, outputs);
    work.learner.outputs_at(own_cut(work), this->model(), picks, mine, work.scratch);
    std::ranges::fill(distances_, 0);
    for (const Received<Real>& peer : window) {
      work.learner.outputs_at(cut_of(work, peer.sender), peer.common(), picks, theirs, work.scratch);
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
      slope = this->settings().mu1 * distances_[place(peer)] - this->settings().mu2 / (this->settings().delta + all);
      squares += slope * slope;
    }
    const double beta0 = this->settings().beta0 > 0 ? this->settings().beta0 : 0.1 / clients();
    const double beta = squares > 0 ? beta0 / std::sqrt(squares) : 0;
    for (const Received<Real>& peer : window) {
      const double slope = slopes_[place(peer)];
      const double sign = slope > 0 ? 1 : slope < 0 ? -1 : 0;
      double& weight = weights_[place(peer)];
      weight = std::max(0.0, weight - (this->settings().steps_elementwise ? sign : beta * slope));
    }
  }

  // With the models in the cache, where so many peers were heard just now.
  void combine(Work<Real>& work, std::size_t peers) {
    const double own_samples = static_cast<double>(samples()[this->client()]);
    confidence_ = std::min(own_samples / this->settings().c_base, 1 / (static_cast<double>(peers) + 1));
    double heard = 0;
    for (std::size_t j = 0; j < cache_.size(); ++j) heard += cache_[j] ? weights_[j] : 0;
    if (!(heard > 0)) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> mean = work.scratch.vector(own_cut(work).parameters), mine(this->x().data(), mean.size());
    mean.setZero();
    for (std::size_t j = 0; j < cache_.size(); ++j)
      if (cache_[j]) mean += static_cast<Real>(weights_[j] / heard) * numbers_of<Real>(std::as_const(cache_[j]));
    mine = static_cast<Real>(confidence_) * mine + static_cast<Real>(1 - confidence_) * mean;
  }

  void show_by_client(Probe& probe, std::string_view name, const std::vector<double>& numbers, double of_others) const {
    std::vector<double> all(samples().size(), of_others);
    all[this->client()] = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) all[senders()[i].value] = numbers[i];
    probe.vector(name, all);
  }

  ClientView client_view_;
  std::vector<double> weights_, distances_, slopes_;  // by sender
  std::vector<Tensor> cache_;                         // by sender: what it sent last; empty: nothing is to be mixed
  std::vector<std::optional<Cut>> cuts_;              // by architecture
  double confidence_ = 0;
  std::uint64_t exchanges_ = 0;
};

constexpr OptionSpec kdpdfl_own[] = {
    {.name = "layer",
     .type = OptionType::text,
     .fallback = "output",
     .meaning = "whose outputs are compared: output (probabilities), the number of a hidden layer, or its words; of a hidden one "
                "the parameters below are all that is sent and mixed"},
    word_option("footprints", "all", "models that an exchange mixes: all that have ever come, or fresh ones of the exchange",
                "all|fresh"),
    {"mu1", OptionType::number, "1", "weight of the distance of outputs", 0, 1e9},
    {"mu2", OptionType::number, "0.2", "weight of the barrier that keeps collaboration alive", 0, 1e9},
    {"delta", OptionType::number, "1e-6", "what keeps the barrier finite", 0, 1, true},
    {"c_base", OptionType::number, "100", "samples that make a client sure of itself", 0, 1e12, true},
    word_option("beta_mode", "norm", "norm: steps of the length beta0; elementwise: every weight steps by one, as printed",
                "norm|elementwise"),
    {"beta0", OptionType::number, "0", "length of a step of the weights; 0: a tenth of one over the number of clients", 0, 1e9},
};
constexpr auto kdpdfl_table = combined(step_options(), slot_options, kdpdfl_own);

KdPdflSettings read_kdpdfl(const OptionReader& options) {
  return {.eta = StepSize(options),
          .mu1 = options.number("mu1"),
          .mu2 = options.number("mu2"),
          .delta = options.number("delta"),
          .c_base = options.number("c_base"),
          .beta0 = options.number("beta0"),
          .steps_elementwise = options.is("beta_mode", "elementwise"),
          .mixes_all = options.is("footprints", "all"),
          .layer = options.text("layer")};
}

}  // namespace

constinit const CatalogueEntry entries::kdpdfl{
    .name = "kdpdfl",
    .summary = "personal models, weighed by how alike their outputs are",
    .options = kdpdfl_table,
    .runs = {ProtocolKind::pull, ProtocolKind::rounds},
    .graphs = Graphs::undirected,
    .may_be_unified = true,
    .may_differ = true,
    .needs = needs_by<slot_needs, kdpdfl_table>,
    .make = made_by<KdPdfl, read_kdpdfl, kdpdfl_table>,
};

}  // namespace rubato
