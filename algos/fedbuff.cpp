// FedBuff. Workers answer how far they have moved; the centre gathers K answers, whosever they are, and moves by their mean, in
// which an answer counts the less the more versions it is old when it arrives (tau).
//
//   worker    x_i <- x;   local steps  x_i <- x_i - eta (g_i(x_i; batch) + rho (x_i - x));   answer x_i - x
//   centre    sum <- sum + s(tau) answer;   after K answers:  x <- x + eta_g sum / K,  sum <- 0
//             (normalise = "weights": divided by the sum of s(tau))               s: algos/staleness.hpp
//
// Source: J. Nguyen et al., "Federated learning with buffered asynchronous aggregation", algorithm 1 (docs/references.md#fedbuff;
// what is divided by: FB-1; when tau is taken: FB-2).
#include "algos/answering.hpp"
#include "algos/entries.hpp"
#include "algos/proximal_training.hpp"
#include "algos/staleness.hpp"

namespace rubato {

namespace {

struct FedBuffSettings {
  ProximalTraining training;
  StalenessWeight weight;
  double eta_g;
  bool by_weights;
};

template <class Real>
class FedBuff final : public Answering<Real, FedBuffSettings> {
  using Base = Answering<Real, FedBuffSettings>;

 public:
  using Base::Base;

  void compute(Work<Real>& work, const Step& step) override {
    Tensor moved = copy_of<Real>(this->held(), work.pool);
    VectorRef<Real> x = numbers_of<Real>(moved);
    train_near(this->settings().training, work, this->client_view().client.value, step.index, x);
    x -= this->held();
    this->set_answer(std::move(moved));
  }

  void archive(Archive& archive) override {
    Base::archive(archive);
    archive.optional(sum_, scalar_of<Real>, this->dimension());
    archive(weights_, count_);
  }

 private:
  void collect(Work<Real>& work, ClientId, const Tensor& answer, const typename Base::Circumstances& how) override {
    const double weight = this->settings().weight(how.delay);
    if (count_++ == 0) sum_ = zeros<Real>(this->dimension(), work.pool);
    numbers_of<Real>(sum_) += static_cast<Real>(weight) * numbers_of<Real>(answer);
    weights_ += weight;
  }

  void update(Work<Real>& work) override {
    if (count_ == 0) return;
    const double divisor = this->settings().by_weights ? weights_ : static_cast<double>(count_);
    this->move_x(static_cast<Real>(this->settings().eta_g / divisor), numbers_of<Real>(std::as_const(sum_)), work.pool);
    sum_ = {};
    weights_ = 0;
    count_ = 0;
  }

  Tensor sum_;  // empty: nothing gathered
  double weights_ = 0;
  std::uint64_t count_ = 0;
};

constexpr OptionSpec fedbuff_own[] = {
    {"K", OptionType::whole, "10", "answers of an update", 1, 1e9},
    {"eta_g", OptionType::number, "1", "step size of the centre", 0, 1e9, true},
    word_option("normalise", "count", "the sum of the weighted answers is divided by their number, or by the sum of the weights",
                "count|weights"),
    {"max_staleness", OptionType::whole, "-1", "answers of more versions ago are left out; -1: none", -1, 1e9},
    word_option("redispatch", "at_once", "a worker that has answered gets the model at once, or waits for its next version",
                "at_once|at_update"),
};
constexpr auto fedbuff_table = combined(proximal_options("0"), fedbuff_own, staleness_options("polynomial"), answer_options());

FedBuffSettings read_fedbuff(const OptionReader& options) {
  return {read_proximal(options), read_staleness(options), options.number("eta_g"), options.is("normalise", "weights")};
}

Needs fedbuff_needs(const OptionReader& options) {
  AnswerRule rule{.gather = Gather::count,
                  .count = static_cast<std::uint32_t>(options.whole("K")),
                  .hand_out = options.is("redispatch", "at_update") ? HandOut::at_update : HandOut::answerer};
  if (const double most = options.number("max_staleness"); most >= 0) rule.greatest_delay = static_cast<std::uint64_t>(most);
  return needs_of_answers(options, rule);
}

void check_fedbuff(const AlgorithmOptions& given, const Graph& graph) {
  const OptionReader options(given, fedbuff_table);
  if (options.is("redispatch", "at_update") && options.whole("K") > workers_of(options, graph))
    refuse_option("K", static_cast<double>(options.whole("K")),
                  "is more than there are workers: with redispatch = \"at_update\" nothing would happen any more");
}

}  // namespace

constinit const CatalogueEntry entries::fedbuff{
    .name = "fedbuff",
    .summary = "a server gathers K differences and moves by their mean",
    .options = fedbuff_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .needs = needs_by<fedbuff_needs, fedbuff_table>,
    .make = made_by<FedBuff, read_fedbuff, fedbuff_table>,
    .check = check_fedbuff,
};

}  // namespace rubato
