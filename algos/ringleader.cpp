// Ringleader ASGD. Optimal in seconds where workers have data of their own: a table has a row a worker, and every worker makes
// exactly one update in a round.
//
//   phase 1   answers go into the table (G_i, b_i) until no row is empty; a worker that has answered works once more at the model
//             that it holds
//   phase 2   an answer of a worker whose update is still to come:  G_i += g, b_i += 1;  x <- x - gamma (1/n) sum_j G_j / b_j,
//             and the worker gets the new model.  Answers of the others go into the next table, which takes this one's place when
//             all have made their update
//
// Source: A. Maranjyan, P. Richtarik, "Ringleader ASGD: the first asynchronous SGD with optimal time complexity under data
// heterogeneity" (docs/references.md#ringleader; one model a row: RL-1).
#include "algos/answer_rows.hpp"
#include "algos/answering.hpp"
#include "algos/entries.hpp"

namespace rubato {

namespace {

template <class Real>
class Ringleader final : public AnsweringGradients<Real, CentreStep> {
  using Base = AnsweringGradients<Real, CentreStep>;

 public:
  explicit Ringleader(const Setup<Real, CentreStep>& setup)
      : Base(setup), rows_(this->is_centre() ? this->clients() : 0), next_(rows_) {}

  void archive(Archive& archive) override {
    Base::archive(archive);
    rows_.archive(archive, this->dimension());
    next_.archive(archive, this->dimension());
  }

 private:
  void collect(Work<Real>& work, ClientId worker, const Tensor& answer, const typename Base::Circumstances& how) override {
    (how.is_for_next ? next_ : rows_).add(worker, answer, work.pool);
  }

  void update(Work<Real>& work) override {
    const Tensor mean = rows_.mean(this->dimension(), work.pool);
    this->move_x(static_cast<Real>(-this->settings().gamma), numbers_of<Real>(mean), work.pool);
  }

  void end_round() override {
    std::swap(rows_, next_);
    next_.clear();
  }

  AnswerRows<Real> rows_, next_;  // at the centre alone
};

constexpr OptionSpec ringleader_own[] = {gamma_option()};
constexpr auto ringleader_table = combined(ringleader_own, answer_options());

Needs ringleader_needs(const AlgorithmOptions& given) {
  return needs_of_answers({given, ringleader_table}, {.gather = Gather::table});
}

}  // namespace

constinit const CatalogueEntry entries::ringleader{
    .name = "ringleader",
    .summary = "asynchronous SGD with a row of gradients a worker: every worker moves the model as often; unlike data",
    .options = ringleader_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .needs = ringleader_needs,
    .make = made_by<Ringleader, read_centre_step, ringleader_table>,
};

}  // namespace rubato
