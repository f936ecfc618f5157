// DeceFL: every client averages with its neighbours and descends along the gradient of the model it had before.
// Source: Yuan and others, "DeceFL: A Principled Decentralized Federated Learning Framework", equation 1, and
// algorithm 1 of its supplement (docs/references.md#decefl).
//
// w: model   g: gradient   W: weights   c_i: data weight of client i
// eta_t: step size, constant or delta / (t + Gamma)
//
//   compute   w <- w - eta_t c_i g(w; batch)                                                          form = gradient
//             u <- w;  for each local step: u <- u - lr (clip g(u; batch) + weight_decay u)             form = pseudo
//             w <- w - mu (w - u)
//   publish   send w to every receiver
//   merge     w <- w + sum_j W_ij (w_j - w)
//
// A round is begin, exchange, compute: w_i(t+1) = sum_j W_ij w_j(t) - eta_t c_i g_i(w_i(t)), the pseudo-gradient w - u
// taken at w_i(t) as well. The learning rate of the local steps begins anew with every computation and is multiplied by
// lr_decay after every lr_every steps, or epochs where local_epochs says how long a client trains.
//
// The text weighs all clients the same, its supplement by their share m_i / m_tot of the data (DC-2): data_weight says
// none, size, or size_norm = m m_i / m_tot, which is none for equal shares. mu is 0.1 in the text and 1 in its released
// code (DC-3). Decisions: docs/references.md#decefl-decisions.
#include <numeric>

#include "algos/entries.hpp"
#include "algos/gossip.hpp"
#include "algos/local_training.hpp"

namespace rubato {

namespace {

struct DeceflSettings {
  bool is_pseudo;
  StepSize eta;
  std::string data_weight;
  double local_lr;
  LocalTraining training;
  double mu;
  double weight_decay;
  double clip;  // 0: gradients stay
};

double data_weight(const DeceflSettings& settings, const ClientView& client_view) {
  if (settings.data_weight == "none") return 1;
  const double total = std::accumulate(client_view.samples.begin(), client_view.samples.end(), 0.0);
  const double share = client_view.samples[client_view.client.value] / total;
  return settings.data_weight == "size" ? share : share * static_cast<double>(client_view.samples.size());
}

template <class Real>
class Decefl final : public Gossip<Real, DeceflSettings> {
 public:
  explicit Decefl(const Setup<Real, DeceflSettings>& setup)
      : Gossip<Real, DeceflSettings>(setup), data_weight_{data_weight(*setup.settings, setup.client_view)} {}

  void compute(Work<Real>& work, const Step& step) override {
    if (this->settings().is_pseudo)
      this->displace(work, step, this->settings().mu, [&](VectorRef<Real> u) { train(work, step.index, u); });
    else
      this->descend(work, step, this->settings().eta.at(this->client(), step.index) * data_weight_);
  }

 private:
  void train(Work<Real>& work, std::uint64_t computation, VectorRef<Real> u) {
    const DeceflSettings& settings = this->settings();
    const VectorRef<Real> g = work.scratch.vector(u.size());
    settings.training.each_step(work, this->client(), computation, settings.local_lr, [&](std::uint64_t batch, double lr) {
      const typename Scratch<Real>::Frame frame(work.scratch);
      work.learner.gradient(read_only(u), work.batch(batch), g, work.scratch);
      clip(g);
      u -= static_cast<Real>(lr) * (g + static_cast<Real>(settings.weight_decay) * u);
    });
  }

  void clip(VectorRef<Real> g) const {
    const double longest = this->settings().clip;
    if (longest == 0) return;
    const double norm = static_cast<double>(g.norm());
    if (norm > longest) g *= static_cast<Real>(longest / norm);
  }

  double data_weight_;
};

constexpr OptionSpec decefl_own[] = {
    word_option("data_weight", "none", "of a client's gradient: its share of all samples, or m times that", "none|size|size_norm"),
    word_option("form", "gradient", "gradient descends with eta, pseudo by what local training changed", "gradient|pseudo"),
    {"local_lr", OptionType::number, "0.01", "learning rate of the local steps of form pseudo", 0, 1e9, true},
    {"mu", OptionType::number, "0.1", "how much of the local change is applied", 0, 1e9, true},
    {"weight_decay", OptionType::number, "0", "of the local steps", 0, 1e9},
    {"clip", OptionType::number, "0", "largest norm of a local gradient; 0: any", 0, 1e9},
};
constexpr auto decefl_table = combined(step_options(), decefl_own, local_training_options());

DeceflSettings read_decefl(const OptionReader& options) {
  DeceflSettings settings{options.is("form", "pseudo"),   StepSize(options),      options.word("data_weight"),
                          options.number("local_lr"),     LocalTraining(options), options.number("mu"),
                          options.number("weight_decay"), options.number("clip")};
  if (settings.training.is_in_epochs() && !settings.is_pseudo)
    refuse_option("local_epochs", options.numbers("local_epochs").front(), "needs form = \"pseudo\": a gradient is no training");
  return settings;
}

}  // namespace

constinit const CatalogueEntry entries::decefl{
    .name = "decefl",
    .summary = "averages with the neighbours, gradients of the model before",
    .options = decefl_table,
    .merge = Weights::doubly,
    .may_be_unified = true,
    .may_begin = true,
    .needs =
        [](const AlgorithmOptions&) {
          return Needs{.keep = Keep::newest, .may_pause = true, .partial = Partial::receivers, .program = combine_then_adapt};
        },
    .make = made_by<Decefl, read_decefl, decefl_table>,
};

}  // namespace rubato
