// DiLoCo. Rounds of a server with an optimiser inside and one outside: workers make H steps of their own from the common model,
// whose moments stay with them from round to round; the centre steps along the mean of how far they came.
//
//   worker    x_i <- x;   H inner steps (algos/inner_optimiser.hpp);   answer Delta_i = x - x_i
//   centre    D = mean of the answers that came, clients ascending
//             outer = "sgd"         x <- x - lr D
//             outer = "heavy_ball"  b <- mu b + D,  x <- x - lr b
//             outer = "nesterov"    b <- mu b + D,  x <- x - lr (D + mu b)
//
// Source: A. Douillard et al., "DiLoCo: distributed low-communication training of language models", algorithm 1
// (docs/references.md#diloco; which Nesterov: DI-1; clients that miss a round: DI-2).
#include "algos/answering.hpp"
#include "algos/entries.hpp"
#include "algos/inner_optimiser.hpp"

namespace rubato {

namespace {

enum class OuterKind : std::uint8_t { sgd, heavy_ball, nesterov };
constexpr std::string_view word_list(OuterKind) { return "sgd|heavy_ball|nesterov"; }

struct DilocoSettings {
  InnerSettings inner;
  std::uint64_t steps;
  OuterKind outer;
  double lr, momentum;
};

template <class Real>
class Diloco final : public Answering<Real, DilocoSettings> {
  using Base = Answering<Real, DilocoSettings>;

 public:
  explicit Diloco(const Setup<Real, DilocoSettings>& setup) : Base(setup) {
    inner_.open(setup.settings->inner, this->dimension(), setup.pool);
    if (!this->is_centre()) return;
    answers_.resize(this->clients());
    mean_ = zeros<Real>(this->dimension(), setup.pool);
    momentum_ = zeros<Real>(this->dimension(), setup.pool);
  }

  void compute(Work<Real>& work, const Step& step) override {
    Tensor moved = copy_of<Real>(this->held(), work.pool);
    VectorRef<Real> x = numbers_of<Real>(moved);
    const std::uint64_t count = this->settings().steps * work.local_batches();
    for (std::uint64_t h = 0; h < count; ++h) inner_.step(this->settings().inner, work, work.batch(step.index * count + h), x);
    x = this->held() - x;
    this->set_answer(std::move(moved));
  }

  void inspect(Probe& probe) const override {
    Base::inspect(probe);
    if (mean_) show(probe, "outer_gradient", numbers_of<Real>(std::as_const(mean_)));
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    inner_.archive(archive, this->dimension());
    archive.optional(mean_, scalar_of<Real>, this->dimension());
    archive.optional(momentum_, scalar_of<Real>, this->dimension());
    for (Tensor& answer : answers_) archive.optional(answer, scalar_of<Real>, this->dimension());
  }

 private:
  void collect(Work<Real>&, ClientId worker, const Tensor& answer, const typename Base::Circumstances&) override {
    answers_.at(worker.value) = answer;
  }

  void update(Work<Real>& work) override {
    mean_ = zeros<Real>(this->dimension(), work.pool);
    VectorRef<Real> D = numbers_of<Real>(mean_);
    std::size_t came = 0;
    for (Tensor& answer : answers_) {
      if (!answer) continue;
      D += numbers_of<Real>(std::as_const(answer));
      answer = {};
      ++came;
    }
    if (came == 0) return;
    D /= static_cast<Real>(came);
    const auto lr = static_cast<Real>(this->settings().lr), mu = static_cast<Real>(this->settings().momentum);
    if (this->settings().outer == OuterKind::sgd) return this->move_x(-lr, read_only(D), work.pool);
    VectorRef<Real> b = numbers_of<Real>(momentum_);
    b = mu * b + D;
    if (this->settings().outer == OuterKind::heavy_ball) return this->move_x(-lr, read_only(b), work.pool);
    const typename Scratch<Real>::Frame frame(work.scratch);
    VectorRef<Real> ahead = work.scratch.vector(D.size());
    ahead = D + mu * b;
    this->move_x(-lr, read_only(ahead), work.pool);
  }

  InnerOptimiser<Real> inner_;
  // At the centre alone.
  std::vector<Tensor> answers_;  // by client; empty: none in this round
  Tensor mean_, momentum_;
};

constexpr OptionSpec diloco_own[] = {
    {"H", OptionType::whole, "500", "inner steps of a round", 1, 1e6},
    word_option("outer", "nesterov", "the optimiser of the centre", word_list(OuterKind{})),
    {"outer_lr", OptionType::number, "0.7", "step size of the centre", 0, 1e9, true},
    {"momentum", OptionType::number, "0.9", "of the centre, unless outer = \"sgd\"", 0, 1, false, true},
};
constexpr auto diloco_table = combined(inner_options(), diloco_own, answer_options());

DilocoSettings read_diloco(const OptionReader& options) {
  return {read_inner(options), options.whole("H"), options.choice<OuterKind>("outer"), options.number("outer_lr"),
          options.number("momentum")};
}

Needs diloco_needs(const AlgorithmOptions& given) { return needs_of_answers({given, diloco_table}, {.gather = Gather::round}); }

}  // namespace

constinit const CatalogueEntry entries::diloco{
    .name = "diloco",
    .summary = "a server steps along the mean of what workers come to in many steps of their own",
    .options = diloco_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .needs = diloco_needs,
    .make = made_by<Diloco, read_diloco, diloco_table>,
};

}  // namespace rubato
