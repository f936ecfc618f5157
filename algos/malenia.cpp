// Malenia SGD. As Rennala, where workers have data of their own: every worker counts the same, however many gradients it brings.
//
//   centre    G_i, b_i: sum and number of the gradients of worker i at x.   As soon as all b_i > 0 and n / sum_i 1/b_i >= S/n:
//             x <- x - gamma (1/n) sum_i G_i / b_i
//
// Source: A. Tyurin, P. Richtarik, "Optimal time complexities of parallel stochastic optimization methods under a fixed computation
// model" (docs/references.md#rennala; where they stop: RE-1, RE-2).
#include "algos/answer_rows.hpp"
#include "algos/answering.hpp"
#include "algos/entries.hpp"

namespace rubato {

namespace {

template <class Real>
class Malenia final : public AnsweringGradients<Real, CentreStep> {
  using Base = AnsweringGradients<Real, CentreStep>;

 public:
  explicit Malenia(const Setup<Real, CentreStep>& setup) : Base(setup), rows_(this->is_centre() ? this->clients() : 0) {}

  void archive(Archive& archive) override {
    Base::archive(archive);
    rows_.archive(archive, this->dimension());
  }

 private:
  void collect(Work<Real>& work, ClientId worker, const Tensor& answer, const typename Base::Circumstances&) override {
    rows_.add(worker, answer, work.pool);
  }

  void update(Work<Real>& work) override {
    const Tensor mean = rows_.mean(this->dimension(), work.pool);
    this->move_x(static_cast<Real>(-this->settings().gamma), numbers_of<Real>(mean), work.pool);
    rows_.clear();
  }

  AnswerRows<Real> rows_;  // at the centre alone
};

constexpr OptionSpec malenia_own[] = {
    gamma_option(),
    {"S", OptionType::number, "1", "gradients that a step waits for, were all workers equally fast", 0, 1e12, true},
};
constexpr auto malenia_table = combined(malenia_own, answer_options());

Needs malenia_needs(const OptionReader& options) {
  return needs_of_answers(options, {.gather = Gather::harmonic,
                                    .gradients = options.number("S"),
                                    .greatest_delay = 0,
                                    .hand_out = HandOut::all,
                                    .keeps_going = true});
}

}  // namespace

constinit const CatalogueEntry entries::malenia{
    .name = "malenia",
    .summary = "workers bring gradients until the harmonic mean of their numbers is enough; unlike data",
    .options = malenia_table,
    .runs = {ProtocolKind::server},
    .graphs = Graphs::centred,
    .needs = needs_by<malenia_needs, malenia_table>,
    .make = made_by<Malenia, read_centre_step, malenia_table>,
};

}  // namespace rubato
