// K-GT: gradient tracking with K local steps between exchanges, on undirected graphs.
// Source: Liu, Lin, Koloskova and Stich, "Decentralized gradient tracking with local steps", and its public code
// (docs/references.md#k-gt).
//
// x: model   anchor: the model from which the local steps went out   c: correction, float64
// z: mean direction of K steps   eta_c, eta_s: local and outer step size
// w_j: weight of sender j and share of receiver j, one symmetric doubly stochastic matrix
//
//   compute   x <- x - eta_c (g(x; batch) + c)
//             every K-th: z = (anchor - x) / (K eta_c);   x <- anchor - K eta_c eta_s z;   anchor <- x
//   publish   send x and the counters sigma_l <- sigma_l + w_l z;   c <- c - sum_l w_l z
//   merge     d = sum_j w_j (x_j - anchor);   x <- x + d;   anchor <- anchor + d
//             c <- c + sum_j (sigma_j - rho_j);   rho_j <- sigma_j
//   reset     c <- 0;   sigma, rho <- 0                               z still waits for the next message
//
// In rounds, K computations and an exchange: c <- c - z + W z, x <- W (x - K eta_c eta_s z). At every instant
// sum c + sum over links (sigma - rho) = 0. Where a client does not send right after its K-th computation, z waits for
// its next message. Corrections start at 0 (public code), or at mean gradient - g (paper): one exchange of z = g, which
// gives the mean only in a complete graph; or at what they are given as. A diminishing eta_c stays the same
// for K steps.
#include <utility>

#include "algos/entries.hpp"
#include "algos/one_model.hpp"
#include "algos/tracking_mass.hpp"

namespace rubato {

namespace {

// The phase number of the computation and the exchange that only start the corrections.
constexpr std::uint8_t correcting = 1;

struct KgtSettings {
  StepSize eta_c;
  double eta_s;
  std::uint32_t local_steps;        // K
  bool starts_corrected;            // c0 = paper
  std::vector<double> corrections;  // c at the start, client by client; empty: 0
};

template <class Real>
class Kgt final : public OneModel<Real, KgtSettings> {
  using Base = OneModel<Real, KgtSettings>;

 public:
  explicit Kgt(const Setup<Real, KgtSettings>& setup)
      : Base(setup),
        counters_{setup.client_view},
        anchor_{copy_of<Real>(setup.start, setup.pool)},
        c_{zeros<double>(this->count(), setup.pool)},
        z_{zeros<double>(this->count(), setup.pool)} {
    if (this->settings().starts_corrected && !setup.client_view.in_rounds)
      refuse_option("c0", "\"paper\"", "is possible in rounds only");
    if (!this->settings().corrections.empty()) start_from_given(setup.client_view.samples.size());
  }

  void compute(Work<Real>& work, const Step& step) override {
    if (!step.with_gradient) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> g = work.scratch.vector(this->x().size());
    work.gradient(this->model(), step.index, g);
    if (step.phase == correcting) {
      owe() += g.template cast<double>();
      return;
    }
    this->x() -= (eta_c() * (g.template cast<double>() + c())).template cast<Real>();
    if (++steps_ == this->settings().local_steps) end_local_steps();
  }

  Payload publish(Work<Real>& work, const Step& step) override {
    Payload payload = this->model_message();
    counters_.assign<Real>(read_only(owe()), c(), step, work.pool, payload);
    is_owed_ = false;
    return payload;
  }

  void merge(Work<Real>& work, const Step& step, std::span<const Received<Real>> window) override {
    counters_.absorb(window, c());
    if (step.phase == correcting) return;
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> d = work.scratch.vector(this->x().size());
    d.setZero();
    for (const Received<Real>& message : window) d += static_cast<Real>(message.weight) * (message.common() - anchor());
    this->x() += d;
    anchor() += d;
  }

  bool fits(const Payload& payload, const Step& step, std::uint32_t place) const override {
    return Algorithm<Real>::fits(payload, step, place) && counters_.fits<Real>(payload, place, c_.count());
  }

  void reset(Work<Real>&) override {
    c().setZero();
    counters_.reset();
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.fixed(anchor_);
    archive.fixed(c_);
    archive.fixed(z_);
    archive(steps_);
    archive(exchanges_);
    archive(is_owed_);
    counters_.archive(archive, c_.count());
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    show(probe, "anchor", numbers_of<Real>(anchor_));
    show(probe, "c", numbers_of<double>(c_));
    show(probe, "z", numbers_of<double>(z_));
    counters_.inspect(probe);
  }

  void balance(Probe& probe) const override {
    Vector<double> defect = numbers_of<double>(c_);
    counters_.add_in_flight(defect);
    show(probe, "correction", defect);
  }

 private:
  VectorRef<Real> anchor() { return numbers_of<Real>(anchor_); }
  VectorRef<double> c() { return numbers_of<double>(c_); }
  VectorRef<double> z() { return numbers_of<double>(z_); }

  void start_from_given(std::size_t clients) {
    const std::vector<double>& all = this->settings().corrections;
    if (all.size() != clients * this->count())
      refuse_option("corrections", std::to_string(all.size()) + " numbers", "must be those of every client's model");
    c() = Eigen::Map<const Vector<double>>(all.data() + this->client() * this->count(), c().size());
  }

  double eta_c() const { return this->settings().eta_c.at(this->client(), exchanges_); }

  // z of the message to come: empty after each message.
  VectorRef<double> owe() {
    if (!std::exchange(is_owed_, true)) z().setZero();
    return z();
  }

  void end_local_steps() {
    const double k_eta_c = this->settings().local_steps * eta_c();
    owe() += (anchor() - this->x()).template cast<double>() / k_eta_c;
    anchor() += static_cast<Real>(this->settings().eta_s) * (this->x() - anchor());  // K eta_c z is anchor - x
    this->x() = anchor();
    steps_ = 0;
    ++exchanges_;
  }

  TrackingMass counters_;
  std::uint32_t steps_ = 0;      // since the anchor
  std::uint64_t exchanges_ = 0;  // K steps each: the k of eta_c
  bool is_owed_ = false;         // z is not sent yet
  Tensor anchor_;
  Tensor c_, z_;
};

constexpr OptionSpec kgt_own[] = {
    {"eta_s", OptionType::number, "1", "how much of K local steps is kept", 0, 1e9, true},
    {"local_steps", OptionType::whole, "5", "K: computations from one exchange to the next", 1, 1e6},
    word_option("c0", "zero", "corrections at the start: zero, or mean gradient - own gradient (paper)", "zero|paper"),
};
constexpr auto kgt_table = combined(
    step_options("eta_c", "0.05", "step size of a local step", "diminishing: eta_c / (k + step_offset), where k counts exchanges"),
    kgt_own);

KgtSettings read_kgt(const OptionReader& options) {
  const AlgorithmOptions& given = options.given();
  return {StepSize(options, "eta_c"), options.number("eta_s"), static_cast<std::uint32_t>(options.whole("local_steps")),
          options.is("c0", "paper"), given.has("corrections") ? given.numbers("corrections", 0) : std::vector<double>()};
}

Needs kgt_needs(const AlgorithmOptions& given) {
  const KgtSettings settings = read_kgt({given, kgt_table});
  Needs needs{.send_every = settings.local_steps,
              .keep = Keep::newest_ever,
              .partial = settings.starts_corrected ? Partial::none : Partial::senders};
  if (settings.starts_corrected)
    needs.program.opening = {Phase{.kind = PhaseKind::compute, .number = correcting},
                             Phase{.kind = PhaseKind::exchange, .number = correcting}};
  needs.program.round = {Phase{.kind = PhaseKind::compute, .repeat = settings.local_steps}, Phase{.kind = PhaseKind::exchange}};
  return needs;
}

void check_kgt(const AlgorithmOptions& given, const Graph& graph) {
  if (read_kgt({given, kgt_table}).starts_corrected && graph.links() != graph.clients() * (graph.clients() - 1))
    refuse_option("c0", "\"paper\"", "needs a complete graph, for the mean gradient of all clients");
}

}  // namespace

constinit const CatalogueEntry entries::kgt{
    .name = "kgt",
    .summary = "gradient tracking with K local steps and doubly stochastic weights",
    .options = kgt_table,
    .graphs = Graphs::undirected,
    .merge = Weights::doubly,
    .share = Weights::doubly,
    .needs = kgt_needs,
    .message_bytes = model_and_mass_bytes,
    .make = made_by<Kgt, read_kgt, kgt_table>,
    .check = check_kgt,
};

}  // namespace rubato
